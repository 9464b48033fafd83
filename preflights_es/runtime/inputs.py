"""An Input that is recorded in a session: its id, its time, its actor. Nothing here decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from itertools import takewhile
from typing import Any, Final, Protocol

import msgspec

from preflights_es.kernel import ids
from preflights_es.kernel.errors import (
    CallHeld,
    Conflict,
    DuplicateInput,
    ErasedSession,
    NumberTaken,
    Refused,
    StoreUnavailable,
)
from preflights_es.kernel.events import (
    UNSEEN,
    Actor,
    Decision,
    Event,
    Evidence,
    Input,
    Outcome,
    Signable,
)
from preflights_es.kernel.lead import Lead, Setup, setup_of
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.finder import Finder
from preflights_es.runtime.runner import (
    CONFLICTS_MAX,
    AskedElsewhere,
    Handle,
    ProposedInput,
    RecalledStep,
    Runner,
    Step,
    following,
)
from preflights_es.words.signing import proposal_text

PERSON: Final = Actor("user")
"""The person whose words an agent passes on; the log does not know the name."""


class Signs(Protocol):
    """Signs what an actor does."""

    @property
    def is_hardware(self) -> bool:
        """Whether a touch of its key may prove that a person is there."""

    def check(self) -> None:
        """See that there is a key, before anything is recorded that it is to sign."""

    def person(self, by: str | None) -> Actor:
        """The person whose key it is."""

    def signed(
        self,
        new: Signable,
        seen: tuple[str, int, bytes],
        proposal: str,
        others: tuple[tuple[str, int, bytes], ...] = (),
    ) -> Signable:
        """An Input with its signature."""

    def proves_person(self, signed: Signable) -> bool:
        """Whether the signature shows that a person was there."""


class WantedInput(msgspec.Struct, frozen=True):
    """What a command is about to record: the same again is the same Input."""

    kinds: tuple[type[Input], ...]
    actor: Actor
    """Or another one, whom only a signature proves: `proved`."""
    session_id: str = ""
    """The session that it goes to; empty where it opens one."""
    is_said: Callable[[Any], bool] = lambda _: True
    """Whether an Input of one of the kinds says the same."""
    proved: Actor | None = None


class _RecordedInput(msgspec.Struct, frozen=True):
    """An Input that stands in the log."""

    new: Input
    handle: Handle
    stored: tuple[Stored, ...]
    events: tuple[Event, ...]
    """Itself, and all that is behind it."""

    @property
    def version(self) -> int:
        return len(self.stored) - len(self.events) + 1


class Inputs:
    """The Inputs of one command, counted: the key and its place are the id of each."""

    def __init__(
        self,
        runner: Runner,
        project: str,
        who: Callable[[], Actor],
        *,
        evidence: Evidence = UNSEEN,
        key: str = "",
        log_id: Callable[[], str] = str,
        finder: Finder | None = None,
        settle: Callable[[Step], Step] = lambda step: step,
        check: Callable[[Handle], None] = lambda _: None,
        signer: Signs | None = None,
    ) -> None:
        """Args:
        who: is at work; not asked by what only looks.
        evidence: what was seen of who is at work.
        key: of the caller's choosing; without one every Input is new.
        log_id: what the log calls itself; another log's keys are others.
        finder: finds sessions; without one, by what the log alone knows.
        settle: makes the completions that a step asks for.
        check: refuses a session whose lead cannot be asked, before anything is recorded.
        signer: signs what can be signed; None where nothing is.
        """
        self.runner = runner
        self.project = project
        self.finder = finder or Finder(runner, project)
        self.settle = settle
        self.check = check
        self.signer = signer
        self._who = who
        self._evidence = evidence
        self._key = key
        self._log_id = log_id
        self._count = 0

    def under(self, key: str) -> Inputs:
        """Those of the same caller under another key."""
        from copy import copy  # most have one key

        other = copy(self)
        other._key, other._count = key, 0
        return other

    # 1. Who is at work -----------------------------------------------------------------------

    @cached_property
    def actor(self) -> Actor:
        """As an Input records it."""
        return self.cleaned(self._who())

    @property
    def agent(self) -> str:
        """`an agent (codex; CODEX_CI is set)`: the agent at work, as messages name it."""
        about = "; ".join(filter(None, (self.actor.name, self._evidence.set)))
        return f"an agent ({about})" if about else "an agent"

    def named(self, by: str | None) -> Actor:
        """The person whose word a caller passes on; else who is at work.

        Raises:
            Refused: the name is empty.
        """
        if by is None:
            return self.actor
        if not (person := self.cleaned(Actor("user", by))).name:
            message = f"by is {by!r}: name the person, or leave it out"
            raise Refused(message, code="empty_text")
        return person

    def cleaned(self, actor: Actor) -> Actor:
        """An actor as an Input names it."""
        name = self.runner.sanitizer.cleaned_name(actor.name)
        return msgspec.structs.replace(actor, name=name)

    # 2. Recording ----------------------------------------------------------------------------

    def made(
        self, cls: type[Input], fields: Mapping[str, Any], actor: Actor | None = None, **known: Any
    ) -> Input:
        """An Input of now, with what is known beside its fields where it has a place for that.

        Args:
            actor: whose it is; who is at work relays it, where that is another.
        """
        actor = actor or self.actor
        relayed_by = None if actor == self.actor else self.actor
        known |= {"actor": actor, "relayed_by": relayed_by, "evidence": self._evidence}
        more = {name: known[name] for name in known if name in cls.__struct_fields__}
        return cls(at=self.runner.now(), **fields, **more)

    def signed(self, proposed: ProposedInput, relied: Iterable[Handle] = ()) -> ProposedInput:
        """An Input with the actor's signature, where the command signs and the Input can bear one.

        Args:
            relied: other sessions, which must not move until it is recorded.

        Raises:
            SessionMoved: one did since the person signed.
            Refused: nothing could be signed.
        """
        new, handle = proposed.input, proposed.handle
        if self.signer is None or not isinstance(new, Signable):
            return proposed
        shown = handle.workflow.shown.proposal(handle.session.state, new)
        signed = self.signer.signed(
            new,
            (handle.session_id, handle.version, handle.hash),
            proposal_text(new, shown),
            tuple((one.session_id, one.version, one.hash) for one in relied),
        )
        return msgspec.structs.replace(proposed, input=signed)

    def recorded(
        self, wanted: WantedInput, record: Callable[[str], Step], *, asks: bool = False
    ) -> Step:
        """What came of the next Input: recorded now, or as it was when it was recorded before.

        Args:
            record: with the Input's id; again where a session that it read has moved meanwhile.
            asks: whether a provider is asked for what follows.

        Returns:
            A `RecalledStep` where the session went on since; else a step to go on from.

        Raises:
            Refused: the key was used for something else.
            StoreUnavailable: the log is too busy.
        """
        step = self._recorded(wanted, record)
        if not asks or isinstance(step, RecalledStep):
            return step
        try:
            return self.settle(step)
        except CallHeld as held:
            # It is recorded, and the process that asks goes on from there.
            return AskedElsewhere(step.handle, step.decisions, held.asking)

    def _recorded(self, wanted: WantedInput, record: Callable[[str], Step]) -> Step:
        if not self._key:
            return self._appended(record, self.runner.new_id())
        self._count += 1
        if step := self._before(wanted):
            return step
        try:
            step = self._appended(record, self._id(self._count))
        except (Refused, DuplicateInput):
            if (found := self._before(wanted)) is None:
                raise
            return found  # another process came first, under the same key
        if not step.decisions:  # nothing was recorded: the next Input takes its place
            self._count -= 1
            return step
        self._before(wanted)  # which may have said something else
        return step

    def _appended(self, record: Callable[[str], Step], input_id: str) -> Step:
        for _ in range(CONFLICTS_MAX):
            with suppress(Conflict, NumberTaken):
                return record(input_id)
        raise StoreUnavailable(f"the log is too busy: {CONFLICTS_MAX} tries to append failed")

    # 3. Under a key --------------------------------------------------------------------------

    def before(self, wanted: WantedInput) -> Handle | None:
        """The session as the next Input met it, where that is recorded already.

        Raises:
            Refused: the key was used for another session, or for another kind of Input.
        """
        if not self._key or (found := self._found(self._count + 1)) is None:
            return None
        self._refuse_other(found, wanted)
        return self._at(found, found.version - 1)

    def opened_before(self) -> str:
        """The session that the command has opened before, under its key; empty without one.

        What the command records next follows the Input that opened it.

        Raises:
            ErasedSession: nothing is left of it.
        """
        if not self._key or (found := self._found(1)) is None:
            return ""
        self._count = 1
        return found.handle.session_id

    def recorded_in(self, *kinds: type[Input]) -> str:
        """The session in which the next Input stands already, as one of some classes; else empty.

        Raises:
            ErasedSession: nothing is left of it.
        """
        if not self._key or (found := self._found(self._count + 1)) is None:
            return ""
        return found.handle.session_id if isinstance(found.new, kinds) else ""

    def skip(self) -> None:
        """The next Input was recorded before, and nothing is asked of it."""
        self._count += 1

    def end(self) -> None:
        """Whatever is recorded from here on is new: a person says it, and sees what came of it."""
        self._key = ""

    # 4. What is recorded ---------------------------------------------------------------------

    def _before(self, wanted: WantedInput) -> Step | None:
        found = self._found(self._count)
        if found is None:
            return None
        self._refuse_other(found, wanted)
        return self._result(found)

    def _refuse_other(self, found: _RecordedInput, wanted: WantedInput) -> None:
        new, handle = found.new, found.handle
        opens = found.version == 1
        goes_there = opens if not wanted.session_id else handle.session_id == wanted.session_id
        if (
            isinstance(new, wanted.kinds)
            and goes_there
            and opens != bool(wanted.session_id)
            and new.actor in (wanted.actor, wanted.proved)
            and wanted.is_said(new)
        ):
            return
        who = (
            f"{new.actor.name} ({new.actor.kind})"
            if new.actor.name
            else f"a nameless {new.actor.kind}"
        )
        raise Refused(
            f"the key {self._key!r} was used for something else: {who} {new.verb} session "
            f"{ids.short_session(handle.session_id)} under it: choose a new one",
            code="key_used",
            session=ids.short_session(handle.session_id),
        )

    def _result(self, found: _RecordedInput) -> Step:
        """What the command made of it: with the outcomes of what it asked for, and no more."""
        decisions = following(found.events[1:])
        rest = found.events[1 + len(decisions) :]
        own = [*takewhile(lambda event: isinstance(event, Decision | Outcome), rest)]
        if len(own) < len(rest) and decisions:
            upto = found.version + len(decisions) + len(own)
            return RecalledStep(self._at(found, upto), decisions)
        if len(found.events) == 1:
            return self.runner.resume(found.handle)  # as it failed then, or mended
        return Step(found.handle, decisions)

    def _at(self, found: _RecordedInput, version: int) -> Handle:
        handle, stored = found.handle, found.stored[:version]
        session = self.runner.folded(handle.workflow, stored)
        return msgspec.structs.replace(handle, session=session, hash=stored[-1].hash)

    def _found(self, count: int) -> _RecordedInput | None:
        input_id = self._id(count)
        session_id = self.runner.store.session_of_input(input_id)
        return None if session_id is None else self._read(session_id, input_id)

    def _read(self, session_id: str, input_id: str) -> _RecordedInput:
        handle = self.runner.load(session_id)
        stored = self.runner.store.read(session_id)[: handle.version]
        place = next(n for n, one in enumerate(stored) if one.input_id == input_id)
        if stored[place].data is None:
            raise ErasedSession(session_id)
        codec = self.runner.codec(handle.workflow)
        events = tuple(map(codec.decode, stored[place:]))
        assert isinstance(events[0], Input), "only Inputs have an id"
        return _RecordedInput(events[0], handle, stored, events)

    def _id(self, count: int) -> str:
        """Source: docs/specs/log.md, section 4."""
        import json

        named = json.dumps([self._log_id(), self.project, self._key, count], separators=(",", ":"))
        return f"key-{sha256(named.encode()).hexdigest()[:32]}"


def is_same_input(before: Input, fields: Mapping[str, Any], setup: Setup | None = None) -> bool:
    """Whether an Input says the same, to the same model, be it at another time."""
    was = setup_of(before)
    if setup and was and _answering(was.lead) != _answering(setup.lead):
        return False
    return all(getattr(before, name) == fields[name] for name in fields if name != "redacted")


def _answering(lead: Lead | None) -> Lead | None:
    """The lead that a caller names, without the version of the program's own code."""
    own = lead is not None and lead.provider in ("mock", "sim")
    return msgspec.structs.replace(lead, model="") if lead and own else lead
