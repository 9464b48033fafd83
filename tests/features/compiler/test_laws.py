"""What holds for every pass, whatever a model says and a person does."""

from __future__ import annotations

import json
from collections import Counter
from functools import reduce
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.decide import decide
from preflights_es.features.compiler.domain.events import (
    POLICY,
    ROUNDS_MAX,
    FailureReported,
    PassBegun,
    PassName,
    PassQuestionAsked,
    PlanApproved,
    PlanDrafted,
    PlanLocked,
    PlanRejected,
    StandingChanged,
    schema_of,
)
from preflights_es.features.compiler.domain.rules import CONTRACTS, load_compiler_schema
from preflights_es.features.compiler.domain.state import (
    CompilerState,
    envelope,
    evolve,
    file_text,
    planned_passes,
)
from preflights_es.judging.contract import Contract
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import ArtifactDue, Event, Input
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import FellBack, StepFailed, StepStalled
from preflights_es.testing import PlayedSession, SessionMove, generated
from tests import strategies
from tests.features.compiler.cases import PAYLOADS, begun
from tests.scripted_session import ROBOT

SESSIONS = strategies.sessions("compiler")
WILD = strategies.wild_sessions("compiler")
REPORT = Contract(name="report", version=1, schema=load_compiler_schema("failure_report.v1"))
FOLLOWS = {
    "approved": ("draft", "proposed"),
    "proposed": ("draft",),
    "rejected": ("draft", "proposed"),
    "locked": ("approved",),
    "superseded": ("approved", "locked"),
}
"""The table of section 3.2: from which standings each follows."""


def run(moves: list[SessionMove]) -> PlayedSession:
    return PlayedSession(WORKFLOW).play(moves)


@given(SESSIONS | WILD)
def test_a_session_has_at_most_one_artifact_and_three_questions(moves: list[SessionMove]) -> None:
    kinds = Counter(type(event) for event in run(moves).events)
    assert kinds[PlanDrafted] <= 1
    assert kinds[PassQuestionAsked] <= ROUNDS_MAX
    assert kinds[FellBack] == 0, "the rules never stand in for a model"


@given(SESSIONS | WILD)
def test_a_bad_output_is_not_asked_again_a_failed_call_once(moves: list[SessionMove]) -> None:
    calls = [one for one in run(moves).events if isinstance(one, CompletionRequested)]
    steps = Counter(call.call.rsplit(".", 1)[0] for call in calls)
    assert all(made <= POLICY.calls_max for made in steps.values())
    assert len({call.call for call in calls}) == len(calls)


@given(SESSIONS | WILD)
def test_every_step_that_ends_without_a_result_is_reported_with_ids_of_their_own(
    moves: list[SessionMove],
) -> None:
    events = run(moves).events
    reports = [one for one in events if isinstance(one, FailureReported)]
    ended = [
        one
        for one in events
        if isinstance(one, StepFailed) or (isinstance(one, StepStalled) and one.reason != "no_lead")
    ]
    assert len(reports) == len(ended)
    for report in reports:
        assert REPORT.shape.violations(json.loads(report.payload), 0) == ()
    made = [one.id for one in events if isinstance(one, FailureReported | PlanDrafted)]
    assert len(set(made)) == len(made)


@given(SESSIONS)
def test_what_is_drafted_meets_its_contract(moves: list[SessionMove]) -> None:
    events = run(moves).events
    for event in events:
        if isinstance(event, PlanDrafted):
            first = events[0]
            assert isinstance(first, PassBegun)
            payload = json.loads(event.payload)
            assert CONTRACTS[schema_of(first.pass_type)].shape.violations(payload, 0) == ()


@given(SESSIONS | WILD)
def test_a_standing_follows_as_the_table_says_and_a_file_with_it(moves: list[SessionMove]) -> None:
    standing: str = ""
    due = 0
    for event in run(moves).events:
        if isinstance(event, PlanDrafted):
            standing = "draft"
        if isinstance(event, StandingChanged):
            assert standing in FOLLOWS[event.standing]
            standing = event.standing
            due += standing in ("approved", "locked", "superseded")
        due -= isinstance(event, ArtifactDue)
        assert due in (0, 1)
    assert due == 0


