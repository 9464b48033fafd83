"""A store that lives as long as its process: for what-if, simulation and tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from preflights_es.core.errors import Conflict, DuplicateInput, NumberTaken
from preflights_es.core.ids import TYPED_MIN
from preflights_es.core.ports import Batch, Head, Stored
from preflights_es.store.chain import sealed


class MemoryStore:
    """Keeps every promise of `core.ports.Store` but durability."""

    def __init__(self, now: Callable[[], int], salt: Callable[[], bytes]) -> None:
        self._now = now
        self._salt = salt
        self._streams: dict[str, list[Stored]] = {}
        self._inputs: dict[str, str] = {}
        self._numbers: dict[tuple[str, int], str] = {}
        self._open: dict[tuple[str, str], tuple[str, int]] = {}
        """Open calls, with who claimed each and until when."""

    def append(self, batches: Sequence[Batch]) -> tuple[Head, ...]:
        """All or nothing: everything is checked before anything changes."""
        seen: set[str] = set()
        for batch in batches:
            stream = self._streams.get(batch.session_id, [])
            at = (len(stream), stream[-1].hash if stream else b"")
            if at != (batch.expected_version, batch.expected_hash):
                raise Conflict(batch.session_id, batch.expected_version)
            for draft in batch.events:
                if draft.input_id in self._inputs or (draft.input_id and draft.input_id in seen):
                    raise DuplicateInput(str(draft.input_id))
                seen |= {draft.input_id} if draft.input_id else set()
            holder = self._numbers.get((batch.project, batch.number or 0))
            if holder not in (None, batch.session_id):
                raise NumberTaken(batch.project, batch.number or 0)
        return tuple(self._append(batch) for batch in batches)

    def _append(self, batch: Batch) -> Head:
        events = sealed(batch, self._now(), self._salt)
        self._streams.setdefault(batch.session_id, []).extend(events)
        for event in events:
            if event.input_id:
                self._inputs[event.input_id] = batch.session_id
        if batch.number is not None:
            self._numbers[batch.project, batch.number] = batch.session_id
        for call in batch.opens:
            self._open[batch.session_id, call] = ("", 0)
        for call in batch.closes:
            self._open.pop((batch.session_id, call), None)
        return _head(events[-1])

    def insert(self, events: Sequence[Stored]) -> None:
        """Take over a whole session that was verified, byte for byte."""
        self._streams[events[0].session_id] = list(events)

    def read(self, session_id: str, after: int = 0) -> tuple[Stored, ...]:
        return tuple(self._streams.get(session_id, [])[after:])

    def head(self, session_id: str) -> Head | None:
        stream = self._streams.get(session_id)
        return _head(stream[-1]) if stream else None

    def heads(self, project: str | None, limit: int | None = None) -> tuple[Head, ...]:
        newest = sorted(self._streams, reverse=True)
        heads = [_head(self._streams[session_id][-1]) for session_id in newest]
        return tuple(h for h in heads if project in (None, h.project))[:limit]

    def matching(self, typed: str) -> tuple[str, ...]:
        if len(typed) < TYPED_MIN:
            return ()
        return tuple(s for s in self._streams if s.startswith(typed) or s.endswith(typed))

    def session_of_input(self, input_id: str) -> str | None:
        return self._inputs.get(input_id)

    def open_calls(self, project: str) -> tuple[tuple[str, str], ...]:
        return tuple(key for key in self._open if self._streams[key[0]][0].project == project)

    def claim(self, session_id: str, call: str, owner: str, now: int, until: int) -> bool:
        held = self._open.get((session_id, call))
        if held is None or (held[0] not in ("", owner) and held[1] > now):
            return False
        self._open[session_id, call] = (owner, until)
        return True

    def numbers(self, project: str) -> dict[int, str]:
        return {number: s for (p, number), s in self._numbers.items() if p == project}

    def close(self) -> None:
        """Nothing to give back."""


def _head(last: Stored) -> Head:
    return Head(last.session_id, last.project, last.workflow, last.version, last.hash)
