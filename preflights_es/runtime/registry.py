"""The workflows: those that ship, found in their folder, and those of other packages.

A workflow of another package is found by its entry point in the group `preflights.workflows`
(docs/writing-a-workflow.md). Entry points are looked at only for a name that does not ship.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, MutableMapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from preflights_es import workflows as folder
from preflights_es.kernel.errors import WorkflowMissing
from preflights_es.kernel.session import Workflow
from preflights_es.kernel.text import one_line, shortened

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

IMPORTS: Final = "imports"
GROUP: Final = "preflights.workflows"
unread: Final[dict[str, str]] = {}
"""Installed packages whose own files cannot be read: by their folder, why."""
WHY_MAX: Final = 300  # characters of what a package raises


class Registry(MutableMapping[str, Workflow[Any]]):
    """Workflows by name, each imported when it is first asked for.

    Iterating gives those that ship, and those of other packages that were asked for before.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, Workflow[Any]] = {}
        self._missing: dict[str, str] = {}
        """Names that were looked for in vain, and why."""

    @cached_property
    def shipped(self) -> tuple[str, ...]:
        """Names of those that come with this program."""
        within = (one for path in folder.__path__ for one in os.scandir(path))
        return tuple(sorted(one.name for one in within if _is_package(one.path)))

    def __getitem__(self, name: str) -> Workflow[Any]:
        """Raises:
        WorkflowMissing: no package has it, or the one that has it does not load; a `KeyError`.
        """
        if name in self._loaded:
            return self._loaded[name]
        if name in self._missing:
            raise WorkflowMissing(name, self._missing[name])
        try:
            self._loaded[name] = self._found(name)
        except WorkflowMissing as error:
            self._missing[name] = error.why
            raise
        return self._loaded[name]

    def _found(self, name: str) -> Workflow[Any]:
        if name == IMPORTS:
            from preflights_es.kernel.imports import WORKFLOW  # of the kernel

            return WORKFLOW
        if name in self.shipped:
            made: Workflow[Any] = import_module(f"{folder.__name__}.{name}").WORKFLOW
            return made
        return _of_package(name)

    def __setitem__(self, name: str, workflow: Workflow[Any]) -> None:
        self._loaded[name] = workflow

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self.shipped, *self._loaded)))

    def __len__(self) -> int:
        return len({*self.shipped, *self._loaded})


def _is_package(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "__init__.py"))


def _of_package(name: str) -> Workflow[Any]:
    found = {_package(point): point for point in _entry_points() if point.name == name}
    if not found:
        raise WorkflowMissing(name, "install the package that has it")
    if len(found) > 1:
        packages = ", ".join(sorted(found))
        raise WorkflowMissing(name, f"several packages have it ({packages}): keep one of them")
    ((package, point),) = found.items()
    try:
        made = point.load()
        within: str = sys.modules[point.module].__package__ or ""
    except (Exception, SystemExit) as error:  # code of others: whatever it raises is one line
        why = one_line(f"{type(error).__name__}: {error}")
        why = f"the package {package} does not load: {shortened(why, WHY_MAX)}"
        raise WorkflowMissing(name, why) from error
    if not isinstance(made, Workflow) or made.name != name:
        what = f"the workflow {made.name!r}" if isinstance(made, Workflow) else type(made).__name__
        why = f"the package {package} gives {what}, expected a Workflow of that name"
        raise WorkflowMissing(name, why)
    return msgspec.structs.replace(made, package=made.package or within)


def _entry_points() -> Iterator[EntryPoint]:
    """Those of installed packages, the first of each name; never of the current folder."""
    from importlib.metadata import distributions

    seen: set[str] = set()
    for one in distributions(path=[path for path in sys.path if _is_elsewhere(path)]):
        try:
            known = re.sub("[-_.]+", "-", _name(one)).lower()
            points = [point for point in one.entry_points if point.group == GROUP]
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            # Its files are no text, or say what no installer writes: that hides no other package.
            unread[str(getattr(one, "_path", "unknown"))] = one_line(str(error))
            continue
        if known in seen:
            continue  # Python would import what stands first on its path
        if known:
            seen.add(known)
        yield from points


def _is_elsewhere(path: str) -> bool:
    try:
        return os.path.isabs(path) and os.path.realpath(path) != os.path.realpath(os.getcwd())
    except FileNotFoundError:  # the current folder is gone
        return os.path.isabs(path)


def _package(point: EntryPoint) -> str:
    """What to uninstall; its module where its metadata names no package."""
    return (point.dist is not None and _name(point.dist)) or point.value


def _name(package: Distribution) -> str:
    """As its metadata say it; empty where they do not."""
    return ("Name" in package.metadata and package.metadata["Name"]) or ""


WORKFLOWS: Final = Registry()
"""Of this process."""
