"""The program with another bug: it cannot fold an answer, so that its session is faulted.

Run in place of `preflights`, on sessions that the program as it is has recorded.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from preflights_cli.main import main
from preflights_es.features.clarification.domain.events import ClarificationAnswersGiven
from preflights_es.kernel.events import Event
from preflights_es.runtime.features import WORKFLOWS

SOUND = WORKFLOWS["clarification"]


def evolve(state: Any, event: Event) -> Any:
    """As today's, but for answers."""
    if isinstance(event, ClarificationAnswersGiven):
        raise ZeroDivisionError("division by \x1b[31mzero, password=hunter2xyz1")
    return SOUND.decider.evolve(state, event)


if __name__ == "__main__":
    WORKFLOWS["clarification"] = replace(SOUND, decider=replace(SOUND.decider, evolve=evolve))
    main()
