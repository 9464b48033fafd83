"""How the answer to a question about decisions is shown in words."""

from __future__ import annotations

from typing import Final

from preflights_cli.common import Voice
from preflights_cli.rendering import Shown
from preflights_es.core.ids import short
from preflights_es.core.text import one_line, shown
from preflights_es.services.recall.results import Recall
from preflights_es.services.results import Session
from preflights_es.workflows.recall.views import Remembered


def describe(voice: Voice, session: Session) -> None:
    """The question, and a line or two a decision."""
    assert isinstance(session, Recall), "the caller checked the workflow"
    voice.say(voice.bold(shown(one_line(session.question))))
    voice.say(f"  recall {short(session.session_id)}, {session.status}")
    for one in session.results:
        voice.say(f"  {shown(_line(one))}")


def _line(one: Remembered) -> str:
    record = f"ADR-{one.number:04d}, " if one.number else ""
    words = ", ".join(one.words)
    title = one_line(one.title)
    return f"{one.date[:10]}  {one.uid[-8:]}  {one.status}  {title}  ({record}matched {words})"


def hint(session: Session) -> str:
    """What may come next."""
    assert isinstance(session, Recall), "the caller checked the workflow"
    if session.status == "stopped":
        return "No decision matches: `preflights decisions` lists what is decided here."
    return ""


SHOWN: Final = Shown(describe=describe, hint=hint)
