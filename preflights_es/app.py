"""The composition root: what exists, and who gets what; tests wire their own the same way."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from preflights_es import __version__
from preflights_es.core.errors import (
    Conflict,
    DuplicateInput,
    LogDamaged,
    Refused,
    SettingsError,
    StoreUnavailable,
)
from preflights_es.core.events import Actor
from preflights_es.core.ports import Head, Stored
from preflights_es.core.session import Workflow
from preflights_es.runtime import entropy
from preflights_es.runtime.documents import Documents
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.runtime.sessions import Sessions
from preflights_es.settings import Settings
from preflights_es.store import chain, jsonl
from preflights_es.store.sql import SqlStore
from preflights_es.workflows import clarification
from preflights_es.workflows.clarification.events import Setup

AVAILABLE = ("mock",)
"""The providers that a session can be led by; the others are built, and not wired."""

WORKFLOWS: dict[str, Workflow[Any]] = {clarification.WORKFLOW.name: clarification.WORKFLOW}


class App:
    """Everything one command needs, made when it is first used."""

    def __init__(self, settings: Settings, actor: Actor) -> None:
        self.settings = settings
        self.actor = actor

    @cached_property
    def store(self) -> SqlStore:
        """The log, opened and up to date."""
        return SqlStore(self.settings.database, entropy.now, entropy.salt)

    @cached_property
    def runner(self) -> Runner:
        """The loop."""
        return Runner(self.store, WORKFLOWS, entropy.now, entropy.new_id)

    @cached_property
    def documents(self) -> Documents:
        """The performer of files."""
        folders = (self.settings.decisions, self.settings.tasks)
        return Documents(self.runner, self.settings.root, folders)

    @cached_property
    def sessions(self) -> Sessions:
        """The clarifications of this project."""
        return Sessions(
            self.runner,
            clarification.WORKFLOW,
            self.settings.project,
            self.actor,
            self.documents,
            {"adr": self.settings.decisions, "task": self.settings.tasks},
        )

    def setup(self) -> Setup:
        """What a new session records of the program."""
        return Setup(
            preflights=__version__,
            decider=clarification.WORKFLOW.decider,
            provider=self.settings.provider,
        )

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
        for events in streams.values():
            chain.verified(events)
            self.runner.folded(self.runner.workflow(events[0].workflow), events)
        fresh = [self._lacking(events) for events in streams.values()]
        return [
            self._taken(new, events[-1])
            for new, events in zip(fresh, streams.values(), strict=True)
        ]

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

    def _taken(self, new: list[Stored], last: Stored) -> tuple[Head, int]:
        if new:
            try:
                self.store.insert(new)
            except DuplicateInput as error:
                raise Refused(
                    f"an Input of session {last.session_id} stands in another session: "
                    "it was not imported"
                ) from error
            except Conflict as error:
                raise StoreUnavailable("the session moved while it was imported: again") from error
        head = Head(last.session_id, last.project, last.workflow, last.version, last.hash)
        return head, len(new)


def actor(settings: Settings, *, terminal: bool) -> Actor:
    """Who is at work: what the settings say, else a user at a terminal, else a script."""
    return Actor(settings.actor_kind or ("user" if terminal else "script"), settings.actor_name)


def opened(cwd: Path, *, terminal: bool, database: str | None = None) -> App:
    """The program as it stands in a folder.

    Raises:
        SettingsError: a settings file or variable is wrong.
    """
    from preflights_es import settings

    found = settings.load(cwd, database=database)
    if found.provider not in AVAILABLE:
        message = f"the provider {found.provider!r} is not available in this version yet"
        raise SettingsError(f"{message}: expected {' or '.join(AVAILABLE)}")
    return App(found, actor(found, terminal=terminal))
