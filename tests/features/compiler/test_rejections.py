"""Every row of the seed's tables of rejections (6.2) and of errors (7.1), through `decide`."""

from __future__ import annotations

import json
from typing import Any, Final

from preflights_es.features.compiler.domain.events import (
    RAW_MAX,
    ROUNDS_MAX,
    FailureReported,
    PlanDrafted,
)
from preflights_es.features.compiler.domain.lead import CATEGORY, RECOVERY
from preflights_es.features.compiler.domain.rules import load_compiler_schema
from preflights_es.judging.contract import Contract
from preflights_es.kernel import errors
from preflights_es.kernel.completions import CompletionReceived, CompletionRequested
from preflights_es.kernel.lead import ResponseRejected, StepFailed, StepStalled
from preflights_es.testing import Reply
from tests.each import each
from tests.features.compiler.cases import MISSING, PAYLOADS, Compiled

PLAN: Final = json.dumps(PAYLOADS["project"])
CODE: Final = json.loads(PLAN)
CODE["domains"][0]["responsibility"] = "def keep(order):\n    return order.save()\n"
UNKNOWN_DOMAIN: Final = json.loads(PLAN)
UNKNOWN_DOMAIN["modules"][0]["domain"] = "Billing"

REPORT: Final = Contract(name="report", version=1, schema=load_compiler_schema("failure_report.v1"))


def stopped(reply: Reply, kind: str, category: str, recovery: str) -> Compiled:
    """A pass that ends with its first response: recorded, reported, and not asked again."""
    compiled = Compiled(reply)
    assert compiled.status == "stopped"
    assert len(compiled.script.requests) == 1
    assert [(one.reason, one.contract) for one in compiled.events(StepFailed)] == [
        (kind, "project_plan.v1")
    ]
    assert not compiled.events(PlanDrafted)
    reported(compiled, kind, category, recovery)
    return compiled


def reported(compiled: Compiled, kind: str, category: str, recovery: str) -> None:
    """The session's last report says what happened, and reads back."""
    report = compiled.report
    assert (report["category"], report["recovery_action"]) == (category, recovery)
    assert report["details"]["kind"] == kind
    assert (report["phase"], report["blocking"], report["artifact_id"]) == ("planning", True, None)
    assert REPORT.shape.violations(report, 0) == ()
    shown = compiled.view.artifact
    assert shown is not None
    assert (shown.type, shown.standing, shown.payload) == ("FailureReport", "failed", report)
    assert compiled.replayed() == "identical"


# 1. Table 6.2 --------------------------------------------------------------------------------


@each("reply", ["", "I cannot say.", "{'domains': []}", PLAN[:-2], "[1, 2"])
def test_6_2_a_non_json_response_is_rejected_immediately(reply: str) -> None:
    compiled = stopped(reply, "invalid_json", "validation_error", "abort")
    assert compiled.report["raw_response"] == reply


def test_6_2_multiple_json_objects_are_rejected() -> None:
    stopped(PLAN + "\n" + PLAN, "multiple_artifacts", "validation_error", "abort")
    stopped(f"[{PLAN}, {PLAN}]", "multiple_artifacts", "validation_error", "abort")


def test_6_2_a_schema_mismatch_is_rejected_with_its_pointers() -> None:
    compiled = stopped('{"domains": []}', "schema_violation", "validation_error", "abort")
    found = {one["pointer"]: one["message"] for one in compiled.report["details"]["violations"]}
    assert found["/modules"] == "is required"
    assert "/domains" in found


def test_6_2_code_and_a_final_check_are_rejected_where_they_are_detected() -> None:
    compiled = stopped(CODE, "code_in_output", "validation_error", "abort")
    (found,) = compiled.report["details"]["violations"]
    assert found["pointer"] == "/domains/0/responsibility"
    compiled = stopped(UNKNOWN_DOMAIN, "schema_violation", "validation_error", "abort")
    (found,) = compiled.report["details"]["violations"]
    assert found["pointer"] == "/modules/0/domain"


@each(
    "reply",
    ["Here it is: " + PLAN, PLAN + " Done.", "<think>x</think>" + PLAN, "hm</think>" + PLAN],
)
def test_6_2_explanatory_text_is_rejected_and_reasoning_with_what_to_turn_on(reply: str) -> None:
    compiled = stopped(reply, "explanatory_text", "validation_error", "abort")
    (found,) = compiled.report["details"]["violations"]
    turn_on = "turn on the reasoning parser of the server" in found["message"]
    assert turn_on == ("</think>" in reply)


def test_6_2_missing_information_halts_for_a_human() -> None:
    compiled = Compiled(MISSING, PAYLOADS["project"])
    assert compiled.status == "needs_answers"
    reported(compiled, "missing_information", "missing_information", "human_input_required")
    assert compiled.report["details"]["said"] == MISSING["details"]
    (question,) = compiled.view.questions
    assert (question.id, question.type) == ("missing_1", "free_text")
    assert question.question == MISSING["details"]
    assert compiled.answer("Only the customer.").status == "ready"


def test_6_2_an_invalid_request_is_rejected() -> None:
    said = {"error": " Invalid_Request ", "details": "This is no project."}
    compiled = stopped(said, "invalid_request", "invalid_request", "fix_and_retry")
    assert compiled.report["details"]["said"] == "This is no project."


