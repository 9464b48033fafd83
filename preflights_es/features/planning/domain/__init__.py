"""Open tasks become the plan of a day (seed 3)."""

from preflights_es.features.planning.domain.decide import PROMPTS, decide
from preflights_es.features.planning.domain.events import EVENTS, table
from preflights_es.features.planning.domain.state import State, evolve, is_terminal, reached, view
from preflights_es.kernel.session import Workflow

WORKFLOW: Workflow[State] = Workflow(
    name="planning",
    package="preflights_es.features.planning",
    decider="planning/1",
    events=EVENTS,
    initial=State(),
    decide=decide,
    evolve=evolve,
    is_terminal=is_terminal,
    view=view,
    statuses=("stopped", "done"),
    settled=("stopped", "done"),
    reached=reached,
    lead=lambda state: state.led.lead,
    prompts=tuple(PROMPTS.items()),
    settings=table,
    aside=True,
)
