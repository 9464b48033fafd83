"""How a session stands, in the few words that an agent needs."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from preflights_es.kernel.ids import short
from preflights_es.kernel.json import encoded
from preflights_es.kernel.text import one_line, shown
from preflights_es.kernel.views import Question
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.surfaces.mcp.forms import values, whole, worded
from preflights_es.surfaces.mcp.tool import Given
from preflights_es.use.results import Session

ASK: Final = (
    "Ask your person exactly this and wait; silence is no answer, and the answer is not yours to "
    "give. Then call answer with session {session}, their words as answer, relayed true: {words}"
)
AT_TERMINAL: Final = (
    "Ask your person exactly this: {words}. The person answers at a terminal: "
    "`preflights answer {session} ANSWER`."
)
NEXT: Final = {
    "ready": "Show it to your person, then call accept with session {session}.",
    "proposed": "Tell your person: `preflights accept {session}` at a terminal accepts it.",
    "waiting": (
        "The model did not answer yet: the same start_decision again, or `preflights resume "
        "{session}` in a shell, asks it again."
    ),
    "accepted": "It is decided: work by it.",
    "superseded": "Another decision took its place: call decisions.",
    "abandoned": "It was given up: start_decision begins anew.",
    "faulted": "Tell your person: `preflights show {session}` says what is wrong.",
    "stopped": "Nothing is to be decided here: go on.",
}

OPEN: Final = ("needs_answers", "ready", "proposed", "stopped")
"""Statuses in which what is in force beside it matters."""
SETTLED: Final = "{name} is in force: if it settles this, work by it and ask nothing. Otherwise: "
DIFFERS: Final = "{name} is in force at this place: tell your person that this would change it. "
WORK_BY: Final = "Work by what is in force."


class Standing(Given, frozen=True, kw_only=True):
    """A session after a call."""

    session: str
    status: str
    intention: str
    decided: dict[str, str] = {}
    """Values by field, as far as they are known."""
    question: str = ""
    options: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Why parts of the call do not count."""
    record: str = ""
    """Path of its document."""
    in_force: tuple[str, ...] = ()
    """Decisions in force: at the same place, then related ones."""
    facts: tuple[str, ...] = ()
    """Of the repository; of `start_decision` alone."""
    lacks: tuple[str, ...] = ()
    """What a good question has besides; of `start_decision` alone."""
    next: str = ""
    """What the agent does now."""


def standing(session: Session) -> Standing:
    """A session as tools give it."""
    asked = session.questions[0] if session.questions else None
    id_ = short(session.session_id)
    return Standing(
        session=id_,
        status=session.status,
        intention=session.intention,
        decided=values(session),
        question=worded(session, asked) if asked else "",
        options=asked.options if asked else (),
        refused=(*(one.message for one in session.refusals), *_differing(session)),
        record=session.document or "",
        in_force=tuple(map(_known, _told(session))),
        next=_next(session, asked),
        notices=session.warnings,
    )


def _told(session: Session) -> tuple[Any, ...]:
    """What is in force beside it, until it is accepted."""
    return session.shape().get("known", ()) if session.status in OPEN else ()


def _known(one: Any) -> str:
    return one.line if one.same_place else f"related: {one.line}"


def _next(session: Session, asked: Question | None) -> str:
    """What the agent does now: a decision at the same place comes before a question."""
    name = short(session.session_id)
    said = _ask(session, asked) if asked else NEXT.get(session.status, "").format(session=name)
    here = next((one for one in _told(session) if one.same_place), None)
    if here is None or session.status == "stopped":
        return said
    return (SETTLED if asked else DIFFERS).format(name=here.line.partition(" ")[0]) + said


def working_by(came: Standing, lines: tuple[str, ...]) -> Standing:
    """A session in which nothing is decided, with what is in force about its words."""
    if not lines:
        return came
    return replace(came, in_force=lines, next=f"{came.next} {WORK_BY}")


def _differing(session: Session) -> list[str]:
    """What an acceptance differs from: a person chooses about each at a terminal."""
    related = session.shape().get("related", ())
    return [
        f"it differs from a decision in force: {one.title}" for one in related if one.needs_choice
    ]


def is_relayed(session: Session) -> bool:
    """Whether its log can say that a client passed a person's answer on."""
    workflow = WORKFLOWS.get(session.workflow)
    return workflow is not None and workflow.relayed is not None


def _ask(session: Session, question: Question) -> str:
    """Exact words for a client without forms."""
    words = whole(session, question, numbered=True)
    ask = ASK if is_relayed(session) else AT_TERMINAL
    quoted = encoded(shown(one_line(words))).decode()
    return ask.format(session=short(session.session_id), words=quoted)