@given(SESSIONS | WILD)
def test_only_a_person_brings_an_artifact_in_force_or_rejects_it(moves: list[SessionMove]) -> None:
    new: Event | None = None
    for event in run(moves).events:
        if isinstance(event, PlanApproved | PlanRejected | PlanLocked):
            new = event
        if isinstance(event, StandingChanged) and event.standing in (
            *("approved", "locked", "rejected"),
        ):
            assert isinstance(new, PlanApproved | PlanRejected | PlanLocked)
            assert new.actor.kind == "user"


@given(SESSIONS | WILD)
def test_the_views_agree_and_the_status_says_what_is_open(moves: list[SessionMove]) -> None:
    played = run(moves)
    sessions = _after_each(played.events)
    for session in sessions:
        state: CompilerState = session.state
        view = WORKFLOW.shown.view(state)
        assert (view.status == "needs_answers") == (view.questions != ())
        assert bool(view.to_do) == (view.status in ("needs_answers", "ready", "proposed"))
        assert view.can_accept == (view.status in ("ready", "proposed"))
        reached = WORKFLOW.shown.reached(state)
        assert (reached.result is None) == (state.plan is None)
        assert (reached.accepted is not None) == (state.filed != "draft")
        told = envelope(state)
        assert bool(told) == bool(state.plan or state.reports)
    found = planned_passes(played.events, sessions)
    made = [one for one in played.events if isinstance(one, FailureReported | PlanDrafted)]
    if sessions[-1].closed != "erased":
        assert [one.id for one in found] == [one.id for one in made]


FORGED = st.sampled_from(("", "x", "[]", "{}", '{"files": 3}', '{"files": [3]}', '{"tests": [{}]}'))


@given(generated.of_type(PassBegun), FORGED, st.sampled_from(tuple(PAYLOADS)))
def test_whatever_was_read_a_payload_is_judged(new: PassBegun, text: str, name: PassName) -> None:
    whole = begun(name)
    plans = tuple(replace(one, payload=text) for one in whole.plans)
    for first in (new, replace(whole, plans=plans, documents=new.documents)):
        judged(first)


@given(generated.of_type(PassBegun, strategies.ANY_TEXT), strategies.ANY_TEXT)
def test_no_text_makes_an_error_also_one_that_no_log_holds(new: PassBegun, text: str) -> None:
    assert decide(CompilerState(), new)
    first = begun()
    state = evolve(evolve(CompilerState(), first), decide(CompilerState(), first)[0])
    said: dict[str, Any] = {"at": 1, "actor": ROBOT, "call": "plan-1.1"}
    assert decide(state, CompletionReceived(text=text, **said))
    for _ in range(2):
        failed = CompletionFailed(kind=text, message=text, received=text, **said)
        for event in (failed, *(decisions := decide(state, failed))):
            state = evolve(state, event)
        assert decisions


@given(
    st.lists(generated.any_event(WORKFLOW), max_size=8),
    generated.any_input(WORKFLOW, strategies.ANY_TEXT),
)
def test_any_log_can_be_shown_and_goes_on(events: list[Event], new: Input) -> None:
    state = reduce(evolve, events, CompilerState())
    assert decide(state, new)
    assert file_text(state) == canonical_json(envelope(state)).decode() + "\n"
    assert canonical_json(WORKFLOW.shown.view(state))
    assert WORKFLOW.shown.reached(state) is not None
    assert len(planned_passes(events, [kernel.Session(state=state)])) <= len(events)


def judged(new: PassBegun) -> None:
    state = evolve(CompilerState(), new)
    for event in decide(CompilerState(), new):
        state = evolve(state, event)
    if state.led.request is None:
        return
    text = json.dumps(PAYLOADS[new.pass_type])
    call = state.led.request.call
    assert decide(state, CompletionReceived(at=1, actor=ROBOT, call=call, text=text))


def _after_each(events: list[Event]) -> list[kernel.Session[CompilerState]]:
    session = kernel.begin(WORKFLOW.decider)
    return [session := kernel.evolve(WORKFLOW.decider, session, event) for event in events]
