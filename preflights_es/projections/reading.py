"""A session as projections see it: its events, how it stood after each, or what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

import msgspec

from preflights_es.core import session as kernel
from preflights_es.core.errors import LogDamaged, LogFromFuture
from preflights_es.core.events import ERASED_TAG, Event
from preflights_es.core.ports import Head, Stored, Stream
from preflights_es.core.session import Session, Workflow

Trouble = Literal["", "damaged", "erased", "faulted"]
Decode = Callable[[Workflow[Any], Stored], Event]
Misplaced = Callable[[Session[Any], Event, Stored], str | None]
"""Why an event cannot stand where it stands; None where it can."""


class Read(msgspec.Struct, frozen=True):
    """One session, folded as far as it can be."""

    head: Head
    workflow: Workflow[Any]
    stored: tuple[Stored, ...]
    events: tuple[Event | None, ...]
    """One a stored event; None where it cannot be decoded."""
    sessions: tuple[Session[Any], ...]
    """How it stood after each event; none where it cannot be folded."""
    trouble: Trouble = ""
    why: str = ""
    """What the trouble is, in words."""

    @property
    def folded(self) -> tuple[Event, ...]:
        """The events of one that could be folded: all are there."""
        return cast("tuple[Event, ...]", self.events) if self.sessions else ()

    @property
    def version(self) -> int:
        """How far it was read; it may have grown since its head was."""
        return Stream(self.head, self.stored).version


def unreadable(read: Read, error: Exception) -> Read:
    """A session of which a view fails, as one that is in trouble."""
    why = f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace").decode()
    nothing = (None,) * len(read.stored)
    return Read(read.head, read.workflow, read.stored, nothing, (), "faulted", why)


class Reader:
    """Folds sessions of any workflow."""

    def __init__(
        self, workflows: Mapping[str, Workflow[Any]], decode: Decode, misplaced: Misplaced
    ) -> None:
        self._workflows = workflows
        self._decode = decode
        self._misplaced = misplaced

    def read(self, stream: Stream) -> Read:
        """One session; what is wrong with it hides nothing that can be read.

        Raises:
            LogFromFuture: a newer version of this program wrote in it.
        """
        name = stream.head.workflow
        workflow = self._workflows.get(name)
        if workflow is None:
            raise LogFromFuture(f"the workflow {name!r} is not known to this version")
        if stream.damage:
            events = tuple(self._decoded(workflow, one) for one in stream.events)
            return Read(stream.head, workflow, stream.events, events, (), "damaged", stream.damage)
        if any(one.data is None or one.type == ERASED_TAG for one in stream.events):
            events = tuple(self._decoded(workflow, one) for one in stream.events)
            why = "payloads of it were erased"
            return Read(stream.head, workflow, stream.events, events, (), "erased", why)
        return self._folded(workflow, stream)

    def _folded(self, workflow: Workflow[Any], stream: Stream) -> Read:
        session = kernel.begin(workflow)
        events: list[Event] = []
        sessions: list[Session[Any]] = []
        trouble: Trouble = ""
        why = ""
        for one in stream.events:
            try:
                event = self._decode(workflow, one)
                if found := self._misplaced(session, event, one):
                    raise LogDamaged(f"session {one.session_id}", one.version, found)
                session = kernel.evolve(workflow, session, event)
            except LogDamaged as error:
                trouble, why = "damaged", str(error)
                break
            except LogFromFuture:
                raise
            except Exception as error:  # a bug of ours: it hides this session and no other
                trouble, why = "faulted", f"event {one.version}: {type(error).__name__}: {error}"
                break
            events.append(event)
            sessions.append(session)
        if trouble:
            missing = len(stream.events) - len(events)
            seen = (*events, *[None] * missing)
            return Read(stream.head, workflow, stream.events, seen, (), trouble, why)
        return Read(stream.head, workflow, stream.events, tuple(events), tuple(sessions))

    def _decoded(self, workflow: Workflow[Any], one: Stored) -> Event | None:
        if one.data is None:
            return None
        try:
            return self._decode(workflow, one)
        except Exception:  # of a session that is in trouble: a database keeps what it is given
            return None
