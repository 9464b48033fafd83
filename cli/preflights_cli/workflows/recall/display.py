"""How the answer to a question about decisions is shown in words."""

from __future__ import annotations

from typing import Final

from preflights_cli.common import Voice
from preflights_cli.rendering import Shown
from preflights_es.core.ids import short
from preflights_es.core.text import one_line, shown
from preflights_es.services.recall.results import Recall
from preflights_es.services.results import Session
from preflights_es.workflows.recall.views import Remembered, Standing


def describe(voice: Voice, session: Session) -> None:
    """The question, and a line or two a decision."""
    assert isinstance(session, Recall), "the caller checked the workflow"
    voice.say(voice.bold(shown(one_line(session.question or _about(session)))))
    voice.say(f"  recall {short(session.session_id)}, {session.status}")
    for one in session.results:
        voice.say(f"  {shown(_line(one))}")
    for to in session.evolution:
        voice.say(f"  {shown(_standing(to))}")
    if session.learned:
        voice.say(f"  learned {shown(', '.join(session.learned))}")


def _about(session: Recall) -> str:
    what = "Words for" if session.asks == "learning" else "Evolution of"
    return f"{what} {session.about[-8:]}"


def _standing(to: Standing) -> str:
    by = "" if to.by == "record" else f" (by the {to.by})"
    reason = f": {one_line(to.reason)}" if to.reason else ""
    how = _LINKS.get(to.evolution, to.evolution)
    return f"{to.uid[-8:]} {how} {to.other[-8:]} {one_line(to.title)}{by}{reason}"


_LINKS: Final = {
    "superseded_by": "is superseded by",
    "update": "updates",
    "contradict": "contradicts",
    "extend": "extends",
    "derive": "follows from",
}


def _line(one: Remembered) -> str:
    record = f"ADR-{one.number:04d}, " if one.number else ""
    words = ", ".join(f"{word} (learned)" if word in one.learned else word for word in one.words)
    title = one_line(one.title)
    return f"{one.date[:10]}  {one.uid[-8:]}  {one.status}  {title}  ({record}matched {words})"


def hint(session: Session) -> str:
    """What may come next."""
    assert isinstance(session, Recall), "the caller checked the workflow"
    if session.asks == "learning" and session.status == "done" and not session.learned:
        return "No word was added: --provider names a model that is asked for words."
    if session.asks == "question" and session.status == "stopped":
        return "No decision matches: `preflights decisions` lists what is decided here."
    return ""


SHOWN: Final = Shown(describe=describe, hint=hint)
