"""Sessions on their way out of a log and into another, byte for byte.

Nothing is held in memory but the session that is under way. Whoever takes over a file reads it
twice: once to verify all of it, once to take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import (
    Conflict,
    DuplicateInput,
    LogDamaged,
    PreflightsError,
    Refused,
    StoreUnavailable,
)
from preflights_es.core.events import Request
from preflights_es.core.ports import Archive, Head, Stored
from preflights_es.core.session import Session
from preflights_es.runtime.runner import Runner
from preflights_es.store import chain, jsonl

MIXED_MAX: Final = 512 * 1024 * 1024  # bytes of a file whose sessions are mixed line by line

Source = Callable[[], Iterable[bytes]]
"""The lines of a file, from the first one, each time it is called."""
Streams = Callable[[], Iterator[list[Stored]]]
"""The sessions of a file, likewise."""


class Taken(msgspec.Struct, frozen=True):
    """What came of one session of a file."""

    head: Head
    """In the file."""
    new: int
    """How many of its events were not known here."""
    erased: bool
    """Whether it was erased, there and therefore here."""


class _Mixed(Exception):
    """A session goes on after another one began."""


class Transfer:
    """Sessions of one log that go, and those that come."""

    def __init__(self, runner: Runner, archive: Archive, clear: Sequence[str] = ()) -> None:
        """Args:
        clear: tables of projections, from which goes what was erased elsewhere.
        """
        self._runner = runner
        self._archive = archive
        self._clear = clear

    # 1. Out ----------------------------------------------------------------------------------

    def exported(self, session_id: str) -> bytes:
        """A session as lines, verified.

        Raises:
            LogDamaged: it does not verify.
        """
        head = self._archive.head(session_id)
        events = self._archive.read(session_id)
        return jsonl.lines(chain.verified(events, head.hash if head else None))

    def all(self, heads: Sequence[Head]) -> Iterator[bytes]:
        """Sessions as lines, one after the other, always in the same order: that of their ids.

        Raises:
            LogDamaged: one of them does not verify.
        """
        for head in sorted(heads, key=lambda head: head.session_id):
            yield self.exported(head.session_id)

    # 2. In -----------------------------------------------------------------------------------

    def imported(
        self, source: Source, where: str, progress: Callable[[], None] = lambda: None
    ) -> Iterator[Taken]:
        """Take over the sessions of a file, each in a transaction of its own.

        What was taken before, by a process that was killed or from another file, is passed over.

        Args:
            where: the file's name, for messages.
            progress: is called after each session, when it is verified and when it is taken.

        Raises:
            LogDamaged: an event does not verify; nothing of the file is taken.
            LogFromFuture: a newer version wrote it; likewise.
            Refused: a session has gone another way here; likewise.
        """
        streams = self._verified(source, where, progress)
        for events in streams():
            yield self._taken(events)
            progress()

    def _verified(self, source: Source, where: str, progress: Callable[[], None]) -> Streams:
        """The sessions of a file, once all of them verify and fit those that are here."""

        def runs() -> Iterator[list[Stored]]:
            return _runs(jsonl.stored(source(), where))

        def whole() -> Iterator[list[Stored]]:
            lines = _bounded(source(), where)
            return iter(chain.sessions(jsonl.stored(lines, where)).values())

        try:
            self._check(runs(), where, progress)
        except (_Mixed, LogDamaged) as error:
            if isinstance(error, LogDamaged) and not _is_mixed(runs()):
                raise
            self._check(whole(), where, progress)
            return whole
        return runs

    def _check(
        self, streams: Iterable[list[Stored]], where: str, progress: Callable[[], None]
    ) -> None:
        count = 0
        for events in streams:
            self._folded(events)
            self._lacking(events)
            count += 1
            progress()
        if count == 0:
            raise LogDamaged(where, 0, "it holds no events")

    def _folded(self, events: list[Stored]) -> Session[Any]:
        """A session of a file, once it verifies."""
        chain.verified(events)
        return self._runner.folded(self._runner.workflow(events[0].workflow), events)

    def _lacking(self, events: list[Stored]) -> list[Stored]:
        """The tail that this log lacks.

        Raises:
            Refused: the two copies differ.
        """
        here = self._archive.read(events[0].session_id)
        for mine, theirs in zip(here, events, strict=False):
            if mine.hash != theirs.hash:
                raise Refused(
                    f"session {mine.session_id} has diverged: at version {mine.version} this log "
                    "and the file hold different events; nothing was imported"
                )
        return events[len(here) :]

    def _taken(self, events: list[Stored]) -> Taken:
        """Add the tail; its open completions can be made here, its documents only stay due.

        Importing a file writes no documents: `preflights render` does, when a person asks.
        """
        # Verified once more: the file may have changed since.
        session, new, last = self._folded(events), self._lacking(events), events[-1]
        if new:
            workflow = self._runner.workflow(last.workflow)
            number: int | None = getattr(workflow.view(session.state), "number", None)
            is_known = len(new) < len(events)
            calls = self._archive.open_calls(last.project) if is_known else ()
            known = {call for session_id, call in calls if session_id == last.session_id}
            still = sorted(c.call for c in session.calls if _is_completion(c) or c.call in known)
            try:
                self._archive.insert(new, number=number, open_calls=still, clear=self._clear)
            except DuplicateInput as error:
                raise Refused(
                    f"an Input of session {last.session_id} stands in another session: "
                    "it was not imported"
                ) from error
            except Conflict as error:
                raise StoreUnavailable("the session moved while it was imported: again") from error
        head = Head(last.session_id, last.project, last.workflow, last.version, last.hash)
        return Taken(head, len(new), session.closed == "erased")


def _is_completion(call: Request) -> bool:
    return isinstance(call, CompletionRequested)


def _runs(events: Iterable[Stored]) -> Iterator[list[Stored]]:
    """Sessions as they follow each other.

    Raises:
        _Mixed: one of them goes on after another one began.
    """
    seen: set[str] = set()
    for session_id, run in groupby(events, key=lambda event: event.session_id):
        if session_id in seen:
            raise _Mixed
        seen.add(session_id)
        yield list(run)


def _is_mixed(runs: Iterable[list[Stored]]) -> bool:
    try:
        for _ in runs:
            pass
    except _Mixed:
        return True
    except PreflightsError:
        return False
    return False


def _bounded(lines: Iterable[bytes], where: str) -> Iterator[bytes]:
    """Lines that have to be held in memory, to be put in order."""
    size = 0
    for line in lines:
        size += len(line)
        if size > MIXED_MAX:
            raise Refused(
                f"the sessions of {where} are mixed line by line, and it has more than "
                f"{MIXED_MAX:,} bytes: sort it by session"
            )
        yield line
