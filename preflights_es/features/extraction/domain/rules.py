"""Items as the rules keep them: from a payload, from a person's words, over a second reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import Any, Final, Literal, TypedDict, get_args

import msgspec
from msgspec.structs import replace

from preflights_es.features.extraction.domain.events import (
    CONTENT_MAX,
    DURATION_MAX,
    FIELDS,
    TITLE_MAX,
    Energy,
    Importance,
    NoteItem,
)
from preflights_es.kernel.text import late_pattern, one_line, problem, visible


class WrongField(TypedDict):
    """What a `ChangeRefused` says."""

    reason: Literal["unknown_field", "invalid_value", "missing_value"]
    field: str


_CLOCK: Final = late_pattern(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_DATE: Final = late_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PAYLOAD: Final = (
    "type",
    "confidence",
    "start_time",
    "end_time",
    "date",
    "content",
    "importance",
    "due",  # of a mark alone: the contract of a model drops it
)
_OF_EVENTS: Final = ("start_time", "date")
"""What an event that is filed by hand cannot do without."""
_MINUTES: Final = ("duration_min", "duration_max")


# 1. From a model -----------------------------------------------------------------------------


def items(
    payload: list[dict[str, Any]], before: tuple[NoteItem, ...], touched: frozenset[int], given: int
) -> tuple[NoteItem, ...]:
    """The items of a payload that meets its contract, with their numbers.

    An item that was there before, of one type and title, keeps its number; one that a person has
    changed since stays as that person left it.

    Args:
        before: as they were listed and as they are now, so that another title hides none.
        given: the highest number that was given so far.
    """
    left = list(before)
    found: list[NoteItem] = []
    for item in map(_item_from_payload, payload):
        number = next((former.number for former in left if _is_same_item(former, item)), 0)
        left = [former for former in left if former.number != number]
        if not number:
            given += 1
        if number not in touched:
            found.append(replace(item, number=number or given))
    return tuple(found)


def _is_same_item(one: NoteItem, other: NoteItem) -> bool:
    return (one.type, one.title.casefold()) == (other.type, other.title.casefold())


def _item_from_payload(entry: dict[str, Any]) -> NoteItem:
    minutes: dict[str, Any] = {name: int(entry[name]) for name in _MINUTES if name in entry}
    said: dict[str, Any] = {name: entry[name] for name in _PAYLOAD if name in entry}
    shape: dict[str, Any] = {"number": 0, "source": "extracted", **said, **minutes}
    return msgspec.convert({**shape, "title": one_line(entry["title"])}, NoteItem)


def with_dues(listed: tuple[NoteItem, ...], dues: list[tuple[str, str]]) -> tuple[NoteItem, ...]:
    """Each due date that the note states, at the task whose title has most of its line's words.

    Args:
        dues: pairs of a line without its marks and a date.
    """
    found = list(listed)
    for line, due in dues:
        said = {*line.casefold().split()}
        shared = [len(said & {*item.title.casefold().split()}) for item in found]
        free = (i for i, item in enumerate(found) if item.type == "task" and item.due is None)
        best = max(free, key=lambda i: shared[i], default=None)
        if best is not None and shared[best]:
            found[best] = replace(found[best], due=due)
    return tuple(found)


# 2. From a person ----------------------------------------------------------------------------


def fill_item_fields(item: NoteItem, fields: Iterable[tuple[str, str]]) -> NoteItem | WrongField:
    """An item with these values, or the first that is wrong.

    Args:
        fields: pairs of name and value as typed; an empty value says nothing.
    """
    title = item.title
    if not visible(title) or problem(title, TITLE_MAX):
        return WrongField(reason="invalid_value", field="title")
    for name, typed in fields:
        if name not in FIELDS[item.type]:
            return WrongField(reason="unknown_field", field=name)
        if not typed.strip():
            continue
        value = _READERS[name](typed.strip())
        if value is None:
            return WrongField(reason="invalid_value", field=name)
        item = replace(item, **{name: value})
    low, high = item.duration_min, item.duration_max
    if low is not None and high is not None and high < low:
        return WrongField(reason="invalid_value", field="duration_max")
    for name in _OF_EVENTS if item.type == "event" else ():
        if getattr(item, name) is None:
            return WrongField(reason="missing_value", field=name)
    return item


def _minutes(text: str) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        return None
    return int(text) if 1 <= int(text) <= DURATION_MAX else None


def _parse_item_time(text: str) -> str | None:
    found = _CLOCK.fullmatch(text)
    return f"{int(found[1]):02d}:{found[2]}" if found else None


def _date(text: str) -> str | None:
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def _one_of(options: tuple[str, ...]) -> Callable[[str], str | None]:
    return lambda text: text if text in options else None


_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "duration_min": _minutes,
    "duration_max": _minutes,
    "importance": _one_of(get_args(Importance)),
    "due": _date,
    "energy": _one_of(get_args(Energy)),
    "start_time": _parse_item_time,
    "end_time": _parse_item_time,
    "date": _date,
    "content": lambda text: text if problem(text, CONTENT_MAX) is None else None,
}
