"""Who leads a session, and the flow of a step that a model leads, the same for every workflow.

request -> judge -> accept, or ask again, or give up visibly: a fallback, a stall where the
session is strict, or, where the policy says so, the end of the step or a stall. Nothing here knows
what is asked.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.kernel.completions import (
    Accepted,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Policy,
    Prompt,
    Rejected,
    ResponseJudge,
    Violation,
    excerpt,
    native,
    read_prompt_schema,
    read_wanted_prompt,
    tried,
)
from preflights_es.kernel.errors import (
    LLMOutputError,
    LLMRefusedError,
    LLMRequestRejectedError,
    LLMTruncatedError,
)
from preflights_es.kernel.events import (
    Decision,
    Event,
    Growing,
    Input,
    Outcome,
    S,
    Value,
    state_after,
)
from preflights_es.kernel.text import shortened


class Lead(Value, frozen=True):
    """Who leads a session, as its first Input says."""

    provider: str
    model: str
    parameters: tuple[tuple[str, str], ...] = ()
    strict: bool = False
    """A step that fails stays open instead of going to the reference."""
    address: str = ""
    """Digest of another server's address; empty for the provider's own. The address itself is not
    recorded. The digest keeps a conversation with one server from going on with another."""
    structured: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether the provider holds a response to a schema that is sent; not written where it does
    not."""


WRITERS: Final = ("agent", "person")
"""Providers that are no model: the actor of a command wrote the one response that it gives."""


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
    candidates: tuple[tuple[str, str], ...] | msgspec.UnsetType = msgspec.UNSET
    """Pairs of a prompt's `name.vN` and the text that is tried in its place, in a child of a
    regression run or what-if. Not written where it is unset: no other session has a byte of it."""


def setup_of(new: object) -> Setup | None:
    """What an Input that opens a session recorded of the program; None of one that does not."""
    found = getattr(new, "setup", None)
    return found if isinstance(found, Setup) else None


class StepRetried(Input, frozen=True):
    """The actor asks a step again that a strict session left open."""

    tag: ClassVar[str] = "led.step_retried.v1"
    verb: ClassVar[str] = "asked again in"


class NamesLead(Input, frozen=True):
    """Root of the Inputs behind the first that say who leads from there on."""

    if TYPE_CHECKING:  # each class has both where its events have them

        @property
        def lead(self) -> Lead | None:
            """None for the rules."""

        @property
        def prompts(self) -> tuple[tuple[str, str], ...]:
            """Pairs of prompt name and version."""


class LeadChanged(NamesLead, frozen=True):
    """From here on the lead is another: another model, other prompts, or the rules."""

    tag: ClassVar[str] = "led.lead_changed.v1"
    verb: ClassVar[str] = "changed who answers in"
    lead: Lead | None
    """None for the rules."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of prompt name and version."""
    candidates: tuple[tuple[str, str], ...] | msgspec.UnsetType = msgspec.UNSET
    """As `Setup.candidates` has them; where it is unset, those from before."""


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
    """As in `kernel.errors`: `invalid_json`, `schema_violation`, ..."""
    violations: tuple[Violation, ...] = ()
    excerpt: str = ""
    details: str = ""


class FellBack(Decision, frozen=True):
    """The reference answers in place of the model, for the rest of the session."""

    tag: ClassVar[str] = "led.fell_back.v1"
    contract: str
    reason: str
    """What the last response or failure was: a kind of `kernel.errors`."""


class StepFailed(Decision, frozen=True):
    """The step ends without a result: its output is unusable, and nothing stands in for it."""

    tag: ClassVar[str] = "led.step_failed.v1"
    contract: str
    reason: str
    """As in `FellBack`."""


class StepStalled(Decision, frozen=True):
    """The session waits, strict or with a report: the step is asked again once it is resumed."""

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
    StepFailed,
    StepStalled,
)


BACKOFF_MS: Final = 1_000  # before a retry, where the provider gives no hint
WAIT_MAX_MS: Final = 30_000  # of a provider's hint; beyond, the call is not made again

