"""Edits of a person's JSON file as text: a server, and hooks that run our command.

Every byte that is not ours stays, comments too. JSON has no place for a digest: an entry as it is
written here is ours; any other is a person's, and so is one with a comment in it. `removed` takes
back what `added` put in, byte by byte. So a container that was made here begins with a line break,
and one that a person left empty does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from preflights_es.features.agents.project_files import FilePlan, left

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
        return left(found, fresh(wanted), str(error))


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


DEPTH_MAX: Final = 64  # no agent's settings come near
DIGITS_MAX: Final = 16  # of a whole number; what is longer is read as a float, and stays as it is

_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_BLOCK: Final = re.compile(r"/\*.*?\*/")
_SAME_LINE: Final = re.compile(r"(?:[ \t]*(?:/\*[^\r\n]*?\*/|//[^\r\n]*))*")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_SCALAR: Final = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NAMES: Final = {"true": True, "false": False, "null": None}
_INDENT: Final = re.compile(r"[\r\n]([ \t]+)\S")


class Unclear(Exception):
    """The text is no JSON in which a place is found; the message says why."""


class Node(NamedTuple):
    """A value, and where it stands in the text."""

    start: int
    end: int
    value: Any
    """Of a container, None."""
    children: tuple[Child, ...] | None = None
    """None unless it is a container."""
    is_object: bool = False

    def below(self, key: str) -> Node | None:
        """The value of a key; None without one.

        Raises:
            Unclear: it is no object.
        """
        if not self.is_object:
            raise Unclear(f"it has no object where {key!r} belongs")
        return next((one.node for one in self.children or () if one.key == key), None)

    def items(self) -> tuple[Node, ...]:
        """The items of an array; of anything else, none."""
        return () if self.is_object else tuple(one.node for one in self.children or ())


class Child(NamedTuple):
    """A member of an object, or an item of an array."""

    key: str
    """Of an item, empty."""
    start: int
    node: Node


@lru_cache(maxsize=2)  # one text is looked at several times
def parsed(text: str) -> Node:
    """The root of a text of JSON; comments and commas at the end are taken.

    Raises:
        Unclear: it is something else, or says a key twice.
    """
    start = _after_blank(text, 1 if text.startswith("\ufeff") else 0)
    root = _value(text, start, 0)
    if _after_blank(text, root.end) != len(text):
        raise _no_json(text, root.end)
    return root


def plain(text: str, node: Node) -> Any:
    """The value that a node stands for."""
    if node.children is None:
        return node.value
    if node.is_object:
        return {one.key: plain(text, one.node) for one in node.children}
    return [plain(text, one.node) for one in node.children]


# 4. The text: reading -----------------------------------------------------------------------------


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEPTH_MAX:
        raise Unclear(f"it is nested deeper than {DEPTH_MAX}")
    if text[at : at + 1] in ("{", "["):
        return _container(text, at, depth)
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if found is None:
        raise _no_json(text, at)
    value = json.loads(found[0]) if found[0][0] == '"' else _scalar(found[0])
    return Node(at, found.end(), value)


def _scalar(text: str) -> Any:
    if text in _NAMES:
        return _NAMES[text]
    return int(text) if len(text) < DIGITS_MAX and text.lstrip("-").isdigit() else float(text)


def _container(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    closing, children, at = "}" if is_object else "]", [], _after_blank(text, start + 1)
    seen: set[str] = set()
    while text[at : at + 1] != closing:
        child = (
            _member(text, at, depth) if is_object else Child("", at, _value(text, at, depth + 1))
        )
        if is_object and child.key in seen:
            raise Unclear(f"it says {child.key!r} twice")
        seen.add(child.key)
        children.append(child)
        at = _after_blank(text, child.node.end)
        if text[at : at + 1] == ",":
            at = _after_blank(text, at + 1)
        elif text[at : at + 1] != closing:
            raise _no_json(text, at)
    return Node(start, at + 1, None, tuple(children), is_object)


def _member(text: str, start: int, depth: int) -> Child:
    key = _STRING.match(text, start)
    colon = _after_blank(text, key.end()) if key else start
    if key is None or text[colon : colon + 1] != ":":
        raise _no_json(text, colon)
    return Child(json.loads(key[0]), start, _value(text, _after_blank(text, colon + 1), depth + 1))


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _no_json(text: str, at: int) -> Unclear:
    return Unclear(f"it is no JSON (line {1 + text.count(chr(10), 0, at)})")


# 5. The text: adding ------------------------------------------------------------------------------


def added(text: str, path: tuple[str, ...], value: Any, *, item: bool = False) -> str:
    """The text with a member at a path, or with one more item in the array there.

    Objects on the way, and the array, are made where they are missing.

    Raises:
        Unclear: the text is no JSON, or holds something else on the way.
    """
    node, rest = parsed(text), list(path)
    while rest and (below := node.below(rest[0])) is not None:
        node, rest = below, rest[1:]
    if rest:
        key, *inner = rest
        value = [value] if item else value
        for name in reversed(inner):
            value = {name: value}
        return _put(text, node, f"{json.dumps(key, ensure_ascii=False)}: ", value)
    assert item, "a member is added where there is none"
    if node.is_object or node.children is None:
        raise Unclear(f"it has no list where {path[-1]!r} belongs")
    return _put(text, node, "", value)


def _put(text: str, node: Node, key: str, value: Any) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    base = _base(text, node.start)
    content = json.dumps(value, ensure_ascii=False, indent=unit)
    if not node.children:  # no line break behind the bracket says that it was there
        content = key + content.replace("\n", f"{newline}{base}")
        return f"{text[: node.start + 1]}{content}{text[node.start + 1 :]}"
    last = node.children[-1].node.end
    comma = _after_blank(text, last)
    has_comma = text[comma] == ","
    behind = _SAME_LINE.match(text, comma + 1 if has_comma else last)
    at = behind.end() if behind else last
    first, is_line = node.children[0].start, "\n" not in text[node.start : node.end]
    begun = _base(text, first) if "\n" in text[node.start : first] else f"{base}{unit}"
    space, begun = (" ", base) if is_line else (f"{newline}{begun}", begun)
    content = key + content.replace("\n", f"{newline}{begun}")
    between = text[last:at] if has_comma else f",{text[last:at]}"
    return f"{text[:last]}{between}{space}{content}{',' if has_comma else ''}{text[at:]}"


def _unit(text: str) -> str:
    """One step of indent, as the text has it."""
    found = _INDENT.search(text)
    return found[1] if found and len(found[1]) <= 8 else "  "


def _base(text: str, at: int) -> str:
    """The indent of the line."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


