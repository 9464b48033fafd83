"""The providers that are code of ours: the simulator, and the rules as a provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.session import Workflow
from preflights_es.runtime.features import FEATURES

if TYPE_CHECKING:
    from preflights_es.kernel.feature import Feature
    from preflights_es.kernel.simulation import Bank, Reference, References, Route
    from preflights_es.providers.base import LLMProvider

CODE = ("mock", "sim")
"""Providers that are code of ours: what they answer is computed, and can be computed again."""

GENERATION = "simllm/1"
"""The model of a simulated session: the simulator's version, said without importing it."""


def simulated(lead: Lead) -> LLMProvider:
    """The simulator that led a session, with its seed and faults; or the reference, as a provider.

    Raises:
        LogDamaged: the simulator does not know these parameters.
    """
    if lead.provider == "mock":
        from preflights_es.providers.reference import ReferenceProvider

        return ReferenceProvider(references())
    from preflights_es.providers.faults import FaultConfig
    from preflights_es.providers.simulated.provider import SimLLMProvider

    said = dict(lead.parameters)
    return SimLLMProvider(int(said["seed"]), FaultConfig.parsed(said["faults"]), bank())


def bank() -> Bank:
    """What the simulator answers, for every workflow."""
    routes: dict[str, Route] = {}
    for one in FEATURES.values():
        for name, route in _bank(one).items():
            routes.setdefault(name, route)
    return routes


def references() -> References:
    """What the rules answer, for every workflow whose steps always ask a provider."""
    found: dict[str, Reference] = {}
    for one in FEATURES.values():
        for name, reference in _references(one).items():
            found.setdefault(name, reference)
    return found


def refuse_taken_route(workflow: Workflow[Any]) -> None:
    """See that the simulator and the reference answer a workflow by its own routes.

    Raises:
        SettingsError: another workflow has one of the names.
    """
    if (mine := FEATURES.get(workflow.name)) is None:
        return
    for other in FEATURES.values():
        if other is mine:
            return
        for name in _routes(other) & _routes(mine):
            raise SettingsError(
                f"the package {mine.package} has the route {name!r}, which the feature "
                f"{other.name!r} has already: rename it"
            )


def _routes(feature: Feature) -> set[str]:
    return {*_bank(feature), *_references(feature)}


def _bank(feature: Feature) -> Bank:
    found: Bank = feature.loaded(feature.bank) if feature.bank else {}
    return found


def _references(feature: Feature) -> References:
    found: References = feature.loaded(feature.references) if feature.references else {}
    return found
