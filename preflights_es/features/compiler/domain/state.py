"""What the log of a pass folds to, the ids that follow from it, and what is shown of it.

Views are derived, never stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.features.compiler.domain.events import (
    PASSES,
    VERSION,
    FailureReported,
    OmittedFromRequest,
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
    ActorKind,
    ArtifactDue,
    ArtifactWritten,
    Event,
    Evidence,
    Growing,
    Input,
    Value,
    WrittenFile,
)
from preflights_es.kernel.ids import iso
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.lead import LeadState, Setup, no_answer, why_none
from preflights_es.kernel.session import Session
from preflights_es.kernel.text import one_line, shortened
from preflights_es.words.items import Planned, PlanStanding, ReadFileDigest, ReadRecord
from preflights_es.words.questions import Question, Reached
from preflights_es.words.signing import Signed
from preflights_es.words.workflow import View, taken_out


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
            written = WrittenFile(path, sha256)
            return replace(state, input=new, written=written, beside="", hashes=hashes)
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


FOLDER: Final = ".preflights/artifacts"
FILE: Final = r"[A-Z][A-Za-z]{1,39}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json"
"""What the name of an artifact's file matches."""
REPORT: Final = "FailureReport"
TITLE_MAX: Final = 200  # characters of what a session is called in a list
_TO_DO: Final = {
    "needs_answers": "answer the question",
    "ready": "approve or reject the artifact",
    "proposed": "approve or reject the artifact",
}


class ShownPlan(Value, frozen=True, kw_only=True):
    """An artifact or a report, as a person reads it."""

    id: str
    type: str
    standing: PlanStanding
    sha256: str
    """Of the payload's canonical JSON, as an approval names it."""
    created_at: str
    """ISO 8601, UTC."""
    created_by: Literal["llm", "system"]
    depends_on: tuple[str, ...]
    payload: Any


class ReadDocument(Value, frozen=True):
    """A document that a pass read."""

    path: str
    sha256: str
    """Of the file's bytes as they lay there."""
    characters: int
    """Of its text, without its secrets."""


class ReadArtifact(Value, frozen=True):
    """An artifact that a pass read."""

    id: str
    type: str
    standing: str
    session_id: str


class PlanView(View, frozen=True, kw_only=True):
    """`plan/1` (docs/api.md)."""

    FORMAT = "plan/1"

    pass_type: str
    uid: str
    target: str
    goal: str
    artifact: ShownPlan | None
    """The plan; where there is none, the last report."""
    reports: tuple[ShownPlan, ...]
    documents: tuple[ReadDocument, ...]
    artifacts: tuple[ReadArtifact, ...]
    decisions: tuple[str, ...]
    """Uids of those that were read."""
    left_out: tuple[OmittedFromRequest, ...]
    changed_at: str | None
    """When its standing changed last, ISO 8601, UTC."""
    changed_by: str
    """The name of the actor who changed it, else its kind; empty of a draft."""
    relayed_by: ActorKind | None
    evidence: Evidence | None
    """What was seen of that actor; None of a draft."""
    signature: Signed | None = None
    """What the signature of a person's approval proves; None without one."""
    reason: str
    """Of a rejection."""
    superseded_by: str
    calls: int
    """Of the provider, retries among them."""

    @property
    def failed(self) -> bool:
        return self.status == "stopped"


def view(state: CompilerState) -> PlanView:
    """All that `show` says."""
    begun, change = state.begun, state.change
    stands = pass_status(state)
    plan, reports = shown_plans(state)
    return PlanView(
        status=stands,
        intention=pass_title(state),
        questions=(state.question,) if stands == "needs_answers" and state.question else (),
        progress=_pass_progress(state),
        written=state.written,
        hashes=tuple(state.hashes),
        warnings=_pass_warnings(state),
        to_do=_TO_DO.get(stands, ""),
        can_accept=stands in ("ready", "proposed"),
        ended=_explain_pass_end(state),
        pass_type=begun.pass_type if begun else "",
        uid=begun.uid if begun else "",
        target=begun.target if begun else "",
        goal=begun.goal if begun else "",
        artifact=plan or (reports[-1] if reports else None),
        reports=reports,
        **what_was_read(begun),
        changed_at=iso(change.at) if change else None,
        changed_by=(change.actor.name or change.actor.kind) if change else "",
        relayed_by=change.relayed_by.kind if change and change.relayed_by else None,
        evidence=change.evidence if change else None,
        reason=state.reason,
        superseded_by=state.superseded_by,
        left_out=begun.left_out if begun else (),
        calls=state.led.calls,
    )


