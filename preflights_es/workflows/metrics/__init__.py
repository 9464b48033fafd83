"""A question about data becomes one checked query, with questions back where it needs them."""

from preflights_es.core.session import Workflow
from preflights_es.workflows.metrics.decide import decide
from preflights_es.workflows.metrics.events import EVENTS, AnswersGiven
from preflights_es.workflows.metrics.lead import POLICY, PROMPTS
from preflights_es.workflows.metrics.state import State, evolve, is_terminal
from preflights_es.workflows.metrics.views import reached, view

WORKFLOW: Workflow[State] = Workflow(
    name="metrics",
    package=__name__,
    decider="metrics/2",
    former_deciders=("metrics/1",),
    events=EVENTS,
    initial=State(),
    decide=decide,
    evolve=evolve,
    is_terminal=is_terminal,
    view=view,
    statuses=("needs_answers", "stopped", "done"),
    settled=("stopped", "done"),
    reached=reached,
    answers=AnswersGiven,
    lead=lambda state: state.led.lead,
    policy=POLICY,
    prompts=tuple(PROMPTS.items()),
    always_led=True,
    aside=True,
)
