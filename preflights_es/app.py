"""The composition root: what exists, and who gets what; tests wire their own the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from preflights_es import __version__
from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import (
    ProviderMissing,
)
from preflights_es.core.events import Actor, Request
from preflights_es.core.leading import Lead, Setup
from preflights_es.core.ports import Following
from preflights_es.core.session import Workflow
from preflights_es.provider_settings import check_options
from preflights_es.runtime import entropy
from preflights_es.runtime.clarifications import Clarifications
from preflights_es.runtime.documents import Documents
from preflights_es.runtime.grammar import misplaced
from preflights_es.runtime.notes import Notes
from preflights_es.runtime.once import Once
from preflights_es.runtime.redaction import redact
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.runtime.sessions import Sessions
from preflights_es.settings import Options, Settings
from preflights_es.store.codec import Codec
from preflights_es.store.sql import SqlStore
from preflights_es.workflows import clarification, extraction

if TYPE_CHECKING:
    from preflights_es.core.simulation import Bank, Reference, References, Route
    from preflights_es.projections.projector import Projector
    from preflights_es.projections.reading import Read, Reader
    from preflights_es.providers.base import LLMProvider
    from preflights_es.runtime.erasure import Erasure
    from preflights_es.runtime.transfer import Transfer
    from preflights_es.store.following import SqlFollowing

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
        self,
        settings: Settings,
        actor: Actor,
        *,
        options: Options | None = None,
        reloaded: Callable[[Options], Settings] | None = None,
        key: str = "",
    ) -> None:
        """Args:
        options: what the command says of a provider.
        reloaded: the settings, had the command said something else.
        key: makes what the command records happen once, however often it runs.
        """
        self.settings = settings
        self.actor = actor
        self._options = options
        self._reloaded = reloaded
        self._key = key

    @property
    def names_lead(self) -> bool:
        """Whether the command itself says who leads, not only the settings."""
        return self._options is not None and any(msgspec.structs.astuple(self._options))

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
        return Sessions(
            self.runner,
            self.settings.project,
            self.actor,
            self.settled,
            self._once,
            self.check_led,
        )

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
            self.check_led,
        )

    @cached_property
    def notes(self) -> Notes:
        """The notes of this project."""
        return Notes(
            self.runner,
            self.settings.project,
            self.actor,
            self.settled,
            self._once,
            self.check_led,
        )

    @cached_property
    def transfer(self) -> Transfer:
        """Sessions that leave this log, and those that come."""
        from preflights_es.runtime.transfer import Transfer

        return Transfer(self.runner, self.store, projected())

    @cached_property
    def erasure(self) -> Erasure:
        """What erases sessions of this project."""
        from preflights_es.runtime.erasure import Erasure

        project, root = self.settings.project, self.settings.root
        return Erasure(self.runner, self.store, project, self.actor, root, CODE, projected())

    @cached_property
    def following(self) -> SqlFollowing:
        """What projections need of the log."""
        from preflights_es.store.following import SqlFollowing

        return SqlFollowing(self.store)

    @cached_property
    def projector(self) -> Projector:
        """The projections of the log; whoever reads one catches up first."""
        return projector(self.following)

    def history(self, session_id: str) -> Read:
        """A session with all of its events, and how it stood after each.

        Raises:
            UnknownSession, ErasedSession, LogDamaged, SessionFaulted: it cannot be read.
        """
        self.runner.load(session_id)
        head = self.store.head(session_id)
        assert head is not None, "it was there a moment ago, and nothing takes one away"
        return self.projector.reader.read(self.following.stream(head))

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
        leads = workflow.lead(handle.session.state)
        former = leads or self._first_lead(handle)
        if former is not None:
            self.settings = self._laid_over(former)
        lead = self.lead(workflow, strict=former is not None and former.strict)
        if former is not None and not (self._options and self._options.base_url):
            self._asked(former)  # nobody said another address: the former one must still be known
        if lead == leads and lead is not None:
            return self.sessions.resume(handle)  # only the way to the same server was said
        return self.sessions.led_by(handle, lead, workflow.prompts if lead else ())

    def _first_lead(self, handle: Handle) -> Lead | None:
        """Who led a session at its beginning, before a fallback."""
        first = self.runner.codec(handle.workflow).decode(self.store.read(handle.session_id)[0])
        setup: Setup | None = getattr(first, "setup", None)
        return setup.lead if setup is not None else None

    def _laid_over(self, lead: Lead) -> Settings:
        """The settings as the command says them, and the lead where it says nothing."""
        said = self._options
        if said is None or said.provider is not None or self._reloaded is None:
            return self.settings
        kept = dict(lead.parameters) if lead.provider == "sim" else {}
        model = lead.model if lead.provider not in CODE else None
        return self._reloaded(
            msgspec.structs.replace(
                said,
                provider=lead.provider,
                model=said.model or model,
                seed=said.seed or kept.get("seed"),
                faults=said.faults or kept.get("faults"),
            )
        )

    # Providers -------------------------------------------------------------------------------

    def lead(self, workflow: Workflow[Any], *, strict: bool = False) -> Lead | None:
        """Who leads a session as the settings say; None for the rules.

        Raises:
            SettingsError: the provider lacks something.
        """
        if self._options is not None:
            check_options(self.settings.provider, msgspec.structs.asdict(self._options))
        lead = self.configured_lead(workflow, strict=strict)
        if lead is not None:
            self.provider_for(lead)
        return lead

    def configured_lead(self, workflow: Workflow[Any], *, strict: bool) -> Lead | None:
        """Who leads a session as the settings say, whether it can be asked or not."""
        settings = self.settings
        if settings.provider == "mock":
            return Lead("mock", workflow.decider, (), strict) if workflow.always_led else None
        if settings.provider == "sim":
            parameters = (("seed", str(settings.seed)), ("faults", settings.faults))
            return Lead("sim", GENERATION, parameters, strict)
        from preflights_es.providers.capabilities import digest_of, parameters_for

        sent = parameters_for(settings.provider, settings.model, settings)
        address = digest_of(settings.provider, settings.base_url)
        return Lead(settings.provider, settings.model, sent, strict, address)

    def provider_for(self, lead: Lead) -> LLMProvider:
        """Who answers a session, as its first Input says; keys and addresses are today's.

        Raises:
            SettingsError: something that the provider needs is missing.
        """
        if lead.provider in CODE:
            return simulated(lead)
        from preflights_es.providers.configured import chosen

        asked = msgspec.structs.replace(self._asked(lead), provider=lead.provider, model=lead.model)
        if not lead.address:
            asked = msgspec.structs.replace(asked, base_url="", base_url_in="")
        return chosen(asked, lambda text: redact(text).text)

    def _asked(self, lead: Lead) -> Settings:
        """The settings for the provider of a session, whichever they choose for a new one.

        Raises:
            ProviderMissing: the session is led at an address that nothing says today.
        """
        settings = self.settings
        if lead.provider != settings.provider:
            if self._reloaded is not None:
                settings = self._reloaded(Options(provider=lead.provider))
            else:
                settings = msgspec.structs.replace(settings, base_url="", base_url_in="")
        from preflights_es.providers.capabilities import digest_of

        if lead.address and digest_of(lead.provider, settings.base_url) != lead.address:
            raise ProviderMissing(
                f"the session is led by a server like {lead.provider}'s at another address: set "
                "PREFLIGHTS_BASE_URL to it, since what was said there goes nowhere else"
            )
        return settings

    def address_for(self, recorded: Lead | None, provider: str) -> str:
        """Where a what-if asks: as the session did, or today's where it asks somebody else."""
        from preflights_es.providers.capabilities import digest_of

        if recorded is not None and recorded.provider == provider:
            return recorded.address
        asked = self._asked(Lead(provider, ""))
        return digest_of(provider, asked.base_url)

    def check_led(self, handle: Handle) -> None:
        """Before something is recorded that a provider must answer: it can be asked.

        Raises:
            SettingsError: something that it needs is missing.
        """
        lead = handle.workflow.lead(handle.session.state)
        if lead is not None and lead.provider not in CODE:
            self.provider_for(lead)

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


