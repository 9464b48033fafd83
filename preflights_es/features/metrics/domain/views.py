"""What is shown of a metrics session."""

from __future__ import annotations

from typing import Final

from preflights_es.features.metrics.domain.state import State
from preflights_es.features.metrics.domain.values import TURNS_MAX
from preflights_es.kernel.lead import no_answer
from preflights_es.kernel.questions import Language, Reached, View, taken_out

REPHRASE: Final = "ask again in other words, with --follow-up"
EXHAUSTED: Final[dict[Language, str]] = {
    "en": "no query after {} clarifications; still open: {}",
    "de": "keine Abfrage nach {} Rückfragen; noch offen: {}",
}


class AnswerView(View, frozen=True, kw_only=True):
    """The fields of `answer/1` (docs/api.md)."""

    type: str
    """`sql`, `ambiguous`, `text`, or empty where there is no answer."""
    sql: str
    """As the log has it."""
    candidates: tuple[str, ...]
    text: str
    """A reply in words, or what is still open."""
    calls: int
    """Of the provider, retries among them."""


def view(state: State) -> AnswerView:
    """All that `show` says."""
    question = state.question
    return AnswerView(
        status=_status(state),
        intention=state.text,
        questions=(question,) if question is not None else (),
        progress=1.0 if state.sql else 0.5 if state.asked else 0.0,
        warnings=_warnings(state),
        to_do=_to_do(state),
        type=_type(state),
        sql=state.sql,
        candidates=question.options if question is not None else (),
        text=question.question if question is not None else state.open,
        calls=state.led.calls,
    )


def _status(state: State) -> str:
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    if state.question is not None:
        return "needs_answers"
    return "done" if state.sql else "stopped"


def _type(state: State) -> str:
    if state.question is not None:
        return "ambiguous" if state.question.options else "text"
    return "sql" if state.sql else "text" if state.open else ""


def _to_do(state: State) -> str:
    return {"needs_answers": "answer the question", "stopped": REPHRASE}.get(_status(state), "")


def _warnings(state: State) -> tuple[str, ...]:
    warnings = [*taken_out(state.redacted)]
    if state.open:
        warnings.append(EXHAUSTED[state.language].format(TURNS_MAX, state.open))
    if state.led.stalled:
        warnings.append(no_answer(state.led, "resume asks it again"))
    elif state.led.failed and not state.sql:
        warnings.append(no_answer(state.led, REPHRASE))
    return tuple(warnings)


def reached(state: State) -> Reached:
    """The query as it was answered; no person accepts one."""
    return Reached(result={"sql": state.sql} if state.sql else None)
