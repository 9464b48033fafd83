"""What holds for every note, whatever a model says and a person does."""

from __future__ import annotations

from collections import Counter

from hypothesis import given

from preflights_es.features.extraction.domain import WORKFLOW
from preflights_es.features.extraction.domain.events import (
    FIELDS,
    POLICY,
    ItemChanged,
    ItemFiled,
    ItemsExtracted,
    NoteItem,
    NoteQuestionAsked,
    NoteTaken,
)
from preflights_es.features.extraction.domain.state import ExtractionState, note_status
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.events import Event
from preflights_es.kernel.lead import FellBack, LeadChanged
from preflights_es.testing import PlayedSession, SessionMove
from tests import strategies

SESSIONS = strategies.sessions("extraction")
WILD = strategies.wild_sessions("extraction")


def run(moves: list[SessionMove]) -> PlayedSession:
    return PlayedSession(WORKFLOW).play(moves)


def states(moves: list[SessionMove]) -> list[ExtractionState]:
    return [session.state for _, session in run(moves).steps()]


@given(SESSIONS | WILD)
def test_one_question_at_most_is_asked_with_two_calls_a_step(moves: list[SessionMove]) -> None:
    events = run(moves).events
    assert sum(isinstance(event, NoteQuestionAsked) for event in events) <= 1
    calls = [event for event in events if isinstance(event, CompletionRequested)]
    steps = Counter(call.call.rsplit(".", 1)[0] for call in calls)
    assert all(made <= POLICY.calls_max for made in steps.values())
    assert len({call.call for call in calls}) == len(calls)


@given(SESSIONS | WILD)
def test_numbers_are_given_once_and_in_order(moves: list[SessionMove]) -> None:
    highest = 0
    for state in states(moves):
        numbers = [item.number for item in state.items]
        assert numbers == sorted(set(numbers))
        assert all(1 <= number <= state.numbers for number in numbers)
        assert state.numbers >= highest
        highest = state.numbers


@given(SESSIONS | WILD)
def test_no_model_takes_away_what_a_person_touched(moves: list[SessionMove]) -> None:
    touched: dict[int, NoteItem] = {}
    events = run(moves).events
    for event, state in zip(events, _after_each(events), strict=True):
        if isinstance(event, ItemFiled | ItemChanged):
            touched[event.item.number] = event.item
        if isinstance(event, ItemsExtracted):
            assert not touched.keys() & {item.number for item in event.items}
        held = {item.number: item for item in state.items}
        assert all(held[number] == item for number, item in touched.items())


@given(SESSIONS | WILD)
def test_an_item_has_only_what_its_type_can_have(moves: list[SessionMove]) -> None:
    fields = {name for names in FIELDS.values() for name in names}
    for state in states(moves):
        for item in state.items:
            said = {name for name in fields if getattr(item, name) is not None}
            assert said <= set(FIELDS[item.type])
            assert 1 <= len(item.title) <= 200
            assert item.title == item.title.strip() != ""
            assert (item.confidence is None) == (item.source == "added")
            low, high = item.duration_min, item.duration_max
            assert low is None or high is None or 1 <= low <= high <= 480
            assert item.type == "task" or item.status == "open"


@given(SESSIONS | WILD)
def test_the_note_stays_and_the_status_says_what_is_open(moves: list[SessionMove]) -> None:
    session = run(moves)
    first = session.inputs[0]
    for _, after in session.steps():
        state: ExtractionState = after.state
        if isinstance(first, NoteTaken):
            assert state.note == first.note
        view = WORKFLOW.shown.view(state)
        assert (view.status == "needs_answers") == (view.questions != ())
        assert (view.status == "stopped") == (note_status(state) == "unprocessed")
        assert bool(view.to_do) == (view.status in ("stopped", "needs_answers"))
        assert (view.status == "done") == (note_status(state) == "processed")
        assert (view.progress == 1.0) == (view.status == "done")


@given(SESSIONS)
def test_what_is_left_to_a_person_is_asked_of_a_new_lead_only(moves: list[SessionMove]) -> None:
    fell_back = False
    for event in run(moves).events:
        if isinstance(event, LeadChanged):
            fell_back = False
        assert not (fell_back and isinstance(event, CompletionRequested))
        fell_back = fell_back or isinstance(event, FellBack)


def _after_each(events: list[Event]) -> list[ExtractionState]:
    """The state after each event, undecided Inputs among them."""
    session = kernel.begin(WORKFLOW.decider)
    found: list[ExtractionState] = []
    for event in events:
        session = kernel.evolve(WORKFLOW.decider, session, event)
        found.append(session.state)
    return found
