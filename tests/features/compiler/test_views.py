"""What is shown of a pass, of its artifacts, and what is read of it elsewhere."""

from __future__ import annotations

import json
import re
from typing import Final

import msgspec

from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.events import (
    PASSES,
    FailureReported,
    OmittedFromRequest,
    PassName,
    PlanDrafted,
)
from preflights_es.features.compiler.domain.state import envelope, file_text
from preflights_es.kernel import session as kernel
from preflights_es.kernel.errors import LLMTimeoutError
from preflights_es.kernel.events import ArtifactDue, ArtifactWritten
from preflights_es.words.items import Planned, ReadFileDigest, ReadRecord
from preflights_es.words.questions import Reached
from tests.each import each
from tests.features.compiler.cases import ELSEWHERE, MISSING, PAYLOADS, Compiled
from tests.features.compiler.passes_read import GOAL, TARGET
from tests.scripted_session import ROBOT

KEYS: Final = [
    *("artifact_type", "artifact_version", "id", "status", "created_at", "created_by"),
    *("depends_on", "payload"),
]


def records(compiled: Compiled) -> tuple[Planned, ...]:
    """What other rooms read of a session's artifacts."""
    session, sessions = kernel.begin(WORKFLOW.decider), []
    for event in compiled.log:
        session = kernel.evolve(WORKFLOW.decider, session, event)
        sessions.append(session)
    assert WORKFLOW.filed.planned is not None
    return WORKFLOW.filed.planned(compiled.log, sessions)


# 1. The view ---------------------------------------------------------------------------------


@each("name", PASSES)
def test_a_draft_is_shown_with_what_a_person_does_next(name: PassName) -> None:
    compiled = Compiled(name=name)
    view = compiled.view
    row = PASSES[name]
    subject = (TARGET if row.target else "") or (GOAL if row.goal else "")
    assert view.intention == (f"{row.writes} of {subject}" if subject else row.writes)
    assert (view.pass_type, view.target or view.goal) == (name, subject)
    assert (view.status, view.to_do) == ("ready", "approve or reject the artifact")
    assert view.artifact is not None
    assert view.artifact.payload == PAYLOADS[name]
    assert (view.artifact.standing, view.progress, view.calls) == ("draft", 1.0, 1)
    assert msgspec.json.encode(view)


def test_a_failed_transport_a_stop_and_a_question_say_what_to_do() -> None:
    down = LLMTimeoutError("120 s")
    view = Compiled(down, down).view
    assert (view.status, view.to_do, view.ended) == ("waiting", "", "")
    assert view.warnings == (
        "no usable answer from the model (timeout: 120 s): resume asks it again",
    )
    view = Compiled("no JSON").view
    assert (view.status, view.can_accept) == ("stopped", False)
    assert view.warnings == ("the pass ended without an artifact (invalid json)",)
    assert "run the pass again" in view.ended
    view = Compiled(MISSING).view
    assert (view.status, view.to_do, view.progress) == ("needs_answers", "answer the question", 0.5)
    assert [one.type for one in view.reports] == ["FailureReport"]
    assert view.warnings == ()


def test_what_was_left_out_or_taken_out_is_said() -> None:
    view = Compiled(
        left_out=(OmittedFromRequest("layout", 1_200), OmittedFromRequest("decisions", 3)),
        redacted=("token",),
    ).view
    assert view.warnings == (
        "1 secret was taken out before recording (token)",
        "the request left out 1,200 paths of the layout",
        "the request left out 3 decisions",
    )


# 2. The envelope -----------------------------------------------------------------------------


@each("name", PASSES)
def test_an_envelope_has_its_keys_in_order_and_the_payload_as_it_came(name: PassName) -> None:
    payload = dict(reversed(PAYLOADS[name].items()))
    compiled = Compiled(payload, name=name)
    found = envelope(compiled.state)
    assert list(found) == KEYS
    assert (found["artifact_type"], found["artifact_version"]) == (PASSES[name].writes, "1.0")
    assert (found["status"], found["created_by"]) == ("draft", "llm")
    assert list(found["payload"]) == list(payload)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", found["created_at"])
    assert re.fullmatch(r"[0-9a-f-]{36}", found["id"])
    text = file_text(compiled.state)
    assert text == json.dumps(found, separators=(",", ":")) + "\n"


