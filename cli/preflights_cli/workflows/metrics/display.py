"""How an answer is shown in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from preflights_cli.common import Voice
from preflights_cli.rendering import Shown
from preflights_es.core.ids import short
from preflights_es.core.text import one_line, shortened, shown
from preflights_es.services.metrics.results import Answer, Ran
from preflights_es.services.results import Session

CELL_MAX: Final = 60  # characters of a value in a table


def describe(voice: Voice, session: Session) -> None:
    """The question, and the query."""
    assert isinstance(session, Answer), "the caller checked the workflow"
    voice.say(voice.bold(shown(one_line(session.intention))))
    stands = session.status.replace("_", " ")
    voice.say(f"  question {short(session.session_id)}, {stands}")
    if session.type == "sql":
        voice.say()
        for line in session.sql.splitlines():
            voice.say(f"  {shown(line)}")
    if session.result is not None:
        voice.say()
        _table(voice, session.result)


def _table(voice: Voice, ran: Ran) -> None:
    head = [shown(one_line(name)) for name in ran.columns]
    rows = [[_cell(value) for value in row] for row in ran.rows]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    voice.say(voice.bold(_line(head, widths)))
    for row in rows:
        voice.say(_line(row, widths))
    if ran.more:
        voice.say(f"  ... more than {len(rows):,} rows: see --limit")


def _line(cells: Iterable[str], widths: Iterable[int]) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"  {'  '.join(padded)}".rstrip()


def _cell(value: object) -> str:
    text = "-" if value is None else str(value)
    return shown(shortened(one_line(text), CELL_MAX))


def hint(session: Session) -> str:
    """What may come next."""
    return {
        "done": "Go on with: preflights ask --follow-up TEXT (with --run for the rows)",
        "stopped": "Ask in other words: preflights ask --follow-up TEXT",
        "needs_answers": "Answer with: preflights ask --follow-up TEXT (a number chooses)",
    }.get(session.status, "")


SHOWN: Final = Shown(describe=describe, hint=hint, by_hand="preflights ask --follow-up TEXT")
