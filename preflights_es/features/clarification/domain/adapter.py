"""The names under which seed 0 describes the reference behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from preflights_es.features.clarification.domain import rules
from preflights_es.features.clarification.domain.values import (
    COMPANION,
    OTHER_OPTION,
    Answer,
    DecisionPatch,
    HeuristicsConfig,
    Hint,
    LLMContext,
    LLMResponse,
    SessionSnapshot,
)


class MockLLMAdapter:
    """Deterministic: the same inputs give the same questions, always.

    Holds no state; what was asked and answered comes in with each call.
    Source: seed 0, section 9 (behavioural contract).
    """

    def generate_questions(
        self,
        intention: str,
        heuristics_config: HeuristicsConfig,
        context: LLMContext | None = None,  # noqa: ARG002  the reference looks at no surroundings
        session_state: SessionSnapshot | None = None,
    ) -> LLMResponse:
        """At most one question, what is missing, a hint and the progress."""
        state = session_state or SessionSnapshot()
        return rules.response(intention, heuristics_config, state.answers or {}, state.turn or 1)

    def extract_decision_patch(
        self,
        intention: str,
        answers: Mapping[str, Answer] | None,
        heuristics_config: HeuristicsConfig,
    ) -> DecisionPatch | None:
        """A patch of concrete values, or None when more clarification is needed.

        Never a placeholder, never a category that the configuration does not know but `Other`.
        """
        return rules.patch(intention, heuristics_config, answers or {})


# What the seed writes as functions and tables -------------------------------------------------

T = TypeVar("T")

_STANDARD: Final = HeuristicsConfig()
_BY_NAME: Final = {category.name: category for category in _STANDARD.categories}

CATEGORY_FIELD_MAP: Final[Mapping[str, Mapping[str, str]]] = {
    category.name: {field.name: field.id for field in category.fields()}
    for category in (*_STANDARD.categories, _STANDARD.other())
}
"""By category: the key of each field, the primary one first (seed 0, section 5.1)."""

ADR_CATEGORIES: Final = frozenset(c.name for c in _BY_NAME.values() if c.filing == "structural")
ADR_LEANING_CATEGORIES: Final = frozenset(
    c.name for c in _BY_NAME.values() if c.filing == "contract"
)
TASK_CATEGORIES: Final = frozenset(c.name for c in _BY_NAME.values() if c.filing == "local")
"""Categories that lead to a task, unless the user chooses (seed 0, section 6)."""


def resolve_value(answers: Mapping[str, Answer], qid: str, default: T) -> Answer | T:
    """The answer to a question; for `Other (specify)` the text that goes with it.

    A placeholder is returned as it was given: `extract_decision_patch` leaves it out.
    Source: seed 0, section 5.2, rule 2.
    """
    value = answers.get(qid, default)
    return answers.get(qid + COMPANION, default) if value == OTHER_OPTION else value


def extract_decision_patch(
    intention: str, answers: Mapping[str, Answer], config: HeuristicsConfig
) -> DecisionPatch | None:
    """A patch of concrete values, or None when more clarification is needed.

    Source: seed 0, section 5.3.
    """
    return MockLLMAdapter().extract_decision_patch(intention, answers, config)


def compute_hint(category: str) -> Hint:
    """What a category of the standard tables leads to; `unsure` for any other name.

    Source: seed 0, section 6.
    """
    return rules.hint(_BY_NAME.get(category))


def compute_progress(total_expected: int, remaining_missing: int) -> float:
    """Share of what must be known that is known, from 0.0 to 1.0; 1.0 when nothing is missing.

    Source: seed 0, section 8.
    """
    if remaining_missing == 0:
        return 1.0
    return (total_expected - remaining_missing) / total_expected
