"""Files that Preflights writes into a repository, and whether a person edited them since.

The first line of what is written bears a digest of the rest: where it still fits, no person
edited it, and a newer version may write it anew. Edits of a person stay.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final, Literal, NamedTuple

State = Literal["missing", "current", "stale", "edited", "unclear", "present"]
"""Of what is written. `stale`: another version wrote it, and nothing was edited. `unclear`: the
file has a shape in which no place for it is found. `present`: a person's, begun here or not."""

_STAMP: Final = "# Written by Preflights (digest {}). You may edit it: your edits are kept."
_STAMPED: Final = re.compile(r"[ ]*# Written by Preflights \(digest (?P<digest>[0-9a-f]{16})\).*")
_LIST: Final = re.compile(r"repos:[ ]*(?P<empty>\[[ ]*\])?[ ]*(#.*)?")
_ITEM: Final = re.compile(r"(?P<indent>[ ]*)-([ ]|$)")
_KEY: Final = re.compile(r"[^\s#-]")
_UNCLEAR: Final = re.compile(r"[{\[&*!|>'\"%@?]|[ ]*\t")
"""Begins a line of a file in another style than the usual one."""


class FilePlan(NamedTuple):
    """How a file stands, and what it should hold."""

    state: State
    content: str
    """The whole file; the text to paste where the state is `unclear`."""
    why: str = ""
    """Of `unclear`: what the matter is, where it is known."""
    goes: bool = False
    """Whether the file is removed, since nothing else was ever in it."""


def stamped(body: str) -> str:
    """The text with its digest in front."""
    return f"{_STAMP.format(digest(body))}\n{body}"


def whole(found: str | None, body: str) -> FilePlan:
    """A file of which everything is written here.

    Args:
        found: what the file holds; None where there is none.
    """
    content = stamped(body)
    if found is None:
        return FilePlan("missing", content)
    return FilePlan(_standing(found.replace("\r\n", "\n"), content), content)


def entry(found: str | None, body: str, mark: str) -> FilePlan:
    """A file with a list `repos`, of which one item is written here.

    Every other byte stays. Only the plain shape of such files is changed: a list in block style.

    Args:
        body: the item, without indent.
        mark: a line of the item that tells whose it is.
    """
    if found is None:
        return FilePlan("missing", f"repos:\n{_indented(stamped(body), '  ')}")
    newline = "\r\n" if "\r\n" in found else "\n"
    lines = found.replace("\r\n", "\n").split("\n")
    if any(line.strip() == mark for line in lines):
        return _replaced(found, lines, body, newline)
    if not any("repos" in line for line in lines):
        lines = [*lines[: len(lines) - (not lines[-1])], "repos:", ""]
    place = _place(lines)
    if place is None:
        return FilePlan("unclear", stamped(body))
    at, indent, head = place
    added = _indented(stamped(body), indent).rstrip("\n").split("\n")
    if head is not None:
        lines[head] = lines[head].replace("[", "").replace("]", "").rstrip()
    after = lines[at:]
    return FilePlan("missing", newline.join([*lines[:at], *added, *(after or [""])]))


def left(found: str, part: str, why: str) -> FilePlan:
    """A file that is not understood, from which ours should go: it may be in it, or it is not."""
    if "preflights" in found:
        return FilePlan("unclear", part, why)
    return FilePlan("missing", found)


# 1. The item that is there -------------------------------------------------------------------


def _replaced(found: str, lines: list[str], body: str, newline: str) -> FilePlan:
    """The item anew, where it was not edited."""
    starts = [i for i, line in enumerate(lines) if _STAMPED.fullmatch(line)]
    if len(starts) != 1:
        return FilePlan("edited", found)
    start = starts[0]
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip(" "))]
    end = start + 1
    while end < len(lines) and _is_within(lines[end], indent, first=end == start + 1):
        end += 1
    there = "\n".join(line.removeprefix(indent) for line in lines[start:end]) + "\n"
    content = stamped(body)
    state = _standing(there, content)
    if state != "stale":
        return FilePlan(state, found)
    anew = _indented(content, indent).rstrip("\n").split("\n")
    return FilePlan("stale", newline.join([*lines[:start], *anew, *lines[end:]]))


def _is_within(line: str, indent: str, *, first: bool) -> bool:
    return line.startswith(f"{indent}- " if first else f"{indent}  ")


def _standing(found: str, content: str) -> State:
    if found == content:
        return "current"
    head, _, rest = found.partition("\n")
    stamp = _STAMPED.fullmatch(head)
    is_ours = stamp is not None and stamp["digest"] == digest(rest)
    return "stale" if is_ours else "edited"


# 2. The place for a new one ------------------------------------------------------------------


def _place(lines: list[str]) -> tuple[int, str, int | None] | None:
    """Where an item goes, its indent, and the line of an empty list; None where that is unclear."""
    heads = [i for i, line in enumerate(lines) if line.lstrip("\ufeff").startswith("repos:")]
    several = any(line.startswith(("---", "...")) for line in lines[1:])
    if len(heads) != 1 or several or any(map(_UNCLEAR.match, lines)):
        return None
    head = heads[0]
    matched = _LIST.fullmatch(lines[head].lstrip("\ufeff"))
    if matched is None:
        return None
    end = next((i for i in range(head + 1, len(lines)) if _KEY.match(lines[i])), len(lines))
    section = lines[head + 1 : end]
    while section and (not section[-1].strip() or (end < len(lines) and section[-1][:1] == "#")):
        section.pop()
    at = head + 1 + len(section)
    item = next(filter(None, map(_ITEM.match, section)), None)
    if matched["empty"]:
        return None if item else (at, "  ", head)
    if item is None:
        is_empty = all(not line.strip() or line.lstrip().startswith("#") for line in section)
        return (at, "  ", None) if is_empty else None
    return at, item["indent"], None


def _indented(text: str, indent: str) -> str:
    return "".join(f"{indent}{line}\n" if line else "\n" for line in text.rstrip("\n").split("\n"))


def digest(body: str) -> str:
    """Of what is written, to tell whether it was edited."""
    return sha256(body.encode()).hexdigest()[:16]
