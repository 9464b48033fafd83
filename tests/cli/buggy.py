"""The program with a bug: it cannot decide an answer that says `crash`.

Run in place of `preflights`; the recorded Input is real, and so is what it raises.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from preflights_cli.main import main
from preflights_es.features.clarification.domain.events import ClarificationAnswersGiven
from preflights_es.kernel.events import Decision, Input
from preflights_es.runtime.features import WORKFLOWS

SOUND = WORKFLOWS["clarification"]


def decide(state: Any, new: Input) -> tuple[Decision, ...]:
    """As today's, but for one answer."""
    if isinstance(new, ClarificationAnswersGiven) and any("crash" in a.values for a in new.answers):
        raise ZeroDivisionError("division by \x1b[31mzero")
    return SOUND.decider.decide(state, new)


if __name__ == "__main__":
    WORKFLOWS["clarification"] = replace(SOUND, decider=replace(SOUND.decider, decide=decide))
    main()
