"""What a folder brings: a workflow, commands, tools of the server, and what others may ask it for.

Only what a name stands for is imported, and only when it is used: `--help` reads every feature.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Feature(NamedTuple):
    """One folder; each reference is `module:name` below its package, `:name` in the package itself.

    The folder of another package is found by an entry point of the group `preflights.features`.
    """

    name: str
    package: str
    """The folder's `__name__`."""
    workflow: str = ""
    """Its `Workflow`, which is called like the feature."""
    adds: str = ""
    """Adds to a view what follows from more than the state: takes a `Handle` and the view."""
    refusal: str = ""
    """Says why something was not done, as a code and in words: takes the Decision."""
    start: str = ""
    """Begins a session; the workflow's `opens` does where it is empty."""
    accept: str = ""
    """Accepts what a session proposes; where it is empty, the house does."""
    resumed: str = ""
    """Goes on with a session that was resumed, from its last `Step`."""
    bank: str = ""
    """What the simulator answers, by the name of a contract."""
    references: str = ""
    """What the rules answer as a provider, by the name of a contract."""
    commands: Mapping[str, tuple[str, str]] = NOTHING
    """Commands by their words: a reference, and one line of help."""
    shown: str = ""
    """How the command line shows its sessions: a `preflights_cli.rendering.Shown`."""
    tools: str = ""
    """Its tools of the server."""
    offers: Mapping[str, str] = NOTHING
    """Ports: functions that the house and other features call by these names."""

    def loaded(self, reference: str) -> Any:
        """What a reference of this feature stands for."""
        module, _, name = reference.partition(":")
        return getattr(import_module(f"{self.package}.{module}".rstrip(".")), name)
