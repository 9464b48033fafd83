"""The composition root: what exists, and who gets what; tests wire their own the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from preflights_es import __version__
from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import (
    Conflict,
    DuplicateInput,
    LogDamaged,
    Refused,
    SettingsError,
    StoreUnavailable,
)
from preflights_es.core.events import Actor, Request
from preflights_es.core.leading import Lead, Setup
from preflights_es.core.ports import Head, Stored
from preflights_es.core.session import Session, Workflow
from preflights_es.runtime import entropy
from preflights_es.runtime.clarifications import Clarifications
from preflights_es.runtime.documents import Documents
from preflights_es.runtime.notes import Notes
from preflights_es.runtime.once import Once
from preflights_es.runtime.redaction import redact
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.runtime.sessions import Sessions
from preflights_es.settings import Options, Settings
from preflights_es.store import chain, jsonl
from preflights_es.store.sql import SqlStore
from preflights_es.workflows import clarification, extraction

if TYPE_CHECKING:
    from preflights_es.core.simulation import Bank, Reference, References, Route
    from preflights_es.providers.base import LLMProvider
    from preflights_es.replay.child import Child
    from preflights_es.replay.otherwise import Otherwise
    from preflights_es.replay.reasking import Code
    from preflights_es.replay.recording import Recording
    from preflights_es.replay.rerun import Rerun

CODE = ("mock", "sim")
"""Providers that are code of ours: what they answer is computed, and can be computed again."""

GENERATION = "simllm/1"
"""The model of a simulated session: the simulator's version, said without importing it."""

WORKFLOWS: dict[str, Workflow[Any]] = {
    workflow.name: workflow for workflow in (clarification.WORKFLOW, extraction.WORKFLOW)
}


