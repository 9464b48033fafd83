"""What holds for every day, whatever a model says and a person does."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given

from preflights_es.features.planning.domain import WORKFLOW, schedule
from preflights_es.features.planning.domain.contracts import PLANNING
from preflights_es.features.planning.domain.events import PlanMade
from preflights_es.features.planning.domain.state import PlanningState
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.lead import FellBack
from preflights_es.testing import PlayedSession, SessionMove
from tests import strategies
from tests.features.planning.test_schedule import holds

SESSIONS = strategies.sessions("planning")
WILD = strategies.wild_sessions("planning")


def run(moves: list[SessionMove]) -> PlayedSession:
    return PlayedSession(WORKFLOW).play(moves)


@given(SESSIONS)
def test_every_plan_keeps_its_promises(moves: list[SessionMove]) -> None:
    for _, session in run(moves).steps():
        state: PlanningState = session.state
        if state.plan is not None and state.situation is not None:
            holds(schedule.day_from_situation(state.situation), state.plan)


@given(SESSIONS | WILD)
def test_at_most_two_calls_are_made_then_the_rules_go_on(moves: list[SessionMove]) -> None:
    events = run(moves).events
    calls = [event for event in events if isinstance(event, CompletionRequested)]
    steps = Counter(call.call.rsplit(".", 1)[0] for call in calls)
    assert all(made <= PLANNING.policy.calls_max for made in steps.values())
    for event, following in pairwise(events):
        if isinstance(event, FellBack):
            assert isinstance(following, PlanMade)
            assert following.plan.source == "rules"


@given(SESSIONS | WILD)
def test_the_status_says_what_there_is(moves: list[SessionMove]) -> None:
    for _, session in run(moves).steps():
        state: PlanningState = session.state
        view = WORKFLOW.shown.view(state)
        assert 0.0 <= view.progress <= 1.0
        assert not view.questions
        if state.plan is not None and not state.led.request and not state.led.stalled:
            assert view.status == ("done" if state.plan.blocks else "stopped")
