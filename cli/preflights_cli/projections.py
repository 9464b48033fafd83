"""`admin projections status`, `admin projections rebuild` and `admin projections follow`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context
from typing import Final

import click

from preflights_cli.common import Voice, common, reading
from preflights_cli.decisions import LISTING
from preflights_cli.follow import follow_command
from preflights_cli.progress import bar, counted
from preflights_cli.table import streamed
from preflights_es.kernel.text import shown
from preflights_es.system import worker
from preflights_es.system.interpreter import children_are_safe
from preflights_es.use import bootstrap as composition
from preflights_es.use.request import Request
from preflights_es.use.upkeep import projections, rebuild

JOBS_MAX: Final = 64  # processes; more than that wait for each other's transactions
JOBS_UNASKED: Final = 8
SESSIONS_A_JOB: Final = 10_000  # fewer are folded before another process has begun


@click.group()
def projections_command() -> None:
    """Manage projections (derived tables): artifacts, decisions, items, memory, sessions, usage.

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
    found = projections(app)
    voice.json(found)
    if not voice.as_json:
        streamed(
            ("projection", "version", "sessions", "state"),
            (
                (one.name, str(one.version), f"{one.sessions:,}", one.state)
                for one in found.projections
            ),
        )
        sessions, waiting = counted(found.sessions, "session"), counted(found.waiting, "append")
        voice.say(f"{sessions} in the log, {waiting} to fold.")
    return 0


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
    state = projections(app)
    known = [one.name for one in state.projections]
    if unknown := [name for name in names if name not in known]:
        message = f"there is no projection {unknown[0]!r}: expected one of {', '.join(known)}"
        raise click.BadParameter(message, param_hint="NAME")
    folding = partial(_rebuild, app, jobs or _jobs(state.sessions), state.sessions)
    done, mended = rebuild(app, names, folding, bar(voice, "Rebuilding"))
    voice.json(done)
    sessions, events = counted(done.sessions, "session"), counted(done.events, "event")
    voice.say(f"Rebuilt {', '.join(done.rebuilt)} from {sessions} ({events}).")
    if mended.calls:
        voice.say(f"Restored {counted(mended.calls, 'open call')} without a row.")
    if mended.wrong:
        voice.say(f"Corrected {counted(mended.wrong, 'row')} of 'claims'.")
    if done.numbers:
        voice.say(f"Gave {counted(done.numbers, 'record')} the lost number again.")
    for due in mended.owed:
        voice.hint(
            f"{shown(due.path)} was never written: the next command in its project writes it"
        )
    if mended.unfolded:
        lists = f"`preflights {LISTING} --any-project` lists them"
        voice.warn(f"{counted(mended.unfolded, 'session')} could not be folded: {lists}")
    return 0


def _jobs(sessions: int) -> int:
    """How many processes are worth their start."""
    worth = 1 + sessions // SESSIONS_A_JOB
    ours = getattr(os, "sched_getaffinity", None)  # of this process; macOS and Windows lack it
    processors = len(ours(0)) if ours else os.cpu_count() or 1
    return min(worth, processors, JOBS_UNASKED)


def _rebuild(
    app: Request, jobs: int, total: int, names: Sequence[str], progress: Callable[[int], object]
) -> None:
    if jobs == 1 or total == 0 or not children_are_safe():
        app.process.projector.rebuild(names, progress)
        return
    app.process.projector.begin(names)
    starts = [app.process.following.nth(total * job // jobs) for job in range(1, jobs)]
    # Not forked: a connection of SQLite must not be carried into another process.
    helpers = ProcessPoolExecutor(jobs - 1, get_context("spawn"), initializer=worker.begun)
    with helpers as pool, _ended_with_us():
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
