"""The composition root: settings become a process, and a caller of it a request."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import msgspec

from preflights_es.kernel.errors import Notice
from preflights_es.kernel.events import Actor, Evidence
from preflights_es.kernel.ports import Access
from preflights_es.settings.load import Options, Settings, load_settings
from preflights_es.use.leads import Leads, Reloaded
from preflights_es.use.process import Process
from preflights_es.use.request import Request


def actor(settings: Settings, *, terminal: bool) -> Actor:
    """Who is at work: an agent where its environment is seen, else what the settings say.

    Else a user at a terminal, else a script. In an agent's environment neither a terminal nor a
    setting makes another actor; `agent:NAME` only names the agent.
    """
    if settings.agent:
        is_named = settings.actor_kind == "agent" and settings.actor_name
        return Actor("agent", settings.actor_name if is_named else settings.agent)
    return Actor(settings.actor_kind or ("user" if terminal else "script"), settings.actor_name)


class Opened(msgspec.Struct, frozen=True, dict=True):
    """A process, and what its requests have in common."""

    process: Process
    evidence: Evidence
    options: Options | None
    reloaded: Reloaded
    asks: bool = False
    """Whether a person may be asked."""

    @cached_property
    def actor(self) -> Actor:
        """Who is at work, unless a request says otherwise."""
        return actor(self.process.settings, terminal=self.asks)

    def request(self, actor: Actor | None = None, key: str = "") -> Request:
        """A request to it, by its actor or another one; in an agent's environment by an agent."""
        if actor is not None and self.process.settings.agent and actor.kind != "agent":
            actor = None
        leads = Leads(self.process.settings, self.options, self.reloaded)
        return Request(
            self.process,
            lambda: self.actor if actor is None else actor,
            evidence=self.evidence,
            leads=leads,
            key=key,
        )


def opened_process(
    cwd: Path,
    *,
    terminal: bool = False,
    asks: bool = True,
    database: str | None = None,
    options: Options | None = None,
    language: str | None = None,
    who: str | None = None,
    access: Access = Access.CREATE,
    tell: Callable[[Notice], None] = lambda _: None,
) -> Opened:
    """A process in a folder, with the settings that hold there.

    Args:
        terminal: whether standard input and output are one: a person is at work there, where the
            settings and the environment do not say otherwise.
        asks: whether a person may be asked at that terminal.
        options: what the caller says of a provider.
        language: what it says of the language of notes.
        who: what it says of the actor.
        access: what is done with the log.
        tell: takes what a person should know of the project's name.

    Raises:
        SettingsError: a settings file or variable is wrong.
    """

    def loaded(said: Options | None) -> Settings:
        return load_settings(
            cwd, environment=None, database=database, options=said, language=language, actor=who
        )

    found = loaded(options)
    process = Process(found, access, tell=tell, stands_in=_stands_in)
    seen = Evidence(found.agent_variables, terminal)
    return Opened(process, seen, options, loaded, asks=terminal and asks)


def _stands_in(settings: Settings, tell: Callable[[Notice], None], access: Access) -> str:
    from preflights_es.use.stand_in import database_of  # most logs can be written

    return database_of(settings, tell, access)
