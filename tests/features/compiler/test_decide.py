"""What follows from an Input, from examples."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.decide import decide
from preflights_es.features.compiler.domain.events import (
    PASSES,
    PassAnswerRefused,
    PassChangeRefused,
    PassName,
    PlanDrafted,
    PlanRejected,
    StandingChanged,
)
from preflights_es.features.compiler.domain.state import CompilerState, evolve, file_text
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import LLMTimeoutError
from preflights_es.kernel.events import Actor, ArtifactDue, ArtifactWritten, Input
from preflights_es.kernel.lead import Lead, LeadTaken, Setup, StepStalled
from tests.each import each
from tests.features.compiler.cases import AGENT, MISSING, PAYLOADS, Compiled, begun
from tests.scripted_session import ADA, ROBOT

OTHERS: Final = (ROBOT, AGENT)


def refused(compiled: Compiled) -> str:
    """The reason for which the last Input changes nothing; every refusal replays."""
    (decision,) = compiled.last
    assert isinstance(decision, PassChangeRefused)
    assert compiled.replayed() == "identical"
    return decision.reason


# 1. A pass -----------------------------------------------------------------------------------


@each("name", PASSES)
def test_a_response_that_passes_becomes_the_draft_of_its_pass(name: PassName) -> None:
    compiled = Compiled(name=name)
    assert compiled.status == "ready"
    (plan,) = compiled.events(PlanDrafted)
    assert (plan.type, plan.created_by) == (PASSES[name].writes, "llm")
    assert compiled.payload == PAYLOADS[name]
    first = compiled.state.begun
    assert first is not None
    assert plan.depends_on == tuple(one.id for one in first.plans)
    assert compiled.replayed() == "identical"


@each("name", PASSES)
def test_a_request_names_and_hashes_its_prompts_and_its_schema(name: PassName) -> None:
    (request,) = Compiled(name=name).script.requests
    row = PASSES[name]
    names = [id_ for id_, _ in request.prompts]
    assert names == ["base.v1", f"{row.prompt}.v1", f"{row.schema}.v1"]
    assert all(len(digest) == 64 for _, digest in request.prompts)
    assert request.contract == f"{row.schema}.v1"
    system, user = request.messages
    assert (system.role, user.role) == ("system", "user")
    assert system.content.startswith("SYSTEM PROMPT")
    assert "{schema}" not in system.content
    assert f'"title": "{row.writes}"' in system.content


def test_what_the_reference_plans_is_made_by_the_system() -> None:
    setup = Setup("0", "compiler/1", "mock", lead=Lead("mock", "compiler/1"))
    (plan,) = Compiled(setup=setup).events(PlanDrafted)
    assert plan.created_by == "system"


def test_an_id_follows_from_what_was_read_and_the_number_in_the_session() -> None:
    one, again = Compiled(), Compiled()
    assert one.id == again.id
    assert one.id[14] == "8"
    assert one.id[19] in "89ab"
    other = Compiled(uid="ba9876543210")
    after_a_report = Compiled(MISSING, PAYLOADS["project"]).answer("Ada")
    assert len({one.id, other.id, after_a_report.id}) == 3
    assert after_a_report.state.reports[0].id == one.id, "the first of the same request"


def test_without_a_lead_the_session_waits_for_one() -> None:
    compiled = Compiled(setup=Setup("0", "compiler/1"))
    assert isinstance(compiled.last[0], StepStalled)
    assert compiled.status == "waiting"
    assert compiled.retry().status == "waiting"
    assert compiled.led_by(Lead("script", "m-2")).status == "ready"


def test_a_pass_begins_once_and_no_lead_takes_over_where_nothing_is_open() -> None:
    compiled = Compiled()
    compiled.submit(begun(at=5))
    assert refused(compiled) == "not_expected"
    assert refused(Compiled().led_by(Lead("script", "m-2"))) == "not_expected"
    assert refused(Compiled("no JSON").led_by(Lead("script", "m-2"))) == "not_expected"
    for compiled in (Compiled("no JSON"), Compiled(MISSING), Compiled()):
        assert refused(compiled.retry()) == "not_expected"
        assert len(compiled.script.requests) == 1


def test_a_new_lead_is_asked_what_is_open() -> None:
    down = LLMTimeoutError("late")
    compiled = Compiled(down, down, PAYLOADS["project"])
    compiled.led_by(Lead("script", "m-2"))
    assert isinstance(compiled.events(LeadTaken)[0], LeadTaken)
    assert compiled.script.requests[-1].model == "m-2"
    assert compiled.status == "ready"
    compiled = Compiled(MISSING, PAYLOADS["project"]).led_by(Lead("script", "m-2"))
    assert compiled.status == "needs_answers"
    assert compiled.answer("Ada").status == "ready"
    assert compiled.script.requests[-1].model == "m-2"


# 2. The question -----------------------------------------------------------------------------


@each(
    ("values", "key", "reason"),
    [
        (("",), "missing_1", "blank"),
        ((), "missing_1", "blank"),
        (("TBD",), "missing_1", "placeholder"),
        (("a", "b"), "missing_1", "several_values"),
        (("a",), "missing_2", "unknown_question"),
        (("a",), "", "unknown_question"),
    ],
)
def test_an_answer_that_does_not_count_is_refused(
    values: tuple[str, ...], key: str, reason: str
) -> None:
    compiled = Compiled(MISSING).answer(*values, key=key)
    (found,) = compiled.last
    assert isinstance(found, PassAnswerRefused)
    assert found.reason == reason
    assert found.expected == (("missing_1",) if reason == "unknown_question" else ())
    assert compiled.status == "needs_answers"


def test_an_answer_is_taken_once_and_where_something_is_asked() -> None:
    asked = Compiled(MISSING, PAYLOADS["project"]).answer("Ada")
    for compiled, reason in (
        (asked, "already_answered"),
        (Compiled(), "unknown_question"),
        (Compiled("no JSON"), "unknown_question"),
        (Compiled().approve(), "unknown_question"),
    ):
        (found,) = compiled.answer("Bob").last
        assert isinstance(found, PassAnswerRefused)
        assert found.reason == reason


# 3. The standing -----------------------------------------------------------------------------


@each("first", [None, *OTHERS])
def test_approved_from_a_draft_or_a_proposal_by_a_person(first: Actor | None) -> None:
    compiled = Compiled()
    assert compiled.state.standing == "draft"
    if first is not None:
        compiled.approve(first)
        assert (compiled.state.standing, compiled.status) == ("proposed", "proposed")
        assert not compiled.events(ArtifactDue)
        assert refused(compiled.approve(first)) == "not_a_draft"
    compiled.approve(relayed_by=ROBOT)
    assert (compiled.state.standing, compiled.status) == ("approved", "accepted")
    assert compiled.view.changed_by == "Ada Lovelace"
    assert compiled.view.relayed_by == "script"


@each("first", [None, ROBOT])
def test_rejected_from_a_draft_or_a_proposal_with_a_reason(first: Actor | None) -> None:
    compiled = Compiled()
    if first is not None:
        compiled.approve(first)
    compiled.reject()
    assert (compiled.state.standing, compiled.status) == ("rejected", "stopped")
    assert compiled.view.reason == "too many modules"
    assert not compiled.events(ArtifactDue)


@each("locked", [False, True])
def test_superseded_from_approved_or_locked(locked: bool) -> None:
    compiled = Compiled(name="test").approve()
    if locked:
        compiled.lock()
        assert (compiled.state.standing, compiled.status) == ("locked", "accepted")
    compiled.supersede()
    assert (compiled.state.standing, compiled.status) == ("superseded", "superseded")
    assert compiled.view.superseded_by == "a newer one"


def test_failed_no_standing_follows_a_report() -> None:
    compiled = Compiled("no JSON")
    report = compiled.state.reports[0].id
    for change in (compiled.approve, compiled.reject, compiled.lock, compiled.supersede):
        assert refused(change(id=report)) == "no_plan"
        assert refused(change()) == "no_plan"
    assert compiled.status == "stopped"


def test_an_unknown_id_or_another_payload_is_refused() -> None:
    compiled = Compiled(name="test")
    for change in (compiled.approve, compiled.reject, compiled.lock, compiled.supersede):
        assert refused(change(id="01990000-0000-8000-8000-000000000000")) == "unknown_id"
    assert refused(compiled.approve(sha256="0" * 64)) == "other_payload"
    assert refused(compiled.approve(sha256="")) == "other_payload"
    assert compiled.status == "ready"
    went_on = Compiled(MISSING, PAYLOADS["project"]).answer("Ada")
    assert refused(went_on.approve(id=went_on.state.reports[0].id)) == "no_plan"
    assert went_on.approve().status == "accepted"


def test_only_an_approved_test_plan_is_locked_and_by_a_person() -> None:
    for actor in OTHERS:
        assert refused(Compiled().reject(actor)) == "not_a_person"
        assert refused(Compiled(name="test").approve().lock(actor)) == "not_a_person"
    assert refused(Compiled().approve().lock()) == "not_a_test_plan"
    assert refused(Compiled(name="test").lock()) == "not_approved"
    assert refused(Compiled(name="test").approve(ROBOT).lock()) == "not_approved"
    assert refused(Compiled(name="test").approve().lock().lock()) == "not_approved"
    assert refused(Compiled(name="test").reject().lock()) == "not_approved"


def test_only_what_is_in_force_is_superseded() -> None:
    for compiled in (Compiled(), Compiled().approve(ROBOT), Compiled().reject()):
        assert refused(compiled.supersede()) == "not_in_force"
    assert refused(Compiled().approve().supersede().supersede()) == "not_in_force"


def test_what_was_decided_is_not_approved_or_rejected_again() -> None:
    locked = Compiled(name="test").approve().lock()
    ends = (Compiled().approve(), Compiled().reject(), Compiled().approve().supersede(), locked)
    for compiled in ends:
        assert refused(compiled.approve()) == "not_a_draft"
        assert refused(compiled.reject()) == "not_a_draft"


# 4. The file ---------------------------------------------------------------------------------


def test_a_file_is_due_for_the_approval_and_the_lock_and_stays_after_a_supersession() -> None:
    compiled = Compiled(name="test").approve()
    dues = compiled.events(ArtifactDue)
    path = f".preflights/artifacts/TestPlan-{compiled.id}.json"
    assert [(one.call, one.template, one.path) for one in dues] == [("artifact-1", "plan.v1", path)]
    assert '"status":"approved"' in file_text(compiled.state)
    compiled.lock()
    dues = compiled.events(ArtifactDue)
    assert [(one.call, one.path) for one in dues] == [("artifact-1", path), ("artifact-2", path)]
    text = file_text(compiled.state)
    assert '"status":"locked"' in text
    compiled.supersede()
    assert [one.call for one in compiled.events(ArtifactDue)][2:] == ["artifact-3"]
    assert file_text(compiled.state) == text


def test_a_file_that_was_edited_is_said_to_lie_beside() -> None:
    compiled = Compiled().approve()
    (due,) = compiled.events(ArtifactDue)
    beside = f"{due.path}.new"
    compiled.submit(
        ArtifactWritten(at=9, actor=ROBOT, call=due.call, path=beside, sha256="cd", beside=True)
    )
    assert any(beside in warning for warning in compiled.view.warnings)
    assert compiled.view.written is None


# 5. Generic acceptance -----------------------------------------------------------------------


def test_what_is_accepted_is_the_artifact_as_it_is_shown_and_else_nothing() -> None:
    compiled = Compiled()
    shown = compiled.view.artifact
    assert shown is not None
    accepting = WORKFLOW.asked.accepting(compiled.state, {})
    assert accepting.fields == {"id": shown.id, "sha256": shown.sha256}
    assert (accepting.kind, accepting.numbered) == ("", False)
    assert compiled.view.can_accept
    for compiled in (Compiled("no JSON"), Compiled(MISSING)):
        fields = WORKFLOW.asked.accepting(compiled.state, {}).fields
        assert refused(compiled.approve(**fields)) == "no_plan"
        assert not compiled.view.can_accept


def test_nothing_of_an_empty_session_is_taken_but_a_pass() -> None:
    compiled = Compiled(name="test").approve().reject().lock().supersede().retry()
    for new in compiled.events(Input)[1:]:
        (decision,) = decide(CompilerState(), new)
        assert isinstance(decision, PassChangeRefused)
    assert isinstance(decide(CompilerState(), begun())[0], CompletionRequested)


@each("standing", ["proposed", "approved", "rejected", "locked", "superseded"])
def test_a_standing_that_does_not_follow_is_none(standing: Any) -> None:
    """No rule makes it; a log that anyone wrote may hold it."""
    compiled = Compiled().approve()
    state = compiled.state
    forged = StandingChanged(id=compiled.id, standing=standing)
    assert evolve(state, forged) == state, "approved once"
    late = PlanRejected(at=1, actor=ADA, id=forged.id, reason="Eve")
    refused = evolve(state, late)
    assert evolve(refused, forged) == refused, "rejected from no draft"
    draft = evolve(Compiled().state, late)
    assert (evolve(draft, forged).standing == "rejected") is (standing == "rejected")
