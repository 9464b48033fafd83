"""Golden sessions, to be recorded anew; nothing here imports the program as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Final

from preflights_es.kernel import ids
from preflights_es.kernel.ports import AppendBatch, Draft, Head, Stored
from preflights_es.store import jsonl, stored_events
from tests.markdown import ROOT

NOON: Final = 1_790_000_000_000  # milliseconds since 1970 UTC, as in `tests.fixed`


@cache
def goldens() -> tuple[tuple[Stored, ...], ...]:
    """Every golden session, of every workflow."""
    found = []
    others = ("calls",)  # last: what asks no model is no session to begin with
    for path in sorted(ROOT.glob("replays/*/*.jsonl"), key=lambda p: (p.parent.name in others, p)):
        streams = stored_events.group_events_by_session(
            jsonl.stored(path.read_bytes().splitlines(), path.name)
        )
        found += [tuple(events) for events in streams.values()]
    return tuple(found)


def several() -> tuple[tuple[Stored, ...], ...]:
    """Every third of them, of all workflows: enough where what they fold to is not the question."""
    return goldens()[::3]


def golden(name: str, workflow: str = "clarification") -> tuple[tuple[Stored, ...], ...]:
    """The sessions of one golden file."""
    path = ROOT / "replays" / workflow / f"{name}.jsonl"
    streams = stored_events.group_events_by_session(
        jsonl.stored(path.read_bytes().splitlines(), path.name)
    )
    return tuple(tuple(events) for events in streams.values())


def new_id(number: int) -> str:
    """An id; a greater number is a newer session."""
    return ids.uuid7(NOON + number, number.to_bytes(10, "big"))


class Recording:
    """A golden session that is recorded once more, under an id of its own."""

    def __init__(self, events: Sequence[Stored], number: int, inputs: int = 1) -> None:
        """Args:
        inputs: how many are appended at once.
        """
        self.session_id = new_id(number)
        self._workflow = events[0].workflow
        self._parts = list(self._split(events, inputs))
        self._head: Head | None = None

    def _split(self, events: Sequence[Stored], inputs: int) -> Iterator[tuple[Draft, ...]]:
        """Each Input with its Decisions."""
        numbers = [0]
        for event in events[1:]:
            numbers.append(numbers[-1] + (event.input_id is not None))
        for _, part in groupby(zip(numbers, events, strict=True), lambda pair: pair[0] // inputs):
            yield tuple(self._draft(event) for _, event in part)

    def _draft(self, event: Stored) -> Draft:
        assert event.data is not None, "no golden session was erased"
        own = event.input_id and f"{self.session_id}/{event.version}"
        return Draft(event.type, event.data, event.decider, own, event.actor_kind)

    def next(self) -> AppendBatch | None:
        """What is to be appended now; None at its end."""
        if not self._parts:
            return None
        return AppendBatch(
            session_id=self.session_id,
            project="house",
            workflow=self._workflow,
            expected_version=self._head.version if self._head else 0,
            expected_hash=self._head.hash if self._head else b"",
            events=self._parts[0],
        )

    def appended(self, head: Head) -> None:
        """The store took it."""
        self._head = head
        del self._parts[0]
