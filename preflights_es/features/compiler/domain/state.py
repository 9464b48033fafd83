"""What the log of a pass folds to, and the ids that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.features.compiler.domain.events import (
    FailureReported,
    PassAnswerAccepted,
    PassBegun,
    PassQuestionAsked,
    PlanApproved,
    PlanDrafted,
    PlanLocked,
    PlanRejected,
    PlanSuperseded,
    StandingChanged,
)
from preflights_es.kernel import lead as leading
from preflights_es.kernel.events import (
    UNSEEN,
    Actor,
    ArtifactDue,
    ArtifactWritten,
    Event,
    Evidence,
    Growing,
    Input,
    WrittenFile,
)
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import LeadState, Setup
from preflights_es.words.items import PlanStanding
from preflights_es.words.questions import Question


class StandingOrigin(msgspec.Struct, frozen=True, gc=False):
    """How an artifact came to its standing."""

    at: int
    actor: Actor
    relayed_by: Actor | None = None
    """The actor who passed that person's word on."""
    evidence: Evidence = UNSEEN


class CompilerState(msgspec.Struct, frozen=True, gc=False):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    begun: PassBegun | None = None
    """All that was read."""
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: LeadState = LeadState()
    question: Question | None = None
    """The open one."""
    rounds: int = 0
    """Questions that were asked."""
    given: tuple[tuple[str, str], ...] = ()
    """Pairs of a question's key and the answer that counts."""
    reports: tuple[FailureReported, ...] = ()
    plan: PlanDrafted | None = None
    standing: PlanStanding | Literal[""] = ""
    """Of the plan; empty while there is none."""
    filed: Literal["draft", "approved", "locked"] = "draft"
    """The status in its file: the last standing that a file follows from."""
    change: StandingOrigin | None = None
    """How the plan came to its standing, once it is no draft."""
    reason: str = ""
    """Why it was rejected."""
    superseded_by: str = ""
    """The id of the artifact that took its place."""
    dues: int = 0
    """Files that were asked for so far."""
    written: WrittenFile | None = None
    beside: str = ""
    """Path of a `.new` file that waits beside one that was edited."""
    hashes: Growing[str] = Growing()
    """The hashes of every written file."""
    redacted: Growing[str] = Growing()


def made(state: CompilerState) -> int:
    """How many artifacts there are, reports among them."""
    return len(state.reports) + (state.plan is not None)


def is_terminal(state: CompilerState) -> bool:
    """Whether no approval and no answer can change anything any more."""
    is_over = state.plan is None and bool(state.led.failed) and state.question is None
    return is_over or state.standing in ("rejected", "superseded")


def evolve(state: CompilerState, event: Event) -> CompilerState:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _evolve_pass_input(state, event)
    match event:
        case PlanDrafted():
            return replace(state, plan=event, standing="draft")
        case FailureReported():
            return replace(state, reports=(*state.reports, event))
        case PassQuestionAsked(question=question):
            led = leading.replied(state.led, state.input)
            return replace(state, question=question, rounds=state.rounds + 1, led=led)
        case PassAnswerAccepted(key=key, answer=answer):
            led = leading.add_user_message(state.led, answer)
            return replace(state, question=None, given=(*state.given, (key, answer)), led=led)
        case StandingChanged():
            return _after_change(state, event)
        case ArtifactDue():
            return replace(state, dues=state.dues + 1)
        case _:
            led = leading.evolve_lead_state(state.led, state.input, event)
            return state if led is state.led else replace(state, led=led)


def _evolve_pass_input(state: CompilerState, new: Input) -> CompilerState:
    redacted = state.redacted.plus(*getattr(new, "redacted", ()))
    match new:
        case PassBegun() if state.begun is None:
            led = leading.open_lead_state(new.setup)
            return replace(state, begun=new, input=new, led=led, redacted=redacted)
        case ArtifactWritten(path=path, sha256=sha256, beside=beside):
            hashes = state.hashes.plus(sha256)
            if beside:
                return replace(state, input=new, beside=path, hashes=hashes)
            return replace(
                state, input=new, written=WrittenFile(path, sha256), beside="", hashes=hashes
            )
        case _:
            return replace(state, input=new, redacted=redacted)


def fixed_pass_values(state: CompilerState) -> tuple[object, ...]:
    """What a person reads before an approval; only forged events change it behind one."""
    return state.begun, state.question, state.given, state.reports, state.plan


_FROM: Final[Mapping[PlanStanding, tuple[PlanStanding, ...]]] = {
    "proposed": ("draft",),
    "approved": ("draft", "proposed"),
    "rejected": ("draft", "proposed"),
    "locked": ("approved",),
    "superseded": ("approved", "locked"),
}


def _does_standing_follow(
    before: PlanStanding | Literal[""], new: Input, standing: PlanStanding
) -> bool:
    """Whether a standing follows from an Input that counts; forged events may say another."""
    led_to: dict[type[Input], PlanStanding] = {
        PlanApproved: "approved" if new.actor.kind == "user" else "proposed",
        PlanRejected: "rejected",
        PlanLocked: "locked",
        PlanSuperseded: "superseded",
    }
    return led_to.get(type(new)) == standing and before in _FROM[standing]


def _after_change(state: CompilerState, event: StandingChanged) -> CompilerState:
    standing, new = event.standing, state.input
    if new is None or not _does_standing_follow(state.standing, new, standing):
        return state
    after = replace(state, standing=standing)
    if standing in ("approved", "locked"):
        after = replace(after, filed=standing)
    evidence = getattr(new, "evidence", UNSEEN)
    change = StandingOrigin(new.at, new.actor, getattr(new, "relayed_by", None), evidence)
    match new:
        case PlanRejected(reason=reason):
            return replace(after, change=change, reason=reason)
        case PlanSuperseded(by=by):
            return replace(after, change=change, superseded_by=by)
        case _:
            return replace(after, change=change)


_NO_SETUP: Final = Setup("", "")


def plan_id(begun: PassBegun, number: int) -> str:
    """The id of the artifact with a number of a session: a UUID of version 8 (RFC 9562).

    Another model or prompt changes no id: a child of a regression run is compared by it. The texts
    of documents stand there as their hashes.
    """
    documents = tuple([replace(one, text="") for one in begun.documents])
    read = canonical_json(replace(begun, setup=_NO_SETUP, documents=documents))
    digest = sha256(read + b"\0" + str(number).encode()).digest()[:16]
    value = int.from_bytes(digest, "big")
    value = value & ~(0xF << 76) | 0x8 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def payload_hash(payload: str) -> str:
    """The SHA-256 of a payload's canonical JSON, as an approval names it."""
    return sha256(payload.encode()).hexdigest()