class App:
    """Everything one command needs, made when it is first used."""

    def __init__(
        self, settings: Settings, actor: Actor, *, names_lead: bool = False, key: str = ""
    ) -> None:
        """Args:
        names_lead: the command says itself who leads, not only the settings.
        key: makes what the command records happen once, however often it runs.
        """
        self.settings = settings
        self.actor = actor
        self.names_lead = names_lead
        self._key = key

    @cached_property
    def store(self) -> SqlStore:
        """The log, opened and up to date."""
        return SqlStore(self.settings.database, entropy.now, entropy.salt)

    @cached_property
    def runner(self) -> Runner:
        """The loop."""
        return Runner(self.store, WORKFLOWS, entropy.now, entropy.new_id, _sleep)

    @cached_property
    def _once(self) -> Once:
        """What the command recorded when it ran before, under its key."""
        return Once(self.runner, self.settings.project, self._key)

    @cached_property
    def documents(self) -> Documents:
        """The performer of files."""
        folders = (self.settings.decisions, self.settings.tasks)
        return Documents(self.runner, self.settings.root, folders)

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions of this project, whatever their workflow."""
        return Sessions(self.runner, self.settings.project, self.actor, self.settled, self._once)

    @cached_property
    def clarifications(self) -> Clarifications:
        """The clarifications of this project."""
        return Clarifications(
            self.runner,
            self.settings.project,
            self.actor,
            self.documents,
            {"adr": self.settings.decisions, "task": self.settings.tasks},
            self.settled,
            self._once,
        )

    @cached_property
    def notes(self) -> Notes:
        """The notes of this project."""
        return Notes(self.runner, self.settings.project, self.actor, self.settled, self._once)

    def setup(self, workflow: Workflow[Any], *, strict: bool = False) -> Setup:
        """What a new session records of the program.

        Raises:
            SettingsError: the provider lacks something; nothing is recorded yet.
        """
        lead = self.lead(workflow, strict=strict)
        return Setup(
            preflights=__version__,
            decider=workflow.decider,
            provider=self.settings.provider,
            prompts=workflow.prompts if lead else (),
            lead=lead,
        )

    def led_anew(self, handle: Handle) -> Step:
        """A session under the lead that this command names, as strict as it was.

        Raises:
            SettingsError: the provider lacks something; nothing is recorded.
            Refused: the session takes nothing any more, or a model is being asked.
        """
        workflow = handle.workflow
        former = workflow.lead(handle.session.state)
        lead = self.lead(workflow, strict=former is not None and former.strict)
        return self.sessions.led_by(handle, lead, workflow.prompts if lead else ())

    # Providers -------------------------------------------------------------------------------

    def lead(self, workflow: Workflow[Any], *, strict: bool = False) -> Lead | None:
        """Who leads a session as the settings say; None for the rules.

        Raises:
            SettingsError: the provider lacks something.
        """
        lead = self._lead(workflow, strict=strict)
        if lead is not None:
            self.provider_for(lead)
        return lead

    def _lead(self, workflow: Workflow[Any], *, strict: bool) -> Lead | None:
        settings = self.settings
        if settings.provider == "mock":
            return Lead("mock", workflow.decider, (), strict) if workflow.always_led else None
        if settings.provider == "sim":
            parameters = (("seed", str(settings.seed)), ("faults", settings.faults))
            return Lead("sim", GENERATION, parameters, strict)
        from preflights_es.providers.capabilities import parameters_for

        parameters_sent = parameters_for(settings.provider, settings.model, settings)
        return Lead(settings.provider, settings.model, parameters_sent, strict)

    def provider_for(self, lead: Lead) -> LLMProvider:
        """Who answers a session, as its first Input says; keys and addresses are today's.

        Raises:
            SettingsError: something that the provider needs is missing.
        """
        if lead.provider in CODE:
            return simulated(lead)
        from preflights_es.providers.configured import chosen

        asked = msgspec.structs.replace(self.settings, provider=lead.provider, model=lead.model)
        if lead.provider != self.settings.provider:
            # The address belongs to another provider: its key must not go there.
            asked = msgspec.structs.replace(asked, base_url="", base_url_in="")
        return chosen(asked, lambda text: redact(text).text)

    def settled(self, step: Step) -> Step:
        """The session after every completion it asks for; at once where it asks for none."""
        request = next((c for c in step.handle.session.calls if _is_completion(c)), None)
        if request is None:
            return step
        import asyncio

        handle = step.handle
        lead = handle.workflow.lead(handle.session.state)
        assert lead is not None, "only a session that is led asks a model"
        return Step(asyncio.run(self._settled(step.handle, lead)), step.decisions)

    async def _settled(self, handle: Handle, lead: Lead) -> Handle:
        async with self.provider_for(lead) as provider:
            return (await self.runner.settle(handle, provider)).handle

    def finish(self, handle: Handle) -> Handle:
        """Write what a session owes, then what its supersession made others owe."""
        handle = self.documents.finish(handle)
        self.finish_pending()
        return handle

    def finish_pending(self) -> list[Handle]:
        """Write the documents that an earlier command of this project left open."""
        return self.documents.finish_pending(self.settings.project)

    def close(self) -> None:
        """Give the log back, if it was opened."""
        if "store" in self.__dict__:
            self.store.close()

    # Export and import -----------------------------------------------------------------------

    def exported(self, session_id: str) -> bytes:
        """A session as lines, verified."""
        head = self.store.head(session_id)
        events = self.store.read(session_id)
        return jsonl.lines(chain.verified(events, head.hash if head else None))

    def imported(self, lines: Iterable[bytes], where: str) -> list[tuple[Head, int]]:
        """Take over the sessions of a file; each is verified and replayed as to its grammar.

        Returns:
            The head of each session in the file, and how many of its events were new here.

        Raises:
            LogDamaged: an event does not verify; nothing of the file is taken.
            Refused: a session has gone another way here.
        """
        streams = chain.sessions(jsonl.stored(lines, where))
        if not streams:
            raise LogDamaged(where, 0, "it holds no events")
        folded = [self._folded(events) for events in streams.values()]
        fresh = [self._lacking(events) for events in streams.values()]
        return [
            self._taken(new, events[-1], session)
            for new, events, session in zip(fresh, streams.values(), folded, strict=True)
        ]

    def _folded(self, events: list[Stored]) -> Session[Any]:
        """A session of a file, once it verifies."""
        chain.verified(events)
        return self.runner.folded(self.runner.workflow(events[0].workflow), events)

    def _lacking(self, events: list[Stored]) -> list[Stored]:
        """The tail that this log lacks.

        Raises:
            Refused: the two copies differ.
        """
        here = self.store.read(events[0].session_id)
        for mine, theirs in zip(here, events, strict=False):
            if mine.hash != theirs.hash:
                raise Refused(
                    f"session {mine.session_id} has diverged: at version {mine.version} this log "
                    "and the file hold different events; nothing was imported"
                )
        return events[len(here) :]

    def _taken(self, new: list[Stored], last: Stored, session: Session[Any]) -> tuple[Head, int]:
        """Add the tail; its open completions can be made here, its documents only stay due.

        Importing a file writes no documents: `preflights render` does, when a person asks.
        """
        if new:
            workflow = self.runner.workflow(last.workflow)
            number: int | None = getattr(workflow.view(session.state), "number", None)
            calls = self.store.open_calls(last.project)
            known = {call for session_id, call in calls if session_id == last.session_id}
            still = sorted(c.call for c in session.calls if _is_completion(c) or c.call in known)
            try:
                self.store.insert(new, number=number, open_calls=still)
            except DuplicateInput as error:
                raise Refused(
                    f"an Input of session {last.session_id} stands in another session: "
                    "it was not imported"
                ) from error
            except Conflict as error:
                raise StoreUnavailable("the session moved while it was imported: again") from error
        head = Head(last.session_id, last.project, last.workflow, last.version, last.hash)
        return head, len(new)


async def _sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


def _is_completion(call: Request) -> bool:
    return isinstance(call, CompletionRequested)


def simulated(lead: Lead) -> LLMProvider:
    """The simulator that led a session, with its seed and faults; or the reference, as a provider.

    Raises:
        LogDamaged: the parameters are none of the simulator's.
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
    """The room of that name in every workflow."""
    for name in WORKFLOWS:
        yield import_module(f"preflights_es.workflows.{name}.simulation")


