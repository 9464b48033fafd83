"""Session files that mean harm: recorded sessions, changed at random; some of their chains hold.

Everything follows from a seed, so that a case that fails can be run again alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.kernel.events import Actor, SessionClosed, SessionErased
from preflights_es.kernel.json import is_too_deep
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store import jsonl
from preflights_es.store.stored_events import Codec
from tests.store.given import resealed

REPLAYS: Final = Path(__file__).parents[1] / "replays"
EVENTS_MAX: Final = 60  # of a session that is changed: longer ones take time and show no more
CHANGES_MAX: Final = 4  # of one session

Events = list[Stored]


@cache
def recorded() -> tuple[tuple[Stored, ...], ...]:
    """Every session of the golden recordings that is not too long."""
    found: dict[str, Events] = {}
    for path in sorted(REPLAYS.rglob("*.jsonl")):
        for event in jsonl.stored(path.read_bytes().splitlines(), path.name):
            found.setdefault(f"{path} {event.session_id}", []).append(event)
    return tuple(tuple(events) for events in found.values() if len(events) <= EVENTS_MAX)


@cache
def tags() -> tuple[str, ...]:
    """Of every event of every workflow."""
    return tuple(dict.fromkeys(one.type for events in recorded() for one in events))


def session(rng: Random) -> Events:
    """One of the recordings."""
    return list(rng.choice(recorded()))


def file(rng: Random, original: Sequence[Stored]) -> bytes:
    """A file that holds a session, changed."""
    events = list(original)
    for _ in range(rng.choice((1, 1, 1, 2, CHANGES_MAX))):
        events = rng.choice(KEEPING)(rng, events) or events
    if rng.random() < 0.95:
        events = resealed(events)
    lines = [jsonl.encode_event_line(one) for one in events]
    if rng.random() < 0.2:
        lines += [jsonl.encode_event_line(one) for one in session(rng)]
    if rng.random() < 0.1:
        lines = rng.choice(BREAKING)(rng, lines)
    return b"".join([jsonl.FIRST, *lines])


# 1. What a chain can be made anew over ---------------------------------------------------------


def dropped(rng: Random, events: Events) -> Events:
    """Without one of them."""
    at = rng.randrange(len(events))
    return events[:at] + events[at + 1 :]


def cut(rng: Random, events: Events) -> Events:
    """Its beginning."""
    return events[: rng.randint(1, len(events))]


def repeated(rng: Random, events: Events) -> Events:
    """One of them twice, and an Input's id with it."""
    at = rng.randrange(len(events))
    return [*events[: at + 1], *events[at:]]


def swapped(rng: Random, events: Events) -> Events:
    """Two of them in each other's place."""
    a, b = rng.randrange(len(events)), rng.randrange(len(events))
    made = list(events)
    made[a], made[b] = made[b], made[a]
    return made


def grafted(rng: Random, events: Events) -> Events:
    """Events of another session among its own."""
    other = session(rng)
    at, start = rng.randint(0, len(events)), rng.randrange(len(other))
    first = events[0]
    foreign = [
        replace(one, session_id=first.session_id, project=first.project, workflow=first.workflow)
        for one in other[start : start + rng.randint(1, 4)]
    ]
    return [*events[:at], *foreign, *events[at:]]


def turned(rng: Random, events: Events) -> Events:
    """Its turns in another order, without one, or with those of another session among them."""
    turns = _turns(events)
    other = _turns(session(rng)) if rng.random() < 0.6 else turns
    at, first = rng.randint(0, len(turns)), events[0]
    start = rng.randrange(len(other))
    new = [
        replace(
            one,
            session_id=first.session_id,
            project=first.project,
            workflow=first.workflow,
            input_id=one.input_id and f"{one.input_id}-{rng.random()}",
        )
        for turn in other[start : start + rng.randint(1, 3)]
        for one in turn
    ]
    kept = turns[at + (rng.random() < 0.5) :]
    return [one for turn in (*turns[:at], new, *kept) for one in turn]


