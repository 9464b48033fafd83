"""How an answer is shown in words."""

from __future__ import annotations

from typing import Final

from preflights_cli.common import Voice
from preflights_cli.rendering import Shown
from preflights_cli.table import streamed
from preflights_es.features.metrics.use.results import Answer, Ran
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import one_line, shown
from preflights_es.use.results import Session


def describe(voice: Voice, session: Session) -> None:
    """The question, and the query."""
    assert isinstance(session, Answer), "the caller checked the workflow"
    voice.say(voice.bold(shown(one_line(session.intention))))
    stands = session.status.replace("_", " ")
    voice.say(f"  question {short(session.session_id)}, {stands}")
    if session.type == "sql":
        if session.sentence:
            voice.say(f"  {shown(one_line(session.sentence))}")
        if session.not_in_query:
            words = ", ".join(f"*{one}*" for one in session.not_in_query)
            voice.warn(f"the query has nothing for {shown(one_line(words))}")
        voice.say()
        for line in session.sql.splitlines():
            voice.say(f"  {shown(line)}")
    if session.result is not None:
        voice.say()
        _table(voice, session.result)


def _table(voice: Voice, ran: Ran) -> None:
    head = [shown(one_line(name)) for name in ran.columns]
    if not streamed(head, ([_cell(value) for value in row] for row in ran.rows)):
        voice.say("No rows.")
    if ran.more:
        voice.say(f"... more than {len(ran.rows):,} rows: see --limit")


def _cell(value: object) -> str:
    text = "-" if value is None else str(value)
    return one_line(text)


def hint(session: Session) -> str:
    """What may come next."""
    assert isinstance(session, Answer), "the caller checked the workflow"
    goes_on = "preflights ask --follow-up TEXT"
    run_it = f"See its rows with: preflights ask --session {short(session.session_id)} --run"
    number = " (a number chooses)" if session.candidates else ""
    return {
        "done": f"Go on with: {goes_on}" if session.result is not None else run_it,
        "stopped": f"Ask in other words: {goes_on}",
        "needs_answers": f"Answer with: {goes_on}{number}",
    }.get(session.status, "")


SHOWN: Final = Shown(describe=describe, hint=hint, by_hand="preflights ask --follow-up TEXT")
