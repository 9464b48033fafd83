"""The providers that are code of ours: the simulator, and the rules as a provider."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.session import Workflow
from preflights_es.runtime.registry import WORKFLOWS

if TYPE_CHECKING:
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
    for _, simulation in _simulations():
        for name, route in simulation.BANK.items():
            routes.setdefault(name, route)
    return routes


def references() -> References:
    """What the rules answer, for every workflow whose steps always ask a provider."""
    found: dict[str, Reference] = {}
    for _, simulation in _simulations():
        for name, reference in getattr(simulation, "REFERENCES", {}).items():
            found.setdefault(name, reference)
    return found


def refuse_taken_route(workflow: Workflow[Any]) -> None:
    """See that the simulator and the reference answer a workflow by its own routes.

    Raises:
        SettingsError: another workflow has one of the names.
    """
    for other, simulation in _simulations():
        if other.name == workflow.name:
            return
        for name in _routes(simulation) & _routes(_simulation(workflow)):
            raise SettingsError(
                f"the package {workflow.package} has the route {name!r}, which the workflow "
                f"{other.name!r} has already: rename it in its simulation.py"
            )


def _routes(simulation: Any) -> set[str]:
    return {*getattr(simulation, "BANK", ()), *getattr(simulation, "REFERENCES", ())}


def _simulations() -> Iterator[tuple[Workflow[Any], Any]]:
    """The workflows that have a module of that name: the shipped first, then by their names."""
    shipped = WORKFLOWS.shipped
    for name in (*shipped, *sorted(set(WORKFLOWS) - {*shipped})):
        if (found := _simulation(WORKFLOWS[name])) is not None:
            yield WORKFLOWS[name], found


def _simulation(workflow: Workflow[Any]) -> Any:
    """Its module of that name; None where it has none."""
    if not workflow.package:
        return None
    from importlib.util import find_spec

    name = f"{workflow.package}.simulation"
    return import_module(name) if find_spec(name) is not None else None
