"""Open tasks become the plan of a day (seed 3)."""

from preflights_es.features.planning.domain.decide import PROMPTS, decide
from preflights_es.features.planning.domain.events import EVENTS, planning_settings_table
from preflights_es.features.planning.domain.state import (
    PlanningState,
    evolve,
    is_terminal,
    planning_reached,
    view,
)
from preflights_es.kernel.session import Decider
from preflights_es.words.workflow import AskedPart, LedPart, ShownPart, Workflow

WORKFLOW: Workflow[PlanningState] = Workflow(
    decider=Decider(
        name="planning",
        version="planning/1",
        events=EVENTS,
        initial=PlanningState(),
        decide=decide,
        evolve=evolve,
        is_terminal=is_terminal,
    ),
    shown=ShownPart(
        view=view,
        statuses=("stopped", "done"),
        settled=("stopped",),
        reached=planning_reached,
        aside=True,
    ),
    led=LedPart(
        lead=lambda state: state.led.lead,
        package="preflights_es.features.planning",
        prompts=tuple(PROMPTS.items()),
    ),
    asked=AskedPart(settings=planning_settings_table),
)
