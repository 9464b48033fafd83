"""How a session stands, in the few words that an agent needs."""

from __future__ import annotations

from typing import Final

from preflights_es.core.ids import short
from preflights_es.core.json import encoded
from preflights_es.core.text import one_line, shown
from preflights_es.core.views import Question
from preflights_es.mcp.forms import values, whole
from preflights_es.mcp.tool import Given
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.services.results import Session

ASK: Final = (
    "Ask your person exactly this and wait; silence is no answer, and the answer is not yours to "
    "give. Then call answer with session {session}, their words as answer, relayed true: {words}"
)
AT_TERMINAL: Final = (
    "Ask your person exactly this: {words}. The person answers at a terminal: "
    "`preflights answer {session} ANSWER`."
)
TELL: Final = "Tell your person first what in_force says: it may settle this. "
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
    """Decisions that may settle it: keep one by telling your person."""
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
        question=asked.question if asked else "",
        options=asked.options if asked else (),
        refused=(*(one.message for one in session.refusals), *_differing(session)),
        record=session.document or "",
        in_force=_in_force(session),
        next=_next(session, asked),
        notices=session.warnings,
    )


def _in_force(session: Session) -> tuple[str, ...]:
    """What was said first, while something is still to be decided."""
    is_open = bool(session.questions) or session.can_accept
    return tuple(one.line for one in session.shape().get("known", ())) if is_open else ()


def _next(session: Session, asked: Question | None) -> str:
    """What the agent does now; a decision at the same place comes before everything."""
    known = session.shape().get("known", ()) if asked or session.can_accept else ()
    first = next((TELL for one in known if one.same_place), "")
    then = NEXT.get(session.status, "").format(session=short(session.session_id))
    return first + (_ask(session, asked) if asked else then)


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
