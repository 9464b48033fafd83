"""The workflows by name: each is what the feature of that name brings."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, Final

from preflights_es.kernel.errors import WorkflowMissing
from preflights_es.kernel.session import Workflow
from preflights_es.runtime.features import FEATURES, Features

IMPORTS: Final = "imports"


class Registry(MutableMapping[str, Workflow[Any]]):
    """Workflows by name, each imported when it is first asked for.

    Iterating gives those of the folder of features, and those of other packages that were asked
    for before.
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
            from preflights_es.kernel.imports import WORKFLOW

            return WORKFLOW
        feature = self._features[name]
        if not feature.workflow:
            raise WorkflowMissing(name, "the feature of that name has no sessions")
        try:
            made = feature.loaded(feature.workflow)
        except (Exception, SystemExit) as error:
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
        return iter(dict.fromkeys((*found, *self._loaded)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


WORKFLOWS: Final = Registry(FEATURES)
"""Of this process."""
