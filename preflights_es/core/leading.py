"""The flow of a step that a model leads, the same for every workflow.

request -> judge -> accept, or ask once more, or give the step to the reference, visibly. The policy
is small on purpose: at most two calls a step, whatever went wrong with the first (the second
failure ends it). Nothing here knows what is asked.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec.structs import replace

from preflights_es.core.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
)
from preflights_es.core.events import Decision, Event, Input, Outcome, Value
from preflights_es.core.judging.verdict import Accepted, Rejected, Violation, excerpt
from preflights_es.core.text import shortened

if TYPE_CHECKING:
    from preflights_es.core.contracts import Contract

CALLS_MAX: Final = 2  # calls of one step: one try, one retry
BACKOFF_MS: Final = 1_000  # before a retry, where the provider gives no hint
WAIT_MAX_MS: Final = 30_000  # of a provider's hint; nobody waits longer for one question

INVALID: Final = "Your previous response was invalid JSON. Please respond ONLY with valid JSON."
MISMATCH: Final = (
    "Your previous response did not match the schema: {}. Please respond ONLY with valid JSON."
)
MISMATCH_MAX: Final = 1_500  # characters of the violations in a retry

Check = Callable[[Any], tuple[Violation, ...]]


class Lead(Value, frozen=True):
    """Who leads a session, as its first Input says."""

    provider: str
    model: str
    parameters: tuple[tuple[str, str], ...] = ()
    strict: bool = False
    """A step that fails stays open instead of going to the reference."""


# 1. What is recorded -------------------------------------------------------------------------


class Setup(Value, frozen=True):
    """What a replay needs besides the answers: code, provider and prompts of the session.

    An Input that opens a session which can be led has it as its field `setup`.
    """

    preflights: str
    """Version of the program that opened the session."""
    decider: str
    provider: str = "mock"
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of prompt name and version; none while the rules lead."""
    lead: Lead | None = None
    """Which model leads; None while the rules do."""


class StepRetried(Input, frozen=True):
    """Somebody asks a step again that a strict session left open."""

    tag: ClassVar[str] = "led.step_retried.v1"


class LeadChanged(Input, frozen=True):
    """From here on somebody else leads: another model, other prompts, or the rules."""

    tag: ClassVar[str] = "led.lead_changed.v1"
    lead: Lead | None
    """None for the rules."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of prompt name and version."""


class LeadTaken(Decision, frozen=True):
    """The change of lead counts."""

    tag: ClassVar[str] = "led.lead_taken.v1"


class ResponseAccepted(Decision, frozen=True):
    """A response meets its contract; what it says follows as Decisions of the workflow."""

    tag: ClassVar[str] = "led.response_accepted.v1"
    call: str
    contract: str
    prose: str = ""
    """The beginning of text around the value that was dropped."""
    dropped: tuple[str, ...] = ()
    """JSON Pointers of properties that were dropped."""


class ResponseRejected(Decision, frozen=True):
    """A response does not meet its contract."""

    tag: ClassVar[str] = "led.response_rejected.v1"
    call: str
    contract: str
    kind: str
    """As in `core.errors`: `invalid_json`, `schema_violation`, ..."""
    violations: tuple[Violation, ...] = ()
    excerpt: str = ""
    details: str = ""


class FellBack(Decision, frozen=True):
    """The reference answers in place of the model, for the rest of the session."""

    tag: ClassVar[str] = "led.fell_back.v1"
    contract: str
    reason: str
    """What the last response or failure was: a kind of `core.errors`."""


class StepStalled(Decision, frozen=True):
    """A strict session waits: the step is asked again when somebody resumes it."""

    tag: ClassVar[str] = "led.step_stalled.v1"
    contract: str
    reason: str


LED_EVENTS: tuple[type[Event], ...] = (
    StepRetried,
    LeadChanged,
    LeadTaken,
    ResponseAccepted,
    ResponseRejected,
    FellBack,
    StepStalled,
)


# 2. What follows -----------------------------------------------------------------------------


class Usable(Value, frozen=True):
    """The payload of an accepted response, and what is recorded of the acceptance."""

    payload: Any
    accepted: ResponseAccepted


class Unusable(Value, frozen=True):
    """What is recorded of a response or failure that led nowhere, and what comes next.

    `again` is the retry, None when the calls of the step are used up.
    """

    decisions: tuple[Decision, ...]
    reason: str
    again: CompletionRequested | None


def settled(
    request: CompletionRequested, outcome: Outcome, contract: Contract, check: Check
) -> Usable | Unusable:
    """What an outcome means for its step.

    Args:
        check: what the contract alone cannot say, since it depends on the session.
    """
    if isinstance(outcome, CompletionFailed):
        again = _retry(request, request.messages, wait_ms(outcome))
        return Unusable((), outcome.kind, again)
    assert isinstance(outcome, CompletionReceived), "the only other outcome of a completion"
    verdict = judged(text_of(outcome), contract, check)
    if isinstance(verdict, Accepted):
        accepted = ResponseAccepted(
            call=request.call,
            contract=contract.id,
            prose=verdict.prose,
            dropped=verdict.dropped,
        )
        return Usable(verdict.payload, accepted)
    rejected = ResponseRejected(
        call=request.call,
        contract=contract.id,
        kind=verdict.kind,
        violations=verdict.violations,
        excerpt=verdict.excerpt,
        details=verdict.details,
    )
    said = (
        *request.messages,
        Message("assistant", outcome.text or "(no valid text)"),
        Message("user", retry_sentence(verdict)),
    )
    return Unusable((rejected,), verdict.kind, _retry(request, said, 0))


def judged(raw: str, contract: Contract, check: Check) -> Accepted | Rejected:
    """The contract's verdict, then that of the session's own check."""
    # Imported where a response is judged: a session that nobody leads does not pay for it.
    from preflights_es.core.contracts import judge

    verdict = judge(raw, contract)
    if isinstance(verdict, Accepted) and (violations := check(verdict.payload)):
        return Rejected("schema_violation", violations, excerpt(raw))
    return verdict


def text_of(outcome: CompletionReceived) -> str:
    """The response as text; what was not UTF-8 is shown as replacement characters."""
    if outcome.text is not None:
        return outcome.text
    return base64.b64decode(outcome.text_base64 or "").decode("utf-8", "replace")


def retry_sentence(rejected: Rejected) -> str:
    """The fixed sentence of seed 3, with the violations where it was JSON."""
    if rejected.kind != "schema_violation":
        return INVALID
    named = "; ".join(f"{v.pointer or '/'} {v.message}" for v in rejected.violations)
    return MISMATCH.format(shortened(named, MISMATCH_MAX))


def wait_ms(failed: CompletionFailed) -> int:
    """How long to wait before the call is made again, in milliseconds."""
    return min(failed.retry_after_ms or BACKOFF_MS, WAIT_MAX_MS)


def _retry(
    request: CompletionRequested, messages: tuple[Message, ...], wait: int
) -> CompletionRequested | None:
    if request.attempt >= CALLS_MAX:
        return None
    return replace(
        request,
        call=f"{request.call.rsplit('.', 1)[0]}.{request.attempt + 1}",
        messages=messages,
        attempt=request.attempt + 1,
        wait_ms=wait,
    )
