"""What a regression run changes, as a value: worker processes and kept results are told it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.engine.results import CauseKind
from preflights_es.kernel.events import Input
from preflights_es.kernel.lead import WRITERS, Lead, LeadChanged, setup_of
from preflights_es.kernel.session import Workflow
from preflights_es.kernel.simulation import GENERATION

Pairs = tuple[tuple[str, str], ...]

SIMULATED: Final = ("seed", "faults")
"""The parameters that a simulator has."""


class PromptChange(msgspec.Struct, frozen=True):
    """A prompt in place of the session's own."""

    name: str
    version: str = ""
    """`name.vN`; empty for that which a new session uses."""
    text: str = ""
    """What is tried in place of that version's words; empty where the file that ships is meant."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
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


class Part(NamedTuple):
    """One change of several."""

    kind: CauseKind
    words: str
    change: Change


def parts(change: Change) -> tuple[Part, ...]:
    """Each change alone; the model and the parameters of another provider belong to it."""
    found = [Part("prompt", _prompt_words(one), Change(prompts=(one,))) for one in change.prompts]
    if change.provider:
        alone = replace(change, prompts=())
        return (*found, Part("provider", _provider_words(change), alone))
    if change.model:
        found.append(Part("model", f"model {change.model}", Change(model=change.model)))
    for name, value in change.parameters:
        alone = Change(parameters=((name, value),))
        found.append(Part("parameter", f"parameter {name}={value}", alone))
    if change.seed is not None:
        found.append(Part("parameter", f"seed {change.seed}", Change(seed=change.seed)))
    return tuple(found)


def _prompt_words(one: PromptChange) -> str:
    named = one.version or one.name
    return f"prompt {named}, with another text" if one.text else f"prompt {named}"


def _provider_words(change: Change) -> str:
    said = ", ".join(f"{name}={value}" for name, value in _sent(change, change.provider))
    model = f" {change.model}" if change.model else ""
    return f"provider {change.provider}{model}{f' ({said})' if said else ''}"


def words(change: Change) -> tuple[str, ...]:
    """The change, in words."""
    return tuple(part.words for part in parts(change))


# What a session gets of it -------------------------------------------------------------------


def changed(new: Input, change: Change, workflow: Workflow[Any]) -> Input:
    """An Input that says who leads, with the change; any other as it is."""
    if isinstance(new, LeadChanged) and new.lead is not None:
        lead = _led(new.lead, change, workflow)
        return replace(new, lead=lead, prompts=_prompts(new.prompts, lead, change, workflow))
    setup = setup_of(new)
    if setup is None or (setup.lead is not None and setup.lead.provider in WRITERS):
        return new
    lead = _led(setup.lead, change, workflow)
    after = replace(
        setup,
        lead=lead,
        provider=setup.provider if lead == setup.lead else lead.provider if lead else "mock",
        prompts=_prompts(setup.prompts, lead, change, workflow),
        candidates=_texts(change, workflow) or setup.candidates,
    )
    return replace(new, setup=after)


def touches(inputs: Iterable[Input], change: Change, workflow: Workflow[Any]) -> bool:
    """Whether it changes anything for who leads; a prompt is nothing to the rules."""
    return any(_leads(changed(new, change, workflow)) != _leads(new) for new in inputs)


def _leads(new: Input) -> tuple[Lead, Pairs, object] | None:
    said = new if isinstance(new, LeadChanged) else setup_of(new)
    if said is None or said.lead is None:
        return None
    return said.lead, said.prompts, getattr(said, "candidates", ())


def _led(before: Lead | None, change: Change, workflow: Workflow[Any]) -> Lead | None:
    if change.provider and (before is None or before.provider != change.provider):
        return _other(before, change, workflow)
    if before is None or before.provider in ("mock", *WRITERS):
        return before
    model = before.model if before.provider == "sim" else change.model or before.model
    said = {**dict(before.parameters), **dict(_sent(change, before.provider))}
    return replace(before, model=model, parameters=tuple(said.items()))


def _other(before: Lead | None, change: Change, workflow: Workflow[Any]) -> Lead | None:
    strict = before is not None and before.strict
    if change.provider == "mock":
        return Lead("mock", workflow.decider, (), strict) if workflow.always_led else None
    if change.provider == "sim":
        return replace(simulated(change), strict=strict)
    said = _sent(change, change.provider)
    lead = Lead(change.provider, change.model, said, strict, change.address)
    return replace(lead, structured=True) if change.structured else lead


def simulated(change: Change) -> Lead:
    """The simulator, with what a change says of it."""
    said = {"seed": "0", "faults": "none", **dict(_sent(change, "sim"))}
    return Lead("sim", GENERATION, tuple(said.items()))


def _sent(change: Change, provider: str) -> Pairs:
    """Of the parameters, those that a provider takes: a simulator only its own."""
    if provider != "sim":
        return change.parameters
    seed = () if change.seed is None else (("seed", str(change.seed)),)
    return tuple(pair for pair in (*change.parameters, *seed) if pair[0] in SIMULATED)


def _prompts(before: Pairs, lead: Lead | None, change: Change, workflow: Workflow[Any]) -> Pairs:
    if lead is None:
        return before
    todays = dict(workflow.prompts)
    named = {p.name: p.version or todays[p.name] for p in change.prompts if p.name in todays}
    return tuple({**dict(before or workflow.prompts), **named}.items())


def _texts(change: Change, workflow: Workflow[Any]) -> Pairs:
    todays = dict(workflow.prompts)
    ours = (p for p in change.prompts if p.text and p.name in todays)
    return tuple((p.version or todays[p.name], p.text) for p in ours)