def test_a_report_has_an_envelope_too_and_nothing_has_none() -> None:
    found = envelope(Compiled("no JSON").state)
    assert list(found) == KEYS
    assert (found["artifact_type"], found["created_by"]) == ("FailureReport", "system")
    assert found["payload"]["category"] == "validation_error"
    assert envelope(WORKFLOW.decider.initial) == {}


# 3. For other rooms --------------------------------------------------------------------------


def test_what_it_comes_to_is_the_payload_as_accepted_where_a_person_approved_it() -> None:
    payload = PAYLOADS["project"]
    assert WORKFLOW.shown.reached(Compiled("no JSON").state) == Reached()
    assert WORKFLOW.shown.reached(Compiled().state) == Reached(result=payload)
    assert WORKFLOW.shown.reached(Compiled().approve(ROBOT).state) == Reached(result=payload)
    assert WORKFLOW.shown.reached(Compiled().reject().state) == Reached(result=payload)
    approved = Compiled(MISSING, payload).answer("Ada").approve()
    found = Reached(result=payload, accepted=payload, answers=(("missing_1", "Ada"),))
    assert WORKFLOW.shown.reached(approved.state) == found
    assert WORKFLOW.shown.reached(approved.supersede().state) == found


def test_every_artifact_and_report_is_listed_with_what_was_read() -> None:
    compiled = Compiled(MISSING, PAYLOADS["implementation"], name="implementation").answer("Ada")
    report, plan = records(compiled)
    versions = {type(one): n for n, one in enumerate(compiled.log, 1)}
    assert (report.version, plan.version) == (versions[FailureReported], versions[PlanDrafted])
    assert (report.type, report.standing, report.created_by) == (
        "FailureReport",
        "failed",
        "system",
    )
    assert report.reason == "the model lacks information: Who may cancel an order?"
    assert (plan.type, plan.standing, plan.subject) == ("ImplementationPlan", "draft", TARGET)
    assert (plan.created_by, plan.changed_at, plan.changed_by) == ("llm", None, None)
    for one in (report, plan):
        assert one.files == (ReadFileDigest(TARGET, "1" * 64),)
        assert {found.source for found in one.records} == {ELSEWHERE}
        assert tuple(found.id for found in one.records) == one.depends_on
        assert all(isinstance(found, ReadRecord) for found in one.records)


def test_a_record_follows_every_change_of_standing() -> None:
    compiled = Compiled(name="test").approve().lock()
    due = compiled.events(ArtifactDue)[-1]
    compiled.submit(ArtifactWritten(at=9, actor=ROBOT, call=due.call, path=due.path, sha256="ab"))
    (plan,) = records(compiled)
    assert (plan.standing, plan.path, plan.sha256) == ("locked", due.path, "ab")
    assert plan.changed_by is not None
    assert plan.changed_by.name == "Ada Lovelace"
    (plan,) = records(compiled.supersede())
    assert (plan.standing, plan.superseded_by) == ("superseded", "a newer one")
    (plan,) = records(Compiled().reject())
    assert (plan.standing, plan.reason) == ("rejected", "too many modules")


def test_the_name_of_every_file_is_one_that_may_be_written() -> None:
    filing = WORKFLOW.filed.filing
    assert filing is not None
    for name in PASSES:
        (due,) = Compiled(name=name).approve().events(ArtifactDue)
        folder, _, file = due.path.rpartition("/")
        assert (folder, due.template) == (filing.folder, filing.template)
        assert re.fullmatch(filing.name, file)
    assert not re.fullmatch(filing.name, "AGENTS.md")