_OF_A_STANDING: Final[dict[str, str]] = {
    "draft": "ready",
    "proposed": "proposed",
    "approved": "accepted",
    "locked": "accepted",
    "rejected": "stopped",
    "superseded": "superseded",
}


def pass_status(state: CompilerState) -> str:
    """One word for where the pass stands (docs/specs/compiler.md, section 2.1)."""
    if state.plan is not None:
        return _OF_A_STANDING[state.standing or "draft"]
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    return "needs_answers" if state.question is not None else "stopped"


def pass_title(state: CompilerState) -> str:
    """What a session is called: what it makes, and for what."""
    if state.begun is None:
        return ""
    made = PASSES[state.begun.pass_type].writes
    subject = subject_of(state)
    return shortened(one_line(f"{made} of {subject}" if subject else made), TITLE_MAX)


def subject_of(state: CompilerState) -> str:
    """Target or goal: one artifact is in force for each type and subject."""
    begun = state.begun
    return (begun.target or begun.goal) if begun else ""


def _pass_progress(state: CompilerState) -> float:
    """0.0 before a response, 0.5 with its question, 1.0 with the artifact or the last report."""
    if state.plan is not None:
        return 1.0
    if pass_status(state) == "stopped":
        return 1.0 if state.reports else 0.0
    return 0.5 if state.rounds else 0.0


def _pass_warnings(state: CompilerState) -> tuple[str, ...]:
    warnings = [*taken_out(state.redacted)]
    if state.led.stalled:
        warnings.append(no_answer(state.led, "resume asks it again"))
    elif state.led.failed and state.question is None and state.plan is None:
        warnings.append(f"the pass ended without an artifact ({why_none(state.led)})")
    for one in state.begun.left_out if state.begun else ():
        kind = "paths of the layout" if one.what == "layout" else "decisions"
        warnings.append(f"the request left out {one.count:,} {kind}")
    if state.beside:
        warnings.append(f"the file was edited: the new one lies in {state.beside}")
    return tuple(warnings)


def _explain_pass_end(state: CompilerState) -> str:
    if state.plan is not None and state.standing not in ("draft", "proposed"):
        return f"has an artifact that is {state.standing}"
    if pass_status(state) == "stopped" and state.begun is not None:
        return "ended with a report: run the pass again"
    return ""


# Artifacts -----------------------------------------------------------------------------------


def shown_plans(state: CompilerState) -> tuple[ShownPlan | None, tuple[ShownPlan, ...]]:
    """The artifact, and the reports of a session."""
    plan = state.plan
    reports = tuple(_make_shown_plan(one, REPORT, "failed", "system") for one in state.reports)
    if plan is None:
        return None, reports
    made = _make_shown_plan(plan, plan.type, state.standing or "draft", plan.created_by)
    return made, reports


def _make_shown_plan(
    made: PlanDrafted | FailureReported,
    type_: str,
    standing: PlanStanding,
    by: Literal["llm", "system"],
) -> ShownPlan:
    return ShownPlan(
        id=made.id,
        type=type_,
        standing=standing,
        sha256=payload_hash(made.payload),
        created_at=iso(made.created_at),
        created_by=by,
        depends_on=made.depends_on,
        payload=_decode_artifact_payload(made.payload),
    )


