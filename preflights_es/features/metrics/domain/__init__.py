"""A question about data becomes one checked query, with questions back where it needs them."""

from preflights_es.features.metrics.domain.decide import decide
from preflights_es.features.metrics.domain.events import (
    EVENTS,
    POLICY,
    PROMPTS,
    MetricsAnswersGiven,
)
from preflights_es.features.metrics.domain.state import (
    MetricsState,
    evolve,
    is_terminal,
    metrics_reached,
    view,
)
from preflights_es.kernel.session import Decider
from preflights_es.words.workflow import AskedPart, LedPart, ShownPart, Workflow

WORKFLOW: Workflow[MetricsState] = Workflow(
    decider=Decider(
        name="metrics",
        version="metrics/1",
        events=EVENTS,
        initial=MetricsState(),
        decide=decide,
        evolve=evolve,
        is_terminal=is_terminal,
    ),
    shown=ShownPart(
        view=view,
        statuses=("needs_answers", "stopped", "done"),
        settled=("stopped",),
        reached=metrics_reached,
        aside=True,
        newest_waits=True,
    ),
    led=LedPart(
        lead=lambda state: state.led.lead,
        policy=POLICY,
        package="preflights_es.features.metrics",
        prompts=tuple(PROMPTS.items()),
        always=True,
        temperature=0.0,  # seed 4, task 1
    ),
    asked=AskedPart(answers=MetricsAnswersGiven),
)
