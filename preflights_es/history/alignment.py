"""Two recorded sessions side by side: Inputs and Decisions that have a counterpart, and the values
in which these differ, as a replay compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from preflights_es.history.child import Encoded, find_event_divergences
from preflights_es.history.replayer import CLOCK
from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.ports import Stored
from preflights_es.store.stored_events import Codec

T = TypeVar("T")

OWN: Final = (*CLOCK, "request_id", "sha256")
"""Fields that no two sessions have in common; a document names its session and its day."""
PRODUCT_MAX: Final = 10_000_000  # of two lengths: aligning takes as long; more go side by side
ITSELF: Final = b"(this session)"
"""In place of a session's own id, which its payloads hold."""


class ValueDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One value that two events do not share."""

    pointer: str
    """JSON Pointer into the payload; empty for the event as a whole."""
    place: str
    """The same in words, as in `setup, prompt clarify`."""
    a: Any
    b: Any


class EventPair(msgspec.Struct, frozen=True, kw_only=True):
    """An event of one session and its counterpart in the other."""

    a: int | None
    """Version in the first session; None where only the second has such an event."""
    b: int | None
    type: str
    differences: tuple[ValueDifference, ...] = ()
    """None where the two are the same, but for their time and the session's own id."""
    cause: str = ""
    """Of a request, what changed."""


class _Placed(NamedTuple):
    version: int
    is_input: bool
    event: Encoded


BY_EVENT: Final[tuple[Callable[[_Placed], Hashable], ...]] = (
    attrgetter("event"),
    lambda placed: placed.event[0],
)
BY_TURN: Final[tuple[Callable[[Sequence[_Placed]], Hashable], ...]] = (
    lambda turn: tuple(placed.event for placed in turn),
    lambda turn: turn[0].event[0],
)
"""What is the same, and what is of one type; of a turn it is the type of its Input."""


def align_sessions(
    codec: Codec, a: Sequence[Stored], b: Sequence[Stored], *, types_only: bool = False
) -> Iterator[EventPair]:
    """The events of two sessions of one workflow, in order.

    Inputs find each other first, then the Decisions behind them: those that are the same, and
    between these those of one type. What finds none stands alone.

    Args:
        types_only: whether payloads are left out, since some are erased.

    Raises:
        LogDamaged: a payload cannot be compared.
    """
    try:
        sides = [_turns(_placed(codec, one, types_only) for one in stored) for stored in (a, b)]
        for turn, other in aligned(sides[0], sides[1], BY_TURN):
            for one, two in aligned(turn or (), other or (), BY_EVENT):
                yield _pair(one, two)
    except (ValueError, RecursionError) as error:
        found = f"its payload cannot be compared: {error}"
        raise LogDamaged(f"session {a[0].session_id} or {b[0].session_id}", 0, found) from error


def aligned(
    a: Sequence[T], b: Sequence[T], keys: Sequence[Callable[[T], Hashable]]
) -> Iterator[tuple[T | None, T | None]]:
    """Pairs in the order of both: equal by the first key, between these by the next ones."""
    if not (keys and a and b):
        yield from ((one, None) for one in a)
        yield from ((None, one) for one in b)
        return
    if len(a) * len(b) > PRODUCT_MAX:
        yield from zip_longest(a, b)
        return
    matcher = SequenceMatcher(None, [*map(keys[0], a)], [*map(keys[0], b)], autojunk=False)
    begin, other = 0, 0
    for place, counterpart, size in matcher.get_matching_blocks():
        yield from aligned(a[begin:place], b[other:counterpart], keys[1:])
        begin, other = place + size, counterpart + size
        yield from zip(a[place:begin], b[counterpart:other], strict=True)


def _turns(events: Iterable[_Placed]) -> list[list[_Placed]]:
    """An Input and the Decisions behind it."""
    found: list[list[_Placed]] = []
    for one in events:
        if one.is_input or not found:
            found.append([])
        found[-1].append(one)
    return found


def _placed(codec: Codec, stored: Stored, types_only: bool) -> _Placed:
    is_input = stored.input_id is not None
    if types_only:
        return _Placed(stored.version, is_input, (stored.type, b"{}"))
    tag, data = codec.upcast(stored)
    for own in (stored.session_id, decision_uid(stored.session_id)):
        data = data.replace(own.encode(), ITSELF)
    payload = decode_plain_json(data)
    kept = {name: value for name, value in payload.items() if name not in OWN}
    return _Placed(stored.version, is_input, (tag, canonical_json(_without_digests(kept))))


def _without_digests(value: Any) -> Any:
    """Parameters say a question of one's own by its digest; a later event says its words."""
    if isinstance(value, dict):
        return {name: _without_digests(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_digests(one) for one in value if not _is_digest(one)]
    return value


DIGEST_LENGTH: Final = 64  # hexadecimal digits of a SHA-256


def _is_digest(one: Any) -> bool:
    match one:
        case ["sha256", str(value)]:
            return len(value) == DIGEST_LENGTH
    return False


def _pair(one: _Placed | None, two: _Placed | None) -> EventPair:
    either = one or two
    assert either is not None, "a pair has an event"
    first, second = one and one.event, two and two.event
    found = [] if first == second else find_event_divergences(either.version, first, second)
    return EventPair(
        a=one.version if one else None,
        b=two.version if two else None,
        type=either.event[0],
        differences=tuple(
            ValueDifference(
                pointer=each.pointer, place=each.place, a=each.recorded, b=each.computed
            )
            for each in found
        ),
        cause=found[0].cause if found else "",
    )
