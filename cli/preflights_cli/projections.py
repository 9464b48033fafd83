"""`admin projections status`, `admin projections rebuild` and `admin projections follow`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Final

import click

from preflights_cli.common import Voice, common, reading
from preflights_cli.decisions import LISTING
from preflights_cli.follow import follow_command
from preflights_cli.progress import bar, counted
from preflights_cli.table import Column, table
from preflights_es import bootstrap as composition
from preflights_es.core.text import shown
from preflights_es.projections.decisions import DECISIONS, decision
from preflights_es.projections.projector import State
from preflights_es.runtime.lost_calls import reopened
from preflights_es.runtime.lost_numbers import Borne, given_again
from preflights_es.services.decisions import is_unfolded
from preflights_es.services.request import Request
from preflights_es.store.repairs import SqlRepairs
from preflights_es.store.side_tables import SqlAuditing
from preflights_es.system.import_path import children_are_safe

JOBS_MAX: Final = 64  # processes; more than that wait for each other's transactions
JOBS_UNASKED: Final = 8
SESSIONS_A_JOB: Final = 10_000  # fewer are folded before another process has begun


@click.group()
def projections_command() -> None:
    """Manage projections (derived tables): sessions, decisions, usage.

    A command that reads a projection brings it up to date first, so no service has to run. Where
    many processes record, `follow` spares readers the wait.

    \b
    Examples:
      preflights admin projections status
      preflights admin projections rebuild decisions
      preflights admin projections follow
    """


projections_command.add_command(follow_command)


@projections_command.command("status", short_help="Show how far each projection is.")
@reading
def status_command(app: Request, voice: Voice) -> int:
    """Show how far each projection is; this command folds no session.

    \b
    Examples:
      preflights admin projections status
      preflights admin projections status --json
    """
    counts = app.process.following.counts()
    states = app.process.projector.states()
    voice.json(
        {
            "format": "projections/1",
            "sessions": counts["sessions"],
            "waiting": counts["waiting"],
            "projections": [_shape(state) for state in states],
        }
    )
    if not voice.as_json:
        table(
            (
                Column("projection", [state.name for state in states]),
                Column("version", [str(state.version) for state in states]),
                Column("sessions", [f"{state.sessions:,}" for state in states]),
                Column("state", [_word(state) for state in states]),
            ),
        )
        sessions, waiting = counted(counts["sessions"], "session"), counts["waiting"]
        voice.say(f"{sessions} in the log, {counted(waiting, 'append')} to fold.")
    return 0


def _shape(state: State) -> dict[str, object]:
    known = state.registered
    return {
        "name": state.name,
        "version": state.version,
        "folded_version": known.version if known else None,
        "state": _word(state),
        "sessions": state.sessions,
    }


def _word(state: State) -> str:
    known = state.registered
    if known is None:
        return "never built"
    if known.version != state.version:
        return "of another version"
    return "complete" if known.complete else "being rebuilt"


@projections_command.command("rebuild", short_help="Fold every session again.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--jobs",
    type=click.IntRange(1, JOBS_MAX),
    metavar="N",
    help="Processes that fold in parallel; default for a large log: one per processor.",
)
@common
def rebuild_command(names: tuple[str, ...], jobs: int | None, app: Request, voice: Voice) -> int:
    """Fold every session again for all or some projections; other processes may record meanwhile.

    The log stays as it is.

    \b
    Examples:
      preflights admin projections rebuild
      preflights admin projections rebuild usage --jobs 4
    """
    known = [state.name for state in app.process.projector.states()]
    if unknown := [name for name in names if name not in known]:
        message = f"there is no projection {unknown[0]!r}: expected one of {', '.join(known)}"
        raise click.BadParameter(message, param_hint="NAME")
    wanted = tuple(dict.fromkeys(names)) or tuple(known)
    total = app.process.following.counts()["sessions"]
    with bar(total, voice, "Rebuilding") as drawn:
        _rebuild(app, wanted, jobs or _jobs(total), drawn.update, total)
    app.process.projector.follow()
    auditing, repairs = SqlAuditing(app.process.store), SqlRepairs(app.process.store)
    sides = auditing.asking(), auditing.imported, auditing.claims, repairs.mend_claim
    lost = list(reopened(app.process.runner, *sides))
    numbers = list(given_again(app.process.runner, _borne(app), repairs.give_number))
    counts = app.process.following.counts()
    calls, wrong = sum(len(one.calls) for one in lost), sum(len(one.mended) for one in lost)
    shape = {"format": "projections-rebuild/1", "rebuilt": list(wanted), "reopened": calls + wrong}
    shape |= {"numbers": len(numbers), **counts}
    voice.json(shape)
    sessions, events = counted(counts["sessions"], "session"), counted(counts["events"], "event")
    voice.say(f"Rebuilt {', '.join(wanted)} from {sessions} ({events}).")
    if calls:
        voice.say(f"Restored {counted(calls, 'open call')} without a row.")
    if wrong:
        voice.say(f"Corrected {counted(wrong, 'row')} of 'claims'.")
    if numbers:
        voice.say(f"Gave {counted(len(numbers), 'record')} the lost number again.")
    for due in (due for one in lost for due in one.documents):
        voice.hint(
            f"{shown(due.path)} was never written: the next command in its project writes it"
        )
    _tell_unfolded(app, voice)
    return 0


def _borne(app: Request) -> Iterator[Borne]:
    """Numbers of records, as far as the projection `decisions` knows all; oldest session first."""
    if not _is_current(app, DECISIONS.name):
        return
    for one in map(decision, app.process.following.rows(DECISIONS.name, None)):
        if one.decided.number is not None:
            yield Borne(one.session_id, one.project, one.decided.number)


def _is_current(app: Request, name: str) -> bool:
    states = app.process.projector.states()
    return any(state.name == name and state.is_current for state in states)


def _tell_unfolded(app: Request, voice: Voice) -> None:
    """How many sessions could not be folded, as far as the projection `sessions` knows all."""
    if not _is_current(app, "sessions"):
        return
    if lost := sum(map(is_unfolded, app.process.following.rows("sessions", None, "unfolded"))):
        lists = f"`preflights {LISTING} --any-project` lists them"
        voice.warn(f"{counted(lost, 'session')} could not be folded: {lists}")


def _jobs(sessions: int) -> int:
    """How many processes are worth their start."""
    worth = 1 + sessions // SESSIONS_A_JOB
    ours = getattr(os, "sched_getaffinity", None)  # of this process; macOS and Windows lack it
    processors = len(ours(0)) if ours else os.cpu_count() or 1
    return min(worth, processors, JOBS_UNASKED)


def _rebuild(
    app: Request, names: tuple[str, ...], jobs: int, progress: Callable[[int], None], total: int
) -> None:
    if jobs == 1 or total == 0 or not children_are_safe():
        app.process.projector.rebuild(names, progress)
        return
    app.process.projector.begin(names)
    starts = [app.process.following.nth(total * job // jobs) for job in range(1, jobs)]
    # Not forked: a connection of SQLite must not be carried into another process.
    with ProcessPoolExecutor(jobs - 1, mp_context=get_context("spawn")) as pool, _ended_with_us():
        with _deaf():
            shares = [
                pool.submit(composition.joined, app.process.settings.database, names, start)
                for start in starts
            ]
        app.process.projector.join(names, progress=progress)
        for share in shares:
            share.result()


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C, which a terminal sends to all."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _ended_with_us() -> Iterator[None]:
    """Helper processes end too where Ctrl-C or an error ends this one."""
    try:
        yield
    except BaseException:  # also Ctrl-C; raised on
        for process in active_children():
            process.terminate()
        raise