def actor(settings: Settings, *, terminal: bool) -> Actor:
    """Who is at work: what the settings say, else a user at a terminal, else a script."""
    return Actor(settings.actor_kind or ("user" if terminal else "script"), settings.actor_name)


def opened(
    cwd: Path,
    *,
    terminal: bool,
    database: str | None = None,
    options: Options | None = None,
    language: str | None = None,
    key: str = "",
) -> App:
    """The program as it stands in a folder.

    Args:
        options: what the command line says of a provider.
        language: what it says of the language of notes.
        key: what makes it happen once.

    Raises:
        SettingsError: a settings file or variable is wrong.
    """
    from preflights_es import settings

    found = settings.load(cwd, database=database, options=options, language=language)
    named = options is not None and options != Options()
    return App(found, actor(found, terminal=terminal), names_lead=named, key=key)


# Replay --------------------------------------------------------------------------------------


def own_code() -> Code:
    """The providers that are code of ours, for a replay to ask again."""
    from preflights_es.replay.reasking import Code

    return Code(_generation, simulated)


def _generation(provider: str, workflow: Workflow[Any]) -> str | None:
    return {"sim": GENERATION, "mock": workflow.decider}.get(provider)


def simulating(
    seed: int | None = None, faults: str | None = None
) -> Callable[[Lead | None], Lead | None]:
    """Who leads a session that is run again against the simulator, given who led.

    Whoever is code of ours leads again, unless a seed or faults are given; the rules, too.

    Raises:
        SettingsError: the faults are none of the simulator's.
    """
    from preflights_es.providers.faults import FaultConfig

    try:
        wanted = None if faults is None else FaultConfig.parsed(faults)
    except ValueError as error:
        raise SettingsError(f"--faults: {error}") from None

    def lead(before: Lead | None) -> Lead | None:
        if seed is None and wanted is None and (before is None or before.provider in CODE):
            return before
        said = dict(before.parameters) if before and before.provider == "sim" else {}
        failing = said.get("faults", "none")
        if wanted is not None and FaultConfig.parsed(failing) != wanted:
            failing = wanted.text()
        numbered = said.get("seed", "0") if seed is None else str(seed)
        strict = before is not None and before.strict
        return Lead("sim", GENERATION, (("seed", numbered), ("faults", failing)), strict)

    return lead


def led_otherwise(
    cwd: Path, workflow: Workflow[Any], options: Options
) -> Callable[[Lead | None], Lead | None]:
    """Who leads in place of whoever led, as the command line says; the rest is today's settings."""

    def lead(before: Lead | None) -> Lead | None:
        provider = options.provider or (before.provider if before else None)
        if provider is None:
            raise SettingsError("the rules lead: name a --provider")
        if options.model is not None and provider in CODE:
            raise SettingsError(f"--model: {provider} leads, which asks no model")
        if provider != "sim" and (options.seed or options.faults) is not None:
            raise SettingsError(
                f"--seed and --faults are the simulator's, and {provider} leads: add --provider sim"
            )
        same = before is not None and before.provider == provider == "sim"
        said = dict(before.parameters) if before and same else {}
        asked = msgspec.structs.replace(
            options,
            provider=provider,
            seed=options.seed or said.get("seed"),
            faults=options.faults or said.get("faults"),
        )
        program = opened(cwd, terminal=False, options=asked)
        return program._lead(workflow, strict=before is not None and before.strict)

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
        exist = versions(f"preflights_es.workflows.{workflow.name}", name)
        whole = version if version in exist else f"{name}.{version}"
        if whole not in exist:
            raise SettingsError(
                f"no version {version!r} of the prompt {name}: expected one of {', '.join(exist)}"
            )
        found[name] = whole
    return tuple(found.items())


def what_if(
    app: App, recording: Recording, otherwise: Otherwise, *, live: bool
) -> tuple[Rerun, Child]:
    """A child of a session that goes on otherwise.

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
                    made[key] = app.provider_for(Lead(*key, request.parameters))
                    stack.push_async_callback(made[key].aclose)
                return made[key]

            return await run(recording, otherwise, own_code(), asked if live else None)

    return asyncio.run(played())
