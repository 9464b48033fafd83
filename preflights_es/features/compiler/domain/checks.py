"""What a schema cannot say of a plan alone: the final checks (docs/specs/compiler.md, section 5).

Where a plan disagrees with others is a finding (`findings.py`), which a person may waive.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from preflights_es.features.compiler.domain.events import PassBegun
from preflights_es.features.compiler.domain.values import PassName
from preflights_es.judging.code_search import first_code
from preflights_es.kernel.completions import VIOLATIONS_MAX, Path, Violation, pointer, quoted
from preflights_es.kernel.json import encoded
from preflights_es.kernel.text import is_git, shown, visible

OPERATIONS: Final[dict[str, tuple[str, str]]] = {
    "move_file": ("from_path", "to_path"),
    "rename_symbol": ("symbol", "to"),
    "extract_interface": ("symbol", "to_path"),
    "enforce_dependency": ("from", "to"),
}
"""The fields that an operation of a type needs."""

PLAN_MAX: Final = 1_000_000  # bytes of a plan as JSON; the next pass reads it in one request
Found = Iterator[tuple[Path, str]]
"""Pairs of a place and what is wrong there."""


def violations(begun: PassBegun, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What is wrong with a payload that meets its schema, and where; nothing where it passes."""
    if (size := len(encoded(payload))) > PLAN_MAX:
        return (Violation("", f"expected at most {PLAN_MAX:,} bytes, the plan has {size:,}"),)
    found = [Violation(pointer(at), what) for at, what in _CHECKS[begun.pass_type](begun, payload)]
    found += (Violation(pointer(at), "expected words") for at in _blank(payload))
    return tuple(found[:VIOLATIONS_MAX])


# 1. One artifact -----------------------------------------------------------------------------


def _project(_: PassBegun, payload: dict[str, Any]) -> Found:
    domains = [one["name"] for one in payload["domains"]]
    modules = payload["modules"]
    yield from _twice(domains, lambda n: ("domains", n, "name"))
    yield from _twice([one["name"] for one in modules], lambda n: ("modules", n, "name"))
    for n, one in enumerate(modules):
        if one["domain"] not in domains:
            yield ("modules", n, "domain"), f"{quoted(one['domain'])} is no domain of this plan"


def _architecture(_: PassBegun, payload: dict[str, Any]) -> Found:
    yield from _twice(payload["layers"], lambda n: ("layers", n))
    yield from _twice([one["rule"] for one in payload["rules"]], lambda n: ("rules", n, "rule"))


def _scaffold(_: PassBegun, payload: dict[str, Any]) -> Found:
    paths = [one["path"] for one in payload["files"]]
    for n, path in enumerate(paths):
        yield from _path(path, ("files", n, "path"))
    yield from _twice(paths, lambda n: ("files", n, "path"), _folded)


def _test(_: PassBegun, payload: dict[str, Any]) -> Found:
    yield from _twice([one["id"] for one in payload["tests"]], lambda n: ("tests", n, "id"))
    for n, one in enumerate(payload["tests"]):
        yield from _path(one["target"], ("tests", n, "target"))


def _implementation(begun: PassBegun, payload: dict[str, Any]) -> Found:
    target, wanted = payload["target"], begun.target
    yield from _path(target, ("target",))
    if target != wanted:
        yield ("target",), f"expected {quoted(wanted)}, which was asked for"


def _refactor(begun: PassBegun, payload: dict[str, Any]) -> Found:
    if payload["goal"].split() != begun.goal.split():
        yield ("goal",), f"expected {quoted(begun.goal)}, which was asked for"
    for n, one in enumerate(payload["operations"]):
        for name in OPERATIONS[one["type"]]:
            if not visible(one.get(name) or ""):
                yield ("operations", n, name), f"is required for {one['type']}"
        for name in ("from_path", "to_path"):
            if visible(one.get(name) or ""):
                yield from _path(one[name], ("operations", n, name))


_CHECKS: Final[dict[PassName, Callable[[PassBegun, dict[str, Any]], Found]]] = {
    "project": _project,
    "architecture": _architecture,
    "scaffold": _scaffold,
    "test": _test,
    "implementation": _implementation,
    "refactor": _refactor,
}


def _twice(
    names: Iterable[str], place: Callable[[int], Path], folded: Callable[[str], str] = str
) -> Found:
    """What stands before already, as `folded` has it."""
    before: set[str] = set()
    for n, name in enumerate(names):
        if folded(name) in before:
            yield place(n), f"{quoted(name)} stands twice"
        before.add(folded(name))


# 2. All of them ------------------------------------------------------------------------------


def why_no_path(path: str) -> str:
    """Why a text is no path within the repository; empty where it is one."""
    parts = path.split("/")
    if "\\" in path:
        return "has a backslash"
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return "is not relative"
    if not all(map(visible, parts)):
        return "has an empty part"
    if ".." in parts:
        return "leaves its folder with '..'"
    if "." in parts:
        return "has the part '.'"
    if any(part != part.strip() for part in parts) or shown(path) != path:
        return "has white space or control characters that are not seen"
    if any(map(is_git, parts)):
        return "is within .git, which is not part of the repository's files"
    return ""


def why_no_goal(goal: str) -> str:
    """Why no plan can repeat a goal: code would be found in it; empty where one can."""
    found = first_code(goal)
    return f"looks like {found[0]}: say it in words" if found else ""


def _path(path: str, at: Path) -> Found:
    if visible(path) and (why := why_no_path(path)):
        yield at, f"{quoted(path)} {why}; expected a path within the repository"


def _folded(path: str) -> str:
    """As a file system has it that knows no case and one form of each letter."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _blank(payload: dict[str, Any]) -> Iterator[Path]:
    """Texts without words; a field that an operation does not need may be one."""
    for at, text in leaves(payload):
        if at[0] != "operations" and not visible(text):
            yield at


def leaves(value: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text of a payload and its place; a schema bounds the depth."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*at, key))
    elif isinstance(value, list):
        for n, one in enumerate(value):
            yield from leaves(one, (*at, n))
