"""What people and programs do with sessions of any workflow: one function a use case.

Each takes a request, does one thing, writes the documents that follow, and returns how the session
stands. A surface (command line, server, page, program) parses, calls one of these, and renders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from preflights_es.core.errors import PreflightsError
from preflights_es.core.events import INT_MAX
from preflights_es.core.projection_ports import Choice
from preflights_es.projections.decisions import decision, in_force
from preflights_es.replay.replayer import Replay, Replayer
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.runtime.runner import Handle, Step
from preflights_es.runtime.sessions import recalled
from preflights_es.services import acceptance
from preflights_es.services.replays import own_code
from preflights_es.services.request import Request
from preflights_es.services.results import DecisionRow, Session, session_of

Given = Mapping[str, str | Sequence[str]]
"""Values by the key of their question."""


def start(request: Request, text: str, workflow: str, given: Given | None = None) -> Session:
    """Begin a session with the user's text; with answers to what it will ask, where given.

    Raises:
        Refused: the text or an answer cannot be recorded, or nothing of the workflow begins so.
        WorkflowMissing: no package has the workflow.
    """
    answers = _pairs(given or {})
    request.sessions.check(answers)
    found = request.process.runner.workflow(workflow)
    if found.opens is None and workflow in WORKFLOWS.shipped:
        step = _services(workflow).start(request, text)
    else:
        step = request.sessions.begin(found, text, request.setup(found))
    if answers:
        step = request.sessions.answer(step.handle, answers)
    return _filed(request, step)


def answer(request: Request, session: str, given: Given, *, revise: bool = False) -> Session:
    """Answer what is asked, or revise what was answered; what does not count is in `refused`.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        Refused: the session takes no answers any more.
    """
    handle = request.sessions.load(session)
    if request.sessions.answered(handle, revise=revise) is None:
        handle = request.process.runner.resume(handle).handle
    step = request.sessions.answer(handle, _pairs(given), revise=revise)
    return _filed(request, step)


def accept(
    request: Request, session: str, *, by: str | None = None, expect: int | None = None
) -> Session:
    """Accept what is proposed: a decision where a person does it, else a proposal.

    Args:
        by: the person, where the request is a script's.
        expect: the version at which the person saw it.

    Raises:
        SessionMoved: the session is at another version.
        Refused: nothing there can be accepted.
    """
    handle = request.sessions.load(session)
    request.process.documents.check_folders()
    name = handle.workflow.name
    has_own = handle.workflow.acknowledges and name in WORKFLOWS.shipped
    own = _services(name) if has_own else acceptance
    return _filed(request, own.accept(request, handle, by=by, expect=expect))


def abandon(request: Request, session: str, reason: str = "") -> Session:
    """Give a session up; it stays in the log."""
    return Session.of(request.sessions.abandon(request.sessions.load(session), reason))


def resume(request: Request, session: str) -> Session:
    """Go on where an error, a crash or a strict session stopped."""
    return _filed(request, request.sessions.resume(request.sessions.load(session)))


def show(request: Request, session: str) -> Session:
    """A session as it stands."""
    return session_of(request.sessions.load(session))


def sessions(request: Request, limit: int | None = None) -> Iterator[Session]:
    """The sessions of the project, newest first; each is read when its turn comes.

    Raises:
        LogDamaged, SessionFaulted: one of them cannot be read.
    """
    process = request.process
    for head in process.store.heads(process.project, limit):
        yield session_of(process.runner.load(head.session_id))


def decisions(
    request: Request,
    *,
    at: int | None = None,
    category: str | None = None,
    everything: bool = False,
) -> Iterator[DecisionRow]:
    """The decisions in force, oldest first; or every patch.

    Args:
        at: the moment, in microseconds since 1970 UTC; None is now.
        category: of one category alone, in any case.
        everything: also what is not in force.
    """
    process = request.process
    choice: Choice = "all" if everything else "in_force"
    then = INT_MAX if at is None else at
    rows = process.projector.rows("decisions", process.project, choice, then)
    for one in map(decision, rows) if everything else in_force(rows, at):
        if category is None or one.decided.category.casefold() == category.casefold():
            yield DecisionRow.of(one)


def replay(request: Request, session: str) -> Replay:
    """Decide a recorded session again and compare every decision; no provider is asked."""
    process = request.process
    session_id = request.sessions.resolved(session)
    head = process.store.head(session_id)
    stored = process.store.read(session_id)
    return Replayer(WORKFLOWS, own_code()).replay(stored, head.hash if head else None)


def export(request: Request, session: str) -> bytes:
    """A session as JSON Lines, verified."""
    return request.process.transfer.exported(request.sessions.resolved(session))


def _pairs(given: Given) -> list[tuple[str, Sequence[str]]]:
    return [
        (key, (value,) if isinstance(value, str) else tuple(value)) for key, value in given.items()
    ]


def _services(workflow: str) -> Any:
    """The services of a workflow that ships: how a session begins and is accepted."""
    return import_module(f"preflights_es.services.{workflow}")


def _filed(request: Request, step: Step) -> Session:
    """The session after its documents were written, and those that its step left to others."""
    if recalled(step) or step.handle.project != request.process.project:
        return Session.of(step)
    handle: Handle = request.process.documents.finish(step.handle)
    # Trouble with the documents of other sessions is theirs; a later call tries again.
    with suppress(PreflightsError):
        request.process.finish_pending()
    return Session.of(Step(handle, step.decisions))