RETRY: Final = "Your previous response "
"""The first words of every retry's sentence."""
INVALID: Final = f"{RETRY}was invalid JSON. Please respond ONLY with valid JSON."
AROUND: Final = f"{RETRY}held text around the JSON. Please respond ONLY with valid JSON."
MISMATCH: Final = RETRY + "did not match the schema: {}. Please respond ONLY with valid JSON."
REPLY_MAX: Final = 20_000  # characters of a rejected reply that a retry sends back
MISMATCH_MAX: Final = 1_500  # characters of the violations in a retry

UNFINISHED: Final = frozenset(
    error.kind for error in (LLMOutputError, LLMTruncatedError, LLMRefusedError)
)
"""Kinds of failed calls that brought an output, which cannot be used."""

Check = Callable[[Any], tuple[Violation, ...]]


# 1. The part of a state ----------------------------------------------------------------------


class LeadState(msgspec.Struct, frozen=True, gc=False):
    """What a workflow's state keeps of its lead."""

    lead: Lead | None = None
    """Who leads; None where the rules do, from the beginning or after a fallback."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of prompt name and version, as recorded."""
    candidates: tuple[tuple[str, str], ...] = ()
    """Pairs of a version and the text that is tried in its place."""
    request: CompletionRequested | None = None
    """The open step."""
    steps: int = 0
    """Steps that were asked for so far."""
    calls: int = 0
    """Calls that were asked for so far, retries among them."""
    said: Growing[Message] = Growing()
    """Accepted replies and answers, in turn: the conversation behind the opening."""
    fell_back: str = ""
    """Why the rules lead from here on."""
    stalled: str = ""
    """Why a session waits to be asked again."""
    failed: str = ""
    """Why the last step ended without a result, where nothing stands in for it."""
    failure: str = ""
    """What the log says of the failed call behind one of them."""


def open_lead_state(setup: Setup) -> LeadState:
    """At the beginning of a session."""
    return LeadState(lead=setup.lead, prompts=setup.prompts, candidates=setup.candidates or ())


def add_user_message(led: LeadState, text: str) -> LeadState:
    """After a person said something that belongs to the conversation."""
    return replace(led, said=led.said.plus(Message("user", text)))


def replied(led: LeadState, new: Input | None) -> LeadState:
    """After a reply that asks a person something, and belongs to the conversation as it is."""
    text = decode_response_text(new) if isinstance(new, CompletionReceived) else ""
    return replace(led, said=led.said.plus(Message("assistant", text)))


_OF_A_STEP: Final = frozenset(
    (CompletionRequested, ResponseAccepted, FellBack, StepFailed, StepStalled, LeadTaken)
)
"""The classes of events that `after` handles; it ignores all others."""


def evolve_lead_state(led: LeadState, new: Input | None, event: Event) -> LeadState:
    """After a Decision; any other event changes nothing.

    Args:
        new: the Input that the Decision follows from.
    """
    if type(event) not in _OF_A_STEP:
        return led
    match event:
        case CompletionRequested(attempt=attempt):
            is_same = bool(event.without)
            steps = led.steps + (attempt == 1 and not is_same)
            calls = led.calls + (not is_same)
            lead = led.lead
            if is_same and lead is not None:  # from here on, the session sends them no more
                lead = replace(lead, parameters=event.parameters)
            return replace(
                led, lead=lead, request=event, steps=steps, calls=calls, stalled="", failed=""
            )
        case ResponseAccepted():
            text = new.text if isinstance(new, CompletionReceived) else None
            said = led.said.plus(Message("assistant", text or ""))
            return replace(led, request=None, said=said)
        case FellBack(reason=reason):
            failure = _read_failure_message(new)
            return replace(led, lead=None, request=None, fell_back=reason, failure=failure)
        case StepFailed(reason=reason):
            return replace(led, request=None, failed=reason)
        case StepStalled(reason=reason):
            return replace(led, request=None, stalled=reason, failure=_read_failure_message(new))
        case LeadTaken() if isinstance(new, LeadChanged):
            return replace(
                led,
                lead=new.lead,
                prompts=new.prompts,
                candidates=new.candidates or led.candidates,
                fell_back="",
                stalled="",
            )
        case _:
            return led


