"""The workflows: those that ship, found in their folder, and those of other packages.

A workflow of another package is found by its entry point in the group `preflights.workflows`
(docs/writing-a-workflow.md). Entry points are looked at only for a name that does not ship.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, MutableMapping
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final

import msgspec

from preflights_es import workflows as folder
from preflights_es.core.errors import WorkflowMissing
from preflights_es.core.session import Workflow

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "preflights.workflows"


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
        return tuple(sorted(one.name for one in iter_modules(folder.__path__) if one.ispkg))

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


def _of_package(name: str) -> Workflow[Any]:
    found = [point for point in _entry_points() if point.name == name]
    packages = sorted({_package(point) for point in found})
    if not found:
        raise WorkflowMissing(name, "no installed package has it: install the package that does")
    if len(found) > 1:
        raise WorkflowMissing(
            name, f"the packages {', '.join(packages)} both have it: uninstall one of them"
        )
    try:
        made = found[0].load()
    except Exception as error:  # code of others: whatever it raises is said in one line
        why = f"{type(error).__name__}: {error}"
        raise WorkflowMissing(name, f"the package {packages[0]} does not load: {why}") from error
    if not isinstance(made, Workflow) or made.name != name:
        what = f"the workflow {made.name!r}" if isinstance(made, Workflow) else repr(made)[:100]
        raise WorkflowMissing(
            name, f"the package {packages[0]} gives {what} for it, expected a Workflow of that name"
        )
    return made if made.package else msgspec.structs.replace(made, package=found[0].module)


def _entry_points() -> list[EntryPoint]:
    """Those of packages that are installed; never of the folder that is worked in."""
    from importlib.metadata import distributions

    path = [one for one in sys.path if one and os.path.abspath(one) != os.getcwd()]
    points = (point for one in distributions(path=path) for point in one.entry_points)
    return [point for point in points if point.group == GROUP]


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module


WORKFLOWS: Final = Registry()
"""Of this process."""
