"""Edits of a person's JSON file as text: a server, and hooks that run our command.

Every byte that is not ours stays. JSON has no place for a digest: an entry as it is written here is
ours, and any other is a person's. A file with comments is no plain JSON and is not changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from preflights_es.features.agents.project_files import FilePlan

_OURS: Final = re.compile(r"(^|[\s/\\\"'])preflights(-es)?(\.exe)?[\"']? hook\b")
_WRITTEN: Final = re.compile(
    r"(command -v \S+ >/dev/null 2>&1 && )?preflights-es hook [A-Za-z-]+ --agent (?P<agent>[a-z]+)"
    r"( \|\| exit 0| \|\| echo '[^']*'( >&2)?|; exit 0)?"
)
"""A command that some version wrote, and no person edited."""

COMMANDS: Final = ("command", "bash", "commandWindows", "powershell")
"""Keys of a hook under which some agent reads a command."""


class Entries(NamedTuple):
    """What a file should hold."""

    server: tuple[tuple[str, ...], Any] | None = None
    """Path and value of a member."""
    hooks: tuple[tuple[str, Any], ...] = ()
    """Pairs of event and item of its list, below `hooks`."""
    begun: tuple[tuple[str, Any], ...] = ()
    """Other members of a new file."""


def plan_json_entries(found: str | None, wanted: Entries) -> FilePlan:
    """The file with what is missing, and with our commands of this version.

    Args:
        found: what the file holds; None where there is none.
    """
    if found is None:
        return FilePlan("missing", fresh(wanted))
    try:
        return _merged(found, wanted)
    except UnclearJson as error:
        return FilePlan("unclear", fresh(wanted), str(error))


def fresh(wanted: Entries) -> str:
    """A file that holds nothing else."""
    value: dict[str, Any] = dict(wanted.begun)
    if wanted.server:
        (*above, name), entry = wanted.server
        inner = value
        for key in above:
            inner = inner.setdefault(key, {})
        inner[name] = entry
    if wanted.hooks:
        value["hooks"] = {event: [item] for event, item in wanted.hooks}
    return f"{json.dumps(value, indent=2)}\n"


def _merged(found: str, wanted: Entries) -> FilePlan:
    text, is_edited = _renewed(found, wanted), False
    is_stale = text != found
    if wanted.server:
        path, entry = wanted.server
        if there := locate_json_value(text, path):
            is_edited = parse_plain_json(text[slice(*there)]) != entry
        else:
            text = added(text, path, entry)
    for event, item in wanted.hooks:
        there = locate_json_value(text, ("hooks", event))
        items = parse_plain_json(text[slice(*there)]) if there else None
        if isinstance(items, list) and item in items:
            continue
        if any(one == event for one, _, _ in _find_our_hooks(parse_plain_json(text))):
            is_edited = True
        else:
            text = added(text, ("hooks", event), item, item=True)
    if is_stale or text != found:
        return FilePlan("stale" if is_stale else "missing", text)
    return FilePlan("edited" if is_edited else "current", found)


# 1. Our hooks --------------------------------------------------------------------------------


def _renewed(text: str, wanted: Entries) -> str:
    """With the commands of this version in the place of an older one's; all else stays."""
    hooks = ({"hooks": {event: [item]}} for event, item in wanted.hooks)
    known = {(event, key): command for one in hooks for event, key, command in _find_our_hooks(one)}
    agents = set(map(_agent, known.values()))
    for event, key, command in _find_our_hooks(parse_plain_json(text)):
        new = known.get((event, key), command)
        if new != command and _agent(command) in agents:
            text = text.replace(json.dumps(command), json.dumps(new))
    return text


def _find_our_hooks(value: Any) -> Iterator[tuple[str, str, str]]:
    """Event, key and command of each hook that runs our program."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    for event, items in hooks.items() if isinstance(hooks, dict) else ():
        for item in items if isinstance(items, list) else ():
            for handler in _handlers(item):
                for key in COMMANDS:
                    command = handler.get(key)
                    if isinstance(command, str) and _OURS.search(command):
                        yield event, key, command


def _handlers(item: Any) -> Iterator[Mapping[str, Any]]:
    """The item itself, or those of its own list `hooks`."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    yield from (one for one in (inner or [item]) if isinstance(one, dict))


