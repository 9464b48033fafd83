"""What the log of a metrics session folds to, and what is shown of it."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.metrics.domain.events import (
    TURNS_MAX,
    CandidatesOffered,
    Catalogue,
    ClarificationAsked,
    FollowUpTaken,
    MetricsAnswerAccepted,
    QuestionPut,
    SqlAnswered,
    TurnsExhausted,
)
from preflights_es.kernel import lead as leading
from preflights_es.kernel.completions import Message
from preflights_es.kernel.events import Event, Growing, Input, Value
from preflights_es.kernel.lead import LeadState, StepFailed, no_answer
from preflights_es.words.questions import Language, Question, Reached
from preflights_es.words.workflow import View, taken_out

# 1. The fold ---------------------------------------------------------------------------------


class MetricsState(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    text: str = ""
    """The question that the session began with."""
    language: Language = "en"
    asked_at: str = ""
    time_zone: str = ""
    catalogue: Catalogue | None = None
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: LeadState = LeadState()
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


def is_terminal(state: MetricsState) -> bool:  # noqa: ARG001  the same shape in every workflow
    """Never: a query can be followed up."""
    return False


def evolve(state: MetricsState, event: Event) -> MetricsState:
    """The state after one more event; any event in any state."""
    match event:
        case QuestionPut() if state.input is None:
            return _evolve_question_put(state, event)
        case Input():
            redacted = state.redacted.plus(*getattr(event, "redacted", ()))
            return replace(state, input=event, redacted=redacted)
        case SqlAnswered(sql=sql):
            return replace(state, sql=sql, turns=0)
        case CandidatesOffered(question=question) | ClarificationAsked(question=question):
            return replace(state, question=question, asked=state.asked + 1)
        case TurnsExhausted(open=text):
            return replace(state, open=text, turns=0)
        case MetricsAnswerAccepted(answer=text):
            led = leading.add_user_message(state.led, text)
            return replace(state, question=None, turns=state.turns + 1, led=led)
        case FollowUpTaken(text=text):
            led = leading.add_user_message(state.led, text)
            return replace(state, question=None, turns=0, sql="", open="", led=led)
        case StepFailed():
            led = leading.evolve_lead_state(state.led, state.input, event)
            return replace(state, led=_without_unanswered(led))
        case _:
            return replace(state, led=leading.evolve_lead_state(state.led, state.input, event))


def _evolve_question_put(state: MetricsState, new: QuestionPut) -> MetricsState:
    return replace(
        state,
        text=new.text,
        language=new.language,
        asked_at=new.asked_at,
        time_zone=new.time_zone,
        catalogue=Catalogue(dialect=new.dialect, metrics=new.metrics, tables=new.tables),
        input=new,
        led=leading.add_user_message(leading.open_lead_state(new.setup), new.text),
        redacted=state.redacted.plus(*new.redacted),
    )


def _without_unanswered(led: LeadState) -> LeadState:
    """A failed step leaves no message of a person at the end of the conversation (seed 4)."""
    said: list[Message] = list(led.said)
    while said and said[-1].role == "user":
        said.pop()
    return replace(led, said=Growing[Message]().plus(*said))


# 2. What is shown ----------------------------------------------------------------------------

REPHRASE: Final = "ask again in other words, with --follow-up"
EXHAUSTED: Final[dict[Language, str]] = {
    "en": "no query after {} clarifications; still open: {}",
    "de": "keine Abfrage nach {} Rückfragen; noch offen: {}",
}


class MetricsQueryResult(Value, frozen=True, kw_only=True):
    """The rows of a query; values are as JSON has them, others as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    """Whether there are more than the limit."""


class AnswerView(View, frozen=True, kw_only=True):
    """`answer/1` (docs/api.md)."""

    FORMAT = "answer/1"

    intention: str
    type: str
    """`sql`, `ambiguous`, `text`, or empty where there is no answer."""
    sql: str
    """One statement; as it may be run, once the house made it; empty where there is none."""
    candidates: tuple[str, ...]
    text: str
    """A reply in words, or what is still open."""
    calls: int
    """Of the provider, retries among them."""
    read_as: str = ""
    """The question as the rules read it, in the closed form; empty for the query of a model."""
    options: tuple[str, ...] = ()
    """Messages that would answer a question of the rules in words."""
    result: MetricsQueryResult | None = None
    """What the query brought, where it was run."""

    @property
    def failed(self) -> bool:
        return self.status == "stopped"


def view(state: MetricsState) -> AnswerView:
    """All that `show` says."""
    question = state.question
    return AnswerView(
        status=_metrics_status(state),
        intention=state.text,
        questions=(question,) if question is not None else (),
        progress=1.0 if state.sql else 0.5 if state.asked else 0.0,
        warnings=_metrics_warnings(state),
        to_do={"needs_answers": "answer the question", "stopped": REPHRASE}.get(
            _metrics_status(state), ""
        ),
        type=_type(state),
        sql=state.sql,
        candidates=question.options if question is not None else (),
        text=question.question if question is not None else state.open,
        calls=state.led.calls,
    )


def _metrics_status(state: MetricsState) -> str:
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    if state.question is not None:
        return "needs_answers"
    return "done" if state.sql else "stopped"


def _type(state: MetricsState) -> str:
    if state.question is not None:
        return "ambiguous" if state.question.options else "text"
    return "sql" if state.sql else "text" if state.open else ""


def _metrics_warnings(state: MetricsState) -> tuple[str, ...]:
    warnings = [*taken_out(state.redacted)]
    if state.open:
        warnings.append(EXHAUSTED[state.language].format(TURNS_MAX, state.open))
    if state.led.stalled:
        warnings.append(no_answer(state.led, "resume asks it again"))
    elif state.led.failed and not state.sql:
        warnings.append(no_answer(state.led, REPHRASE))
    return tuple(warnings)


def metrics_reached(state: MetricsState) -> Reached:
    """The query as it was answered; no person accepts one."""
    return Reached(result={"sql": state.sql} if state.sql else None)
