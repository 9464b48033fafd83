"""Findings hold an approval up, unless a person waives each with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from preflights_es.features.compiler.domain.events import (
    ChangeRefused,
    FindingsWaived,
    PlanApproved,
    PlanDrafted,
    StandingChanged,
    WaiversTaken,
)
from preflights_es.features.compiler.domain.values import DecidedField, ReadDecision, Waiver
from preflights_es.kernel.events import Actor, ArtifactDue, Source
from preflights_es.kernel.items import Finding
from tests.features.compiler.cases import ADA, AGENT, PAYLOADS, ROBOT, Compiled

DECISION = ReadDecision(
    "db-1",
    "Use PostgreSQL",
    Source("01990000-0000-7000-8000-000000000002", 9, "0" * 64),
    (DecidedField("Database", "PostgreSQL", ("MySQL",)),),
)
STEP = "Use MySQL instead of PostgreSQL"
DISAGREEING = {**PAYLOADS["implementation"], "steps": [STEP], "related_tests": ["t-1", "t-9"]}
REASONS = ("The test comes later", "Only until March")


def drafted() -> Compiled:
    """A plan with a test that the TestPlan lacks, and a step that contradicts a decision."""
    return Compiled(DISAGREEING, name="implementation", decisions=(DECISION,))


def findings(compiled: Compiled) -> tuple[Finding, ...]:
    (draft,) = compiled.events(PlanDrafted)
    found: tuple[Finding, ...] = draft.findings
    return found


def waivers(compiled: Compiled, *reasons: str) -> tuple[Waiver, ...]:
    found = findings(compiled)
    return tuple(Waiver(one.name, why) for one, why in zip(found, reasons, strict=False))


def approved(compiled: Compiled, *reasons: str, actor: Actor = ADA, **said: Any) -> Compiled:
    fields = {"findings": findings(compiled), "waivers": waivers(compiled, *reasons), **said}
    return compiled.approve(actor, **fields)


def refused(compiled: Compiled) -> ChangeRefused:
    (found,) = compiled.last
    assert isinstance(found, ChangeRefused)
    assert compiled.replayed() == "identical"
    return found


def test_a_response_that_disagrees_is_a_draft_with_its_findings() -> None:
    compiled = drafted()
    assert compiled.status == "ready"
    assert [one.kind for one in findings(compiled)] == ["test", "decision"]
    assert compiled.view.findings == findings(compiled)
    assert compiled.replayed() == "identical"


@pytest.mark.parametrize("actor", [ADA, ROBOT, AGENT])
@pytest.mark.parametrize("reasons", [(), REASONS[:1]])
def test_an_open_finding_refuses_approval_and_proposal(
    actor: Actor, reasons: tuple[str, ...]
) -> None:
    given = reasons if actor is ADA else ()
    compiled = drafted()
    found = refused(approved(compiled, *given, actor=actor))
    names = tuple(one.name for one in findings(compiled))
    assert (found.reason, found.findings) == ("findings_open", names[len(given) :])
    assert compiled.state.standing == "draft"


def test_a_person_waives_each_and_the_artifact_is_approved() -> None:
    compiled = approved(drafted(), *REASONS, relayed_by=ROBOT)
    assert [type(one) for one in compiled.last][:1] == [StandingChanged]
    assert compiled.state.standing == "approved"
    assert compiled.events(ArtifactDue)
    assert [one.reason for one in compiled.view.waived] == list(REASONS)
    for one, finding in zip(compiled.view.waived, findings(compiled), strict=True):
        assert (one.finding, one.by, one.relayed_by) == (finding, ADA, ROBOT)
    assert compiled.replayed() == "identical"


@pytest.mark.parametrize("actor", [ROBOT, AGENT])
def test_only_a_person_waives(actor: Actor) -> None:
    assert refused(approved(drafted(), *REASONS, actor=actor)).reason == "not_a_person"
    compiled = approved(drafted(), *REASONS)
    found = FindingsWaived(
        at=1, actor=actor, id=compiled.id, findings=findings(compiled), waivers=()
    )
    assert refused(compiled.submit(found)).reason == "not_a_person"


@pytest.mark.parametrize("reason", ["", "  ", "TBD", "n/a", "?", "-"])
def test_a_waiver_needs_a_reason(reason: str) -> None:
    compiled = drafted()
    found = refused(approved(compiled, REASONS[0], reason))
    assert (found.reason, found.findings) == ("no_reason", (findings(compiled)[1].name,))


def test_a_waiver_of_a_finding_that_is_not_there_is_refused() -> None:
    compiled = drafted()
    more = (*waivers(compiled, *REASONS), Waiver("file-000000", "It will be"))
    found = refused(approved(compiled, waivers=more))
    assert (found.reason, found.findings) == ("unknown_finding", ("file-000000",))


def test_what_is_found_at_the_approval_counts_and_not_what_was_found_before() -> None:
    assert approved(drafted(), findings=()).state.standing == "approved"
    later = Finding("file-0000aa", "file", "/target", "is gone")
    found = refused(Compiled(name="implementation").approve(findings=(later,)))
    assert (found.reason, found.findings) == ("findings_open", ("file-0000aa",))


def test_too_many_findings_are_never_waived() -> None:
    more = Finding("more-0000aa", "more", "", "and 9 more findings")
    for said in ((), (Waiver("more-0000aa", "All of them are fine"),)):
        compiled = Compiled(name="implementation").approve(findings=(more,), waivers=said)
        assert refused(compiled).reason in ("findings_open", "unknown_finding")


def test_a_proposal_without_findings_is_approved_with_a_waiver_of_a_later_one() -> None:
    compiled = Compiled(name="implementation").approve(ROBOT)
    assert compiled.status == "proposed"
    later = Finding("decision-0000aa", "decision", "/steps/0", "states another value")
    compiled.approve(findings=(later,), waivers=(Waiver(later.name, "Only the import"),))
    assert compiled.state.standing == "approved"


# In force ------------------------------------------------------------------------------------


def waiving(compiled: Compiled, finding: Finding, reason: str, actor: Actor = ADA) -> Compiled:
    said = (Waiver(finding.name, reason),)
    new = FindingsWaived(
        at=compiled.runner.now(), actor=actor, id=compiled.id, findings=(finding,), waivers=said
    )
    return compiled.submit(new)


LATER = Finding("decision-0000aa", "decision", "/steps/0", "states another value")


def test_a_finding_of_an_artifact_in_force_is_waived_and_its_standing_stays() -> None:
    compiled = waiving(approved(drafted(), *REASONS), LATER, "The import alone reads it")
    assert [type(one) for one in compiled.last] == [WaiversTaken]
    assert compiled.state.standing == "approved"
    assert len(compiled.view.waived) == 3
    assert compiled.view.waived[-1].finding == LATER
    assert compiled.replayed() == "identical"
    waiving(compiled, LATER, "It is gone in March")
    assert [one.reason for one in compiled.view.waived][2:] == ["It is gone in March"]


def test_a_locked_plan_keeps_its_waivers() -> None:
    later = Finding("file-0000aa", "file", "/tests/0/target", "is nowhere")
    compiled = Compiled(name="test").approve(
        findings=(later,), waivers=(Waiver(later.name, "It comes next"),)
    )
    compiled.lock()
    assert compiled.state.standing == "locked"
    assert [one.finding for one in compiled.view.waived] == [later]
    waiving(compiled, LATER, "Only the import")
    assert (compiled.state.standing, len(compiled.view.waived)) == ("locked", 2)


def test_nothing_of_a_draft_is_waived_without_its_approval() -> None:
    assert refused(waiving(drafted(), LATER, "Fine")).reason == "not_in_force"


def test_a_waiver_in_force_needs_a_reason_and_its_finding() -> None:
    compiled = approved(drafted(), *REASONS)
    assert refused(waiving(compiled, LATER, "tbd")).reason == "no_reason"
    unknown = FindingsWaived(
        at=1, actor=ADA, id=compiled.id, findings=(), waivers=(Waiver("x", "Fine"),)
    )
    assert refused(compiled.submit(unknown)).reason == "unknown_finding"


def test_an_approval_without_findings_is_as_it_was() -> None:
    compiled = Compiled().approve()
    (new,) = compiled.events(PlanApproved)
    assert (new.findings, new.perhaps, new.waivers, new.quoted) == ((), (), (), ())
