"""What a regression run changes: asked for by a person, and what each session gets of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.results import CauseKind
from preflights_es.kernel.events import Input
from preflights_es.kernel.lead import WRITERS, Lead, NamesLead, setup_of
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.load import Options
from preflights_es.use.leads import Leads
from preflights_es.use.prompt_changes import (
    Pairs,
    PromptChange,
    candidate_texts,
    changed_versions,
    read_prompt_changes,
)
from preflights_es.words.simulation import GENERATION
from preflights_es.words.workflow import Workflow

SIMULATED: Final = ("seed", "faults")
"""The parameters that a simulator has."""


class RunChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a run changes; an empty one leaves the session as it is."""

    prompts: tuple[PromptChange, ...] = ()
    provider: str = ""
    model: str = ""
    parameters: Pairs = ()
    """Pairs of name and value as sent; to another provider, all that it is sent."""
    seed: int | None = None
    """Of the simulator."""
    address: str = ""
    """Of another provider: the digest of its server's address; empty for its own."""
    structured: bool = False
    """Of another provider: whether it holds responses to a schema."""


class ChangePart(NamedTuple):
    """One change of several."""

    kind: CauseKind
    words: str
    change: RunChange


def split_change(change: RunChange) -> tuple[ChangePart, ...]:
    """Each change alone; the model and the parameters of another provider belong to it."""
    found = [
        ChangePart("prompt", _prompt_words(one), RunChange(prompts=(one,)))
        for one in change.prompts
    ]
    if change.provider:
        alone = replace(change, prompts=())
        return (*found, ChangePart("provider", _provider_words(change), alone))
    if change.model:
        found.append(ChangePart("model", f"model {change.model}", RunChange(model=change.model)))
    for name, value in change.parameters:
        alone = RunChange(parameters=((name, value),))
        found.append(ChangePart("parameter", f"parameter {name}={value}", alone))
    if change.seed is not None:
        found.append(ChangePart("parameter", f"seed {change.seed}", RunChange(seed=change.seed)))
    return tuple(found)


def _prompt_words(one: PromptChange) -> str:
    named = one.version or one.name
    return f"prompt {named}, with another text" if one.text else f"prompt {named}"


def _provider_words(change: RunChange) -> str:
    said = ", ".join(
        f"{name}={value}" for name, value in _parameters_for_provider(change, change.provider)
    )
    model = f" {change.model}" if change.model else ""
    return f"provider {change.provider}{model}{f' ({said})' if said else ''}"


def describe_change(change: RunChange) -> tuple[str, ...]:
    """The change, in words."""
    return tuple(part.words for part in split_change(change))


# What a session gets of it -------------------------------------------------------------------


def apply_change_to_input(new: Input, change: RunChange, workflow: Workflow[Any]) -> Input:
    """An Input that says who leads, with the change; any other as it is."""
    if isinstance(new, NamesLead) and new.lead is not None:
        lead = _apply_change_to_lead(new.lead, change, workflow)
        return replace(new, lead=lead, prompts=_prompts(new.prompts, lead, change, workflow))
    setup = setup_of(new)
    if setup is None or (setup.lead is not None and setup.lead.provider in WRITERS):
        return new
    lead = _apply_change_to_lead(setup.lead, change, workflow)
    after = replace(
        setup,
        lead=lead,
        provider=setup.provider if lead == setup.lead else lead.provider if lead else "mock",
        prompts=_prompts(setup.prompts, lead, change, workflow),
        candidates=candidate_texts(change.prompts, workflow) or setup.candidates,
    )
    return replace(new, setup=after)


def touches(inputs: Iterable[Input], change: RunChange, workflow: Workflow[Any]) -> bool:
    """Whether it changes anything for who leads; a prompt is nothing to the rules."""
    return any(
        _leads(apply_change_to_input(new, change, workflow)) != _leads(new) for new in inputs
    )


def _leads(new: Input) -> tuple[Lead, Pairs, object] | None:
    said = new if isinstance(new, NamesLead) else setup_of(new)
    if said is None or said.lead is None:
        return None
    return said.lead, said.prompts, getattr(said, "candidates", ())


def _apply_change_to_lead(
    before: Lead | None, change: RunChange, workflow: Workflow[Any]
) -> Lead | None:
    if change.provider and (before is None or before.provider != change.provider):
        return _lead_of_other_provider(before, change, workflow)
    if before is None or before.provider in ("mock", *WRITERS):
        return before
    model = before.model if before.provider == "sim" else change.model or before.model
    said = {**dict(before.parameters), **dict(_parameters_for_provider(change, before.provider))}
    return replace(before, model=model, parameters=tuple(said.items()))


def _lead_of_other_provider(
    before: Lead | None, change: RunChange, workflow: Workflow[Any]
) -> Lead | None:
    strict = before is not None and before.strict
    if change.provider == "mock":
        return Lead("mock", workflow.decider.version, (), strict) if workflow.led.always else None
    if change.provider == "sim":
        return replace(simulated(change), strict=strict)
    said = _parameters_for_provider(change, change.provider)
    lead = Lead(change.provider, change.model, said, strict, address=change.address)
    return replace(lead, structured=True) if change.structured else lead


def simulated(change: RunChange) -> Lead:
    """The simulator, with what a change says of it."""
    said = {"seed": "0", "faults": "none", **dict(_parameters_for_provider(change, "sim"))}
    return Lead("sim", GENERATION, tuple(said.items()))


def _parameters_for_provider(change: RunChange, provider: str) -> Pairs:
    """Of the parameters, those that a provider takes: a simulator only its own."""
    if provider != "sim":
        return change.parameters
    seed = () if change.seed is None else (("seed", str(change.seed)),)
    return tuple(pair for pair in (*change.parameters, *seed) if pair[0] in SIMULATED)


def _prompts(before: Pairs, lead: Lead | None, change: RunChange, workflow: Workflow[Any]) -> Pairs:
    if lead is None:
        return before
    named = dict(changed_versions(change.prompts, workflow))
    return tuple({**dict(before or workflow.led.prompts), **named}.items())


# What a person asks for ------------------------------------------------------------------------


class ChangeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The change, as it was typed."""

    prompts: Pairs = ()
    """Pairs of name, and version or file."""
    provider: str | None = None
    model: str | None = None
    parameters: Pairs = ()
    seed: int | None = None


def change_of(leads: Leads, asked: ChangeOptions) -> RunChange | None:
    """The change; None where nothing is asked.

    Raises:
        SettingsError: there is no such prompt, version or provider.
        Refused: a file cannot be read.
    """
    if asked == ChangeOptions():
        return None
    workflows = [*WORKFLOWS.installed()] if asked.prompts else []
    prompts = tuple(read_prompt_changes(asked.prompts, workflows))
    if asked.provider is None:
        return RunChange(
            prompts=prompts, model=asked.model or "", parameters=asked.parameters, seed=asked.seed
        )
    lead = _lead(leads, asked)
    if lead is None:  # the rules, as a workflow that is not always led has them
        return RunChange(prompts=prompts, provider="mock")
    return RunChange(
        prompts=prompts,
        provider=lead.provider,
        model="" if lead.provider == "sim" else lead.model,
        parameters=tuple({**dict(lead.parameters), **dict(asked.parameters)}.items()),
        address=lead.address,
        structured=bool(lead.structured),
    )


def _lead(leads: Leads, asked: ChangeOptions) -> Lead | None:
    seed = None if asked.seed is None else str(asked.seed)
    said = leads.saying(Options(provider=asked.provider, model=asked.model, seed=seed))
    some = next(iter(WORKFLOWS.values()))
    return said.over(None).configured(some)
