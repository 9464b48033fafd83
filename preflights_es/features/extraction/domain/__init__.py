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
from preflights_es.words.workflow import Workflow

WORKFLOW: Workflow[ExtractionState] = Workflow(
    name="extraction",
    package="preflights_es.features.extraction",
    version="extraction/1",
    events=EVENTS,
    initial=ExtractionState(),
    decide=decide,
    evolve=evolve,
    is_terminal=is_terminal,
    view=view,
    statuses=("needs_answers", "stopped", "done"),
    settled=("done",),
    items=kept_items,
    reached=note_reached,
    answers=NoteAnswersGiven,
    lead=lambda state: state.led.lead,
    policy=POLICY,
    prompts=tuple(PROMPTS.items()),
    aside=True,
)
