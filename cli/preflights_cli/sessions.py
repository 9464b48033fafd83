"""`sessions`, `show`, `log`, `prompt`: nothing here changes a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import click

from preflights_cli.common import Voice, finish_pending, reading
from preflights_cli.dates import day, second
from preflights_cli.rendering import said
from preflights_cli.table import Column, streamed, table
from preflights_es.core import ids
from preflights_es.core.completions import Message
from preflights_es.core.errors import LogDamaged
from preflights_es.core.events import Event
from preflights_es.core.ports import Stored
from preflights_es.core.text import one_line, shortened, shown
from preflights_es.core.views import Question
from preflights_es.services import sessions
from preflights_es.services.looking import looking
from preflights_es.services.request import Request
from preflights_es.services.results import SessionRow
from preflights_es.store import chain
from preflights_es.store.codec import Codec

WHAT_MAX: Final = 200  # characters of one value in the list of events
ERASED, GONE, UNREAD = "erased", "gone", "damaged"
"""Words for a payload that is erased, missing without an erasure, or unreadable."""


def _refuse_unknown(app: Request, status: str) -> None:
    if status not in (known := sessions.statuses(app, status)):
        message = (
            f"no session has the status {status!r}: expected one of {', '.join(sorted(known))}"
        )
        raise click.BadParameter(message, param_hint="'--status'")


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
    if status is not None:
        _refuse_unknown(app, status)
    rows, more = sessions.rows(app, everything=everything, any_project=any_project, status=status)
    voice.listed({"format": "sessions/1", "sessions": [], "more": more}, "sessions", rows)
    if not voice.as_json:
        _say_sessions(voice, rows, status)
    if more:
        voice.hint("Older ones with: preflights sessions --all")
    return 0


def _say_sessions(voice: Voice, rows: Iterable[SessionRow], status: str | None) -> None:
    cells = (
        (
            ids.short(row.session_id),
            _age(row.age_seconds),
            row.status.replace("_", " "),
            _percent(row.progress),
            one_line(row.intention),
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
    said(voice, sessions.show(app, session))
    return 0


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
    app = looking(app, session)
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
    """The event's name; Decisions are indented under their Input."""
    name = str(one.type).rsplit(".", 1)[0].removeprefix(f"{one.workflow}.")
    return name if one.input_id else f"  {name}"


def what_of(event: object) -> str:
    """The payload in short, without values of other columns and without constants."""
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
    found = sessions.prompt(app, session)
    voice.json(found)
    voice.say(found.prompt.rstrip("\n"))
    return 0