def projected() -> list[str]:
    """Tables of projections, each of which has rows by session."""
    from preflights_es.store.projected import PROJECTED

    return [table.name for table in PROJECTED.values()]


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

    def loaded(said: Options | None) -> Settings:
        return settings.load(cwd, database=database, options=said, language=language)

    found = loaded(options)
    who = actor(found, terminal=terminal)
    return App(found, who, options=options, reloaded=loaded, key=key)


# Projections ---------------------------------------------------------------------------------


def projector(log: Following) -> Projector:
    """What keeps the projections of a log."""
    from preflights_es.projections.decisions import DECISIONS
    from preflights_es.projections.projector import Projector
    from preflights_es.projections.sessions import SESSIONS
    from preflights_es.projections.usage import USAGE

    return Projector(log, (SESSIONS, DECISIONS, USAGE), reader())


def reader() -> Reader:
    """What folds a session for a projection, or for the trail."""
    from preflights_es.projections.reading import Reader

    codecs = {name: Codec(workflow) for name, workflow in WORKFLOWS.items()}
    return Reader(WORKFLOWS, lambda workflow, one: codecs[workflow.name].decode(one), misplaced)


def joined(database: str, names: Sequence[str], start: str) -> None:
    """Help to rebuild projections, as a process of its own."""
    from preflights_es.store.following import SqlFollowing

    store = SqlStore(database, entropy.now, entropy.salt)
    try:
        projector(SqlFollowing(store)).join(names, start)
    finally:
        store.close()
