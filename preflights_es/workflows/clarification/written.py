"""A question that an agent or person wrote (docs/specs/clarification.md, section 14).

It is judged as a model's. After it the rules lead.
"""

from __future__ import annotations

from typing import Final

from preflights_es.core.completion_step import judged
from preflights_es.core.json import encoded
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.questions import WrittenQuestion, is_placeholder, stripped
from preflights_es.core.verdict import Accepted
from preflights_es.workflows.clarification.events import (
    ChangeRefused,
    OptionRecommended,
    RecommendationNoted,
)
from preflights_es.workflows.clarification.lead import clarify_violations
from preflights_es.workflows.clarification.state import State
from preflights_es.workflows.clarification.values import OTHER, Heuristics, HeuristicsConfig

TOPIC: Final = "Decision"
"""The field of a question whose topic is not said."""
SLUG_MAX: Final = 31  # characters, as the contract has it

_WORD: Final = late_pattern(r"[a-z0-9]+")
_UNASKED: Final = "the question cannot be asked: "


def response(written: WrittenQuestion, config: HeuristicsConfig) -> str:
    """The question as a model would have answered `clarify.v1`."""
    known = config.named(written.topic) if written.topic else None
    topic = written.topic or TOPIC
    own = None if known or topic == OTHER else {"slug": _slug(topic), "field": topic}
    answer = {
        "category": known.name if known else OTHER,
        "question": written.question,
        "options": list(written.options),
        "own": own,
    }
    return encoded(answer).decode()


def tables_of(chosen: Heuristics | HeuristicsConfig) -> HeuristicsConfig:
    """The categories of a session that begins with these."""
    if isinstance(chosen, HeuristicsConfig):
        return chosen
    if chosen.pack is None:
        return chosen.tables
    from preflights_es.workflows.clarification.pack import tables

    return tables(chosen.inlined, "en", chosen.tables)


def _slug(topic: str) -> str:
    words = "_".join(_WORD.findall(topic.casefold()))
    return (words if words[:1].isalpha() else f"topic_{words}")[:SLUG_MAX].rstrip("_")


def trouble(written: WrittenQuestion, text: str, config: HeuristicsConfig) -> str:
    """Why a question cannot be asked, in one line; empty where it can.

    Args:
        text: its `response`.
    """
    # Imported where a response is judged: other sessions need no pydantic.
    from preflights_es.workflows.clarification import contracts

    state = State(heuristics=config)
    verdict = judged(text, contracts.CLARIFY, lambda payload: clarify_violations(state, payload))
    if not isinstance(verdict, Accepted):
        named = (f"{v.pointer or '/'} {v.message}" for v in verdict.violations)
        return _UNASKED + ("; ".join(named) or verdict.details or verdict.kind)
    if written.recommended is None:
        return ""
    option, reason = written.recommended
    if _spelled(option, written.options) is None:
        return f"{_UNASKED}there is no option {option!r} to recommend"
    if is_placeholder(reason):
        return f"{_UNASKED}the recommendation gives no reason"
    return ""


def noted(state: State, new: OptionRecommended) -> RecommendationNoted | ChangeRefused:
    """What a recommendation comes to."""
    if state.writer is None or state.question is None or state.framed is None:
        return ChangeRefused(change="recommendation", reason="not_expected")
    option = _spelled(new.option, state.framed.field.options)
    if option is None:
        return ChangeRefused(change="recommendation", reason="no_such_option")
    if is_placeholder(new.reason):
        return ChangeRefused(change="recommendation", reason="placeholder")
    return RecommendationNoted(option=option, reason=stripped(new.reason))


def _spelled(said: str, options: tuple[str, ...]) -> str | None:
    folded = stripped(said).casefold()
    return next((option for option in options if option.casefold() == folded), None)