def _turns(events: Events) -> list[Events]:
    """Each Input with its Decisions."""
    turns: list[Events] = [[]]
    for one in events:
        if one.input_id is not None and turns[-1]:
            turns.append([])
        turns[-1].append(one)
    return turns


def undecided(rng: Random, events: Events) -> Events:
    """Up to an Input, whose Decisions are to be made."""
    inputs = [n for n, one in enumerate(events, 1) if one.input_id is not None]
    return events[: rng.choice(inputs)] if inputs else events


def closed(rng: Random, events: Events) -> Events:
    """An erasure at a place, and perhaps the payloads before it gone."""
    at = rng.randint(1, len(events))
    first = events[0]
    codec = Codec(WORKFLOWS["clarification"].decider)
    drafts = (
        codec.draft(SessionErased(at=1, actor=Actor("user", "Mallory")), f"e-{rng.random()}"),
        codec.draft(SessionClosed(status="erased")),
    )
    tail = [
        replace(first, type=d.type, data=d.data, input_id=d.input_id, actor_kind=d.actor_kind)
        for d in drafts
    ]
    before = events[:at]
    if rng.random() < 0.5:
        before = [replace(one, data=None, salt=None) for one in before]
    return [*before, *tail, *events[at if rng.random() < 0.2 else len(events) :]]


def retyped(rng: Random, events: Events) -> Events:
    """One of them under another tag."""
    return _changed(rng, events, type=rng.choice((*tags(), "", "x", "clarification.x.v9")))


def enveloped(rng: Random, events: Events) -> Events:
    """One of them in another envelope."""
    field, value = rng.choice(ENVELOPES)
    return _changed(rng, events, **{field: value})


def renamed(rng: Random, events: Events) -> Events:
    """All of them of another session, project or workflow."""
    field, value = rng.choice(
        (
            ("project", ""),
            ("project", "../../etc"),
            ("project", "x" * 10_000),
            ("project", "house \x1b[31m\u202e"),
            ("workflow", "extraction"),
            ("workflow", "clarification"),
            ("workflow", ""),
            ("session_id", "00000000-0000-0000-0000-000000000000"),
        )
    )
    return [replace(one, **{field: value}) for one in events]


def rewritten(rng: Random, events: Events) -> Events:
    """One value of a payload is another."""
    at = rng.randrange(len(events))
    return _payload(events, at, lambda data: _mutated(rng, data))


def replaced(rng: Random, events: Events) -> Events:
    """An invalid payload."""
    at = rng.randrange(len(events))
    return _payload(events, at, lambda _: rng.choice(PAYLOADS))


def transplanted(rng: Random, events: Events) -> Events:
    """The payload of one in the place of another's."""
    data = rng.choice(session(rng) if rng.random() < 0.5 else events).data
    return _payload(events, rng.randrange(len(events)), lambda own: data or own)


KEEPING: Final[tuple[Callable[[Random, Events], Events], ...]] = (
    *(dropped, cut, repeated, swapped, grafted, closed, retyped, enveloped, renamed),
    *(rewritten,) * 9,
    *(turned,) * 5,
    *(replaced, transplanted, undecided),
)

ENVELOPES: Final[tuple[tuple[str, Any], ...]] = (
    ("input_id", None),
    ("input_id", ""),
    ("input_id", "x"),
    ("input_id", "x" * 100_000),
    ("input_id", "x\0"),
    ("input_id", "\x1b[31m"),
    ("actor_kind", None),
    ("actor_kind", "user"),
    ("actor_kind", "god"),
    ("decider", ""),
    ("decider", "clarification/999"),
    ("decider", "\u202e" * 1_000),
    ("recorded_at", 0),
    ("recorded_at", 2**63 - 1),
    ("recorded_at", -(2**63)),
    ("data", None),
)

PAYLOADS: Final[tuple[bytes, ...]] = (
    b"null",
    b"{}",
    b"[]",
    b"0",
    b'""',
    b"true",
    b"1e400",
    b"-0",
    b"9" * 5_000,
    b"[" * 10_000 + b"]" * 10_000,
    b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    b'"' + b"x" * 100_000 + b'"',
    b'"\\ud800"',
    b'{"at":1,"at":2}',
)

VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63 - 1, -(2**63), 2**63, 10**30, 0.5, 1e308),
    *("", " ", "x", "x" * 5_000, "\0", "\x1b]0;owned\x07", "\u202e\u2066", "../../../etc/passwd"),
    *("accepted", "user", "agent", "script", "Other", "change_category", "artifact-1", "clarify-1"),
    *("clarify", "decide", "v1", "extract", "clarification/1", "sim", "mock"),
    *(
        "category",
        "auth_strategy",
        "Authentication",
        "Other (specify)",
        "01:00",
        "99:99",
        "2026-01-01",
    ),
    *([], {}, [[]], [None], ["x", "x"], {"x": 1}, [{}], {"kind": "user", "name": "Mallory"}),
)


def _changed(rng: Random, events: Events, **values: Any) -> Events:
    at = rng.randrange(len(events))
    if values.get("data", b"") is None:
        values["salt"] = None
    return [*events[:at], replace(events[at], **values), *events[at + 1 :]]


def _payload(events: Events, at: int, change: Callable[[bytes], bytes]) -> Events:
    one = events[at]
    if one.data is None:
        return events
    return [*events[:at], replace(one, data=change(one.data)), *events[at + 1 :]]


def _mutated(rng: Random, data: bytes) -> bytes:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    places = list(_places(value))
    if not places or is_too_deep(data):  # Python 3.12 and newer parse what they cannot copy
        return data
    holder, key = rng.choice(places)
    what = rng.random()
    if what < 0.1 and isinstance(holder, dict):
        del holder[key]
    elif what < 0.2 and isinstance(holder, dict):
        holder[rng.choice(("x", "at", "number", "session_id"))] = rng.choice(VALUES)
    elif what < 0.3 and isinstance(holder, list):
        holder.insert(key, holder[key])
    elif what < 0.6:
        other, there = rng.choice(places)
        holder[key] = deepcopy(other[there])  # what stands elsewhere is often of the same kind
    else:
        holder[key] = rng.choice(VALUES)
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return data


def _places(value: Any, depth: int = 0) -> Any:
    """Pairs of what holds values, and where in it one stands."""
    if depth > 20 or not isinstance(value, (dict, list)):
        return
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        yield from _places(value[key], depth + 1)


# 2. What no chain holds over -------------------------------------------------------------------


def flipped(rng: Random, lines: list[bytes]) -> list[bytes]:
    """A byte of a line is another."""
    at = rng.randrange(len(lines))
    line = bytearray(lines[at])
    line[rng.randrange(len(line))] = rng.randrange(256)
    return [*lines[:at], bytes(line), *lines[at + 1 :]]


def mixed(rng: Random, lines: list[bytes]) -> list[bytes]:
    """In another order."""
    made = list(lines)
    rng.shuffle(made)
    return made


def doubled(rng: Random, lines: list[bytes]) -> list[bytes]:
    """A line twice, at another place."""
    made = list(lines)
    made.insert(rng.randint(0, len(made)), rng.choice(lines))
    return made


def truncated(rng: Random, lines: list[bytes]) -> list[bytes]:
    """It ends in the middle of a line."""
    whole = b"".join(lines)
    return whole[: rng.randrange(len(whole))].splitlines(keepends=True)


def littered(rng: Random, lines: list[bytes]) -> list[bytes]:
    """With something between them."""
    litter = (b"\n", b" \r\n", b"{}\n", b"null\n", b"\xff\xfe\n", b"\0\n", b"[" * 9_999 + b"\n")
    made = list(lines)
    made.insert(rng.randint(0, len(made)), rng.choice(litter))
    return made


BREAKING: Final[tuple[Callable[[Random, list[bytes]], list[bytes]], ...]] = (
    *(flipped, mixed, doubled, truncated, littered),
)
