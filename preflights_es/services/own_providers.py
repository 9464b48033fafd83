"""The providers that are code of ours: the simulator, and the rules as a provider."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from preflights_es.core.lead import Lead
from preflights_es.runtime.registry import WORKFLOWS

if TYPE_CHECKING:
    from preflights_es.core.simulation import Bank, Reference, References, Route
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
    for simulation in _simulations():
        routes.update(simulation.BANK)
    return routes


def references() -> References:
    """What the rules answer, for every workflow whose steps always ask a provider."""
    found: dict[str, Reference] = {}
    for simulation in _simulations():
        found.update(getattr(simulation, "REFERENCES", {}))
    return found


def _simulations() -> Iterator[Any]:
    """The module of that name of every workflow that has one."""
    for workflow in WORKFLOWS.values():
        name = f"{workflow.package}.simulation"
        if find_spec(name) is not None:
            yield import_module(name)
