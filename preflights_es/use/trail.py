"""Every recorded step, with the actor behind it: of one session, or of all of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import PreflightsError, UnreadableEvent, WorkflowMissing
from preflights_es.kernel.events import Event, Input, Signable
from preflights_es.kernel.ids import iso, iso_or_none
from preflights_es.kernel.json import decode_plain_json
from preflights_es.kernel.ports import Head, Stored
from preflights_es.projections.audit import (
    LoggedStep,
    Model,
    TrailActor,
    TrailFilter,
    filter_wanted_steps,
    steps,
    steps_of,
)
from preflights_es.projections.projection import Read
from preflights_es.store.stored_events import erased, shared_event
from preflights_es.use.archives import ImportedBy, add_import_acceptor, imports
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import Result
from preflights_es.use.why import find_session_with, refuse_undecided
from preflights_es.words.signing import Signed, fingerprint


class TrailStep(Result, frozen=True, tag_field="format", tag="trail/1"):
    """One event of a session; times are ISO 8601, UTC."""

    session_id: str
    project: str
    workflow: str
    version: int
    type: str
    role: Literal["input", "decision"]
    follows: int | None
    """Of a Decision: the version of the Input that it follows from."""
    recorded_at: str
    """By the store's clock; empty where a damaged database has no time."""
    at: str | None
    """Of an Input, by the clock of the machine that recorded it."""
    actor: TrailActor | None
    model: Model | None
    call: str | None
    decider: str
    input_id: str | None
    hash: str
    imported: ImportedBy | None
    """The import that brought it: then the actor is the one that the file says."""
    erased: bool
    """Whether an erasure took the payload; one that is gone without it is damage."""
    damage: str | None
    signature: Signed | None
    """What a signature of an Input proves; None without one."""
    data: msgspec.Raw | None
    """The payload, JSON byte for byte; None where it is gone or no JSON."""

    @classmethod
    def of(
        cls,
        step: LoggedStep,
        *,
        is_erased: bool,
        imported: ImportedBy | None,
        signature: Signed | None = None,
    ) -> TrailStep:
        """A step as it is told."""
        one, event = step.stored, step.event
        call = getattr(event, "call", None)
        at: Any = one.recorded_at  # a damaged database keeps what it was given
        return cls(
            **{name: getattr(one, name) for name in _STORED},
            role=step.role,
            follows=step.follows,
            recorded_at=iso(at) if isinstance(at, int) else "",
            at=iso_or_none(event.at) if isinstance(event, Input) else None,
            actor=step.actor,
            model=step.model,
            call=call if isinstance(call, str) else None,
            hash=one.hash.hex(),
            imported=imported,
            erased=is_erased,
            damage=step.damage or None,
            signature=signature,
            data=_readable_step_data(step),
        )


_STORED: Final = ("session_id", "project", "workflow", "version", "type", "decider", "input_id")
"""What a step says as the store has it, under the same name."""


def _signature(process: Process, step: LoggedStep) -> Signed | None:
    """What a signature proves; None where there is none, or its session does not verify."""
    if not isinstance(step.event, Signable) or not step.event.signature or step.damage:
        return None
    one = step.stored
    try:
        acts = process.signatures.of(process.runner, one.session_id, one.version)
    except (WorkflowMissing, UnreadableEvent) as error:
        key = fingerprint(step.event.signature.key)
        return Signed(verdict="not_checked", key=key, why=str(error))
    return acts[0].signed if acts else None


def _readable_step_data(step: LoggedStep) -> msgspec.Raw | None:
    data = step.stored.data
    if data is None:
        return None
    if step.event is None:
        try:
            decode_plain_json(data)
        except ValueError:
            return None
    return msgspec.Raw(data)


class DecodedStep(NamedTuple):
    """A step, and the event that it tells of."""

    step: TrailStep
    event: Event | None
    """None where it was erased, or cannot be decoded."""
    is_gone: bool
    """Whether there is no payload."""


class Trouble(Result, frozen=True):
    """What is wrong with a session of the trail."""

    session_id: str
    kind: Literal["left_out", "damaged", "faulted"]
    why: str


