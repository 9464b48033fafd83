"""The canonical JSON of events, and where two JSON values differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from threading import RLock
from typing import Any, Final, TypeVar

import msgspec

from preflights_es.kernel.text import late_pattern

NESTED_MAX: Final = 200  # levels of arrays and objects; a model's response has no more either

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_unordered = msgspec.json.Encoder(order="sorted")
"""Objects that differ in nothing but the order of their fields are the same."""
_making: Final = RLock()


def canonical_json(value: object) -> bytes:
    """Canonical: fields in the order of the class, no white space, UTF-8.

    Raises:
        UnicodeEncodeError: a lone surrogate; callers refuse those before an event is made.
    """
    return _encoder.encode(value)


def decode_plain_json(data: bytes) -> Any:
    """Plain dicts, lists, strings and numbers.

    Raises:
        msgspec.DecodeError: not JSON.
    """
    return msgspec.json.decode(data)


def decoder(kind: type[T]) -> Callable[[bytes], T]:
    """Decodes JSON as a type, which one thread at a time finds out.

    msgspec remembers what a class holds while it is still reading the class: another thread that
    meets it then, in a type of its own, ends the process.
    """
    with _making:
        return msgspec.json.Decoder(kind).decode


def repeated(data: bytes) -> str | None:
    """A name that one object has twice, which readers take for different values; None without.

    Args:
        data: valid JSON; for other bytes the result is undefined.
    """
    import jiter

    try:
        jiter.from_json(data, catch_duplicate_keys=True)
    except ValueError as error:
        _, is_repeated, found = str(error).partition("Detected duplicate key ")
        return found.rpartition(" at line ")[0] if is_repeated else None
    return None


def is_too_deep(data: bytes) -> bool:
    """Whether JSON nests deeper than `NESTED_MAX`; how deep a parser goes differs by Python.

    Args:
        data: valid JSON; for other bytes the result is undefined.
    """
    if data.count(b"[") + data.count(b"{") <= NESTED_MAX:
        return False  # the usual case, without a second look
    depth = 0
    for found in _BRACKET.finditer(data):
        depth += 1 if found[1] in b"[{" else -1
        if depth > NESTED_MAX:
            return True
    return False


class Absent:
    """Stands for a value that one side does not have."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT = Absent()
_BRACKET: Final = late_pattern(rb'(?:[^][{}"]++|"(?:[^"\\]++|\\.)*+")*+([][{}])')
"""The next one that stands in no text."""
_LEAVES: Final = frozenset((str, int, float, bool, type(None)))


def differences(recorded: Any, computed: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Triples of JSON Pointer, recorded and computed value, in document order.

    `ABSENT` stands where one side has no value: the pointer is then into the other side alone,
    since in a list that grew or shrank what stayed has another place. Depth is that of our own
    events, so plain recursion does.
    """
    if isinstance(recorded, dict) and isinstance(computed, dict):
        for key in [*recorded, *(k for k in computed if k not in recorded)]:
            a, b = recorded.get(key, ABSENT), computed.get(key, ABSENT)
            if not (type(a) is type(b) in _LEAVES and a == b):  # most are the same: no recursion
                pointer = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
                yield from differences(a, b, pointer)
    elif isinstance(recorded, list) and isinstance(computed, list):
        if changed := _find_list_changes(recorded, computed):
            yield from ((f"{at}/{i}", a, b) for i, a, b in changed)
            return
        for i in range(max(len(recorded), len(computed))):
            a = recorded[i] if i < len(recorded) else ABSENT
            b = computed[i] if i < len(computed) else ABSENT
            yield from differences(a, b, f"{at}/{i}")
    elif type(recorded) is not type(computed) or recorded != computed:
        yield at, recorded, computed


def _find_list_changes(recorded: list[Any], computed: list[Any]) -> list[tuple[int, Any, Any]]:
    """What left a list and what is new in it, where all others are the same and in order."""
    if len(recorded) == len(computed):
        return []
    left, new = ([*map(_unordered.encode, one)] for one in (recorded, computed))
    olds, news = set(left), set(new)
    stays = [one for one in left if one in news]
    if not stays or stays != [one for one in new if one in olds]:
        return []
    gone = [(i, recorded[i], ABSENT) for i, one in enumerate(left) if one not in news]
    came = [(i, ABSENT, computed[i]) for i, one in enumerate(new) if one not in olds]
    return sorted([*gone, *came], key=itemgetter(0))
