"""What holds for every clarification, whatever is answered (docs/specs/clarification.md)."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from preflights_es import DecisionPatch, MockLLMAdapter
from preflights_es.features.clarification.domain import rules, views
from preflights_es.features.clarification.domain.events import (
    ClarificationAnswerAccepted,
    ClarificationQuestionAsked,
    ClarificationStopped,
    PatchProposed,
    TopicDropped,
)
from preflights_es.features.clarification.domain.state import UNDECIDED, ClarificationState
from preflights_es.features.clarification.domain.values import (
    COMPANION,
    OTHER_OPTION,
    Answer,
    SessionSnapshot,
)
from preflights_es.kernel.events import Event
from preflights_es.testing import PlayedSession, SessionMove
from preflights_es.words.decisions import OTHER
from preflights_es.words.questions import is_placeholder
from tests import strategies

SESSIONS = strategies.sessions("clarification")
WILD = strategies.wild_sessions("clarification")
WANDERING = strategies.wandering()


def run(moves: list[SessionMove]) -> PlayedSession:
    return PlayedSession(strategies.EVERY["clarification"]).play(moves)


def answered_when_asked(events: list[Event]) -> int:
    """How often an answer to the open question was accepted."""
    count, key = 0, None
    for event in events:
        match event:
            case ClarificationQuestionAsked(question=question):
                key = question.id
            case ClarificationAnswerAccepted(key=answered) if answered == key:
                count, key = count + 1, None
            case PatchProposed() | ClarificationStopped():
                key = None
    return count


@given(WANDERING | WILD)
def test_at_most_three_questions_are_answered(moves: list[SessionMove]) -> None:
    session = run(moves)
    assert answered_when_asked(session.events) <= rules.TURNS_MAX == 3
    asked = [event for event in session.events if isinstance(event, ClarificationQuestionAsked)]
    assert all(1 <= question.turn <= 3 for question in asked)


@given(WANDERING)
def test_the_turn_counts_the_answers_to_what_was_asked(moves: list[SessionMove]) -> None:
    session = run(moves)
    state: ClarificationState = session.handle.session.state
    assert state.turns.turn == 1 + answered_when_asked(session.events)


def holds(patch: DecisionPatch, known: set[str]) -> None:
    """A patch has a known category, at least one field, and only concrete values."""
    assert patch.category in known | {OTHER}
    assert patch.fields
    for _, value in patch.fields:
        assert value == value.strip() != ""
        assert not is_placeholder(value)
        assert value.casefold() != OTHER_OPTION.casefold()


@given(WANDERING | WILD)
def test_a_patch_holds_only_concrete_values_of_a_known_category(moves: list[SessionMove]) -> None:
    for _, session in run(moves).steps():
        state: ClarificationState = session.state
        if state.offer.patch is not None:
            holds(
                state.offer.patch, {category.name for category in state.found.heuristics.categories}
            )


@given(WILD)
def test_one_question_at_most_is_asked_and_never_a_companion(moves: list[SessionMove]) -> None:
    for _, session in run(moves).steps():
        view = views.view(session.state)
        config = session.state.found.heuristics
        keys = {config.category.id, config.description.id}
        keys |= {field.id for category in config.categories for field in category.fields()}
        assert {*view.missing_info} | {question.id for question in view.questions} <= keys
        assert len(view.questions) <= 1
        assert len(view.missing_info) <= 1


@given(SESSIONS)
def test_a_choice_always_ends_in_the_option_to_specify(moves: list[SessionMove]) -> None:
    for event in run(moves).events:
        if isinstance(event, ClarificationQuestionAsked):
            question = event.question
            assert (question.type == "free_text") == (not question.options)
            assert question.options[-1:] in ((), (OTHER_OPTION,))
            assert not question.id.endswith(COMPANION)


@given(WANDERING | SESSIONS)
def test_the_status_says_what_is_open(moves: list[SessionMove]) -> None:
    for _, session in run(moves).steps():
        view = views.view(session.state)
        assert (view.status == "needs_answers") == (view.questions != ())
        assert (view.status == "stopped") <= (view.patch is None)
        assert (view.status == "ready") <= (view.patch is not None)


@given(WANDERING | SESSIONS)
def test_the_adapter_says_of_a_snapshot_what_the_session_says(moves: list[SessionMove]) -> None:
    adapter = MockLLMAdapter()
    played = run(moves)
    for _, session in played.steps():
        state: ClarificationState = session.state
        if state.turns.input is None or state.led.lead or state.led.steps or state.opened.pack:
            continue
        if state.offer.stopped in UNDECIDED:
            continue
        before = played.events[: session.version]
        if any(isinstance(event, TopicDropped) for event in before):
            continue  # a snapshot of the specification says nothing of a menu that was dismissed
        answers = as_given(before, state)
        snapshot = SessionSnapshot(tuple(state.turns.asked), answers, state.turns.turn)
        said = adapter.generate_questions(
            state.opened.intention, state.found.heuristics, None, snapshot
        )
        view = views.view(state)
        assert (said.missing_info, said.progress) == (view.missing_info, view.progress)
        assert said.decision_hint == view.decision_hint
        assert said.questions == view.questions
        patch = adapter.extract_decision_patch(
            state.opened.intention, answers, state.found.heuristics
        )
        assert view.patch == (None if view.questions else patch)


def as_given(events: Sequence[Event], state: ClarificationState) -> dict[str, Answer]:
    """The answers that count, in the words of the person, with companion keys."""
    last = {event.key: event for event in events if isinstance(event, ClarificationAnswerAccepted)}
    found = {key: last[key].answer for key in state.turns.answers}
    others = ((key, last[key].other) for key in state.turns.answers)
    return {**found, **{key + COMPANION: other for key, other in others if other is not None}}


@given(strategies.ANY_TEXT | strategies.INTENTIONS, st.text(" ,.()-_/'", min_size=1, max_size=2))
def test_words_around_an_intention_never_hide_its_category(intention: str, glue: str) -> None:
    config = strategies.DEFAULT
    order = [category.name for category in config.categories]
    before = rules.detected(intention, config)
    after = rules.detected(f"x {intention}{glue} y", config)
    if before is not None:
        assert after is not None
        assert order.index(after.category.name) <= order.index(before.category.name)
