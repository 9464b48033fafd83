"""A session as projections see it: its events, how it stood after each, or what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, cast

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.kernel import session as kernel
from preflights_es.kernel.decisions import Decided
from preflights_es.kernel.errors import LogDamaged, LogFromFuture, WorkflowMissing
from preflights_es.kernel.events import ERASED_TAG, Event, Input
from preflights_es.kernel.ports import Head, Stored, Stream
from preflights_es.kernel.questions import View
from preflights_es.kernel.session import Session, Workflow, known, opaque_workflow

Trouble = Literal["", "damaged", "erased", "faulted"]
Decode = Callable[[Stored], Event]
Misplaced = Callable[[Session[Any], Event, Stored], str | None]
"""Why an event cannot stand where it stands; None where it can."""


class Read(msgspec.Struct, frozen=True, dict=True):
    """One session, folded as far as it can be.

    What several projections ask of it is found once.
    """

    head: Head
    workflow: Workflow[Any]
    stored: tuple[Stored, ...]
    version: int
    """How far it was read; it may have grown since its head was."""
    events: tuple[Event | None, ...]
    """One a stored event; None where it cannot be decoded."""
    sessions: tuple[Session[Any], ...]
    """Its state after each event; empty if it cannot be folded."""
    trouble: Trouble = ""
    why: str = ""
    """What the trouble is, in words."""

    @property
    def folded(self) -> tuple[Event, ...]:
        """The events of one that could be folded: all are there."""
        return cast("tuple[Event, ...]", self.events) if self.sessions else ()

    @cached_property
    def patches(self) -> tuple[Decided, ...]:
        """The patches of a session, oldest first; none of one that cannot be folded."""
        if self.workflow.decided is None or not self.sessions:
            return ()
        first = self.folded[0]
        asked_by = first.actor if isinstance(first, Input) else UNSET
        found = self.workflow.decided(self.folded, self.sessions)
        return tuple(replace(patch, asked_by=asked_by) for patch in found)

    @cached_property
    def view(self) -> View:
        """What it shows, as it was left; only of one that could be folded."""
        return self.workflow.view(self.sessions[-1].state)


def unreadable(read: Read, error: Exception) -> Read:
    """A session whose view fails, as one in trouble."""
    why = f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace").decode()
    nothing = (None,) * len(read.stored)
    return Read(read.head, read.workflow, read.stored, read.version, nothing, (), "faulted", why)


class Reader:
    """Folds sessions of any workflow."""

    def __init__(
        self,
        workflows: Mapping[str, Workflow[Any]],
        decoder: Callable[[Workflow[Any]], Decode],
        misplaced: Misplaced,
    ) -> None:
        self._workflows = workflows
        self._decoder = decoder
        self._misplaced = misplaced

    def read(self, stream: Stream, *, opaque: bool = False) -> Read:
        """One session; what is wrong with it hides nothing that can be read.

        Args:
            opaque: also one whose workflow is not here: its events say what their envelopes say.

        Raises:
            LogFromFuture: a newer version of this program wrote in it.
            WorkflowMissing: its workflow is not here, and it has words of its own.
        """
        name = stream.head.workflow
        try:
            workflow = known(self._workflows, name)
        except WorkflowMissing as missing:
            if not (opaque or stream.damage or _is_erased(stream)):
                raise
            workflow = opaque_workflow(name, missing.why)
        if stream.damage:
            return self._unfolded(workflow, stream, "damaged", stream.damage)
        if _is_erased(stream):
            return self._unfolded(workflow, stream, "erased", "payloads of it were erased")
        return self._folded(workflow, stream)

    def _unfolded(
        self, workflow: Workflow[Any], stream: Stream, trouble: Trouble, why: str
    ) -> Read:
        """A session of which the decodable part is shown."""
        head, stored = stream.head, stream.events
        decode = self._decoder(workflow)
        events = tuple(_decoded(decode, one) for one in stored)
        return Read(head, workflow, stored, stream.version, events, (), trouble, why)

    def _folded(self, workflow: Workflow[Any], stream: Stream) -> Read:
        head, stored, version = stream.head, stream.events, stream.version
        decode, misplaced = self._decoder(workflow), self._misplaced
        session = kernel.begin(workflow)
        events: list[Event | None] = []
        sessions: list[Session[Any]] = []
        trouble: Trouble
        try:
            for one in stored:
                event = decode(one)
                if found := misplaced(session, event, one):
                    raise LogDamaged(f"session {one.session_id}", one.version, found)
                session = kernel.evolve(workflow, session, event)
                events.append(event)
                sessions.append(session)
            return Read(head, workflow, stored, version, tuple(events), tuple(sessions))
        except LogDamaged as error:
            trouble, why = "damaged", str(error)
        except LogFromFuture:
            raise
        except Exception as error:  # a bug of ours: it hides this session and no other
            trouble, why = "faulted", f"event {one.version}: {type(error).__name__}: {error}"
        events += [None] * (len(stored) - len(events))
        return Read(head, workflow, stored, version, tuple(events), (), trouble, why)


def _decoded(decode: Decode, one: Stored) -> Event | None:
    if one.data is None:
        return None
    try:
        return decode(one)
    except Exception:  # of a session that is in trouble: a database keeps what it is given
        return None


def _is_erased(stream: Stream) -> bool:
    return any(one.data is None or one.type == ERASED_TAG for one in stream.events)
