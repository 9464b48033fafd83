"""The program after a change: other words in a question, another category in a patch."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from preflights_cli.main import main
from preflights_es.features.clarification.domain.events import (
    ClarificationQuestionAsked,
    PatchProposed,
)
from preflights_es.kernel.events import Decision, Input
from preflights_es.runtime.features import WORKFLOWS

BEFORE = WORKFLOWS["clarification"]


def decide(state: Any, new: Input) -> tuple[Decision, ...]:
    """As before, but for two words."""
    return tuple(map(changed, BEFORE.decider.decide(state, new)))


def changed(decision: Decision) -> Decision:
    """The same Decision in other words."""
    match decision:
        case ClarificationQuestionAsked(question=question):
            text = f"{question.question} \u202e"
            return replace(decision, question=replace(question, question=text))
        case PatchProposed(patch=patch):
            return replace(decision, patch=replace(patch, category="Identity"))
        case _:
            return decision


if __name__ == "__main__":
    WORKFLOWS["clarification"] = replace(BEFORE, decider=replace(BEFORE.decider, decide=decide))
    main()
