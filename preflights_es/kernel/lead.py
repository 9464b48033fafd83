"""Who leads a session, and what is recorded of a step that a model leads.

What follows from a response stands in `core.completion_step`; both are the same for every workflow.
"""

from __future__ import annotations

from typing import ClassVar, Final, Literal

import msgspec

from preflights_es.kernel.events import Decision, Event, Input, Value
from preflights_es.kernel.verdict import Violation


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


class Policy(Value, frozen=True, kw_only=True):
    """What follows where a call of a step brings nothing that can be used; a contract says it."""

    bad_output: int = 1
    """Retries of a step after an output that breaks its contract, was cut off or refused."""
    failed_transport: int = 1
    """Retries after a call that brought nothing; retries for the other reason count, too."""
    then: Literal["rules", "person", "report"] = "rules"
    """Who goes on: the rules for the rest of the session, a person, or nothing but a report. The
    report of a bad output ends the step; after a failed call the step waits to be retried."""

    @property
    def calls_max(self) -> int:
        """Calls of one step."""
        return 1 + max(self.bad_output, self.failed_transport)


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
    """Pairs of a prompt's `name.vN` and the text that is tried in its place, in a regression run's
    child. Not written where it is unset: no other session has a byte of it."""


def setup_of(new: object) -> Setup | None:
    """What an Input that opens a session recorded of the program; None of one that does not."""
    found = getattr(new, "setup", None)
    return found if isinstance(found, Setup) else None


class StepRetried(Input, frozen=True):
    """The actor asks a step again that a strict session left open."""

    tag: ClassVar[str] = "led.step_retried.v1"


class LeadChanged(Input, frozen=True):
    """From here on the lead is another: another model, other prompts, or the rules."""

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