def _read_failure_message(new: Input | None) -> str:
    return new.message if isinstance(new, CompletionFailed) else ""


def why_none(led: LeadState) -> str:
    """Why no response of the model is used, for people, as far as the log knows; empty where one
    is.
    """
    kind = (led.fell_back or led.stalled or led.failed).replace("_", " ")
    return f"{kind}: {led.failure}" if kind and led.failure else kind


def no_answer(led: LeadState, then: str) -> str:
    """The warning that no response of the model is used, and what followed."""
    return f"no usable answer from the model ({why_none(led)}): {then}"


# 2. Asking -----------------------------------------------------------------------------------


def requested(
    led: LeadState,
    step: str,
    contract: str,
    prompt: tuple[str, str, str],
    messages: Sequence[Message],
    *,
    behind: Sequence[tuple[str, str]] = (),
    schema_id: str = "",
    output: str = "",
) -> CompletionRequested:
    """The first call of a step: the prompts, then what the workflow says.

    Args:
        contract: `name.vN`.
        prompt: the package that holds it, its name, and the version of today.
        messages: behind the system prompt.
        behind: pairs of name and version of today, of more prompts of the same package.
        schema_id: `name.vN` of the package's schema file that takes the place of `{schema}`.
        output: `name.vN` of the schema file that a provider holds its response to, where it can.
    """
    assert led.lead is not None, "only a session that is led asks a model"
    package, *first = prompt
    files, text = system_message(led, package, ((first[0], first[1]), *behind), schema_id)
    return CompletionRequested(
        call=f"{step}-{led.steps + 1}.1",
        provider=led.lead.provider,
        model=led.lead.model,
        messages=(Message("system", text), *messages),
        parameters=led.lead.parameters,
        contract=contract,
        prompts=tuple((one.id, one.sha256) for one in files),
        output=native(package, output) if output and led.lead.structured else UNSET,
    )


def system_message(
    led: LeadState, package: str, prompts: Sequence[tuple[str, str]], schema_id: str = ""
) -> tuple[list[Prompt], str]:
    """The files of a system message, and its text: the prompts in order, an empty line between."""
    files = [
        tried(read_wanted_prompt(package, name, led.prompts, version), led.candidates)
        for name, version in prompts
    ]
    text = "\n".join(one.text for one in files)
    if not schema_id:
        return files, text
    held = read_prompt_schema(package, schema_id)
    return [*files, held], text.replace("{schema}", held.text.strip())


# 3. Judging ----------------------------------------------------------------------------------


def decide_lead_takeover(
    evolve: Callable[[S, Event], S],
    state: S,
    new: Input,
    asked: Callable[[S], tuple[Decision, ...]],
    *,
    goes_on: bool,
) -> tuple[Decision, ...]:
    """A new lead, and what it is asked for, where the former one left something.

    Args:
        asked: what asks for the next step, in the state that has the new lead.
    """
    taken = (LeadTaken(),)
    return taken + (asked(state_after(evolve, state, new, taken)) if goes_on else ())


class Usable(Value, frozen=True):
    """The payload of an accepted response, and what is recorded of the acceptance."""

    payload: Any
    accepted: ResponseAccepted


