"""What waits in a project: proposals, questions, notes to file, models to ask again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, Literal

from msgspec.structs import replace

from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.finder import LAST
from preflights_es.runtime.runner import Step
from preflights_es.use.filed_sessions import FiledSession
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import Result, session_of
from preflights_es.words.workflow import View

LISTED: Final = 50  # sessions that an inbox names; the others are counted
CLOSED: Final = ("done", "accepted", "superseded", "abandoned", "erased", "damaged")
"""Statuses of any workflow in which nothing waits; `audit verify` looks into damage."""
APART: Final = ("beyond", "diverged", "restored")
"""How session files compare with the log that a person has to look at."""
PROPOSED: Final = "proposed"
"""As `words.decisions.Standing` has it: a person confirms it."""

Kind = Literal["proposal", "question", "by_hand", "model", "faulted"]
"""What waits: a `proposal` to confirm, a `question` to answer, something to file `by_hand`, a
`model` to ask again, or a `faulted` session whose last Input has no Decision."""


class Waiting(Result, frozen=True):
    """A session that waits."""

    session_id: str
    workflow: str
    status: str
    kind: Kind
    intention: str
    to_do: str
    """What a person has to do, in a few words; empty of what waits for a model or a mend."""
    question: str | None
    """What is asked."""
    origin: str
    """Who asked it elsewhere, and what came of it; empty where it began here."""
    file: str | None = None
    """Path of the session file, where only that has the session."""


class Inbox(Result, frozen=True, tag_field="format", tag="inbox/1"):
    """All that waits in a project, newest first."""

    project: str
    waiting: tuple[Waiting, ...]
    more: int
    """Older sessions that may wait as well, and were not looked at."""
    files: tuple[FiledSession, ...] = ()
    """Session files in which a colleague went on, erased, or did otherwise."""


def inbox(request: Request, *, deciding: bool = False) -> Inbox:
    """What waits for a person, or for a model; also what only session files have.

    Args:
        deciding: only sessions of workflows that decide.
    """
    process = request.process
    found, log = _read_log_inbox(process, deciding=deciding), process.file_log
    files = [file for file in (*log.files.values(), *log.others) if file.compared in APART]
    filed = () if log.is_empty else _read_log_inbox(log, deciding=deciding).waiting
    new = (
        replace(one, file=file.path)
        for one in filed
        if (file := log.files[one.session_id]).compared == "new"
    )
    waiting = sorted((*found.waiting, *new), key=lambda one: one.session_id, reverse=True)
    return replace(found, waiting=tuple(waiting), files=tuple(files))


def _read_log_inbox(process: Process, *, deciding: bool = False) -> Inbox:
    """What waits in the newest sessions that are not settled, and how many older ones there are.

    Which are settled is read off the projection `sessions`, so that few sessions are folded.
    """
    found: list[View] = []
    more = 0
    for session_id in _unsettled(process, deciding=deciding):
        if len(found) == LISTED:
            more += 1
            continue
        try:
            found.append(session_of(Step(process.runner.load(session_id), ())))
        except PreflightsError:
            continue  # `sessions` and `audit verify` name what cannot be read
    waiting = tuple(one for session in found if (one := waiting_of(session)) is not None)
    return Inbox(project=process.project, waiting=waiting, more=more)


def acceptable(request: Request) -> tuple[Waiting, ...]:
    """What can be accepted now, newest first."""
    return _those(request, lambda one: one.kind == "proposal")


def resumable(request: Request) -> tuple[Waiting, ...]:
    """What can go on, newest first: questions, models, faults, and what is ready to be accepted."""
    return _those(request, lambda one: one.kind != "by_hand" and one.status != PROPOSED)


def newest_asking(request: Request) -> str:
    """The newest session with an open question, or `last` where none has one."""
    waiting = _read_log_inbox(request.process).waiting
    return next((one.session_id for one in waiting if one.kind == "question"), LAST)


def list_proposed_sessions(request: Request) -> list[View]:
    """What agents and scripts proposed, the oldest first: a person confirms it."""
    process = request.process
    found: list[View] = []
    for head, kept in process.projector.newest(process.project):
        status = kept["status"] if kept and kept["version"] == head.version else PROPOSED
        if status != PROPOSED:
            continue
        with suppress(PreflightsError):  # `sessions` and `audit verify` name what cannot be read
            found.append(session_of(Step(process.runner.load(head.session_id), ())))
    found = [one for one in found if one.status == PROPOSED and one.can_accept]
    return sorted(found, key=lambda one: one.session_id)


def _those(request: Request, is_meant: Callable[[Waiting], bool]) -> tuple[Waiting, ...]:
    found = _read_log_inbox(request.process)
    if found.more:
        message = f"more than {LISTED} sessions are open: name the one that you mean"
        raise Refused(message, code="too_many_wait")
    return tuple(filter(is_meant, found.waiting))


def waiting_of(session: View) -> Waiting | None:
    """What waits in a session; None where nothing does."""
    kind = _session_waiting_kind(session)
    if kind is None:
        return None
    return Waiting(
        session_id=session.session_id,
        workflow=session.workflow,
        status=session.status,
        kind=kind,
        intention=session.intention,
        to_do=session.to_do or ("confirm the proposal" if kind == "proposal" else ""),
        question=session.questions[0].question if session.questions else None,
        origin=session.origin,
    )


def _session_waiting_kind(session: View) -> Kind | None:
    if session.status == "waiting":
        return "model"
    if session.status == "faulted":
        return "faulted"
    if session.can_accept and (session.to_do or session.status == PROPOSED):
        return "proposal"
    if not session.to_do:
        return None
    return "question" if session.questions else "by_hand"


def _unsettled(process: Process, *, deciding: bool) -> Iterator[str]:
    newer = set[str]()
    for head, kept in process.projector.newest(process.project):
        status = kept["status"] if kept and kept["version"] == head.version else ""
        is_newest = head.workflow not in newer
        newer.add(head.workflow)
        if status in CLOSED or (workflow := WORKFLOWS.get(head.workflow)) is None:
            continue
        if workflow.shown.newest_waits and status == "needs_answers" and not is_newest:
            continue
        is_left_out = deciding and workflow.filed.decided is None
        if status not in workflow.shown.settled and not is_left_out:
            yield head.session_id
