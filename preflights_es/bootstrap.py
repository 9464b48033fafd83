"""The composition root: what exists, and who gets what; tests wire their own the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preflights_es import __version__
from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import LogFromFuture, NoLog, PreflightsError
from preflights_es.core.events import Actor, Request
from preflights_es.core.grammar import misplaced
from preflights_es.core.lead import Lead, Setup
from preflights_es.core.ports import Following, Head, Stream
from preflights_es.core.session import Workflow
from preflights_es.runtime.idempotency import Once
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.runtime.sessions import Desk, Sessions
from preflights_es.services.catalogue import CODE, WORKFLOWS
from preflights_es.services.leads import Leads
from preflights_es.settings.load import Options, Settings
from preflights_es.store.codec import Codec
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.system.gc_tuning import collect_seldom

if TYPE_CHECKING:
    from preflights_es.archive.erasure import Erasure
    from preflights_es.archive.side_tables import Beside
    from preflights_es.archive.transfer import Transfer
    from preflights_es.projections.folding import Read, Reader
    from preflights_es.projections.follower import Progress
    from preflights_es.projections.projection import Projection
    from preflights_es.projections.projector import Projector
    from preflights_es.projections.verification import Holding
    from preflights_es.runtime.documents import Documents
    from preflights_es.services.clarification.clarifications import Clarifications
    from preflights_es.services.extraction.notes import Notes
    from preflights_es.store.listening import Listener
    from preflights_es.store.projection_feed import SqlFollowing


class App:
    """Everything one command needs, made when it is first used."""

    def __init__(
        self,
        settings: Settings,
        actor: Actor,
        *,
        leads: Leads | None = None,
        key: str = "",
        creates: bool = True,
    ) -> None:
        """Args:
        leads: as the command says; else as the settings do.
        key: makes what the command records happen once, however often it runs.
        creates: whether the command may make the log, where there is none.
        """
        self._creates = creates
        self.tell: Callable[[str], None] = lambda _: None
        """Takes what a person should know of the project's name, line by line."""
        self._took_over = False
        self._given_back = ExitStack()
        self.settings = settings
        self.actor = actor
        self.leads = leads or Leads(settings)
        self._key = key

    @cached_property
    def store(self) -> SqlStore:
        """The log, opened and up to date.

        Raises:
            NoLog: somebody said where it lies, it does not, and the command makes none.
        """
        database, creates = self.settings.database, self._creates
        try:
            return SqlStore(database, clock_ids.now, clock_ids.salt, creates=creates)
        except NoLog:
            if self.settings.is_database_named:
                raise
        from preflights_es.store.temporary import empty_log

        return self._given_back.enter_context(empty_log(clock_ids.now, clock_ids.salt))

    @cached_property
    def project(self) -> str:
        """The project's name in this log; a log that several repositories share has a say."""
        if self.settings.repository is None:
            return self.settings.project
        from preflights_es.services.project_name import named

        found = named(self.settings, self.store, self.tell, claims=self._creates)
        self._took_over = found.sessions > 0 or found.is_unclaimed
        return found.name

    @cached_property
    def runner(self) -> Runner:
        """The loop."""
        return Runner(self.store, WORKFLOWS, clock_ids.now, clock_ids.new_id, _sleep)

    @cached_property
    def _once(self) -> Once:
        """What the command recorded when it ran before, under its key."""
        return Once(self.runner, self.project, self._key, self.log_id)

    def log_id(self) -> str:
        """What the log calls itself."""
        from preflights_es.store.log_id import log_id

        return log_id(self.store)

    @cached_property
    def documents(self) -> Documents:
        """The performer of files."""
        from preflights_es.runtime.documents import Documents

        folders = (self.settings.decisions, self.settings.tasks)
        return Documents(self.runner, self.settings.root, folders)

    @cached_property
    def _desk(self) -> Desk:
        project, check = self.project, self._check_lead
        once, settled = self._once, self.settled
        return Desk(self.runner, project, self.actor, settled, once, check, self._numbered)

    def _numbered(self, number: int) -> list[str]:
        """Sessions of this project whose record may bear a number; their own logs say whether."""
        said = f'"number":{number},'
        try:
            rows = self.projector.rows("decisions", self.project)
            return [row["session_id"] for row in rows if said in row["decided"]]
        except LogFromFuture:
            return []  # the log's list of numbers has one of them all the same

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions of this project, whatever their workflow."""
        return Sessions(self._desk)

    @cached_property
    def clarifications(self) -> Clarifications:
        """The clarifications of this project."""
        from preflights_es.services.clarification.clarifications import Clarifications

        folders = {"adr": self.settings.decisions, "task": self.settings.tasks}
        return Clarifications(self._desk, self.documents, folders)

    @cached_property
    def notes(self) -> Notes:
        """The notes of this project."""
        from preflights_es.services.extraction.notes import Notes

        return Notes(self._desk)

    def _check_lead(self, handle: Handle) -> None:
        self.leads.check(handle)  # those of now: a command may have named others

    @cached_property
    def transfer(self) -> Transfer:
        """Sessions that leave this log, and those that come."""
        from preflights_es.archive.transfer import Transfer

        filed = {self.project: self.documents.numbers_used}
        return Transfer(self.runner, self.store, projected(), filed)

    @cached_property
    def erasure(self) -> Erasure:
        """What erases sessions of this project."""
        from preflights_es.archive.erasure import Erasure

        folders = (self.settings.decisions, self.settings.tasks)
        return Erasure(self._desk, self.store, self.settings.root, CODE, projected(), folders)

    @cached_property
    def following(self) -> SqlFollowing:
        """What projections need of the log."""
        from preflights_es.store.projection_feed import SqlFollowing

        return SqlFollowing(self.store)

    @cached_property
    def projector(self) -> Projector:
        """The projections of the log; whoever reads one catches up first."""
        return projector(self.following)

    def listener(self) -> Listener:
        """Where a follower of this log waits."""
        from preflights_es.store.listening import Listener

        return Listener(self.store.database)

    def follow(
        self,
        listener: Listener,
        every_s: float,
        progress: Callable[[Progress], None],
        trouble: Callable[[PreflightsError], None],
    ) -> None:
        """Keep the projections up to date until the listener is stopped.

        Raises:
            NewerProjection: a newer version of this program keeps one of them.
            StoreUnavailable: the log could not be used the first time.
        """
        from preflights_es.projections.follower import Follower
        from preflights_es.store.watched import WatchedFollowing

        follower = Follower(listener, every_s, progress, trouble)
        log = WatchedFollowing(self.store, follower.before, follower.after)
        follower.follow(projector(log).catch_up)

    def holding(self) -> Holding:
        """What holds sessions against the rows that projections keep of them."""
        from preflights_es.projections.verification import Holding
        from preflights_es.store.projection_rows import SqlKeeping

        def again(session_id: str) -> Stream | None:
            head = self.store.head(session_id)
            stream = self.following.stream(head) if head is not None else None
            return None if stream is None or stream.damage else stream

        keeping, unfit = SqlKeeping(self.store), self.following.unfit
        return Holding(keeping, projections(), reader(), unfit, again)

    def beside(self) -> Beside:
        """What holds sessions against what lies beside their chains."""
        from preflights_es.archive.side_tables import Beside
        from preflights_es.store.record_numbers import SqlNumbering
        from preflights_es.store.side_tables import SqlAuditing

        versions = {one.name: one.version for one in projections()}
        tables = SqlAuditing(self.store), SqlNumbering(self.store)
        return Beside(self.runner, *tables, self._read, versions)

    def _read(self, head: Head) -> Read:
        return self.projector.reader.read(self.following.stream(head))

    def history(self, session_id: str) -> Read:
        """A session with all of its events, and how it stood after each.

        Raises:
            UnknownSession, ErasedSession, LogDamaged, SessionFaulted: it cannot be read.
        """
        self.runner.load(session_id)
        head = self.store.head(session_id)
        assert head is not None, "it was there a moment ago, and nothing takes one away"
        return self._read(head)

    def setup(self, workflow: Workflow[Any], *, strict: bool = False) -> Setup:
        """What a new session records of the program.

        Raises:
            SettingsError: the provider lacks something; nothing is recorded yet.
        """
        lead = self.leads.lead(workflow, strict=strict)
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
        now = workflow.lead(handle.session.state)
        former = now or self._first_lead(handle)
        self.leads = self.leads.over(former)
        lead = self.leads.lead(workflow, strict=former is not None and former.strict)
        if lead == now and lead is not None:
            return self.sessions.resume(handle)  # only the way to the same server was said
        return self.sessions.led_by(handle, lead, workflow.prompts if lead else ())

    def _first_lead(self, handle: Handle) -> Lead | None:
        """Who led a session at its beginning, before a fallback."""
        first = self.runner.codec(handle.workflow).decode(self.store.read(handle.session_id)[0])
        setup: Setup | None = getattr(first, "setup", None)
        return setup.lead if setup is not None else None

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
        async with self.leads.provider_for(lead) as provider:
            return (await self.runner.settle(handle, provider)).handle

    def finish_pending(self) -> list[Handle]:
        """Write the documents that earlier commands of this project left open; `LogBusy`: not now.

        None where this command took over sessions that may be another repository's.
        """
        project = self.project
        if self._took_over or not self.store.open_calls(project):
            return []
        with self.store.database.hurried():
            return self.documents.finish_pending(project)

    def close(self) -> None:
        """Give the log back, if it was opened."""
        self._given_back.close()
        if "store" in self.__dict__:
            self.store.close()


def projected() -> list[str]:
    """Tables of projections, each of which has rows by session."""
    from preflights_es.store.projected import PROJECTED

    return [*PROJECTED.values()]


async def _sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)


def _is_completion(call: Request) -> bool:
    return isinstance(call, CompletionRequested)


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
    creates: bool = True,
) -> App:
    """The program as it stands in a folder.

    Args:
        options: what the command line says of a provider.
        language: what it says of the language of notes.
        key: what makes it happen once.
        creates: whether a log that is not there is made.

    Raises:
        SettingsError: a settings file or variable is wrong.
    """
    from preflights_es.settings import load

    def loaded(said: Options | None) -> Settings:
        return load.load_settings(cwd, database=database, options=said, language=language)

    found = loaded(options)
    who = actor(found, terminal=terminal)
    return App(found, who, leads=Leads(found, options, loaded), key=key, creates=creates)


# Projections ---------------------------------------------------------------------------------


def projector(log: Following) -> Projector:
    """What keeps the projections of a log."""
    from preflights_es.projections.projector import Projector

    return Projector(log, projections(), reader())


def projections() -> tuple[Projection, ...]:
    """All that are kept."""
    from preflights_es.projections.decisions import DECISIONS
    from preflights_es.projections.sessions import SESSIONS
    from preflights_es.projections.usage import USAGE

    return (SESSIONS, DECISIONS, USAGE)


def reader() -> Reader:
    """What folds a session for a projection, or for the trail."""
    from preflights_es.projections.folding import Reader

    codecs = {name: Codec(workflow) for name, workflow in WORKFLOWS.items()}
    return Reader(WORKFLOWS, lambda workflow, one: codecs[workflow.name].decode(one), misplaced)


def joined(database: str, names: Sequence[str], start: str) -> None:
    """Help to rebuild projections, as a process of its own."""
    from preflights_es.store.projection_feed import SqlFollowing

    collect_seldom()
    store = SqlStore(database, clock_ids.now, clock_ids.salt)
    try:
        projector(SqlFollowing(store)).join(names, start)
    finally:
        store.close()
