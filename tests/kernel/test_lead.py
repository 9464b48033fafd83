"""The policy of a step: how often it is asked again, and what follows then."""

from __future__ import annotations

from typing import Literal

import msgspec

from preflights_es.kernel.completions import (
    Accepted,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Policy,
    Rejected,
    rejected,
)
from preflights_es.kernel.events import Actor, Decision
from preflights_es.kernel.lead import (
    FellBack,
    Lead,
    LeadState,
    StepFailed,
    StepStalled,
    Usable,
    concluded,
    decode_response_text,
    evolve_lead_state,
    why_none,
)
from tests.each import each

PROGRAM = Actor("script")
REQUEST = CompletionRequested(
    call="ask-1.1", provider="p", model="m", messages=(Message("user", "Why?"),)
)


class Strict(msgspec.Struct):
    """A contract that only `yes` meets."""

    policy: Policy
    id: str = "yes.v1"

    def judge(self, raw: str) -> Accepted | Rejected:
        return Accepted(raw) if raw == "yes" else rejected("invalid_json", "expected yes")


def played(policy: Policy, outcomes: str, *, strict: bool = False) -> tuple[int, Decision]:
    """How many calls are made, and what ends the step.

    Args:
        outcomes: a letter a call: `b`ad output or `f`ailed call; the last one goes on for ever.
    """
    led = LeadState(lead=Lead("p", "m", strict=strict), request=REQUEST)
    for calls in range(1, 10):
        request = led.request
        assert request is not None
        kind = outcomes[min(calls, len(outcomes)) - 1]
        new = (
            CompletionReceived(at=1, actor=PROGRAM, call=request.call, text="no", latency_ms=1)
            if kind == "b"
            else CompletionFailed(at=1, actor=PROGRAM, call=request.call, kind="down", message="")
        )
        decisions = concluded(led, new, Strict(policy), lambda _: ())
        assert not isinstance(decisions, Usable)
        for decision in decisions:
            led = evolve_lead_state(led, new, decision)
        if led.request is None or led.request == request:
            return calls, decisions[-1]
    raise AssertionError("the step goes on for ever")


@each(
    ("bad_output", "failed_transport", "outcomes", "calls"),
    [
        (1, 1, "b", 2),
        (1, 1, "f", 2),
        (1, 1, "bf", 2),
        (0, 1, "b", 1),
        (0, 1, "f", 2),
        (0, 1, "fb", 2),
        (0, 0, "f", 1),
        (3, 1, "b", 4),
        (3, 1, "fbbb", 4),
        (3, 1, "bbf", 3),
    ],
)
def test_a_step_is_asked_again_as_often_as_its_policy_says(
    bad_output: int, failed_transport: int, outcomes: str, calls: int
) -> None:
    policy = Policy(bad_output=bad_output, failed_transport=failed_transport)
    assert played(policy, outcomes)[0] == calls <= policy.calls_max


@each(
    ("then", "bad", "failed"),
    [
        ("rules", FellBack, FellBack),
        ("person", FellBack, FellBack),
        ("report", StepFailed, StepStalled),
    ],
)
def test_then_the_rules_or_a_person_go_on_or_the_step_ends_with_a_report(
    then: Literal["rules", "person", "report"], bad: type[Decision], failed: type[Decision]
) -> None:
    policy = Policy(then=then)
    assert type(played(policy, "b")[1]) is bad
    assert type(played(policy, "f")[1]) is failed


def test_a_strict_session_waits_unless_a_bad_output_is_reported() -> None:
    assert isinstance(played(Policy(then="rules"), "f", strict=True)[1], StepStalled)
    assert isinstance(played(Policy(then="person"), "b", strict=True)[1], StepStalled)
    assert isinstance(played(Policy(then="report"), "b", strict=True)[1], StepFailed)


def test_a_step_that_ended_with_a_report_is_closed_and_says_why() -> None:
    led = LeadState(lead=Lead("p", "m"), request=REQUEST)
    closed = evolve_lead_state(led, None, StepFailed(contract="yes.v1", reason="invalid_json"))
    assert closed.request is None
    assert (closed.failed, closed.stalled, why_none(closed)) == ("invalid_json", "", "invalid json")
    assert evolve_lead_state(closed, None, REQUEST).failed == ""


@each(
    ("raw", "text"),
    [("/w==", "\ufffd"), ("aGk=", "hi"), (None, ""), ("a", ""), ("\x80", ""), ("=", "")],
)
def test_a_response_in_bytes_is_text_also_in_a_forged_log(raw: str | None, text: str) -> None:
    got = CompletionReceived(at=1, actor=PROGRAM, call="c", text=None, text_base64=raw)
    assert decode_response_text(got) == text
