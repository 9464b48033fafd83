"""A note becomes tasks, events and ideas, with at most one question (seed 3)."""

from preflights_es.features.extraction.domain.decide import PROMPTS, decide
from preflights_es.features.extraction.domain.events import EVENTS, POLICY, NoteAnswersGiven
from preflights_es.features.extraction.domain.state import (
    ExtractionState,
    evolve,
    is_terminal,
    kept_items,
    note_reached,
    view,
)
from preflights_es.kernel.session import Decider
from preflights_es.words.workflow import AskedPart, FiledPart, LedPart, ShownPart, Workflow

WORKFLOW: Workflow[ExtractionState] = Workflow(
    decider=Decider(
        name="extraction",
        version="extraction/1",
        events=EVENTS,
        initial=ExtractionState(),
        decide=decide,
        evolve=evolve,
        is_terminal=is_terminal,
    ),
    shown=ShownPart(
        view=view, statuses=("needs_answers", "stopped", "done"), reached=note_reached, aside=True
    ),
    filed=FiledPart(items=kept_items),
    led=LedPart(
        lead=lambda state: state.led.lead,
        policy=POLICY,
        package="preflights_es.features.extraction",
        prompts=tuple(PROMPTS.items()),
        temperature=0.3,  # seed 3, validation flow
    ),
    asked=AskedPart(answers=NoteAnswersGiven),
)