def concluded(
    led: LeadState, outcome: Outcome, contract: ResponseJudge, check: Check
) -> Usable | tuple[Decision, ...]:
    """What an outcome means for the open step: a payload, or what is recorded instead.

    That ends with the retry, the fallback, the stall or the failure, as the contract's policy says.

    Args:
        check: what the contract alone cannot say, since it depends on the session.
    """
    request, lead, policy = led.request, led.lead, contract.policy
    assert request is not None, "an outcome answers an open step"
    assert lead is not None, "that a model was asked for"
    if isinstance(outcome, CompletionFailed):
        if again := _without_untaken(request, outcome):
            return (again,)
        is_output = outcome.kind in UNFINISHED
        retries = policy.bad_output if is_output else policy.failed_transport
        # A rejected request is not sent again, nor one that the server wants much later.
        is_late = (outcome.retry_after_ms or 0) > WAIT_MAX_MS
        retries = 0 if is_late or outcome.kind == LLMRequestRejectedError.kind else retries
        again = _retry(request, request.messages, wait_ms(outcome), retries)
        ends = _end(lead, StepFailed if is_output else StepStalled, policy)
        return (again or ends(contract=contract.id, reason=outcome.kind),)
    assert isinstance(outcome, CompletionReceived), "the only other outcome of a completion"
    # Half a character for each byte that is no text: a contract never takes one.
    raw = decode_response_text(outcome, "surrogateescape")
    verdict = judge_session_response(raw, contract, check)
    if isinstance(verdict, Accepted):
        accepted = ResponseAccepted(
            call=request.call, contract=contract.id, prose=verdict.prose, dropped=verdict.dropped
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
        Message("assistant", shortened(outcome.text or "(no valid text)", REPLY_MAX)),
        Message("user", retry_sentence(verdict)),
    )
    again = _retry(request, said, 0, policy.bad_output)
    ends = _end(lead, StepFailed, policy)
    return (rejected, again or ends(contract=contract.id, reason=verdict.kind))


Ending = type[FellBack] | type[StepStalled] | type[StepFailed]


def _end(lead: Lead, reported: Ending, policy: Policy) -> Ending:
    if policy.then == "report":
        return reported
    return StepStalled if lead.strict else FellBack


def judge_session_response(raw: str, contract: ResponseJudge, check: Check) -> Accepted | Rejected:
    """The contract's verdict, then that of the session's own check."""
    verdict = contract.judge(raw)
    if isinstance(verdict, Accepted) and (violations := check(verdict.payload)):
        return Rejected("schema_violation", violations, excerpt(raw))
    return verdict


def decode_response_text(outcome: CompletionReceived, errors: str = "replace") -> str:
    """The response as text; invalid UTF-8 becomes replacement characters, or what `errors` says.

    What is no base64 is no response: only a forged log has it.
    """
    if outcome.text is not None:
        return outcome.text
    import base64

    try:
        return base64.b64decode(outcome.text_base64 or "").decode("utf-8", errors)
    except ValueError:
        return ""


def retry_sentence(rejected: Rejected) -> str:
    """The fixed sentence of seed 3, with the violations where it was JSON."""
    if rejected.kind == "explanatory_text":
        return AROUND
    if rejected.kind != "schema_violation":
        return INVALID
    named = "; ".join(f"{v.pointer or '/'} {v.message}" for v in rejected.violations)
    return MISMATCH.format(shortened(named, MISMATCH_MAX))


def wait_ms(failed: CompletionFailed) -> int:
    """How long to wait before the call is made again, in milliseconds."""
    return failed.retry_after_ms or BACKOFF_MS


def _without_untaken(
    request: CompletionRequested, failed: CompletionFailed
) -> CompletionRequested | None:
    """The same attempt without the parameters that the server refused; it counts once.

    None where the request names none of them, so that this ends.

    Source: docs/providers.md, "What is sent".
    """
    named = dict(request.parameters)
    untaken = tuple(name for name in failed.untaken or () if name in named)
    if not untaken:
        return None
    return replace(
        request,
        call=f"{request.call}-without-{'-'.join(untaken)}",
        parameters=tuple(pair for pair in request.parameters if pair[0] not in untaken),
        wait_ms=0,
        without=untaken,
    )


def _retry(
    request: CompletionRequested, messages: tuple[Message, ...], wait: int, retries: int
) -> CompletionRequested | None:
    if request.attempt > retries:
        return None
    return replace(
        request,
        call=f"{request.call.rsplit('.', 1)[0]}.{request.attempt + 1}",
        messages=messages,
        attempt=request.attempt + 1,
        wait_ms=wait,
        without=UNSET,
    )
