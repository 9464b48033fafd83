"""What a run changes in recorded requests: a model, words of a prompt, values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from preflights_es.features.calls.domain.dialects import split_pointer, turns_of_request

SYSTEM: Final = "system"
"""In place of the old words of a prompt: all that stands as system text."""
UNSTREAMED: Final = ("stream", "stream_options", "background")
"""Fields that say how an answer comes, not what it is: asked again, it comes at once."""
_INSTRUCTING: Final = ("system", "developer")


class WordsChange(msgspec.Struct, frozen=True):
    """Words of requests that become others."""

    old: str
    """As they stand in a request; empty for its system text."""
    new: str


class CallsChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a run changes."""

    model: str = ""
    words: tuple[WordsChange, ...] = ()
    values: tuple[tuple[str, Any], ...] = ()
    """Pairs of JSON Pointer and value; the field at the pointer may be new, what is around it is
    there."""


def unchanged_body(request: Mapping[str, Any], model: str) -> dict[str, Any]:
    """A recorded request as the unchanged side sends it.

    Args:
        model: that is asked; empty for the one that the request names.
    """
    body = {name: value for name, value in request.items() if name not in UNSTREAMED}
    return {**body, "model": model} if model else body


def changed_body(body: dict[str, Any], change: CallsChange) -> dict[str, Any] | None:
    """The body with the change; None where the change has no place in it, or changes nothing."""
    changed: Any = {**body, "model": change.model} if change.model else body
    if change.words:
        before = changed
        for words in change.words:
            old = words.old or "".join(system_texts(body)[:1])
            changed = _with_words(changed, old, words.new) if old else changed
        if changed == before:
            return None
    for pointer, value in change.values:
        changed = _with_value(changed, split_pointer(pointer), value)
    return changed if isinstance(changed, dict) and changed != body else None


def system_texts(body: Mapping[str, Any]) -> list[str]:
    """Texts by which a program instructs a model, in their order, in any dialect."""
    held = [body.get("system"), body.get("instructions")]
    turns = [turn for turn in turns_of_request(body) if isinstance(turn, dict)]
    held += [turn.get("content") for turn in turns if turn.get("role") in _INSTRUCTING]
    parts = [part for one in held for part in (one if isinstance(one, list) else [one])]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return [text for text in texts if isinstance(text, str) and text]


def is_pointer(pointer: str) -> bool:
    """Whether a text is a JSON Pointer to a part of a request that is asked again."""
    return pointer.startswith("/") and split_pointer(pointer)[0] not in UNSTREAMED


def _with_words(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_with_words(one, old, new) for one in value]
    if isinstance(value, dict):
        return {name: _with_words(one, old, new) for name, one in value.items()}
    return value


def _with_value(held: Any, parts: list[str], value: Any) -> Any:
    """None where a part on the way is not there."""
    if not parts:
        return value
    first, rest = parts[0], parts[1:]
    if isinstance(held, dict) and (not rest or first in held):
        inner = _with_value(held.get(first), rest, value)
        return None if rest and inner is None else {**held, first: inner}
    if isinstance(held, list) and first.isdecimal() and int(first) < len(held):
        place = int(first)
        inner = _with_value(held[place], rest, value)
        return None if rest and inner is None else [*held[:place], inner, *held[place + 1 :]]
    return None
