"""What holds for every session of every workflow, whatever comes in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import AnswersRevised
from preflights_es.features.clarification.domain.state import ClarificationState
from preflights_es.features.metrics.domain.events import FollowUpPut
from preflights_es.kernel import session as kernel
from preflights_es.kernel.events import Decision, Input
from preflights_es.kernel.ports import AppendBatch
from preflights_es.store import stored_events
from preflights_es.store.stored_events import Codec
from preflights_es.testing import LAWS, PlayedSession, check_laws, generated
from preflights_es.words.questions import is_placeholder
from tests import strategies
from tests.features.clarification.cases import answered, declared, log
from tests.fixed import NOON, PROJECT, salt
from tests.folding import judged_again
from tests.strategies import EVERY
from tests.toy import altered

each_workflow = pytest.mark.parametrize("name", EVERY)

REVISIONS: tuple[type[Input], ...] = (AnswersRevised, FollowUpPut)
"""The Inputs after which less may be known than before."""


@each_workflow
@given(st.data())
def test_decide_is_total_and_never_empty(name: str, data: st.DataObject) -> None:
    workflow = EVERY[name]
    moves = data.draw(strategies.wild_sessions(name))
    session = PlayedSession(workflow).play(moves).handle.session
    inputs = generated.any_input(workflow, strategies.ANY_TEXT)
    for new in data.draw(st.lists(inputs, min_size=1, max_size=3)):
        decisions = kernel.decide(workflow.decider, session, new)
        assert decisions
        for event in (new, *decisions):
            session = kernel.evolve(workflow.decider, session, event)
        assert all(isinstance(decision, Decision) for decision in decisions)
        assert session.undecided is None


def its_log_is_inputs_each_with_its_decisions(run: PlayedSession) -> None:
    events = run.events
    assert [event for event in events if isinstance(event, Input)] == run.inputs
    for event, following in zip(events, [*events[1:], None], strict=True):
        assert isinstance(event, Decision) or isinstance(following, Decision)
    ids = [one.input_id for one in run.stored]
    assert [id_ is not None for id_ in ids] == [isinstance(event, Input) for event in events]


def it_is_folded_and_shown_without_a_verdict_of_today(run: PlayedSession) -> None:
    assert [*judged_again(run.workflow, run.events)] == []


OWN_LAWS = (
    its_log_is_inputs_each_with_its_decisions,
    it_is_folded_and_shown_without_a_verdict_of_today,
)


@pytest.mark.hypothesis
@each_workflow
def test_every_session_keeps_the_laws(name: str) -> None:
    check_laws(EVERY[name], strategies.wild_sessions(name), laws=(*LAWS, *OWN_LAWS))


@pytest.mark.parametrize(
    ("name", "reads"), [("evolve", WORKFLOW.decider.evolve), ("view", WORKFLOW.shown.view)]
)
def test_a_verdict_in_a_fold_or_a_view_is_named(name: str, reads: Any) -> None:
    events = log(declared("Add OAuth"), answered(auth_strategy="OAuth"))
    assert is_placeholder("TBD")  # its pattern is compiled

    def judges(*given: Any) -> Any:
        assert is_placeholder("TBD")
        return reads(*given)

    found = [*judged_again(altered(WORKFLOW, **{name: judges}), events)]
    assert {(one.module, one.function) for one in found} == {
        ("words/questions.py", "is_placeholder")
    }


@each_workflow
@given(st.data())
def test_events_survive_the_codec(name: str, data: st.DataObject) -> None:
    workflow = EVERY[name]
    codec = Codec(workflow.decider)
    event = data.draw(generated.any_event(workflow))
    input_id = "i-1" if isinstance(event, Input) else None
    (one,) = stored_events.sealed(
        AppendBatch(
            session_id="s-1",
            project=PROJECT,
            workflow=workflow.name,
            expected_version=0,
            expected_hash=b"",
            events=(codec.draft(event, input_id),),
        ),
        NOON,
        salt,
    )
    decoded = codec.decode(one)
    assert decoded == event
    assert type(decoded) is type(event)
    assert codec.draft(decoded, input_id).data == one.data


def category(session: kernel.Session[object]) -> str:
    """What a clarification is about: an answer to a field of another category changes it."""
    state = session.state
    return (
        state.found.category[1].value
        if isinstance(state, ClarificationState) and state.found.category is not None
        else ""
    )


@each_workflow
@given(st.data())
def test_progress_falls_by_a_revision_alone(name: str, data: st.DataObject) -> None:
    run = PlayedSession(EVERY[name]).play(data.draw(strategies.sessions(name)))
    before, plan, topic, stopped = 0.0, None, "", False
    for new, session in run.steps():
        view = EVERY[name].shown.view(session.state)
        progress = view.progress
        assert 0.0 <= progress <= 1.0
        # Another plan of the day has other blocks to be done.
        is_planned_anew = getattr(session.state, "plan", None) != plan
        is_about_other = category(session) != topic
        is_revised = isinstance(new, REVISIONS) or is_planned_anew or is_about_other
        # An answer takes up again what a person had said to be nothing to decide.
        assert progress >= before or is_revised or stopped
        before, plan = progress, getattr(session.state, "plan", None)
        topic, stopped = category(session), view.status == "stopped"
