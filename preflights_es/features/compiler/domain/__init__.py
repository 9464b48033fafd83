"""Approved documents become structured plans, pass by pass (seed 2)."""

from preflights_es.features.compiler.domain.decide import TEMPLATE, accept_pass_state, decide
from preflights_es.features.compiler.domain.events import EVENTS, PassAnswersGiven, PlanApproved
from preflights_es.features.compiler.domain.state import (
    CompilerState,
    evolve,
    fixed_pass_values,
    is_terminal,
)
from preflights_es.features.compiler.domain.values import POLICY, PROMPTS
from preflights_es.features.compiler.domain.views import (
    FILE,
    FOLDER,
    file_text,
    pass_reached,
    planned_passes,
    view,
)
from preflights_es.kernel.events import Filing
from preflights_es.words.workflow import Workflow

WORKFLOW: Workflow[CompilerState] = Workflow(
    name="compiler",
    package="preflights_es.features.compiler",
    version="compiler/1",
    events=EVENTS,
    initial=CompilerState(),
    decide=decide,
    evolve=evolve,
    is_terminal=is_terminal,
    view=view,
    statuses=("needs_answers", "ready", "stopped", "proposed", "accepted", "superseded"),
    settled=("stopped", "accepted", "superseded"),
    acknowledges=PlanApproved,
    accepting=accept_pass_state,
    fixed=fixed_pass_values,
    planned=planned_passes,
    filing=Filing(folder=FOLDER, name=FILE, template=TEMPLATE, text=file_text),
    reached=pass_reached,
    answers=PassAnswersGiven,
    lead=lambda state: state.led.lead,
    policy=POLICY,
    prompts=tuple(PROMPTS.items()),
    always_led=True,
    temperature=0.0,  # one plan of one text (seed 2, 8.1)
    aside=True,
)
