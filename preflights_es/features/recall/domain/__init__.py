"""A question becomes queries that find what was decided (the domain of seed 1)."""

from preflights_es.features.recall.domain.decide import decide
from preflights_es.features.recall.domain.events import EVENTS, quotes
from preflights_es.features.recall.domain.rules import CONTRACT, STEP
from preflights_es.features.recall.domain.state import (
    RecallState,
    evolve,
    is_terminal,
    recall_reached,
    view,
)
from preflights_es.kernel.session import Decider
from preflights_es.words.workflow import FiledPart, LedPart, ShownPart, Workflow

WORKFLOW: Workflow[RecallState] = Workflow(
    decider=Decider(
        name="recall",
        version="recall/1",
        events=EVENTS,
        initial=RecallState(),
        decide=decide,
        evolve=evolve,
        is_terminal=is_terminal,
    ),
    shown=ShownPart(
        view=view,
        statuses=("stopped", "done"),
        settled=("stopped",),
        reached=recall_reached,
        aside=True,
    ),
    filed=FiledPart(quotes=quotes),
    led=LedPart(
        lead=lambda state: state.led.lead,
        package="preflights_es.features.recall",
        prompts=((STEP, CONTRACT),),
    ),
)