def _decoded(
    process: Process, logged: Sequence[LoggedStep], want: TrailFilter, came: Iterable[ImportedBy]
) -> Iterator[DecodedStep]:
    """The steps of a session that are wanted.

    Args:
        came: the imports of it.
    """
    stored = [step.stored for step in logged]
    workflow = process.runner.workflows.get(stored[0].workflow) if stored else None
    brought = add_import_acceptor(workflow, stored, [*came])
    taken = erased(stored)
    for step in filter_wanted_steps(logged, want):
        version = step.stored.version
        by = next((one for one in brought if one.brought(version)), None)
        signature = _signature(process, step)
        told = TrailStep.of(step, is_erased=version in taken, imported=by, signature=signature)
        yield DecodedStep(told, step.event, step.stored.data is None)


def trail(
    request: Request,
    *,
    decision: str | None = None,
    session: str | None = None,
    since: int | None = None,
    until: int | None = None,
    actor: str = "",
    any_project: bool = False,
    tell: Callable[[Trouble], None] = lambda _: None,
) -> Iterator[DecodedStep]:
    """Every step of this project, the oldest session first; or some of them.

    Args:
        decision: only what led to this one.
        session: only of this one.
        since, until: microseconds since 1970 UTC, by the store's clock.
        actor: a kind, a name, or `kind:name`: only what they did, and what followed from it.
        any_project: of all projects.
        tell: takes what is wrong with a session before its steps.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        Refused: the session has no decision.
    """
    want = TrailFilter(since=since, until=until, actor=actor.strip())
    typed = session if decision is None else decision
    if typed is None:
        project = None if any_project else request.process.project

        def within(process: Process) -> Iterator[Head]:
            return process.projector.within(project, since, until)

        known = _came(request.process)
        return _of_all(request.reading.heads(within), want, tell, came=known)
    if decision is None:
        at = request.reading.session(typed)
        logged = _logged(at.process, at.head_there, tell)
    else:
        at = find_session_with(request, decision, lambda read: bool(read.patches))
        read = at.process.history(at.session_id)
        want, logged = replace(want, upto=_decided_at(read)), [*steps(read)]
    came = [one for _, one in imports(at.process, at.session_id)]
    return _decoded(at.process, logged, want, came)


def _decided_at(read: Read) -> int:
    """The version of the event by which the decision counts, or was proposed."""
    found = read.patches
    if not found:
        refuse_undecided(read, "no_decision_to_trail")
    return found[-1].recorded or found[-1].version


def _logged(process: Process, head: Head, tell: Callable[[Trouble], None]) -> list[LoggedStep]:
    """The steps of a session; without the code that reads it, what all workflows have in common."""
    stream = process.following.stream(head)
    events: tuple[Event | None, ...]
    try:
        read = process.projector.reader.read(stream)
        events, trouble, why = read.events, read.trouble, read.why
    except (WorkflowMissing, UnreadableEvent):
        events = tuple(map(_shared, stream.events))
        trouble, why = "damaged" if stream.damage else "", stream.damage
    if trouble in ("damaged", "faulted"):
        tell(Trouble(session_id=head.session_id, kind=trouble, why=why))
    return [*steps_of(stream.events, events, why if trouble == "damaged" else "")]


def _shared(one: Stored) -> Event | None:
    with suppress(PreflightsError, TypeError):  # a database keeps what it is given
        return shared_event(one)
    return None


def _of_all(
    heads: Iterable[tuple[Process, Head]],
    want: TrailFilter,
    tell: Callable[[Trouble], None],
    came: Mapping[str, tuple[ImportedBy, ...]],
) -> Iterator[DecodedStep]:
    """Session by session, so that a log of any size passes through.

    Of a time, sessions without an event in it are not read: `audit verify` finds what was done to
    them since they were folded.
    """
    for process, head in heads:
        try:
            logged = _logged(process, head, tell)
        except PreflightsError as error:
            tell(Trouble(session_id=head.session_id, kind="left_out", why=str(error)))
            continue
        yield from _decoded(process, logged, want, came.get(head.session_id, ()))


def _came(process: Process) -> dict[str, tuple[ImportedBy, ...]]:
    """By session: its imports."""
    found: dict[str, tuple[ImportedBy, ...]] = {}
    for session_id, one in imports(process):
        found[session_id] = (*found.get(session_id, ()), one)
    return found
