"""What one session reads of another: it enters as an Input that names its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args

import msgspec

from preflights_es.kernel.events import Count, Event, Value


class Source(Value, frozen=True):
    """Another session, as it was read; stands beside what was taken from it."""

    session_id: str
    version: Count
    """Of the last event that was read."""
    hash: str
    """Of the chain at that version, in hexadecimal; it holds after an erasure, too."""


How = Literal["known", "supersedes", "superseded_by", "kept", "named"]
"""`known`: a model was told what it decided or planned. `kept`: both stay in force, with a reason.
`named`: a later Input names it."""


class Quoted(msgspec.Struct, frozen=True):
    """Another session that an event names, by its id or its decision's uid."""

    how: How
    session_id: str


def sources(event: Event) -> tuple[Source, ...]:
    """All that an event names, in the order of its fields, each once."""
    return tuple(dict.fromkeys(_within(event)))


def _within(value: object) -> Iterator[Source]:
    if isinstance(value, Source):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name in _fields(type(value)):
            yield from _within(getattr(value, name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _within(one)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _within(one)


def has_sources(cls: type[msgspec.Struct]) -> bool:
    """Whether an event of a class may name another session."""
    return bool(_fields(cls))


@cache
def _fields(cls: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a class in which a `Source` may stand."""
    return tuple(
        field.name for field in msgspec.structs.fields(cls) if _holds(field.type, frozenset())
    )


def _holds(kind: Any, seen: frozenset[Any]) -> bool:
    """Whether a value of a type may hold a `Source`.

    Args:
        seen: classes that are being looked at: one may hold others of its kind.
    """
    if kind is Source:
        return True
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if kind in seen:
            return False
        within = msgspec.structs.fields(kind)
        return any(_holds(field.type, seen | {kind}) for field in within)
    return any(_holds(one, seen) for one in get_args(kind))
