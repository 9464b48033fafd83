"""A part of ours in a text of a person: a block of Markdown between comments, or a table of TOML.

What is removed is what was added, byte by byte: `_appended` and `_cut` mirror each other.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

from preflights_es.features.agents import managed_files
from preflights_es.features.agents.managed_files import FilePlan, digest

_BEGIN: Final = "<!-- Written by Preflights (digest {}). You may edit it: your edits are kept. -->"
_END: Final = "<!-- Preflights ends -->"
_BLOCK: Final = re.compile(
    r"^<!-- Written by Preflights \(digest (?P<digest>[0-9a-f]{16})\)[^\r\n]*-->\r?\n"
    rf"(?P<body>.*?)^{_END}",
    re.MULTILINE | re.DOTALL,
)
_MARK: Final = re.compile(r"<!-- Written by Preflights|<!-- Preflights ends")


# 1. Markdown ---------------------------------------------------------------------------------


def block(found: str | None, body: str) -> FilePlan:
    """A text with one block of ours, at its end or where the block is.

    Args:
        found: what the file holds; None where there is none.
    """
    wanted = f"{_BEGIN.format(digest(body))}\n{body}{_END}"
    if found is None:
        return FilePlan("missing", f"{wanted}\n")
    there = _unedited(found)
    if there is None:
        is_edited = _MARK.search(found)
        return FilePlan("edited", found) if is_edited else _with(found, wanted)
    wanted = wanted.replace("\n", _newline(there[0]))
    if there[0] == wanted:
        return FilePlan("current", found)
    return FilePlan("stale", f"{found[: there.start()]}{wanted}{found[there.end() :]}")


def without_block(found: str) -> FilePlan:
    """The text without the block, whichever version wrote it; a block that was edited stays."""
    there = _unedited(found)
    if there is None:
        return FilePlan("edited" if _MARK.search(found) else "missing", found)
    return _cut(found, there.start(), there.end())


def _unedited(found: str) -> re.Match[str] | None:
    there = _BLOCK.search(found) if len(_MARK.findall(found)) == len((_BEGIN, _END)) else None
    if there is None:
        return None
    body = there["body"].replace("\r\n", "\n")
    return there if digest(body) == there["digest"] else None


# 2. TOML -------------------------------------------------------------------------------------


def table(found: str | None, path: tuple[str, str], body: str) -> FilePlan:
    """A file of TOML with a table of ours at its end.

    Args:
        found: what the file holds; None where there is none.
        path: the table's name, in two parts.
        body: the table with its header.
    """
    if found is None:
        return FilePlan("missing", body)
    try:
        there = _at(found, path)
        if there is not None:
            return FilePlan("current" if there == _at(body, path) else "edited", found)
        plan = _with(found, body.rstrip("\n"))
        _at(plan.content, path)  # an inline table, for example, takes no more keys
    except _NoTable as error:
        return FilePlan("unclear", body, str(error))
    return plan


def without_table(found: str, path: tuple[str, str], body: str) -> FilePlan:
    """The file without the table; one that was edited stays."""
    try:
        there = _at(found, path)
    except _NoTable as error:
        return managed_files.left(found, body, str(error))
    if there is None:
        return FilePlan("missing", found)
    lines = body.rstrip("\n").replace("\n", _newline(found))
    start = found.rfind(lines)  # the same words may stand in a text before
    if there != _at(body, path) or start < 0:
        return FilePlan("edited", found)
    return _cut(found, start, start + len(lines))


class _NoTable(Exception):
    """The file is no TOML, or has no place for the table."""


def _at(text: str, path: tuple[str, str]) -> Any:
    try:
        above = tomllib.loads(text.removeprefix("\ufeff")).get(path[0], {})
    except tomllib.TOMLDecodeError as error:
        raise _NoTable(f"it is no TOML, or takes no more tables: {error}") from error
    except RecursionError as error:
        raise _NoTable("it is nested too deep") from error
    if not isinstance(above, dict):
        raise _NoTable(f"{path[0]!r} is no table")
    return above.get(path[1])


# 3. Any text ---------------------------------------------------------------------------------


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _with(found: str, part: str) -> FilePlan:
    """The part at the end, behind an empty line; a text without a last line break gets none."""
    newline = _newline(found)
    part = part.replace("\n", newline)
    if found and not found.endswith("\n"):
        return FilePlan("missing", f"{found}{newline}{newline}{part}")
    return FilePlan("missing", f"{found}{newline}{part}{newline}")


def _cut(found: str, start: int, end: int) -> FilePlan:
    """The text without a part; None where nothing else is in it."""
    newline, before, after = _newline(found[start:end]), found[:start], found[end:]
    if not before and after == newline:
        return FilePlan("current", "", goes=True)
    before = before.removesuffix(newline)
    rest = before + after.removeprefix(newline) if after else before.removesuffix(newline)
    return FilePlan("current", rest)
