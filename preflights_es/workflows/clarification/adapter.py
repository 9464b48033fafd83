"""`MockLLMAdapter`, the name under which seed 0 describes the reference behaviour."""

from __future__ import annotations

from collections.abc import Mapping

from preflights_es.workflows.clarification import rules
from preflights_es.workflows.clarification.values import (
    Answer,
    DecisionPatch,
    HeuristicsConfig,
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
