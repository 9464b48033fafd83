"""Calls of models that any program made: recorded, and judged by people."""

from preflights_es.features.calls.domain.calls import list_made_calls, list_spoken_calls
from preflights_es.features.calls.domain.decide import decide
from preflights_es.features.calls.domain.events import EVENTS, calls_settings_table
from preflights_es.features.calls.domain.state import CallsState, calls_reached, evolve, view
from preflights_es.kernel.session import Decider
from preflights_es.words.workflow import AskedPart, LedPart, ShownPart, Workflow

WORKFLOW: Workflow[CallsState] = Workflow(
    decider=Decider(
        name="calls",
        version="calls/1",
        events=EVENTS,
        initial=CallsState(),
        decide=decide,
        evolve=evolve,
        is_terminal=lambda _state: False,
    ),
    led=LedPart(package="preflights_es.features.calls"),
    shown=ShownPart(
        view=view,
        statuses=("done",),
        reached=calls_reached,
        aside=True,
        made_calls=list_made_calls,
        spoken_calls=list_spoken_calls,
    ),
    asked=AskedPart(settings=calls_settings_table),
)