def what_was_read(begun: PassBegun | None) -> dict[str, Any]:
    """What a pass read, without its texts; nothing of a session that was erased."""
    if begun is None:
        return {"documents": (), "artifacts": (), "decisions": ()}
    return {
        "documents": tuple(
            ReadDocument(one.path, one.sha256, len(one.text)) for one in begun.documents
        ),
        "artifacts": tuple(
            ReadArtifact(one.id, one.type, one.standing, one.source.session_id)
            for one in begun.plans
        ),
        "decisions": tuple(one.uid for one in begun.decisions),
    }


def _decode_artifact_payload(text: str) -> Any:
    """As JSON; a forged log may hold any text."""
    try:
        return decode_plain_json(text.encode())
    except msgspec.DecodeError:
        return None


def envelope(state: CompilerState, id_: str = "") -> dict[str, Any]:
    """An artifact or a report of a session, as other programs read it.

    Args:
        id_: unless said, of the artifact; where there is none, of the last report.
    """
    plan, reports = shown_plans(state)
    made = next((one for one in (plan, *reversed(reports)) if one and id_ in ("", one.id)), None)
    if made is None:
        return {}
    return {
        "artifact_type": made.type,
        "artifact_version": VERSION,
        "id": made.id,
        "status": state.filed if made is plan else "draft",
        "created_at": made.created_at,
        "created_by": made.created_by,
        "depends_on": made.depends_on,
        "payload": made.payload,
    }


def file_text(state: CompilerState) -> str:
    """The artifact's file: canonical JSON and a line break."""
    return canonical_json(envelope(state)).decode() + "\n"


def file_path(state: CompilerState) -> str:
    """Where the file of the artifact lies, relative to the project's root."""
    plan = state.plan
    return f"{FOLDER}/{plan.type}-{plan.id}.json" if plan is not None else ""


def pass_reached(state: CompilerState) -> Reached:
    """The payload; a person accepted it as it was shown."""
    if state.plan is None:
        return Reached()
    result = _decode_artifact_payload(state.plan.payload)
    if state.filed == "draft":
        return Reached(result=result)
    return Reached(result=result, accepted=result, answers=state.given)


def planned_passes(
    events: Sequence[Event], sessions: Sequence[Session[CompilerState]]
) -> tuple[Planned, ...]:
    """Every artifact and report of a session, oldest first.

    Args:
        sessions: how the session stood after each event.
    """
    if not sessions:
        return ()
    last = sessions[-1]
    state, change = last.state, last.state.change
    standing = state.standing or "draft"
    if last.closed == "abandoned" and standing in ("draft", "proposed"):
        standing = "abandoned"
    read = _describe_read_inputs(state)
    found = []
    for version, event in enumerate(events, 1):
        if isinstance(event, FailureReported):
            payload = _decode_artifact_payload(event.payload)
            summary = payload.get("summary", "") if isinstance(payload, dict) else ""
            own: dict[str, Any] = {"type": REPORT, "standing": "failed", "created_by": "system"}
            own |= {"reason": str(summary)}
        elif isinstance(event, PlanDrafted):
            own = {
                "type": event.type,
                "standing": standing,
                "created_by": event.created_by,
                "changed_at": change.at if change else None,
                "changed_by": change.actor if change else None,
                "superseded_by": state.superseded_by,
                "reason": state.reason,
                "path": state.written.path if state.written else "",
                "sha256": state.written.sha256 if state.written else "",
            }
        else:
            continue
        made = Planned(
            version=version,
            id=event.id,
            created_at=event.created_at,
            depends_on=event.depends_on,
            **own,
            **read,
        )
        found.append(made)
    return tuple(found)


def _describe_read_inputs(state: CompilerState) -> dict[str, Any]:
    """What was read, as every artifact of the session has it."""
    begun = state.begun
    if begun is None:
        return {}
    plans = (ReadRecord("plan", one.id, one.source) for one in begun.plans)
    decisions = (ReadRecord("decision", one.uid, one.source) for one in begun.decisions)
    files = tuple(ReadFileDigest(one.path, one.sha256) for one in begun.documents)
    return {"subject": subject_of(state), "files": files, "records": (*plans, *decisions)}
