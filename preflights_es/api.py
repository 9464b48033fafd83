"""The Python API: a log, opened once, and everything a program does with its sessions.

    with preflights_es.open("~/shop") as log:
        session = log.start("Add OAuth login")
        session = log.answer(session.session_id, {"auth_strategy": "OAuth"})
        log.accept(session.session_id, by="Ada")

A `Preflights` is shared by threads; each call is a request of its own. An `AsyncPreflights` has
the same methods as coroutines, for a running event loop.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from preflights_es import bootstrap
from preflights_es.core.events import Actor, ActorKind
from preflights_es.services import sessions
from preflights_es.services.answers import Given
from preflights_es.services.process import Process
from preflights_es.services.request import Request
from preflights_es.services.results import DecisionRow, Session

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from preflights_es.replay.replayer import Replay
    from preflights_es.services.why import Why

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 8  # of an AsyncPreflights: calls that are under way at once; the others wait


class Preflights:
    """A log and its project; safe to share between threads."""

    def __init__(self, opened: bootstrap.Opened) -> None:
        self._opened = opened

    @property
    def process(self) -> Process:
        """What all requests share: settings, the store, the projections."""
        return self._opened.process

    def request(
        self, *, actor: str | None = None, kind: ActorKind | None = None, key: str = ""
    ) -> Request:
        """One request, for the services of this package.

        Args:
            actor: who is at work; else as the settings say.
            kind: `user`, `agent` or `script`; else as the settings say, or a script.
            key: makes what the request records happen once, however often it is made.
        """
        told = self._opened.actor
        name = told.name if actor is None else actor
        return self._opened.request(Actor(kind or told.kind, name), key)

    # 1. Deciding -----------------------------------------------------------------------------

    def start(
        self,
        text: str,
        *,
        workflow: str = "clarification",
        answers: Given | None = None,
        key: str = "",
    ) -> Session:
        """Begin a session with an intention, a note, or what else its workflow takes.

        Args:
            answers: by the key of their question, to what it will ask.
            key: makes it happen once.

        Raises:
            Refused: the text or an answer cannot be recorded.
            SettingsError: the provider of the settings lacks something; nothing is recorded.
        """
        return sessions.start(self.request(key=key), text, workflow, answers or ())

    def answer(
        self, session: str, answers: Given, *, revise: bool = False, key: str = ""
    ) -> Session:
        """Answer what a session asks, or revise what was answered.

        What does not count is no error: it is in `refused` of the result, and in the log.

        Args:
            session: its id, an end or beginning of it, `ADR-0007`, or `last`.

        Raises:
            UnknownSession, AmbiguousSession: none or several match.
            Refused: the session takes no answers any more.
        """
        return sessions.answer(self.request(key=key), session, answers, revise=revise)

    def accept(
        self, session: str, *, by: str | None = None, expect: int | None = None, key: str = ""
    ) -> Session:
        """Accept what is proposed, and write the document.

        Args:
            by: the person who accepts; without one it is proposed, and a person accepts later.
            expect: the version at which the person saw it.

        Raises:
            SessionMoved: the session is at another version.
            Refused: nothing there can be accepted.
        """
        return sessions.accept(self.request(key=key), session, by=by, expect=expect)

    def abandon(self, session: str, reason: str = "") -> Session:
        """Give a session up; it stays in the log."""
        return sessions.abandon(self.request(), session, reason)

    def resume(self, session: str) -> Session:
        """Go on where an error, a crash or a strict session stopped."""
        return sessions.resume(self.request(), session)

    # 2. Looking ------------------------------------------------------------------------------

    def show(self, session: str) -> Session:
        """A session as it stands."""
        return sessions.show(self.request(), session)

    def sessions(self, limit: int | None = None) -> list[Session]:
        """The sessions of the project, newest first."""
        return list(sessions.sessions(self.request(), limit))

    def decisions(
        self, *, at: int | None = None, category: str | None = None, everything: bool = False
    ) -> list[DecisionRow]:
        """The decisions in force, oldest first.

        Args:
            at: the moment, in microseconds since 1970 UTC; None is now.
            category: of one category alone.
            everything: every patch, also those not in force.
        """
        found = sessions.decisions(self.request(), at=at, category=category, everything=everything)
        return list(found)

    def why(self, what: str, field: str | None = None) -> list[Why]:
        """Where decided values came from: each with the answer, question, model and person behind.

        Args:
            what: a session or record; or a field, among the decisions that are in force.

        Raises:
            Refused: nothing matches.
        """
        from preflights_es.services.why import why

        return [value for value, _ in why(self.request(), what, field)]

    def replay(self, session: str) -> Replay:
        """Decide a recorded session again and compare every decision; no provider is asked."""
        return sessions.replay(self.request(), session)

    def export(self, session: str) -> bytes:
        """A session as JSON Lines, verified."""
        return sessions.export(self.request(), session)

    def close(self) -> None:
        """Give the log back; nothing can be called then."""
        self.process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncPreflights:
    """The same for a running event loop: every method is a coroutine.

    The calls run in threads of their own, so that neither the database nor a provider holds the
    loop up.
    """

    def __init__(self, log: Preflights, threads: int = THREADS) -> None:
        """Args:
        threads: how many calls are under way at once; the others wait their turn.
        """
        from concurrent.futures import ThreadPoolExecutor

        self.log = log
        self._pool: ThreadPoolExecutor = ThreadPoolExecutor(threads, "preflights")

    async def _call(self, call: Callable[P, R], *args: P.args, **more: P.kwargs) -> R:
        import asyncio
        from functools import partial

        return await asyncio.get_running_loop().run_in_executor(
            self._pool, partial(call, *args, **more)
        )

    async def start(self, text: str, **how: Any) -> Session:
        """As `Preflights.start`."""
        return await self._call(self.log.start, text, **how)

    async def answer(self, session: str, answers: Given, **how: Any) -> Session:
        """As `Preflights.answer`."""
        return await self._call(self.log.answer, session, answers, **how)

    async def accept(self, session: str, **how: Any) -> Session:
        """As `Preflights.accept`."""
        return await self._call(self.log.accept, session, **how)

    async def abandon(self, session: str, reason: str = "") -> Session:
        """As `Preflights.abandon`."""
        return await self._call(self.log.abandon, session, reason)

    async def resume(self, session: str) -> Session:
        """As `Preflights.resume`."""
        return await self._call(self.log.resume, session)

    async def show(self, session: str) -> Session:
        """As `Preflights.show`."""
        return await self._call(self.log.show, session)

    async def sessions(self, limit: int | None = None) -> list[Session]:
        """As `Preflights.sessions`."""
        return await self._call(self.log.sessions, limit)

    async def decisions(self, **how: Any) -> list[DecisionRow]:
        """As `Preflights.decisions`."""
        return await self._call(self.log.decisions, **how)

    async def why(self, what: str, field: str | None = None) -> list[Why]:
        """As `Preflights.why`."""
        return await self._call(self.log.why, what, field)

    async def replay(self, session: str) -> Replay:
        """As `Preflights.replay`."""
        return await self._call(self.log.replay, session)

    async def export(self, session: str) -> bytes:
        """As `Preflights.export`."""
        return await self._call(self.log.export, session)

    async def close(self) -> None:
        """Give the log back once every call has ended."""
        await self._call(int)
        self._pool.shutdown(wait=True)
        self.log.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def open(  # noqa: A001  as `gzip.open`: it is called by the package's name
    folder: str | Path = ".",
    *,
    database: str | None = None,
    provider: str | None = None,
    model: str | None = None,
    creates: bool = True,
) -> Preflights:
    """The log of a project's folder, with the settings that hold there.

    Args:
        folder: of the project; `~` is the user's own.
        database: a path or URL, instead of the configured one.
        provider, model: instead of the configured ones.
        creates: whether a log that is not there is made.

    Raises:
        SettingsError: a settings file or variable is wrong.
    """
    from preflights_es.settings.load import Options

    opened = bootstrap.opened_process(
        Path(folder).expanduser().absolute(),
        database=database,
        options=Options(provider=provider, model=model),
        creates=creates,
    )
    return Preflights(opened)


def open_async(folder: str | Path = ".", **how: Any) -> AsyncPreflights:
    """The same for a running event loop; the arguments are those of `open`."""
    return AsyncPreflights(open(folder, **how))
