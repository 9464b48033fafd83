"""What the log of a metrics session folds to."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from preflights_es.features.metrics.domain.events import (
    AnswerAccepted,
    CandidatesOffered,
    ClarificationAsked,
    FollowUpTaken,
    QuestionPut,
    SqlAnswered,
    TurnsExhausted,
)
from preflights_es.features.metrics.domain.values import Catalogue, Matched, Saved
from preflights_es.kernel import lead as leading
from preflights_es.kernel.completions import Message
from preflights_es.kernel.events import Event, Growing, Input
from preflights_es.kernel.lead import Led, StepFailed
from preflights_es.kernel.questions import Language, Question


class State(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    text: str = ""
    """The question that the session began with."""
    language: Language = "en"
    asked_at: str = ""
    time_zone: str = ""
    catalogue: Catalogue | None = None
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: Led = Led()
    """Its `said` is the whole conversation, with the first question."""
    question: Question | None = None
    """The open one."""
    asked: int = 0
    """Questions so far: each has a key of its own."""
    turns: int = 0
    """Clarifications since the question or the last follow-up."""
    sql: str = ""
    """Of the last answer; empty where none stands."""
    open: str = ""
    """What was still open when no clarification was left."""
    redacted: Growing[str] = Growing()
    matched: tuple[Matched, ...] = ()
    """Values of the database that stand in what was said."""
    saved: tuple[Saved, ...] = ()


def is_terminal(state: State) -> bool:  # noqa: ARG001  the same shape in every workflow
    """Never: a query can be followed up."""
    return False


def evolve(state: State, event: Event) -> State:
    """The state after one more event; any event in any state."""
    match event:
        case QuestionPut() if state.input is None:
            return _begun(state, event)
        case Input():
            redacted = state.redacted.plus(*getattr(event, "redacted", ()))
            new = tuple(one for one in getattr(event, "matched", ()) if one not in state.matched)
            return replace(state, input=event, redacted=redacted, matched=state.matched + new)
        case SqlAnswered(sql=sql):
            return replace(state, sql=sql, turns=0)
        case CandidatesOffered(question=question) | ClarificationAsked(question=question):
            return replace(state, question=question, asked=state.asked + 1)
        case TurnsExhausted(open=text):
            return replace(state, open=text, turns=0)
        case AnswerAccepted(answer=text):
            led = leading.heard(state.led, text)
            return replace(state, question=None, turns=state.turns + 1, led=led)
        case FollowUpTaken(text=text):
            led = leading.heard(state.led, text)
            return replace(state, question=None, turns=0, sql="", open="", led=led)
        case StepFailed():
            led = leading.after(state.led, state.input, event)
            return replace(state, led=_without_unanswered(led))
        case _:
            return replace(state, led=leading.after(state.led, state.input, event))


def _begun(state: State, new: QuestionPut) -> State:
    return replace(
        state,
        text=new.text,
        language=new.language,
        asked_at=new.asked_at,
        time_zone=new.time_zone,
        catalogue=Catalogue(dialect=new.dialect, metrics=new.metrics, tables=new.tables),
        input=new,
        led=leading.heard(leading.opened(new.setup), new.text),
        redacted=state.redacted.plus(*new.redacted),
        matched=new.matched,
        saved=new.saved,
    )


def _without_unanswered(led: Led) -> Led:
    """A failed step leaves no message of a person at the end of the conversation (seed 4)."""
    said: list[Message] = list(led.said)
    while said and said[-1].role == "user":
        said.pop()
    return replace(led, said=Growing[Message]().plus(*said))
