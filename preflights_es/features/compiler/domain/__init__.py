"""Approved documents become structured plans, pass by pass (seed 2)."""

from preflights_es.features.compiler.domain.decide import TEMPLATE, accept_pass_state, decide
from preflights_es.features.compiler.domain.events import (
    EVENTS,
    POLICY,
    PROMPTS,
    PassAnswersGiven,
    PlanApproved,
)
from preflights_es.features.compiler.domain.state import (
    FILE,
    FOLDER,
    CompilerState,
    evolve,
    file_text,
    fixed_pass_values,
    is_terminal,
    pass_reached,
    planned_passes,
    view,
)
from preflights_es.kernel.events import Filing
from preflights_es.kernel.session import Decider
from preflights_es.words.workflow import AskedPart, FiledPart, LedPart, ShownPart, Workflow

WORKFLOW: Workflow[CompilerState] = Workflow(
    decider=Decider(
        name="compiler",
        version="compiler/1",
        events=EVENTS,
        initial=CompilerState(),
        decide=decide,
        evolve=evolve,
        is_terminal=is_terminal,
    ),
    shown=ShownPart(
        view=view,
        statuses=("needs_answers", "ready", "stopped", "proposed", "accepted", "superseded"),
        settled=("stopped",),
        reached=pass_reached,
        fixed=fixed_pass_values,
        aside=True,
    ),
    filed=FiledPart(
        filing=Filing(folder=FOLDER, name=FILE, template=TEMPLATE, text=file_text),
        planned=planned_passes,
    ),
    led=LedPart(
        lead=lambda state: state.led.lead,
        policy=POLICY,
        package="preflights_es.features.compiler",
        prompts=tuple(PROMPTS.items()),
        always=True,
        temperature=0.0,  # one plan of one text (seed 2, 8.1)
    ),
    asked=AskedPart(
        answers=PassAnswersGiven, acknowledges=PlanApproved, accepting=accept_pass_state
    ),
)
