"""The loop around every workflow: load, fold, decide, append, perform.

An Input and the Decisions that follow from it are one transaction, made after the new events were
folded. Where deciding raises, the Input is appended alone: the bug is in the log, and the session
goes on after the fix. What a session asks of a provider is the performer's to get.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel import ids
from preflights_es.kernel import session as kernel
from preflights_es.kernel.errors import (
    CommitUnknown,
    Conflict,
    DuplicateInput,
    ErasedSession,
    LogDamaged,
    Refused,
    RoundsExhausted,
    SessionFaulted,
    StoreUnavailable,
    UnknownSession,
    WorkflowMissing,
)
from preflights_es.kernel.events import (
    Decision,
    Event,
    Input,
    InputQuarantined,
    Outcome,
    OutsideRequest,
    SourceSession,
)
from preflights_es.kernel.ports import AppendBatch, Draft, Head, Numbered, Provider, Store, Stored
from preflights_es.kernel.session import Session, misplaced
from preflights_es.runtime.performer import Performed, Performer, open_completion
from preflights_es.runtime.sanitizing import SECRETS_ALONE, Sanitizer
from preflights_es.store.stored_events import Codec, erased_before, verified
from preflights_es.words.workflow import View, Workflow, compute_session_status, find_known_workflow


class EventReader:
    """Reads the events of any workflow."""

    def __init__(self, store: Store, workflows: Mapping[str, Workflow[Any]]) -> None:
        self.store = store
        self.workflows = workflows
        self._codecs: dict[str, Codec] = {}

    def workflow(self, name: str) -> Workflow[Any]:
        """The workflow of that name.

        Raises:
            WorkflowMissing: its code is not here.
        """
        return find_known_workflow(self.workflows, name)

    def codec(self, workflow: Workflow[Any]) -> Codec:
        """The codec of a workflow, made once."""
        if workflow.name not in self._codecs:
            self._codecs[workflow.name] = Codec(workflow.decider)
        return self._codecs[workflow.name]

    def folded(
        self, workflow: Workflow[Any], stored: Sequence[Stored], begun: Session[Any] | None = None
    ) -> Session[Any]:
        """What verified events fold to.

        Args:
            begun: what the first of them fold to, where that is known.

        Raises:
            SessionFaulted: `evolve` raises on one of them.
            LogDamaged: they do not follow the grammar of a log.
        """
        codec = self.codec(workflow)
        session = begun or kernel.begin(workflow.decider)
        if begun is None and (covered := erased_before(stored)):
            # What an erasure covers is gone, and left no trace in the state before it went.
            session = Session(session.state, version=covered - 1)
        for _, after in steps(codec, stored[session.version :], session):
            session = after
        return session


def steps(
    codec: Codec, stored: Iterable[Stored], session: Session[Any]
) -> Iterator[tuple[Event, Session[Any]]]:
    """Each event with what the session folds to then; errors as of `EventReader.folded`."""
    for one in stored:
        event = codec.decode(one)
        if found := misplaced(session, event, one):
            raise LogDamaged(f"session {one.session_id}", one.version, found)
        try:
            session = kernel.evolve(codec.decider, session, event)
        except Exception as error:  # a bug: named with its place, never swallowed
            name = codec.decider.name
            raise SessionFaulted(one.session_id, one.version, error, name) from error
        yield event, session


def following(events: Iterable[Event]) -> tuple[Decision, ...]:
    """The Decisions with which events begin."""
    found = takewhile(lambda event: isinstance(event, Decision), events)
    return tuple(found)  # type: ignore[arg-type]  # takewhile narrows nothing


CONFLICTS_MAX: Final = 100  # tries to append before the store is said to be unusable
ROUNDS_MAX: Final = 100  # calls of one `settle`; a turn of our workflows has at most four


class Handle(msgspec.Struct, frozen=True, dict=True):
    """A session as it was last read: state and version travel with it, not the log."""

    session_id: str
    project: str
    workflow: Workflow[Any]
    session: Session[Any]
    hash: bytes = b""

    @property
    def version(self) -> int:
        """Number of events recorded."""
        return self.session.version

    @property
    def source(self) -> SourceSession:
        """What another session says of it that takes something from it."""
        return SourceSession(self.session_id, self.version, self.hash.hex())

    @cached_property
    def view(self) -> View:
        """What may be shown of it, computed once."""
        return self.workflow.shown.view(self.session.state)

    @cached_property
    def status(self) -> str:
        """One word for where it stands."""
        return compute_session_status(self.workflow, self.session, self.view)


class Step(msgspec.Struct, frozen=True):
    """A session after one Input, and what followed from it."""

    handle: Handle
    decisions: tuple[Decision, ...]


class RecalledStep(Step, frozen=True):
    """What came of an Input that was recorded before, as it stood then: the session went on."""


class AskedElsewhere(Step, frozen=True):
    """A step that is recorded while another process asks the provider; that process goes on."""

    asking: str
    """The process and the provider that it asks, in words."""


class ProposedInput(msgspec.Struct, frozen=True):
    """An Input on its way into a session."""

    handle: Handle
    input: Input
    input_id: str
    number: int | None = None


class InputGroup(msgspec.Struct, frozen=True):
    """Several Inputs on their way into one session, in order."""

    handle: Handle
    inputs: tuple[tuple[Input, str], ...]
    """Pairs of an Input and its id."""


class Runner(EventReader):
    """Runs any workflow over any store."""

    def __init__(
        self,
        store: Store,
        workflows: Mapping[str, Workflow[Any]],
        now: Callable[[], int],
        new_id: Callable[[], str],
        sleep: Callable[[float], Awaitable[None]] | None = None,
        sanitizer: Sanitizer = SECRETS_ALONE,
    ) -> None:
        super().__init__(store, workflows)
        self.sanitizer = sanitizer
        self.now = now
        self.new_id = new_id
        self.owner = new_id()
        """Names this process in claims."""
        self._performer = Performer(
            store, self.owner, now, new_id, sleep=sleep, kinds=sanitizer.kinds
        )

    # 1. Reading ------------------------------------------------------------------------------

    def load(self, session_id: str) -> Handle:
        """A session, verified and folded.

        Raises:
            UnknownSession: nothing is recorded under the id.
            LogDamaged: what is recorded does not verify.
            WorkflowMissing, UnreadableEvent: its code is not here, or cannot read it.
            SessionFaulted: `evolve` raises on it.
        """
        found = self.store.stream(session_id)
        if found is None:
            raise UnknownSession(session_id)
        head, stored = found
        verified(stored, head.hash)
        workflow = self.workflow(head.workflow)
        session = self.folded(workflow, stored)
        # The last event's hash, not the head's: the session may have grown between the two reads.
        return Handle(session_id, head.project, workflow, session, hash=stored[-1].hash)

    def refreshed(self, handle: Handle) -> Handle:
        """The session as it stands now; read again only where it has moved."""
        head = self.store.head(handle.session_id)
        return handle if head and head.hash == handle.hash else self.load(handle.session_id)

    # 2. Appending ----------------------------------------------------------------------------

    def new_session_id(self, project: str) -> str:
        """An id behind those of the project's sessions, which `last` and lists go by."""
        newest = self.store.heads(project, 1)
        made = self.new_id()
        return ids.keep_id_ascending(made, newest[0].session_id) if newest else made

    def open(
        self, workflow: Workflow[Any], project: str, first: Input, session_id: str, input_id: str
    ) -> Step:
        """Begin a session with its first Input."""
        return self.submit(
            Handle(session_id, project, workflow, kernel.begin(workflow.decider)), first, input_id
        )

    def submit(self, handle: Handle, new: Input, input_id: str) -> Step:
        """Record an Input and what follows; decided again where the session has moved on.

        Raises:
            SessionFaulted: deciding raised; the Input is recorded.
            Refused: meanwhile the session was closed.
        """
        for _ in range(CONFLICTS_MAX):
            try:
                return self.submit_all([ProposedInput(handle, new, input_id)])[0]
            except Conflict as conflict:
                handle = self.load(conflict.session_id)
                if handle.session.closed and not isinstance(new, Outcome):
                    message = f"session {handle.session_id[-8:]} was {handle.session.closed}"
                    raise Refused(f"{message} meanwhile: nothing was recorded") from conflict
        raise StoreUnavailable(f"the log is too busy: {CONFLICTS_MAX} tries to append failed")

    def submit_all(
        self, proposed: Sequence[ProposedInput], unmoved: Iterable[Handle] = ()
    ) -> tuple[Step, ...]:
        """Record Inputs of several sessions in one transaction.

        Args:
            unmoved: other sessions, on whose not moving meanwhile the Inputs rely.

        Raises:
            Conflict: one of the sessions has moved; load again, propose again.
            ErasedSession: one of them was erased, which nothing can follow.
            UnwritableEvent: one of the Inputs could not be read back.
            SessionFaulted: deciding the first that raises; that Input alone is recorded.
        """
        for one in proposed:
            if one.handle.session.closed == "erased":
                raise ErasedSession(one.handle.session_id)
        settled = [
            ProposedInput(self._resumed(p.handle, p.input), p.input, p.input_id, p.number)
            for p in proposed
        ]
        try:
            decided = [self._decided(p) for p in settled]
            guards = [_batch_of(one, ()) for one in unmoved]
            heads = self._appended([*(batch for _, batch in decided), *guards], settled)
        except DuplicateInput:
            if len(settled) > 1:
                raise
            return (self._found(settled[0]),)
        by_id = {head.session_id: head for head in heads}
        return tuple(
            Step(replace(step.handle, hash=by_id[step.handle.session_id].hash), step.decisions)
            for step, _ in decided
        )

    def submit_groups(self, groups: Sequence[InputGroup]) -> tuple[Handle, ...]:
        """Record several Inputs of each of several sessions in one transaction: all, or none.

        A thousand small Inputs one by one are a thousand flushes of a disk. After an error
        nothing is recorded, and `submit` finds out which Input it was.

        Raises:
            Conflict: one of the sessions has moved.
            DuplicateInput: one of the Inputs is recorded already.
            CommitUnknown: the connection broke while committing.
            SessionFaulted: deciding one of them raised.
        """
        made = [self._decided_group(group) for group in groups]
        heads = self.store.append([batch for _, batch in made])
        by_id = {head.session_id: head for head in heads}
        return tuple(replace(one, hash=by_id[one.session_id].hash) for one, _ in made)

    def _decided_group(self, group: InputGroup) -> tuple[Handle, AppendBatch]:
        before = self.resume(group.handle).handle
        handle, codec, drafts = before, self.codec(before.workflow), list[Draft]()
        for proposed, input_id in group.inputs:
            first, new = codec.read_back(proposed, input_id)
            try:
                more, decisions = self._followed(handle.workflow, handle.session, new)
                session = _fold_handle_events(handle, (new, *decisions))
            except WorkflowMissing:
                raise
            except Exception as error:  # a bug: `submit` records the Input that it lies in
                raise _faulted(handle, handle.version + 1, error) from error
            handle = replace(handle, session=session)
            drafts += (first, *more)
        return handle, _moving(before, Step(handle, ()), tuple(drafts))

    def _decided(self, proposed: ProposedInput) -> tuple[Step, AppendBatch]:
        handle = proposed.handle
        codec = self.codec(handle.workflow)
        # Nothing is recorded that cannot be read back; `decide` is given what the log will give.
        first, new = codec.read_back(proposed.input, proposed.input_id)
        try:
            drafts, decisions = self._followed(handle.workflow, handle.session, new)
            session = _fold_handle_events(handle, (new, *decisions))
            step = Step(replace(handle, session=session), decisions)
            batch = _moving(handle, step, (first, *drafts), proposed.number)
        except WorkflowMissing:  # of a package that it needs: nothing is recorded
            raise
        except Exception as error:  # a bug: its Input is kept, so that it can be replayed
            self._appended([_batch_of(handle, (first,))], [proposed])
            raise _faulted(handle, handle.version + 1, error) from error
        return step, batch

    def _followed(
        self, workflow: Workflow[Any], session: Session[Any], new: Event
    ) -> tuple[tuple[Draft, ...], tuple[Decision, ...]]:
        """The Decisions that follow from an Input: to be appended, and as they will be read."""
        assert isinstance(new, Input), "what was drafted as an Input is read as one"
        codec = self.codec(workflow)
        pairs = [codec.read_back(one) for one in kernel.decide(workflow.decider, session, new)]
        decisions = following(found for _, found in pairs)
        assert len(decisions) == len(pairs), f"{workflow.name}.decide answered with an Input"
        return tuple(draft for draft, _ in pairs), decisions

    def _appended(
        self, batches: Sequence[AppendBatch], proposed: Sequence[ProposedInput]
    ) -> tuple[Head, ...]:
        try:
            return self.store.append(batches)
        except CommitUnknown as unknown:
            # The Input's id was chosen before the first try, so that the log can be asked.
            try:
                found = self.store.session_of_input(proposed[0].input_id)
            except StoreUnavailable as error:
                raise CommitUnknown(f"{unknown}; and then: {error}") from error
            if found is None:
                raise
            heads = [self.store.head(p.handle.session_id) for p in proposed]
            return tuple(head for head in heads if head is not None)

    def _found(self, proposed: ProposedInput) -> Step:
        """What followed from an Input that is recorded already."""
        session_id = self.store.session_of_input(proposed.input_id)
        is_new = proposed.handle.version == 0  # two processes opened it at once, under one key
        if session_id is None or not (is_new or session_id == proposed.handle.session_id):
            raise DuplicateInput(proposed.input_id)
        handle = self.load(session_id)
        stored = iter(self.store.read(session_id))
        _ = next(one for one in stored if one.input_id == proposed.input_id)
        return Step(handle, following(map(self.codec(handle.workflow).decode, stored)))

    # 3. Resuming -----------------------------------------------------------------------------

    def resume(self, handle: Handle) -> Step:
        """Decide the Input at the end that no Decision follows; nothing where there is none.

        Raises:
            SessionFaulted: deciding it still raises.
            WorkflowMissing: it lacks a package.
        """
        new = handle.session.undecided
        if new is None:
            return Step(handle, ())
        before = replace(handle.session, undecided=None)
        try:
            drafts, decisions = self._followed(handle.workflow, before, new)
            step = Step(replace(handle, session=_fold_handle_events(handle, decisions)), decisions)
            batch = _moving(handle, step, drafts)
        except WorkflowMissing:
            raise
        except Exception as error:  # the same bug as when it was recorded
            raise _faulted(handle, handle.version, error) from error
        (head,) = self.store.append([batch])
        return Step(replace(step.handle, hash=head.hash), decisions)

    def _resumed(self, handle: Handle, new: Input) -> Handle:
        """A handle without an undecided Input, unless it is about to be quarantined."""
        if handle.session.undecided is None or isinstance(new, InputQuarantined):
            return handle
        return self.resume(handle).handle

    # 4. Performing ---------------------------------------------------------------------------

    async def settle(self, handle: Handle, provider: Provider) -> Step:
        """Make every completion that is asked for, until the session waits for a person.

        Each is claimed first, so that two processes make it once.

        Raises:
            CallHeld: another process is making the call.
            RoundsExhausted: the session asks again whatever comes back, or its call stays taken.
        """
        # An Outcome that is recorded and could not be decided is not asked for again.
        step = self.resume(handle)
        while made := self._performer.unrecorded(handle.session_id):
            step = self._recorded(step.handle, made)
        for _ in range(ROUNDS_MAX):
            if (request := open_completion(step.handle.session)) is None:
                return step
            new = await self._performer.performed(handle.session_id, request, provider)
            step = self._recorded(step.handle, new) if new else self._moved(step.handle, request)
        if open_completion(step.handle.session) is None:
            return step
        raise RoundsExhausted(handle.session_id, ROUNDS_MAX, "asked its provider")

    def _recorded(self, handle: Handle, made: Performed) -> Step:
        with self._performer.recording(handle.session_id, made):
            return self.submit(handle, made.outcome, made.input_id)

    def _moved(self, handle: Handle, request: OutsideRequest) -> Step:
        """The session as the process that answered its call left it."""
        found = self.load(handle.session_id)
        if found.version == handle.version:
            # Rows of claims can be lost; the log says that the call is open.
            self.store.reopen(head_of(found), [request.call])
            return Step(found, ())
        return Step(self.resume(found).handle, ())


