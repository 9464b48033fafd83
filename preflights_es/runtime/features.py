"""The features, and their workflows: those of this program's folder, and those of other packages.

A feature of another package is found by its entry point in the group `preflights.features`
(docs/writing-a-workflow.md). Entry points are looked at only for a name that the folder lacks.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from preflights_es.kernel.feature import Feature

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

    from preflights_es.kernel.errors import WorkflowMissing
    from preflights_es.words.workflow import Workflow


FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "features")
OURS: Final = "preflights_es.features"
GROUP: Final = "preflights.features"
unread: Final[dict[str, str]] = {}
"""Installed packages whose own files cannot be read: by their folder, why."""
IMPORTS: Final = "imports"
WHY_MAX: Final = 300  # characters of what a package raises


class Features(Mapping[str, Feature]):
    """Features by name, each imported when it is first asked for.

    Iterating gives those of the folder, and those of other packages that were asked for before.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, Feature] = {}
        self.missing: dict[str, str] = {}
        """Names that were looked for in vain: why each is not here."""
        self._packages: dict[str, str] = {}
        """The installed package of a feature that is not of the folder."""

    @cached_property
    def _names(self) -> tuple[str, ...]:
        within = (one for one in os.scandir(FOLDER) if os.path.isfile(f"{one.path}/__init__.py"))
        return tuple(sorted(one.name for one in within))

    def __getitem__(self, name: str) -> Feature:
        """Raises:
        WorkflowMissing: no package has it, or the one that has it does not load; a `KeyError`.
        """
        if name in self._loaded:
            return self._loaded[name]
        if name in self.missing:
            raise self._missed(name, self.missing[name])
        self._loaded[name] = self._found(name)
        return self._loaded[name]

    def _missed(self, name: str, why: str) -> WorkflowMissing:
        from preflights_es.kernel.errors import WorkflowMissing  # `--help` does without

        self.missing[name] = why
        return WorkflowMissing(name, why)

    def _found(self, name: str) -> Feature:
        if name in self._names:
            made: Feature = import_module(f"{OURS}.{name}").FEATURE
            return made
        found = {_package(point): point for point in _entry_points() if point.name == name}
        if not found:
            raise self._missed(name, "install the package that has it")
        if len(found) > 1:
            packages = ", ".join(sorted(found))
            raise self._missed(name, f"several packages have it ({packages}): keep one of them")
        ((package, point),) = found.items()
        self._packages[name] = package
        try:
            brought = point.load()
        except (Exception, SystemExit) as error:  # code of others: whatever it raises is one line
            raise self.unloadable(name, error) from error
        if isinstance(brought, Feature) and brought.name == name:
            return brought
        what = (
            f"the feature {brought.name!r}"
            if isinstance(brought, Feature)
            else type(brought).__name__
        )
        why = f"the package {package} gives {what}, expected a Feature of that name"
        raise self._missed(name, why)

    def is_foreign(self, name: str) -> bool:
        """Whether another package brought it: what its code raises is no bug of ours."""
        return name in self._packages

    def installed_package(self, name: str) -> str:
        """The package that brought a feature, as it is installed."""
        return self._packages.get(name, "preflights-es")

    def package_of(self, path: str, feature: str = "") -> str:
        """The installed package that a source file belongs to; empty for code of ours.

        Args:
            feature: whose package alone is meant; empty for all that were loaded.
        """
        for name, package in self._packages.items():
            if feature not in ("", name) or name not in self._loaded:
                continue
            module = sys.modules.get(self._loaded[name].package)
            first = getattr(module, "__file__", None) or ""
            # A folder is named by its `__init__`, a module by itself: beside it lie others' files.
            is_folder = os.path.basename(first) == "__init__.py"
            root = os.path.dirname(first) + os.sep if is_folder else first
            if first and (path.startswith(root) if is_folder else path == root):
                return package
        return ""

    def unloadable(self, name: str, error: BaseException) -> WorkflowMissing:
        """A feature of another package whose code does not load, in one line."""
        from preflights_es.kernel.text import one_line, shortened

        why = shortened(one_line(f"{type(error).__name__}: {error}"), WHY_MAX)
        return self._missed(name, f"the package {self._packages[name]} does not load: {why}")

    def installed(self) -> Iterator[Feature]:
        """All that there are, those of other packages last; what does not load is in `missing`."""
        yield from (self[name] for name in self._names)
        for name in sorted({point.name for point in _entry_points()} - {*self._names}):
            if (found := self.get(name)) is not None:
                yield found

    def port(self, name: str) -> Any:
        """What the first feature that offers something by this name offers; ours come first."""
        offering = next((one for one in self.values() if name in one.offers), None)
        assert offering is not None, f"no feature offers {name!r}: a folder of features is gone"
        return offering.loaded(offering.offers[name])

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._names, *sorted(self._loaded))))

    def __len__(self) -> int:
        return len({*self._names, *self._loaded})


