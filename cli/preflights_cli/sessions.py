"""`sessions`, `show`, `prompt`: nothing here changes a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import click

from preflights_cli.common import Voice, finish_pending, reading
from preflights_cli.dates import minute
from preflights_cli.rendering import describe, session_json, status_of, tell_warnings, view_of
from preflights_cli.table import streamed
from preflights_es.core import ids
from preflights_es.core.errors import LogDamaged, PreflightsError
from preflights_es.core.events import ERASED_TAG, SessionErased
from preflights_es.core.opaque import UNKNOWN
from preflights_es.core.ports import Head
from preflights_es.core.session import STATUSES
from preflights_es.core.text import one_line, shown
from preflights_es.core.times import iso
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.runtime.runner import Handle
from preflights_es.services.request import Request
from preflights_es.system import clock_ids

SESSIONS_SHOWN: Final = 20
KEPT: Final = ("workflow", "status", "progress", "intention")
TROUBLES: Final = ("damaged", "erased", "faulted")
"""Statuses of which the log is asked anew: they may have been mended."""


def _refuse_unknown(app: Request, status: str | None) -> None:
    if status is None or status in _known():
        return
    # Workflows of other packages are looked for by the names that the log has.
    for name in dict.fromkeys(head.workflow for head in app.process.store.heads(None)):
        WORKFLOWS.get(name)
    if status not in (known := _known()):
        message = (
            f"no session has the status {status!r}: expected one of {', '.join(sorted(known))}"
        )
        raise click.BadParameter(message, param_hint="'--status'")


def _known() -> set[str]:
    of_all = {*STATUSES, "damaged", UNKNOWN}
    return of_all.union(*(one.statuses for one in WORKFLOWS.values()))


@click.command()
@click.option("--all", "everything", is_flag=True, help="List all, not only the newest 20.")
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@click.option(
    "--status",
    metavar="STATUS",
    help="Only this status, such as needs_answers or ready.",
)
@reading
def sessions_command(
    everything: bool, any_project: bool, status: str | None, app: Request, voice: Voice
) -> int:
    """List the sessions of this project, newest first.

    \b
    Examples:
      preflights sessions
      preflights sessions --status ready --json
    """
    _refuse_unknown(app, status)
    finish_pending(app, voice)
    project = None if any_project else app.process.project
    heads = app.process.store.heads(project, SESSIONS_SHOWN + 1)
    are_many = len(heads) > SESSIONS_SHOWN
    more = are_many and not everything and not status
    listed: Iterable[tuple[Head, dict[str, Any] | None]]
    if are_many and not more:  # from the projection: folding every one of many would take long
        listed = app.process.projector.newest(project)
    else:
        listed = ((head, None) for head in heads[:SESSIONS_SHOWN])
    found = (_row(app, head, kept) for head, kept in listed)
    rows = (row for row in found if status in (None, row["status"]))
    voice.listed({"format": "sessions/1", "sessions": [], "more": more}, "sessions", rows)
    if not voice.as_json:
        _say_sessions(voice, rows, status)
    if more:
        voice.hint("Older ones with: preflights sessions --all")
    return 0


def _say_sessions(voice: Voice, rows: Iterable[dict[str, Any]], status: str | None) -> None:
    cells = (
        (
            ids.short(row["session_id"]),
            _age(row["age_seconds"]),
            row["status"].replace("_", " "),
            _percent(row["progress"]),
            one_line(row["intention"]),
        )
        for row in rows
    )
    if streamed(("id", "age", "status", "progress", "intention"), cells):
        return
    if status:
        voice.say(f"No session here is {status.replace('_', ' ')}.")
    else:
        voice.say("No sessions here yet.")
        voice.hint('Begin with: preflights start "what you want to build"')


def _row(app: Request, head: Head, kept: dict[str, Any] | None) -> dict[str, Any]:
    """One session of the list; a damaged one is listed as such, and hides no other."""
    session_id = head.session_id
    began = kept["began_at"] if kept else ids.milliseconds(session_id) * 1_000
    age = (clock_ids.now() - began) // 1_000_000
    row: dict[str, Any] = {"session_id": session_id, "age_seconds": max(age, 0)}
    if kept and kept["version"] == head.version and kept["status"] not in TROUBLES:
        return {**row, **{name: kept[name] for name in KEPT}}
    try:
        handle = app.process.runner.load(session_id)
    except PreflightsError as error:
        if isinstance(error, LogDamaged) and error.version == 0:
            raise  # the database as a whole, not one session of it
        return {
            **row,
            "workflow": "",
            "status": "damaged",
            "progress": None,
            "intention": str(error),
        }
    view = view_of(handle)
    return {
        **row,
        "workflow": handle.workflow.name,
        "status": status_of(handle),
        "progress": view.progress,
        "intention": view.intention,
    }


def _percent(progress: float | None) -> str:
    return "" if progress is None else f"{round(progress * 100)} %"


def _age(seconds: int) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


@click.command()
@click.argument("session", default="last")
@reading
def show_command(session: str, app: Request, voice: Voice) -> int:
    """Show one session: what is decided, by whom, and what is open.

    \b
    Examples:
      preflights show
      preflights show 3f9a12c4 --json
    """
    finish_pending(app, voice)
    handle = app.sessions.load(session)
    tell_warnings(voice, handle)
    voice.json(session_json(handle))
    if handle.session.closed == "erased":
        _say_erased(app, voice, handle)
    elif not voice.as_json:
        describe(voice, handle)
    return 0


def _say_erased(app: Request, voice: Voice, handle: Handle) -> None:
    """All that is left to say: when, by whom, and why."""
    stored = app.process.store.read(handle.session_id)
    one = next(one for one in stored if one.type == ERASED_TAG)
    event = app.process.runner.codec(handle.workflow).decode(one)
    assert isinstance(event, SessionErased), "its tag says so"
    who = f"{event.actor.name} ({event.actor.kind})" if event.actor.name else event.actor.kind
    why = f": {one_line(event.reason)}" if event.reason else ""
    voice.say(shown(f"Session {ids.short(handle.session_id)} was erased{why}"))
    voice.say(shown(f"  {minute(iso(one.recorded_at))}, by {who}"))


@click.command()
@click.argument("session", default="last")
@reading
def prompt_command(session: str, app: Request, voice: Voice) -> int:
    """Print the brief for a coding agent: what is decided, and what is still open.

    \b
    Examples:
      preflights prompt last
      preflights prompt 3f9a12c4 | claude -p
    """
    finish_pending(app, voice)
    handle = app.sessions.load(session)
    text = app.process.documents.brief(handle)
    voice.json({"format": "prompt/1", "session_id": handle.session_id, "prompt": text})
    voice.say(text.rstrip("\n"))
    return 0
