"""One walk over a parsed value, without recursion: its texts, and the limits no parser checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from preflights_es.kernel.verdict import Path

DEPTH_MAX: Final = 200  # levels of arrays and objects (docs/contracts.md)
TOO_DEEP: Final = f"it is nested deeper than {DEPTH_MAX} levels"
TOO_LARGE: Final = "a number is too large to be one"
_TEXTS: Final = {str}
_INFINITE: Final = (float("inf"), float("-inf"))


class Leaves(msgspec.Struct, frozen=True):
    """What a value is made of, from the top level down."""

    texts: list[str]
    """The texts that are members of objects."""
    lists: list[list[Any]]
    """The arrays that have texts; a value that is nothing but a text counts as one of these."""
    words: list[list[str]]
    """The texts of each of these arrays."""
    keys: dict[str, Any]
    """Every key once; the values say nothing."""
    flaw: str
    """Why the value is out of bounds, in words; empty when it is not."""


def leaves(value: Any) -> Leaves:
    """Walk a value that a JSON parser made, level by level; linear in its size."""
    texts: list[str] = []
    lists: list[list[Any]] = []
    words: list[list[str]] = []
    keys: dict[str, Any] = {}
    flaw = ""
    level: list[Any] = [[value]]
    for _ in range(DEPTH_MAX + 1):
        below: list[Any] = []
        for holder in level:
            if type(holder) is dict:
                keys.update(holder)
                items, found = holder.values(), texts
            elif set(map(type, holder)) == _TEXTS:
                lists.append(holder)
                words.append(holder)
                continue
            else:
                items, found = holder, []
            flaw = _sorted_out(items, found, below) or flaw
            if found and found is not texts:
                lists.append(holder)
                words.append(found)
        level = below
        if not level:
            break
    return Leaves(texts, lists, words, keys, TOO_DEEP if level else flaw)


def _sorted_out(items: Iterable[Any], texts: list[str], below: list[Any]) -> str:
    """Add the texts to `texts`, arrays and objects to `below`; the flaw of a number among them."""
    flaw = ""
    for item in items:
        kind = type(item)
        if kind is str:
            texts.append(item)
        elif kind is dict or kind is list:
            below.append(item)
        elif kind is float and item in _INFINITE:
            flaw = TOO_LARGE
    return flaw


def path_of_text(value: Any, text: str) -> Path:
    """Where a text is first a member of an object."""
    for path, holder, item in _members(value):
        if item == text and isinstance(item, str) and isinstance(holder, dict):
            return path
    return ()


def path_of_key(value: Any, key: str) -> Path:
    """Where an object first has this key."""
    for path, holder, _ in _members(value):
        if isinstance(holder, dict) and path[-1] == key:
            return path
    return ()


def path_of_list(value: Any, items: list[Any]) -> Path:
    """Where a list stands that is part of the value."""
    return next((path for path, _, item in _members(value) if item is items), ())


def _members(value: Any) -> Iterator[tuple[Path, Any, Any]]:
    """Triples of path, holder and item for the value and all that is in it, in document order."""
    yield (), None, value
    stack = [(value, _named(value))]
    path: list[str | int] = []
    while stack:
        holder, items = stack[-1]
        for name, item in items:
            yield (*path, name), holder, item
            if isinstance(item, dict | list):
                path.append(name)
                stack.append((item, _named(item)))
                break
        else:
            stack.pop()
            if path:
                path.pop()


def _named(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value)) if isinstance(value, list) else iter(())
