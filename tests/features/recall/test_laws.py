"""What holds for every recall, whatever a model says and the index holds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given

from preflights_es.features.recall.domain import rules
from preflights_es.features.recall.domain.events import (
    QUERIES_MAX,
    ComparisonAsked,
    EvolutionDetected,
    LearningAsked,
    QueriesRewritten,
    WordsLearned,
)
from preflights_es.features.recall.domain.state import State, evolve
from preflights_es.features.recall.domain.views import view
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.lead import FellBack, Setup
from preflights_es.kernel.words import words
from preflights_es.testing import PlayedSession, SessionMove
from tests import strategies
from tests.features.recall.cases import OLDER, opening
from tests.led import ADA

SESSIONS = strategies.sessions("recall")
WILD = strategies.wild_sessions("recall")


def run(moves: list[SessionMove]) -> PlayedSession:
    return PlayedSession(strategies.EVERY["recall"]).play(moves)


@given(SESSIONS | WILD)
def test_a_question_becomes_at_most_three_queries(moves: list[SessionMove]) -> None:
    for _, session in run(moves).steps():
        state: State = session.state
        assert len(state.queries or ()) <= QUERIES_MAX


@given(SESSIONS | WILD)
def test_an_answer_is_in_the_order_of_the_rules_and_stays(moves: list[SessionMove]) -> None:
    before = None
    for _, session in run(moves).steps():
        state: State = session.state
        if before is not None:
            assert state.results == before
        if state.results is not None:
            assert list(state.results) == rules.best(state.results)
        before = state.results


@given(SESSIONS | WILD)
def test_a_fallback_is_followed_by_the_answer_of_the_rules(moves: list[SessionMove]) -> None:
    events = run(moves).events
    for event, following in pairwise(events):
        if isinstance(event, FellBack):
            assert isinstance(following, QueriesRewritten | WordsLearned | EvolutionDetected)
            # What a model named before it failed is learned.
            assert isinstance(following, WordsLearned) or following.source == "rules"


@given(SESSIONS | WILD)
def test_a_model_hides_no_finding_and_takes_no_choice_away(moves: list[SessionMove]) -> None:
    for _, session in run(moves).steps():
        state: State = session.state
        if state.findings is None:
            continue
        assert isinstance(state.about, ComparisonAsked)
        found = {one.related.uid: one for one in state.findings}
        assert all(one.evolution != "none" for one in state.findings)
        for one in state.about.older:
            after = found.get(one.related.uid)
            assert one.evolution == "none" or after is not None
            assert not one.needs_choice or (after is not None and after.needs_choice)
            assert after is None or after.by == "model" or after == one


def test_findings_that_only_a_forged_file_has_are_left_out() -> None:
    forged = EvolutionDetected(findings=OLDER, source="model")
    assert view(evolve(State(), forged)).evolution == ()
    of = {"at": 1, "actor": ADA, "setup": Setup("1", "x")}
    compared = evolve(State(), opening("compare: Keep orders", **of))
    shown = view(evolve(compared, forged)).evolution
    assert [one.evolution for one in shown] == ["contradict", "extend"]


@given(SESSIONS | WILD)
def test_a_decision_gains_no_word_of_its_own(moves: list[SessionMove]) -> None:
    for _, session in run(moves).steps():
        state: State = session.state
        if state.words is not None:
            about = state.about
            assert isinstance(about, LearningAsked)
            own = set(words(f"{about.title} {about.intention} {about.category} Type MySQL"))
            assert not own & set(words(" ".join(state.words)))


@given(SESSIONS)
def test_every_call_is_counted(moves: list[SessionMove]) -> None:
    found = run(moves)
    calls = [event for event in found.events if isinstance(event, CompletionRequested)]
    assert found.handle.session.state.led.calls == len(calls)
