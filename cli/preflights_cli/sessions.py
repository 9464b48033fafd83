"""`sessions`, `show`, `log`, `prompt`: nothing here changes a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import click

from preflights_cli.common import Voice, finish_pending, reading, record_without_session
from preflights_cli.dates import day, minute, second
from preflights_cli.rendering import describe, session_json, status_of, tell_warnings, view_of
from preflights_cli.table import Column, streamed, table
from preflights_es.core import ids
from preflights_es.core.completions import Message
from preflights_es.core.errors import LogDamaged, PreflightsError, UnknownSession
from preflights_es.core.events import ERASED_TAG, Event, SessionErased
from preflights_es.core.opaque import UNKNOWN
from preflights_es.core.ports import Head, Stored
from preflights_es.core.session import STATUSES
from preflights_es.core.text import one_line, shortened, shown
from preflights_es.core.times import iso
from preflights_es.core.views import Question
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.runtime.runner import Handle
from preflights_es.services.request import Request
from preflights_es.store import chain
from preflights_es.store.codec import Codec
from preflights_es.system import clock_ids

SESSIONS_SHOWN: Final = 20
WHAT_MAX: Final = 200  # characters of one value in the list of events
KEPT: Final = ("workflow", "status", "progress", "intention")
TROUBLES: Final = ("damaged", "erased", "faulted")
"""Statuses of which the log is asked anew: they may have been mended."""
ERASED, GONE, UNREAD = "erased", "gone", "damaged"
"""In place of a payload: it was erased; it is missing without an erasure; it is unreadable."""


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
    try:
        handle = app.sessions.load(session)
    except UnknownSession as error:
        if (record := record_without_session(app, error)) is None:
            raise
        from preflights_cli.records import say_record

        voice.json(record)
        if not voice.as_json:
            say_record(voice, record)
        return 0
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
def log_command(session: str, app: Request, voice: Voice) -> int:
    """Show the events of a session; with --json one a line, as `admin export` writes them.

    For a damaged session, show the events that are there, then the damage.

    \b
    Examples:
      preflights log last
      preflights log last --json | jq -r .type
    """
    finish_pending(app, voice)
    session_id = app.sessions.resolved(session)
    head = app.process.store.head(session_id)  # before the events: a session may grow meanwhile
    stored = app.process.store.read(session_id)
    trouble: LogDamaged | None = None
    if voice.as_json:
        from preflights_es.store import jsonl

        voice.lines(jsonl.lines(stored))
    elif stored:
        trouble = _say_events(app, voice, stored)
    chain.verified(stored, head.hash if head else None)
    if trouble is not None:
        raise trouble  # its chain holds, and this program still cannot read it
    return 0


def _say_events(app: Request, voice: Voice, stored: Sequence[Stored]) -> LogDamaged | None:
    """Show the events; the error of the first one that cannot be read."""
    from preflights_es.projections.audit import kind

    runner = app.process.runner
    codec = runner.codec(runner.workflow_or_opaque(stored[0].workflow))
    taken = erased(stored)
    read = [_decoded(codec, one) for one in stored]
    table(
        (
            Column("", [str(one.version) for one in stored]),
            Column("UTC", [_at(second, one) for one in stored]),
            Column("event", [_indented(one) for one in stored]),
            Column("by", [kind(one) or "" for one in stored]),
            Column(
                "what", [_told(one, event, taken) for one, event in zip(stored, read, strict=True)]
            ),
        ),
        whole=True,
    )
    first = stored[0]
    began = _at(day, first)
    voice.hint(f"Session {first.session_id} of {began} in project {shown(first.project)}")
    return next((event for event in read if isinstance(event, LogDamaged)), None)


def erased(stored: Sequence[Stored]) -> set[int]:
    """Versions of the events whose payloads an erasure of their session took."""
    covered = max(chain.erased_before(stored) - 1, 0)
    return {one.version for one in stored[:covered] if one.data is None}


def _decoded(codec: Codec, one: Stored) -> Event | LogDamaged | None:
    """An event, or the error of reading it; None where its payload is gone."""
    if one.data is None:
        return None
    try:
        return codec.decode(one)
    except LogDamaged as error:
        return error
    except TypeError as error:  # a database keeps what it is given, whatever the column's type
        return LogDamaged(
            f"session {one.session_id}", one.version, f"its payload cannot be read: {error}"
        )


def _told(one: Stored, event: Event | LogDamaged | None, taken: set[int]) -> str:
    if event is None:
        return ERASED if one.version in taken else GONE
    return UNREAD if isinstance(event, LogDamaged) else what_of(event)


def _at(form: Callable[[int], str], one: Stored) -> str:
    """When it was recorded; empty where a damaged database has something else."""
    at: Any = one.recorded_at
    return form(at) if isinstance(at, int) else ""


def _indented(one: Stored) -> str:
    """The event's name; what was decided stands under the Input that it follows from."""
    name = str(one.type).rsplit(".", 1)[0].removeprefix(f"{one.workflow}.")
    return name if one.input_id else f"  {name}"


def what_of(event: object) -> str:
    """The payload in short, without what stands in other columns or is the same everywhere."""
    hidden = {"at", "actor", "heuristics", "setup", "context", "project", "uid", "call"}
    names = [name for name in getattr(event, "__struct_fields__", ()) if name not in hidden]
    pairs = ((name, getattr(event, name)) for name in names)
    return ", ".join(
        f"{name}={_short(value)}" for name, value in pairs if value not in ("", None, (), False)
    )


def _short(value: object) -> str:
    if isinstance(value, str):
        return repr(shortened(one_line(value), WHAT_MAX))
    if isinstance(value, Question):
        return value.id
    if isinstance(value, tuple) and value and isinstance(value[0], Message):
        before = f"{len(value) - 1} before, " if len(value) > 1 else ""
        return f"[{before}{_short(value[-1].content)}]"
    if isinstance(value, tuple):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    names = getattr(value, "__struct_fields__", None)
    if names is None:
        return str(value)
    return " ".join(_short(getattr(value, n)) for n in names if getattr(value, n))


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
