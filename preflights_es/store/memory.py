"""A store that lives as long as its process: for what-if, simulation and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from msgspec.structs import replace

from preflights_es.kernel.errors import Conflict, DuplicateInput, NumberTaken
from preflights_es.kernel.ids import SHORT_AT, TYPED_MIN
from preflights_es.kernel.ports import AppendBatch, Arrival, Claim, Head, Numbered, Stored
from preflights_es.store.frozen import MATCHES_MAX
from preflights_es.store.log_rows import UNCLAIMED, claimed, head_of
from preflights_es.store.stored_events import can_follow_head, erased_before, sealed


class MemoryStore:
    """Keeps every promise of `kernel.ports.Store` but durability."""

    def __init__(self, now: Callable[[], int], salt: Callable[[], bytes]) -> None:
        self._now = now
        self._salt = salt
        self._streams: dict[str, list[Stored]] = {}
        self._inputs: dict[str, str] = {}
        self._numbers: dict[tuple[str, Numbered], str] = {}
        self._open: dict[tuple[str, str], tuple[str, int]] = {}
        """Open calls, with who claimed each and until when."""

    def append(self, batches: Sequence[AppendBatch]) -> tuple[Head, ...]:
        """All or nothing: everything is checked before anything changes."""
        moved: set[str] = set()
        inputs: set[str] = set()
        numbers: dict[tuple[str, Numbered], str] = {}
        for batch in batches:
            stream = self._streams.get(batch.session_id, [])
            at = (len(stream), stream[-1].hash if stream else b"")
            expected = (batch.expected_version, batch.expected_hash)
            if at != expected or batch.session_id in moved:
                raise Conflict(batch.session_id, batch.expected_version)
            moved.add(batch.session_id)
            self._take_inputs(inputs, (draft.input_id for draft in batch.events))
            if batch.number is not None:
                key = (batch.project, batch.number)
                holder = self._numbers.get(key) or numbers.setdefault(key, batch.session_id)
                if holder != batch.session_id:
                    raise NumberTaken(batch.project, batch.number.number)
        return tuple(self._append(batch) for batch in batches)

    def _append(self, batch: AppendBatch) -> Head:
        if not batch.events:
            return head_of(self._streams[batch.session_id])
        events = sealed(batch, self._now(), self._salt)
        if batch.number is not None:
            self._numbers[batch.project, batch.number] = batch.session_id
        for call in batch.opens:
            self._open[batch.session_id, call] = UNCLAIMED
        for call in batch.closes:
            self._open.pop((batch.session_id, call), None)
        return self._extend(events)

    def insert(
        self,
        events: Sequence[Stored],
        *,
        open_calls: Sequence[str] | None = None,
        number: Numbered | None = None,
        clear: Sequence[str] = (),  # noqa: ARG002  it has none
        imported: Sequence[str] = (),  # noqa: ARG002  it loses no row, and asks for none
    ) -> None:
        first = events[0]
        stream = self._streams.get(first.session_id, [])
        if not can_follow_head(first, stream[-1].hash if stream else None, len(stream)):
            raise Conflict(first.session_id, first.version - 1)
        self._take_inputs(set(), (event.input_id for event in events))
        if number is not None:
            self._numbers.setdefault((first.project, number), first.session_id)
        if open_calls is not None:
            known = {key: claim for key, claim in self._open.items() if key[0] == first.session_id}
            for key in known:
                del self._open[key]
            for call in open_calls:
                key = (first.session_id, call)
                self._open[key] = known.get(key, UNCLAIMED)
        self._extend(events)
        if erased_before(events):
            self._drop(first.session_id)

    def insert_new(self, arrivals: Sequence[Arrival]) -> bool:
        ids = [e.input_id for one in arrivals for e in one.events if e.input_id is not None]
        sessions = {one.events[0].session_id for one in arrivals}
        if not self._inputs.keys().isdisjoint(ids) or len(set(ids)) < len(ids):
            return False
        if not self._streams.keys().isdisjoint(sessions) or len(sessions) < len(arrivals):
            return False
        for one in arrivals:
            self.insert(one.events, open_calls=one.open_calls, number=one.number)
        return True

    def heads_of(self, session_ids: Sequence[str]) -> dict[str, Head]:
        found = ((one, self.head(one)) for one in session_ids)
        return {session_id: head for session_id, head in found if head is not None}

    def erase(self, batch: AppendBatch, clear: Sequence[str] = ()) -> Head:  # noqa: ARG002  it has none
        (head,) = self.append([batch])
        self._drop(batch.session_id)
        return head

    def _drop(self, session_id: str) -> None:
        """What an erasure covers."""
        stream = self._streams[session_id]
        covered = erased_before(stream)
        self._streams[session_id] = [
            replace(event, data=None, salt=None) if event.version < covered else event
            for event in stream
        ]
        for key in [key for key in self._open if key[0] == session_id]:
            del self._open[key]

    def _take_inputs(self, taking: set[str], ids: Iterable[str | None]) -> None:
        """Add ids to those that this append takes.

        Raises:
            DuplicateInput: one of them is taken already.
        """
        for input_id in ids:
            if input_id is None:
                continue
            if input_id in self._inputs or input_id in taking:
                raise DuplicateInput(input_id)
            taking.add(input_id)

    def _extend(self, events: Sequence[Stored]) -> Head:
        session_id = events[0].session_id
        self._streams.setdefault(session_id, []).extend(events)
        self._inputs.update({e.input_id: session_id for e in events if e.input_id is not None})
        return head_of(events)

    def read(self, session_id: str, after: int = 0) -> tuple[Stored, ...]:
        return tuple(self._streams.get(session_id, [])[after:])

    def stream(self, session_id: str) -> tuple[Head, tuple[Stored, ...]] | None:
        head = self.head(session_id)
        return None if head is None else (head, self.read(session_id))

    def head(self, session_id: str) -> Head | None:
        stream = self._streams.get(session_id)
        return head_of(stream) if stream else None

    def heads(self, project: str | None, limit: int | None = None) -> tuple[Head, ...]:
        newest = sorted(self._streams, reverse=True)
        heads = [head_of(self._streams[session_id]) for session_id in newest]
        return tuple(h for h in heads if project in (None, h.project))[:limit]

    def scrubbed(self) -> bool:
        return True

    def headless(self) -> tuple[str, ...]:
        return ()

    def matching(self, typed: str) -> tuple[str, ...]:
        if len(typed) < TYPED_MIN:
            return ()
        newest = sorted(self._streams, reverse=True)
        found = (
            s for s in newest if s.startswith((typed, s[:SHORT_AT] + typed)) or s.endswith(typed)
        )
        return tuple(islice(found, MATCHES_MAX))

    def session_of_input(self, input_id: str) -> str | None:
        return self._inputs.get(input_id)

    def open_calls(self, project: str) -> tuple[tuple[str, str], ...]:
        found = (key for key in self._open if self._streams[key[0]][0].project == project)
        return tuple(sorted(found))

    def claim(self, session_id: str, call: str, owner: str, now: int, until: int) -> Claim:
        held = self._open.get((session_id, call))
        if held is None:
            return "not_open"
        found = claimed(*held, owner, now)
        if found != "held":
            self._open[session_id, call] = (owner, until)
        return found

    def claimed_until(self, session_id: str, call: str) -> int:
        return self._open.get((session_id, call), UNCLAIMED)[1]

    def give_back(self, session_id: str, call: str, owner: str) -> None:
        if self._open.get((session_id, call), UNCLAIMED)[0] == owner:
            self._open[session_id, call] = UNCLAIMED

    def calls_of(self, session_id: str) -> frozenset[str]:
        return frozenset(call for of, call in self._open if of == session_id)

    def reopen(self, head: Head, calls: Sequence[str]) -> None:
        if self.head(head.session_id) == head:
            for call in calls:
                self._open.setdefault((head.session_id, call), UNCLAIMED)

    def numbers(self, project: str) -> dict[Numbered, str]:
        return {number: s for (p, number), s in self._numbers.items() if p == project}

    def close(self) -> None:
        """Nothing to give back."""
