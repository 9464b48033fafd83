"""Entries in a JSON file of a person: a server, and hooks that run our command.

JSON has no place for a digest. An entry as it is written here is ours; any other is a person's,
and so is one with a comment in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from preflights_es.features.agents import managed_files
from preflights_es.features.agents.json_text import (
    Node,
    Unclear,
    added,
    is_commented,
    parsed,
    plain,
    removed,
)
from preflights_es.features.agents.managed_files import FilePlan

HOOKS_MAX: Final = 100  # of ours in one file; each is edited on its own

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


class _Hook(NamedTuple):
    """A command of ours that a file runs."""

    event: str
    item: Node
    handler: Node
    """The item itself, or one of its own list `hooks`."""
    key: str
    command: Node


def entries(found: str | None, wanted: Entries) -> FilePlan:
    """The file with what is missing, and without commands that only an older version wrote.

    Args:
        found: what the file holds; None where there is none.
    """
    if found is None:
        return FilePlan("missing", fresh(wanted))
    try:
        return _merged(found, wanted)
    except Unclear as error:
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


def without_entries(found: str, wanted: Entries) -> FilePlan:
    """The file without what was written here."""
    if found == fresh(wanted):
        return FilePlan("current", "", goes=True)
    try:
        return _stripped(found, wanted)
    except Unclear as error:
        return managed_files.left(found, fresh(wanted), str(error))


# 1. Adding -----------------------------------------------------------------------------------


def _merged(found: str, wanted: Entries) -> FilePlan:
    text, is_edited = _renewed(found, wanted), False
    is_stale = text != found
    if wanted.server:
        path, entry = wanted.server
        there = _at(text, path)
        is_edited = there is not None and plain(text, there) != entry
        text = text if there else added(text, path, entry)
    for event, item in wanted.hooks:
        list_ = _at(text, ("hooks", event))
        if list_ and item in (plain(text, one) for one in list_.items()):
            continue
        if any(one.event == event for one in _hooks(text)):
            is_edited = True
        else:
            text = added(text, ("hooks", event), item, item=True)
    if is_stale or text != found:
        return FilePlan("stale" if is_stale else "missing", text)
    return FilePlan("edited" if is_edited else "current", found)


def _renewed(text: str, wanted: Entries) -> str:
    """With the commands of this version in the place of an older one's; all else stays."""
    known = {(event, key): one for event, item in wanted.hooks for key, one in _commands(item)}
    agents = set(map(_agent, known.values()))
    for one in _hooks(text):
        if one.command.value not in known.values() and _agent(one.command.value) in agents:
            new = known.get((one.event, one.key))
            if new is None and is_commented(text, _goes(one)):
                continue
            if new is None:
                return _renewed(_without(text, one), wanted)
            start, end = one.command[:2]
            return _renewed(f"{text[:start]}{json.dumps(new)}{text[end:]}", wanted)
    return text


# 2. Removing ---------------------------------------------------------------------------------


def _stripped(found: str, wanted: Entries) -> FilePlan:
    text, items = _renewed(found, wanted), [item for _, item in wanted.hooks]
    handlers = [one for item in items for one in item.get("hooks", [item])]
    while every := list(_removable(text, items, handlers)):
        text = _without(text, every[-1])  # in the other order than they were added
    is_edited = any(_hooks(text)) if wanted.hooks else False
    if wanted.server and (there := _at(text, wanted.server[0])) is not None:
        if plain(text, there) == wanted.server[1] and not is_commented(text, there):
            text = removed(text, there)
        else:
            is_edited = True
    if is_edited:
        return FilePlan("edited", text)
    return FilePlan("current" if text != found else "missing", text)


def _removable(text: str, items: list[Any], handlers: list[Any]) -> Iterator[_Hook]:
    for one in _hooks(text):
        if is_commented(text, _goes(one)):
            continue  # the comment is a person's
        is_among = len(_list(one.item)) > 1 and plain(text, one.handler) in handlers
        if is_among or plain(text, one.item) in items:
            yield one


def _without(text: str, one: _Hook) -> str:
    return removed(text, _goes(one))


def _goes(one: _Hook) -> Node:
    """What is removed with a command: its group, where it is alone in it."""
    return one.handler if len(_list(one.item)) > 1 else one.item


# 3. What is there ----------------------------------------------------------------------------


def _hooks(text: str) -> tuple[_Hook, ...]:
    """Those that run our program, under any event.

    Raises:
        Unclear: there are too many.
    """
    found = tuple(islice(_ours(text), HOOKS_MAX + 1))
    if len(found) > HOOKS_MAX:
        raise Unclear(f"it runs our hook more than {HOOKS_MAX} times")
    return found


def _ours(text: str) -> Iterator[_Hook]:
    root = parsed(text)
    every = root.below("hooks") if root.is_object else None
    for event in (every.children or ()) if every and every.is_object else ():
        for item in event.node.items():
            for handler in _list(item) or (item,):
                for key in COMMANDS if handler.is_object else ():
                    command = handler.below(key)
                    if command and isinstance(command.value, str) and _OURS.search(command.value):
                        yield _Hook(event.key, item, handler, key, command)


def _list(item: Node) -> tuple[Node, ...]:
    inner = item.below("hooks") if item.is_object else None
    return inner.items() if inner else ()


def _commands(item: Any) -> Iterator[tuple[str, str]]:
    for handler in item.get("hooks", [item]):
        yield from ((key, handler[key]) for key in COMMANDS if key in handler)


def _agent(command: str) -> str | None:
    """Whose hook some version wrote with this command."""
    found = _WRITTEN.fullmatch(command)
    return found and found["agent"]


def _at(text: str, path: tuple[str, ...]) -> Node | None:
    node: Node | None = parsed(text)
    for key in path:
        if node is None:
            return None
        node = node.below(key)
    return node
