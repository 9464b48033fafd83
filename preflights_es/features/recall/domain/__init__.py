"""A question becomes queries that find what was decided (the domain of seed 1)."""

from preflights_es.features.recall.domain.decide import decide
from preflights_es.features.recall.domain.events import EVENTS, quotes
from preflights_es.features.recall.domain.rules import CONTRACT, STEP
from preflights_es.features.recall.domain.state import RecallState, evolve, is_terminal
from preflights_es.features.recall.domain.views import recall_reached, view
from preflights_es.words.workflow import Workflow

WORKFLOW: Workflow[RecallState] = Workflow(
    name="recall",
    package="preflights_es.features.recall",
    version="recall/1",
    events=EVENTS,
    initial=RecallState(),
    decide=decide,
    evolve=evolve,
    is_terminal=is_terminal,
    view=view,
    quotes=quotes,
    statuses=("stopped", "done"),
    settled=("stopped", "done"),
    reached=recall_reached,
    lead=lambda state: state.led.lead,
    prompts=((STEP, CONTRACT),),
    aside=True,
)