def _faulted(handle: Handle, version: int, error: Exception) -> SessionFaulted:
    return SessionFaulted(handle.session_id, version, error, handle.workflow.name)


def _fold_handle_events(handle: Handle, events: Sequence[Event]) -> Session[Any]:
    session = handle.session
    for event in events:
        session = kernel.evolve(handle.workflow.decider, session, event)
    return session


def head_of(handle: Handle) -> Head:
    """The head of its session when it was read."""
    workflow = handle.workflow.name
    return Head(handle.session_id, handle.project, workflow, handle.version, hash=handle.hash)


def _moving(
    before: Handle, step: Step, drafts: tuple[Draft, ...], number: int | None = None
) -> AppendBatch:
    """What is appended to a session, with the calls that it opens and closes."""
    folder = before.workflow.filed.folder(step.handle.session.state)
    was = {call.call for call in before.session.calls}
    now = {call.call for call in step.handle.session.calls}
    return replace(
        _batch_of(before, drafts),
        opens=tuple(sorted(now - was)),
        closes=tuple(sorted(was - now)),
        number=None if number is None else Numbered(folder, number),
    )


def _batch_of(handle: Handle, drafts: tuple[Draft, ...]) -> AppendBatch:
    return AppendBatch(
        session_id=handle.session_id,
        project=handle.project,
        workflow=handle.workflow.name,
        expected_version=handle.version,
        expected_hash=handle.hash,
        events=drafts,
    )