def _agent(command: str) -> str | None:
    """Whose hook some version wrote with this command."""
    found = _WRITTEN.fullmatch(command)
    return found and found["agent"]


# 2. The text ---------------------------------------------------------------------------------

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_INDENT: Final = re.compile(r"\n([ \t]{1,8})\S")


class UnclearJson(Exception):
    """The text is no JSON in which a place is found; the message says why."""


def _members_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise UnclearJson(f"it says {next(key for key in keys if keys.count(key) > 1)!r} twice")
    return found


# A number is only compared: that of thousands of digits has no other limit.
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members_once, parse_int=float)


def parse_plain_json(text: str) -> Any:
    """The value of a text.

    Raises:
        Unclear: it is no plain JSON, or says a key twice.
    """
    try:
        return _DECODER.decode(text.removeprefix("\ufeff"))
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        raise UnclearJson(f"it is no JSON without comments (line {line})") from error
    except RecursionError as error:
        raise UnclearJson("it is nested too deep") from error


def locate_json_value(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the value of a path begins and ends; None where a key on the way is missing.

    Args:
        text: that `parsed` takes.

    Raises:
        Unclear: something else than an object lies on the way.
    """
    start, end = _behind_blanks(text, len(text) - len(text.removeprefix("\ufeff"))), len(text)
    for key in path:
        if text[start] != "{":
            raise UnclearJson(f"it has no object where {key!r} belongs")
        places = ((begin, end) for name, begin, end in _members(text, start) if name == key)
        if (found := next(places, None)) is None:
            return None
        start, end = found
    return start, len(text[:end].rstrip())


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The key of each member of an object, and where its value begins and ends."""
    at = _behind_blanks(text, start + 1)
    while text[at] != "}":
        key, colon = _DECODER.raw_decode(text, at)
        begin = _behind_blanks(text, _behind_blanks(text, colon) + 1)
        end = _DECODER.raw_decode(text, begin)[1]
        yield key, begin, end
        at = _behind_blanks(text, end)
        if text[at] == ",":
            at = _behind_blanks(text, at + 1)


def _behind_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def added(text: str, path: tuple[str, ...], value: Any, *, item: bool = False) -> str:
    """The text with a member at a path, or with one more item in the array there.

    Objects on the way, and the array, are made where they are missing.

    Raises:
        Unclear: the text holds something else on the way.
    """
    depth = len(path)
    while (there := locate_json_value(text, path[:depth])) is None:
        depth -= 1
    if depth == len(path):
        if text[there[0]] != "[":
            raise UnclearJson(f"it has no list where {path[-1]!r} belongs")
        return _put(text, there, "", value)
    key, *inner = path[depth:]
    value = [value] if item else value
    for name in reversed(inner):
        value = {name: value}
    return _put(text, there, f"{json.dumps(key)}: ", value)


def _put(text: str, there: tuple[int, int], key: str, value: Any) -> str:
    """The text with one more thing at the end of a container, in the layout that it has."""
    start, end = there[0] + 1, there[1] - 1
    inner = text[start:end]
    at = start + len(inner.rstrip())
    if inner.strip() and "\n" not in inner:
        return f"{text[:at]}, {key}{json.dumps(value)}{text[at:]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _INDENT.search(text)
    line = text[text.rfind("\n", 0, start) + 1 : start].lstrip("\ufeff")
    base = line[: len(line) - len(line.lstrip(" \t"))]
    unit = indent[1] if indent else "  "
    content = key + json.dumps(value, indent=unit).replace("\n", f"{newline}{base}{unit}")
    comma = "," if inner.strip() else ""
    rest = text[at:] if "\n" in inner else f"{newline}{base}{text[end:]}"
    return f"{text[:at]}{comma}{newline}{base}{unit}{content}{rest}"
