"""Replays put together: who answers in a child, and what changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import LogDamaged, SettingsError
from preflights_es.core.lead import Lead
from preflights_es.core.session import Workflow
from preflights_es.services.leads import Leads
from preflights_es.services.own_providers import GENERATION, simulated

if TYPE_CHECKING:
    from preflights_es.providers.base import LLMProvider
    from preflights_es.replay.child import Child
    from preflights_es.replay.recompute import Code
    from preflights_es.replay.recording import Recording
    from preflights_es.replay.report import Rerun
    from preflights_es.replay.whatif_plan import Otherwise


def own_code() -> Code:
    """The providers that are code of ours, for a replay to ask again."""
    from preflights_es.replay.recompute import Code

    return Code(_generation, _made_again)


def _made_again(lead: Lead) -> LLMProvider:
    """Raises:
    LogDamaged: the lead is not one that this program records.
    """
    try:
        return simulated(lead)
    except (LookupError, ValueError) as error:
        found = f"the recorded parameters do not fit the provider {lead.provider}: {error}"
        raise LogDamaged("the session", 0, found) from error


def _generation(request: CompletionRequested, workflow: Workflow[Any]) -> str | None:
    is_former = request.model in workflow.former_deciders
    reference = request.model if is_former else workflow.decider
    return {"sim": GENERATION, "mock": reference}.get(request.provider)


def simulating(
    seed: int | None = None, faults: str | None = None
) -> Callable[[Lead | None], Lead | None]:
    """Who leads a session that is run again against the simulator, given who led.

    A lead that is code of ours, or the rules, leads again, unless a seed or faults are given.

    Raises:
        SettingsError: the simulator does not know these faults.
    """
    from preflights_es.providers.faults import FaultConfig

    try:
        wanted = None if faults is None else FaultConfig.parsed(faults)
    except ValueError as error:
        raise SettingsError(f"--faults: {error}") from None

    def is_ours(lead: Lead) -> bool:
        return lead.provider == "mock" or (lead.provider, lead.model) == ("sim", GENERATION)

    def lead(before: Lead | None) -> Lead | None:
        if seed is None and wanted is None and (before is None or is_ours(before)):
            return before
        said = dict(before.parameters) if before and before.provider == "sim" else {}
        failing = said.get("faults", "none")
        if wanted is not None and FaultConfig.parsed(failing) != wanted:
            failing = wanted.text()
        numbered = said.get("seed", "0") if seed is None else str(seed)
        strict = before is not None and before.strict
        return Lead("sim", GENERATION, (("seed", numbered), ("faults", failing)), strict)

    return lead


def led_otherwise(leads: Leads, workflow: Workflow[Any]) -> Callable[[Lead | None], Lead | None]:
    """Who leads in place of the recorded lead, as the command line says; the rest stays."""

    def lead(before: Lead | None) -> Lead | None:
        if before is None and not leads.names_provider:
            raise SettingsError("the rules lead: name a --provider")
        strict = before is not None and before.strict
        return leads.over(before).configured(workflow, strict=strict)

    return lead


def prompts_named(
    workflow: Workflow[Any], pairs: Iterable[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Prompts of a workflow by name and version, which may be written `v2` or whole.

    Raises:
        SettingsError: there is no such prompt, or no such version; names those that exist.
    """
    from preflights_es.core.prompts import versions

    known = dict(workflow.prompts)
    found: dict[str, str] = {}
    for name, version in pairs:
        if name not in known:
            expected = f"expected one of {', '.join(known)}" if known else "it has none"
            raise SettingsError(f"no prompt {name!r} in the workflow {workflow.name}: {expected}")
        if name in found:
            raise SettingsError(f"the prompt {name} is named twice")
        exist = versions(workflow.package, name)
        whole = version if version in exist else f"{name}.{version}"
        if whole not in exist:
            raise SettingsError(
                f"no version {version!r} of the prompt {name}: expected one of {', '.join(exist)}"
            )
        found[name] = whole
    return tuple(found.items())


def what_if(
    leads: Leads, recording: Recording, otherwise: Otherwise, *, live: bool
) -> tuple[Rerun, Child]:
    """A child of a session, with a change.

    Args:
        live: whether a model may be asked, which costs money.

    Raises:
        SettingsError: the change does not fit the session, or a model may not be asked.
    """
    import asyncio
    from contextlib import AsyncExitStack

    from preflights_es.replay.whatif import what_if as run

    async def played() -> tuple[Rerun, Child]:
        made: dict[tuple[str, str], LLMProvider] = {}
        async with AsyncExitStack() as stack:

            def asked(request: CompletionRequested) -> LLMProvider:
                key = (request.provider, request.model)
                if key not in made:
                    address = leads.address_for(recording.lead, request.provider)
                    lead = Lead(*key, request.parameters, address=address)
                    made[key] = leads.provider_for(lead)
                    stack.push_async_callback(made[key].aclose)
                return made[key]

            return await run(recording, otherwise, own_code(), asked if live else None)

    return asyncio.run(played())
