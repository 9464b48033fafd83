"""The Python API: a log, opened once, and everything a program does with its sessions.

    with preflights_es.open("~/shop") as log:
        session = log.start("Add OAuth login")
        session = log.answer(session.session_id, {"auth_strategy": "OAuth"})
        log.accept(session.session_id, by="Ada")

A `Preflights` is shared by threads; each call is a request of its own. `async_api` has the same
methods as coroutines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from inspect import signature
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, Self, TypeVar, get_type_hints

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.kernel.errors import Refused, SettingsError
from preflights_es.kernel.events import Actor, ActorKind
from preflights_es.kernel.ports import Access
from preflights_es.kernel.text import escaped_text, shortened
from preflights_es.runtime.features import FEATURES
from preflights_es.use import bootstrap, session_lists, sessions
from preflights_es.use.answers import Given
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewAcceptance, NewSession
from preflights_es.words.decisions import Choices, Hold, RejectedAlternative, StatedReasons
from preflights_es.words.questions import Option, written_question
from preflights_es.words.workflow import View

if TYPE_CHECKING:
    from preflights_es.features.recall.domain.state import RecallView
    from preflights_es.history.replayer import Replay
    from preflights_es.projections.usage import By
    from preflights_es.use.brief import ProjectBrief
    from preflights_es.use.decisions import Decisions
    from preflights_es.use.holding import HoldsHere
    from preflights_es.use.inbox import Inbox
    from preflights_es.use.replays import SessionDiff
    from preflights_es.use.repository_facts import Facts
    from preflights_es.use.trail import TrailStep
    from preflights_es.use.usage import Usage
    from preflights_es.use.why_results import Why, WhyArtifact

Alternatives = Mapping[str, str] | Sequence[tuple[str, str]]
"""Names of what was not chosen, each with why."""
SAID_MAX: Final = 40  # characters of a wrong argument that the error shows
P = ParamSpec("P")
T = TypeVar("T")


def _check_argument_types(method: Callable[P, T]) -> Callable[P, T]:
    """The same method, which refuses an argument of another type before it does anything.

    Programs come without a type checker too, and a log keeps what it is given.
    """

    @wraps(method)
    def called(*args: P.args, **more: P.kwargs) -> T:
        kinds = _kinds(method)
        given = signature(method).bind(*args, **more).arguments
        for name, value in given.items():
            try:
                msgspec.convert(value, kinds.get(name, Any))
            except msgspec.ValidationError as error:
                told, kind = escaped_text(shortened(repr(value), SAID_MAX)), kinds[name]
                expected = kind.__name__ if isinstance(kind, type) else str(kind)
                message = f"{name} is {told}, expected {expected.replace('collections.abc.', '')}"
                raise Refused(message, code="wrong_type", argument=name) from error
        return method(*args, **more)

    return called


@cache
def _kinds(method: Callable[..., Any]) -> dict[str, Any]:
    """Types of the arguments; that of the result may not be imported yet."""
    written = {name: kind for name, kind in method.__annotations__.items() if name != "return"}
    return get_type_hints(SimpleNamespace(__annotations__=written), globals())


class Preflights:
    """A log and its project; safe to share between threads."""

    def __init__(self, opened: bootstrap.Opened) -> None:
        self._opened = opened

    @property
    def process(self) -> Process:
        """What all requests share: settings, the store, the projections."""
        return self._opened.process

    @_check_argument_types
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

    def _signing(self, request: Request, sign: bool | None) -> Request:
        if sign is not None:
            request.signs = sign
        return request

    # 1. Deciding -----------------------------------------------------------------------------

    @_check_argument_types
    def start(
        self,
        text: str,
        *,
        workflow: str = "clarification",
        answers: Given | None = None,
        question: str | None = None,
        options: Sequence[str | Option] = (),
        recommend: tuple[str, str] | None = None,
        topic: str = "",
        matters: str = "",
        scope: str = "",
        evidence: Sequence[str] = (),
        because: str = "",
        consequences: Sequence[str] = (),
        alternatives: Alternatives = (),
        paths: Sequence[str] | None = None,
        hold: Hold | None = None,
        key: str = "",
    ) -> View:
        """Begin a session with an intention, a note, or what else its workflow takes.

        Args:
            answers: by the key of their question, to what it will ask.
            question: what it asks first, as the program wrote it; with `options`, or free text.
            recommend: one of the options, and why.
            matters: why the question matters: what depends on the answer.
            scope: what the decision is for; empty for the whole project.
            evidence: files and lines that the question follows from: `src/db.py:12-40`.
            topic: what the question is about: a category, or words of the program's own.
            because, consequences, alternatives: why; an alternative is a name with why it was
                not chosen.
            paths: patterns of the files that it holds for, such as `src/db/**`; an empty list is
                everywhere.
            hold: what an edit of such a file meets: `tell`, `ask` or `deny`.
            key: makes it happen once.

        Raises:
            Refused: the text or an answer cannot be recorded.
            SettingsError: the provider of the settings lacks something; nothing is recorded.
        """
        written = None
        if question is not None:
            written = written_question(
                question, options, topic, recommend, why=matters, scope=scope, evidence=evidence
            )
        why = _reasons_of_call(because, consequences, alternatives, paths=paths, hold=hold)
        new = NewSession(text, workflow, answers or (), written=written, reasons=why, scope=scope)
        return sessions.start_session(self.request(key=key), new)

    @_check_argument_types
    def answer(
        self,
        session: str,
        answers: Given = (),
        *,
        revise: bool = False,
        relayed: bool = False,
        because: str = "",
        consequences: Sequence[str] = (),
        alternatives: Alternatives = (),
        paths: Sequence[str] | None = None,
        hold: Hold | None = None,
        key: str = "",
    ) -> View:
        """Answer what a session asks, or revise what was answered.

        What does not count is no error: it is in `refused` of the result, and in the log.

        Args:
            session: its id, an end or beginning of it, `ADR-0007`, or `last`.
            relayed: whether an agent or script passes a person's words on.
            because, consequences, alternatives, paths, hold: as in `start`; also without an answer.

        Raises:
            UnknownSession, AmbiguousSession: none or several match.
            Refused: the session takes no answers any more.
        """
        why = _reasons_of_call(because, consequences, alternatives, paths=paths, hold=hold)
        request = self.request(key=key)
        return sessions.answer_session(
            request, session, answers, revise=revise, relays=relayed, reasons=why
        )

    @_check_argument_types
    def accept(
        self,
        session: str,
        *,
        by: str | None = None,
        expect: int | None = None,
        because: str = "",
        consequences: Sequence[str] = (),
        alternatives: Alternatives = (),
        paths: Sequence[str] | None = None,
        hold: Hold | None = None,
        supersedes: Sequence[str] = (),
        keep: Mapping[str, str] | None = None,
        exceptions: Sequence[str] = (),
        again: bool = False,
        sign: bool | None = None,
        key: str = "",
    ) -> View:
        """Accept what is proposed, and write the document.

        Where a decision in force differs and has no choice, `related` says which, and nothing is
        accepted.

        Args:
            by: the person who accepts; without one it is proposed, and a person accepts later.
            expect: the version at which the person saw it.
            because, consequences, alternatives, paths, hold: as in `start`; recorded first.
            supersedes: decisions that differ, and that it replaces.
            keep: decisions that differ, and why each stays in force.
            exceptions: decisions for the whole project to which this one is an exception.
            again: whether it is recorded although a decision in force says the same.
            sign: whether it is signed with the user's key; None as the user's settings say.

        Raises:
            SessionMoved: the session is at another version.
            Refused: nothing there can be accepted.
        """
        why = _reasons_of_call(because, consequences, alternatives, paths=paths, hold=hold)
        kept = tuple((keep or {}).items())
        said = Choices(tuple(supersedes), kept, tuple(exceptions), again)
        request = self._signing(self.request(key=key), sign)
        new = NewAcceptance(session, by=by, expect=expect, reasons=why, choices=said)
        return sessions.accept_session(request, new)

    @_check_argument_types
    def approve(
        self,
        artifact: str,
        *,
        by: str | None = None,
        expect: int | None = None,
        sign: bool | None = None,
        key: str = "",
    ) -> View:
        """Approve a plan of the compiler, and write its file.

        Args:
            artifact: its id, the beginning of it, or `last`.
            by: the person who approves; without one it is proposed, and a person approves later.
            expect: the version at which the person saw its session.
            sign: as in `accept`.

        Raises:
            SessionMoved: its session is at another version.
            Refused: there is none, or it cannot be approved.
        """
        approve = FEATURES.port("approve")
        request = self._signing(self.request(key=key), sign)
        approved: View = approve(request, artifact, by=by, expect=expect)
        return approved

    @_check_argument_types
    def abandon(self, session: str, reason: str = "") -> View:
        """Give a session up; it stays in the log."""
        return sessions.abandon(self.request(), session, reason)

    @_check_argument_types
    def resume(self, session: str) -> View:
        """Go on where an error, a crash or a strict session stopped."""
        return sessions.resume(self.request(), session)

    # 2. Looking ------------------------------------------------------------------------------

    @_check_argument_types
    def show(self, session: str) -> View:
        """A session as it stands."""
        return sessions.show(self.request(), session)

    @_check_argument_types
    def sessions(
        self, limit: int | None = None, *, workflow: str = "", all_workflows: bool = False
    ) -> list[View]:
        """The decisions' sessions of the project, newest first.

        Args:
            workflow: of this workflow instead, such as `"compiler"`.
            all_workflows: of every workflow.

        Raises:
            Refused: there is no such workflow.
        """
        found = session_lists.read_project_sessions(
            self.request(), limit, workflow, all_workflows=all_workflows
        )
        return list(found)

    @_check_argument_types
    def decisions(
        self,
        *,
        at: int | None = None,
        category: str | None = None,
        everything: bool = False,
        path: str = "",
    ) -> Decisions:
        """The decisions in force, oldest first, and beside them the records without a session.

        Args:
            at: the moment, in microseconds since 1970 UTC; None is now.
            category: of one category alone.
            everything: every patch and record, also those not in force.
            path: a file; only what says that it holds for it.

        Raises:
            Refused: the file lies outside of the project.
        """
        from preflights_es.use.decisions import listing

        request = self.request()
        how: dict[str, Any] = {"at": at, "category": category, "everything": everything}
        found = listing(request, **how, path=_project_path(request, path))
        return replace(found.head, decisions=tuple(found.rows))

    @_check_argument_types
    def holds(self, path: str, *, everything: bool = False) -> HoldsHere:
        """The decisions in force that hold for a file, the most specific pattern first.

        Args:
            path: of the file, relative to the project's root.
            everything: also superseded ones.

        Raises:
            Refused: the file lies outside of the project.
        """
        from preflights_es.use.holding import holding_for

        request = self.request()
        return holding_for(request, _project_path(request, path), everything=everything)

    def brief(self, task: str = "") -> ProjectBrief:
        """What a coding agent has to know of the project, in fewer than 500 tokens.

        Args:
            task: what it is about to do; decisions that concern it come first, with reasons.
        """
        from preflights_es.use.brief import compose_brief

        return compose_brief(self.request(), task)

    def inbox(self) -> Inbox:
        """What waits: proposals, questions, notes to file, models to ask again."""
        from preflights_es.use.inbox import inbox

        return inbox(self.request())

    @_check_argument_types
    def why(self, what: str, field: str | None = None) -> list[Why]:
        """Where decided values came from: each with the answer, question, model and person behind.

        Nothing of a session that decides nothing, such as a recall.

        Args:
            what: a session or record; or a field, among the decisions that are in force.

        Raises:
            Refused: nothing matches.
        """
        from preflights_es.use.why import trace_origins

        return list(trace_origins(self.request(), what, field)[0].values)

    @_check_argument_types
    def why_artifact(self, what: str) -> list[WhyArtifact]:
        """Where an artifact came from, named by its id; or all those of a session."""
        from preflights_es.use.why import trace_origins

        return list(trace_origins(self.request(), what)[0].artifacts)

    @_check_argument_types
    def recall(self, question: str, *, everything: bool = False) -> RecallView:
        """The accepted decisions that a question is about, the best first.

        Args:
            everything: also superseded ones.
        """
        recall = FEATURES.port("recall")
        found: RecallView = recall(self.request(), question, everything=everything)
        return found

    @_check_argument_types
    def replay(self, session: str) -> Replay:
        """Decide a recorded session again and compare every decision; no provider is asked."""
        from preflights_es.use.replays import replay

        return replay(self.request(), session)

    @_check_argument_types
    def diff(self, a: str, b: str) -> SessionDiff:
        """Two recorded sessions side by side; nothing is decided again."""
        from preflights_es.use.replays import compare_sessions

        return compare_sessions(self.request(), a, b)

    @_check_argument_types
    def trail(self, session: str) -> list[TrailStep]:
        """Every event of a session, with the actor behind it."""
        from preflights_es.use.trail import trail

        return [told.step for told in trail(self.request(), session=session)]

    @_check_argument_types
    def facts(self) -> Facts:
        """What the repository says of itself, as a session begins with it."""
        from preflights_es.use.repository_facts import read_known_facts

        return read_known_facts(self.request())

    def usage(
        self, *by: By, since: int | None = None, until: int | None = None, any_project: bool = False
    ) -> Usage:
        """The calls of providers, summed up by `provider`, `model` and `prompt`, or some of them.

        Args:
            since, until: the time of the calls, in microseconds since 1970 UTC.
            any_project: of every project in this log.

        Raises:
            Refused: `by` names something else.
        """
        from preflights_es.use.usage import usage

        return usage(self.request(), by, since=since, until=until, any_project=any_project)

    @_check_argument_types
    def export(self, session: str) -> bytes:
        """A session as JSON Lines, verified."""
        from preflights_es.use.archives import export_session_lines

        return b"".join(export_session_lines(self.request(), session))

    def close(self) -> None:
        """Give the log back; call nothing after it."""
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


def _project_path(request: Request, path: str) -> str:
    from preflights_es.use.work_tree import project_path

    return project_path(request.process.settings.root, path) if path else ""


def _reasons_of_call(
    because: str,
    consequences: Sequence[str],
    alternatives: Alternatives,
    *,
    paths: Sequence[str] | None,
    hold: Hold | None,
) -> StatedReasons | None:
    """What a call says of why, and of where it holds; None where it says nothing."""
    pairs = alternatives.items() if isinstance(alternatives, Mapping) else alternatives
    named = tuple(RejectedAlternative(name, why_not) for name, why_not in pairs)
    kept = UNSET if paths is None else tuple(paths)
    found = StatedReasons(because, tuple(consequences), named, paths=kept, hold=hold or UNSET)
    return None if found == StatedReasons() else found


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
        SettingsError: there is no such folder, or a settings file or variable is wrong.
    """
    from preflights_es.settings.load import Options

    where = Path(folder).expanduser().absolute()
    if not where.is_dir():
        raise SettingsError(f"there is no folder {str(where)!r}: name that of a project")
    opened = bootstrap.opened_process(
        where,
        database=database,
        options=Options(provider=provider, model=model),
        access=Access.CREATE if creates else Access.WRITE,
    )
    return Preflights(opened)