# 6. The text: removing ----------------------------------------------------------------------------


def removed(text: str, node: Node) -> str:
    """The text without a member or item, nor the containers that were made for it.

    Args:
        node: below the root.
    """
    *above, parent = _way(parsed(text), node)
    if above and len(parent.children or ()) == 1 and text[parent.start + 1] in "\r\n":
        around = (
            text[_start(above[-1], parent) : _start(parent, node)] + text[node.end : parent.end]
        )
        if not _has_comment(around):
            return removed(text, parent)
    place = [one.node.start for one in parent.children or ()].index(node.start)
    child = (parent.children or ())[place]
    before = text[: child.start].rstrip(" \t")
    start = len(before[:-1].removesuffix("\r") if before.endswith("\n") else before)
    follows = _after_blank(text, node.end)
    if text[follows] == ",":
        end = follows + 1 if not text[node.end : follows].strip() else node.end
        rest = text[end:] if end > node.end else text[end:follows] + text[follows + 1 :]
        return _joined(text, start, before, rest)
    rest = text[node.end :]
    if not place:
        return _joined(text, start, before, rest)
    former = (parent.children or ())[place - 1].node.end
    comma = _after_blank(text, former)
    return text[:comma] + _joined(text, start, before, rest)[comma + 1 :]


def _joined(text: str, start: int, before: str, rest: str) -> str:
    """What stays of a text; a comment to the end of its line does not take the rest."""
    line = _BLOCK.sub("", _STRING.sub("", text[:start].rpartition("\n")[2]))
    return (before if "//" in line and rest[0] not in "\r\n" else text[:start]) + rest


def is_commented(text: str, node: Node) -> bool:
    """Whether a comment stands inside of a member or item below the root."""
    *_, parent = _way(parsed(text), node)
    return _has_comment(text[_start(parent, node) : node.end])


def _has_comment(part: str) -> bool:
    return "/" in _STRING.sub("", part)


def _start(parent: Node, node: Node) -> int:
    """Where the member or item begins that holds a node."""
    return next(one.start for one in parent.children or () if one.node.start == node.start)


def _way(root: Node, node: Node) -> Iterator[Node]:
    """The containers around a node, from the root on."""
    at = root
    while at.start != node.start:
        yield at
        inside = (one.node for one in at.children or ())
        at = next(one for one in inside if one.start <= node.start < one.end)