def _entry_points() -> Iterator[EntryPoint]:
    """Those of installed packages, the first of each name; never of the current folder."""
    from importlib.metadata import distributions

    seen: set[str] = set()
    for one in distributions(path=[path for path in sys.path if _is_elsewhere(path)]):
        try:
            known = re.sub("[-_.]+", "-", _read_package_name(one)).lower()
            points = [point for point in one.entry_points if point.group == GROUP]
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            # Its files are no text, or say what no installer writes: that hides no other package.
            from preflights_es.kernel.text import one_line

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
    return (point.dist is not None and _read_package_name(point.dist)) or point.value


def _read_package_name(package: Distribution) -> str:
    """As its metadata say it; empty where they do not."""
    said = package.metadata  # read anew each time that it is asked for
    return ("Name" in said and said["Name"]) or ""


FEATURES: Final = Features()
"""Of this process."""


class Registry(MutableMapping[str, "Workflow[Any]"]):
    """Workflows by name, each imported when it is first asked for.

    Iterating gives those of the folder of features, and those of other packages that were asked
    for before; never `IMPORTS`, whose stream is no session of a person's.
    """

    def __init__(self, features: Features | None = None) -> None:
        self._features = Features() if features is None else features
        self._loaded: dict[str, Workflow[Any]] = {}

    def __getitem__(self, name: str) -> Workflow[Any]:
        """Raises:
        WorkflowMissing: no package has it, or the one that has it does not load; a `KeyError`.
        """
        if name not in self._loaded:
            self._loaded[name] = self._found(name)
        return self._loaded[name]

    def _found(self, name: str) -> Workflow[Any]:
        if name == IMPORTS:
            from preflights_es.words.imports import WORKFLOW

            return WORKFLOW
        from preflights_es.kernel.errors import WorkflowMissing  # `--help` does without
        from preflights_es.words.workflow import Workflow

        feature = self._features[name]
        if not feature.workflow:
            raise WorkflowMissing(name, "the feature of that name has no sessions")
        try:
            made = feature.loaded(feature.workflow)
        except (Exception, SystemExit) as error:  # code of others: as in `Features`
            if not self._features.is_foreign(name):
                raise
            raise self._features.unloadable(name, error) from error
        if not isinstance(made, Workflow) or made.name != name:
            is_one = isinstance(made, Workflow)
            what = f"the workflow {made.name!r}" if is_one else type(made).__name__
            why = f"{feature.package} gives {what}, expected a Workflow of that name"
            raise WorkflowMissing(name, why)
        return made

    def __setitem__(self, name: str, workflow: Workflow[Any]) -> None:
        self._loaded[name] = workflow

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        found = (name for name, one in self._features.items() if one.workflow)
        return iter(dict.fromkeys((*found, *(one for one in self._loaded if one != IMPORTS))))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def installed(self) -> Iterator[Workflow[Any]]:
        """All that there are, those of other packages too; what does not load is left out."""
        found = (one.name for one in self._features.installed() if one.workflow)
        for name in dict.fromkeys((*found, *self._loaded)):
            if (workflow := self.get(name)) is not None:
                yield workflow


WORKFLOWS: Final = Registry(FEATURES)
"""Of this process."""