def test_the_first_rejection_wins_and_a_long_response_is_shortened_in_the_report_alone() -> None:
    compiled = stopped("Sure! {", "invalid_json", "validation_error", "abort")
    (rejected,) = compiled.events(ResponseRejected)
    (received,) = compiled.events(CompletionReceived)
    assert (rejected.kind, received.text) == ("invalid_json", "Sure! {")
    compiled = stopped("x" * 300_000, "invalid_json", "validation_error", "abort")
    assert len(compiled.report["raw_response"]) == RAW_MAX
    assert len(compiled.events(CompletionReceived)[0].text) == 300_000


# 2. Table 7.1 --------------------------------------------------------------------------------

UNFINISHED: Final = (errors.LLMTruncatedError, errors.LLMRefusedError)


def waiting(error: errors.LLMError, category: str, recovery: str) -> Compiled:
    """A pass whose calls fail: tried once more, reported, and asked again once it is resumed."""
    compiled = Compiled(error, error, PAYLOADS["project"])
    assert compiled.status == "waiting"
    assert len(compiled.script.requests) == 2
    assert [one.attempt for one in compiled.events(CompletionRequested)] == [1, 2]
    assert len(compiled.events(StepStalled)) == 1
    reported(compiled, error.kind, category, recovery)
    assert "raw_response" not in compiled.report
    assert compiled.retry().status == "ready"
    assert compiled.replayed() == "identical"
    return compiled


def test_7_1_an_api_error_a_timeout_and_a_lost_call_wait_to_be_retried() -> None:
    compiled = waiting(errors.LLMAPIError("overloaded"), "api_error", "retry")
    assert compiled.report["summary"] == "api_error: overloaded"
    waiting(errors.LLMTimeoutError("120 s"), "timeout", "retry")
    waiting(errors.LLMLostError("the process ended"), "timeout", "retry")


def test_7_1_a_rate_limit_waits_to_be_retried_after_a_delay() -> None:
    limited = errors.LLMRateLimitError("too many", retry_after_ms=2_000)
    compiled = waiting(limited, "rate_limit", "retry_after_delay")
    assert compiled.waits == [2.0]


@each("error", UNFINISHED)
def test_a_response_that_is_cut_off_or_refused_is_an_output_and_not_asked_again(
    error: type[errors.LLMUnfinishedError],
) -> None:
    failed = error("the end is missing", received='{"domains": [')
    compiled = stopped(failed, error.kind, "validation_error", "abort")
    assert compiled.report["raw_response"] == '{"domains": ['


def test_a_rejected_request_is_not_sent_twice() -> None:
    rejected = errors.LLMRequestRejectedError("max_tokens is too large")
    compiled = Compiled(rejected, PAYLOADS["project"])
    assert (compiled.status, len(compiled.script.requests)) == ("waiting", 1)
    reported(compiled, "request_rejected", "api_error", "retry")


def test_every_kind_of_the_tree_has_a_category_with_a_recovery() -> None:
    kinds = {
        cls.kind
        for cls in vars(errors).values()
        if isinstance(cls, type) and issubclass(cls, errors.LLMError)
    }
    assert set(CATEGORY) <= kinds
    assert {CATEGORY.get(kind, "api_error") for kind in kinds} == set(RECOVERY)
    outputs = {cls.kind for cls in (*UNFINISHED, errors.LLMOutputError)}
    outputs |= {cls.kind for cls in errors.LLMOutputError.__subclasses__()}
    assert {CATEGORY[kind] for kind in outputs} == {"validation_error"}


# 3. Rounds -----------------------------------------------------------------------------------


def test_the_reply_and_the_answer_go_on_word_for_word_behind_what_was_read() -> None:
    reply = ' {"error":"missing_information",  "details": "Who?"}\n'
    compiled = Compiled(reply, PAYLOADS["project"]).answer("  Only the customer. ")
    first, second = compiled.script.requests
    assert second.messages[:2] == first.messages
    assert [(m.role, m.content) for m in second.messages[2:]] == [
        ("assistant", reply),
        ("user", "Only the customer."),
    ]
    assert second.call == "plan-2.1"


def test_after_three_rounds_the_session_stops() -> None:
    compiled = Compiled(*[MISSING] * (ROUNDS_MAX + 1))
    for number in range(1, ROUNDS_MAX + 1):
        assert compiled.status == "needs_answers"
        assert [one.id for one in compiled.view.questions] == [f"missing_{number}"]
        compiled.answer(f"answer {number}", key=f"missing_{number}")
    assert compiled.status == "stopped"
    reported(compiled, "missing_information", "missing_information", "human_input_required")
    reports = compiled.events(FailureReported)
    assert len({one.id for one in reports}) == len(reports) == ROUNDS_MAX + 1
    compiled.answer("one more", key="missing_4")
    assert compiled.status == "stopped"


def test_a_model_that_says_nothing_of_what_is_missing_still_asks() -> None:
    compiled = Compiled({"error": "missing_information", "details": " \u200b "})
    (question,) = compiled.view.questions
    assert question.question.startswith("What information is missing?")


def test_an_answer_counts_through_failed_calls() -> None:
    down: Any = errors.LLMTimeoutError("late")
    compiled = Compiled(MISSING, down, down, PAYLOADS["project"]).answer("The customer.")
    assert compiled.status == "waiting"
    assert compiled.retry().status == "ready"
    spoken = [m.content for m in compiled.script.requests[-1].messages[2:]]
    assert spoken[1:] == ["The customer."]
