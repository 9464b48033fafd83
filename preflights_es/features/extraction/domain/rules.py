"""Items as the rules keep them: from a payload, from a person's words, over a second reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
    Item,
)
from preflights_es.kernel.text import late_pattern, one_line, problem, visible


class Wrong(TypedDict):
    """What a `ChangeRefused` says."""

    reason: Literal["unknown_field", "invalid_value", "nothing_changed"]
    field: str


_CLOCK: Final = late_pattern(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_DATE: Final = late_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PLACE: Final = late_pattern(r"[0-9a-f-]{36}\.[1-9][0-9]{0,5}")
_PAYLOAD: Final = ("type", "confidence", "start_time", "end_time", "date", "content", "importance")
_MINUTES: Final = ("duration_min", "duration_max")


# 1. From a model -----------------------------------------------------------------------------


def items(
    payload: list[dict[str, Any]], before: tuple[Item, ...], touched: frozenset[int], given: int
) -> tuple[Item, ...]:
    """The items of a payload that meets its contract, with their numbers.

    An item that was there before, of one type and title, keeps its number; one that a person has
    changed since stays as that person left it.

    Args:
        before: as they were listed and as they are now, so that another title hides none.
        given: the highest number that was given so far.
    """
    left = list(before)
    found: list[Item] = []
    for item in map(_item, payload):
        number = next((former.number for former in left if _is_same(former, item)), 0)
        left = [former for former in left if former.number != number]
        if not number:
            given += 1
        if number not in touched:
            found.append(replace(item, number=number or given))
    return tuple(found)


def _is_same(one: Item, other: Item) -> bool:
    return (one.type, one.title.casefold()) == (other.type, other.title.casefold())


def _item(entry: dict[str, Any]) -> Item:
    minutes: dict[str, Any] = {name: int(entry[name]) for name in _MINUTES if name in entry}
    said: dict[str, Any] = {name: entry[name] for name in _PAYLOAD if name in entry}
    shape: dict[str, Any] = {"number": 0, "source": "extracted", **said, **minutes}
    return msgspec.convert({**shape, "title": one_line(entry["title"])}, Item)


# 2. From a person ----------------------------------------------------------------------------


def closed(item: Item, status: Literal["done", "cancelled"]) -> Item:
    """A task that is over."""
    return replace(item, status=status)


def edited(item: Item, fields: Iterable[tuple[str, str]]) -> Item | Wrong:
    """An item with other values, or the first that is wrong.

    Args:
        fields: pairs of name and value as typed; an empty value takes the field away.
    """
    for name, typed in fields:
        if name == "title":
            title = one_line(typed)
            if not visible(title) or problem(title, TITLE_MAX):
                return Wrong(reason="invalid_value", field=name)
            item = replace(item, title=title)
            continue
        if name not in FIELDS[item.type]:
            return Wrong(reason="unknown_field", field=name)
        value = _READERS[name](typed.strip()) if typed.strip() else None
        if value is None and typed.strip():
            return Wrong(reason="invalid_value", field=name)
        item = replace(item, **{name: value})
    low, high = item.duration_min, item.duration_max
    if low is not None and high is not None and high < low:
        return Wrong(reason="invalid_value", field="duration_max")
    return item


def circle(before: Mapping[str, str], place: str, other: str) -> tuple[str, ...]:
    """The tasks that would wait for each other if one came after another, in their order.

    Args:
        before: by task, the one that goes before it.

    Returns:
        Each after the next, the first again at the end; empty where there is no circle.
    """
    found = [place]
    at: str | None = other
    while at is not None and at not in found:
        found.append(at)
        at = before.get(at)
    return (*found, place) if at == place else ()


def _minutes(text: str) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        return None
    return int(text) if 1 <= int(text) <= DURATION_MAX else None


def _clock(text: str) -> str | None:
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
    "after": lambda text: text if _PLACE.fullmatch(text) else None,
    "start_time": _clock,
    "end_time": _clock,
    "date": _date,
    "content": lambda text: text if problem(text, CONTENT_MAX) is None else None,
}
