"""A JSON value, such as the answer of a model, as people read it: in a line, or a field a line."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.kernel.json import decode_plain_json, is_too_deep
from preflights_es.kernel.text import one_line, shortened
from preflights_es.words.event_names import NAMED_BY

QUOTED_MAX: Final = 200  # characters of a message, or of a text of an answer
EMPTY: Final[tuple[object, ...]] = (None, "", [], {})


def read_answer_value(answer: str) -> Any:
    """The object or list of an answer that is JSON, fenced or not, without what is empty; None of
    every other.
    """
    words, value = split_answer(answer)
    return None if words else value


def split_answer(text: str) -> tuple[str, Any]:
    """The words of a text, and the JSON value that it is or ends with; None where it has none."""
    begin = next((place for place, mark in enumerate(text) if mark in "{["), len(text))
    words = text[:begin].strip()
    before, fence, language = words.rpartition("```")
    if fence and language.lower() in ("", "json"):
        words = before.strip()
    try:
        data = text[begin:].rstrip("` \n").encode()
        value = None if is_too_deep(data) else decode_plain_json(data)
    except (ValueError, RecursionError):
        value = None
    return (text, None) if value is None else (words, without_empty(value))


def without_empty(found: Any) -> Any:
    """A JSON value without what is empty."""
    if isinstance(found, dict):
        inner = {name: without_empty(one) for name, one in found.items()}
        return {name: one for name, one in inner.items() if one not in EMPTY}
    return [*map(without_empty, found)] if isinstance(found, list) else found


def text_in_words(text: str, most: int = QUOTED_MAX) -> str:
    """A text in quotes; a value of JSON without its brackets."""
    words, value = split_answer(text)
    said = () if value is None else (shortened(value_in_words(value), most),)
    return " ".join((*((_quoted(words),) if words or not said else ()), *said))


def value_in_words(value: Any) -> str:
    """A JSON value without its brackets: `topic Maps; options "one of ours", Redis (more no)`."""
    match value:
        case dict():
            pairs = value.items()
            return "; ".join(
                f"{one_line(n).replace('_', ' ')} {_item_in_words(v, is_named=True)}"
                for n, v in pairs
            )
        case list():
            return ", ".join(map(_item_in_words, value))
        case str():
            return _quoted(value) if " " in value or not value else one_line(value)
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case _:
            return f"{value:,}"


def _item_in_words(item: Any, *, is_named: bool = False) -> str:
    """An object in parentheses, behind its own name where it has no other."""
    if not isinstance(item, dict):
        return value_in_words(item)
    if is_named:
        return f"({value_in_words(item)})"
    field = next((name for name in NAMED_BY if isinstance(item.get(name), str)), None)
    rest = {name: one for name, one in item.items() if name != field}
    inner = f"({value_in_words(rest)})" if rest else ""
    return " ".join(filter(None, (value_in_words(item[field]) if field else "", inner)))


def list_value_lines(value: Any) -> list[str]:
    """A JSON value as people read it: `topic: Maps`, a field a line; `- Redis`, one of several."""
    match value:
        case dict():
            return [
                line
                for name, one in value.items()
                for line in _below_its_name(f"{one_line(name).replace('_', ' ')}:", one)
            ]
        case list():
            return [line for one in value for line in _indent("- ", list_value_lines(one))]
        case str():
            return value.split("\n")
        case _:
            return [value_in_words(value)]


def _below_its_name(name: str, value: Any) -> list[str]:
    """On the same line where it takes one."""
    lines = list_value_lines(value)
    if len(lines) == 1 and not (value and isinstance(value, dict | list)):
        return [f"{name} {lines[0]}".rstrip()]
    return [name, *(f"  {line}" for line in lines)]


def _indent(mark: str, lines: list[str]) -> list[str]:
    """The mark in front of the first one, as many blanks in front of the others."""
    return [f"{' ' * len(mark) if n else mark}{line}" for n, line in enumerate(lines)]


def _quoted(text: str) -> str:
    return f'"{shortened(one_line(text), QUOTED_MAX)}"'
