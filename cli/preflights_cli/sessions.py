"""`sessions`, `show`, `prompt` and `log`: sessions and their events; nothing here changes a
session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, islice
from typing import Any, Final

import click
from msgspec import UNSET

from preflights_cli.common import Voice, reading_command, tell_behind
from preflights_cli.table import (
    PAGE,
    format_date_only,
    minute,
    refuse_backwards,
    second,
    streamed,
    time_range_options,
)
from preflights_es.kernel import ids
from preflights_es.kernel.completions import Message
from preflights_es.kernel.errors import LogDamaged, RecordWithoutSession
from preflights_es.kernel.events import UNSEEN, Event, Evidence, Signature, SourceSession
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.projections.usage import COUNTED, Counted
from preflights_es.store.stored_events import erased
from preflights_es.use import sessions
from preflights_es.use.request import Request
from preflights_es.use.results import SessionRow
from preflights_es.use.session_search import SessionSearch
from preflights_es.use.sessions import LoggedSession, Unread, log
from preflights_es.words.questions import Question
from preflights_es.words.signing import made_with


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
    "--status", metavar="STATUS", help="Only this status, such as needs_answers or ready."
)
@click.option("--workflow", metavar="NAME", default="", help="Of this workflow, not decisions.")
@click.option("--all-workflows", is_flag=True, help="Of every workflow, plans and notes too.")
@click.option("--query", metavar="TEXT", default="", help="With these words, or of this id.")
@click.option("--model", "of_model", metavar="NAME", default="", help="That asked this model.")
@click.option(
    "--with",
    "counted",
    type=click.Choice(tuple(COUNTED)),
    help="With such calls of models, as `usage` counts them.",
)
@click.option(
    "--cost-over", metavar="AMOUNT", type=click.FloatRange(0), help="That cost more than this."
)
@time_range_options("Sessions, or such calls,")
@reading_command
def sessions_command(
    everything: bool,
    any_project: bool,
    status: str | None,
    workflow: str,
    all_workflows: bool,
    query: str,
    of_model: str,
    counted: Counted | None,
    cost_over: float | None,
    since: int | None,
    until: int | None,
    app: Request,
    voice: Voice,
) -> int:
    """List the decisions of this project and how they stand, newest first.

    \b
    Examples:
      preflights sessions
      preflights sessions --status ready --json
      preflights sessions --all-workflows --with fallbacks --since 2026-11-27
    """
    refuse_backwards(since, until)
    if workflow and all_workflows:
        message = "--workflow names one, --all-workflows lists every one: give one of both"
        raise click.UsageError(message)
    if status is not None:
        _refuse_unknown(app, status)
    rows, more = sessions.list_session_rows(
        app,
        everything=everything,
        any_project=any_project,
        status=status,
        workflow=workflow,
        all_workflows=all_workflows,
        search=(
            search := SessionSearch(
                words=query,
                model=of_model,
                counted=counted,
                since=since,
                until=until,
                cost_over=cost_over,
            )
        ),
    )
    voice.listed({"format": "sessions/1", "sessions": [], "more": more}, "sessions", rows)
    if not voice.as_json:
        _say_sessions(voice, rows, status, is_searched=not search.is_any)
    if more:
        voice.hint("Older ones with: preflights sessions --all")
    return 0


def _say_sessions(
    voice: Voice, rows: Iterable[SessionRow], status: str | None, *, is_searched: bool
) -> None:
    first = [*islice(rows, PAGE)]
    are_asked = any(row.calls for row in first)
    columns: dict[str, Callable[[SessionRow], str]] = {
        "id": lambda row: ids.short_session(row.session_id),
        "began": lambda row: minute(row.began_at).removesuffix(" UTC"),
        "workflow": lambda row: row.workflow,
        "status": lambda row: row.status.replace("_", " "),
    }
    if are_asked:
        columns["model"] = lambda row: ", ".join(row.models)
        columns["calls"] = lambda row: f"{row.calls:,}" if row.calls else ""
        columns["cost"] = lambda row: ", ".join(f"{one.amount} {one.currency}" for one in row.costs)
    columns["intention"] = lambda row: one_line(row.intention)
    if streamed(
        tuple(columns), ([cell(row) for cell in columns.values()] for row in chain(first, rows))
    ):
        return
    if is_searched:
        voice.say("No session here fits.")
    elif status:
        voice.say(f"No session here is {status.replace('_', ' ')}.")
    else:
        voice.say("No sessions here yet.")
        voice.hint('Begin with: preflights start "what you want to build"')


@click.command()
@click.argument("session", default="last")
@reading_command
def show_command(session: str, app: Request, voice: Voice) -> int:
    """Show one session: what is decided, by whom, and what is open.

    \b
    Examples:
      preflights show
      preflights show 3f9a12c4 --json
    """
    from preflights_cli.rendering import say_session_result

    try:
        found = sessions.show(app, session)
        say_session_result(voice, found)
        if not voice.as_json and found.erased is None:
            story = sessions.tell_story(app, found.session_id)
            if story.sums or story.trouble:
                voice.say(voice.dim(escaped_text(str(story))))
    except RecordWithoutSession as error:
        from preflights_cli.decisions import say_record

        say_record(voice, app, error)
    return 0


@click.command()
@click.argument("session", required=False)
@click.option("--for", "task", metavar="TASK", help="What the agent is about to do, in words.")
@reading_command
def prompt_command(session: str | None, task: str | None, app: Request, voice: Voice) -> int:
    """Print the brief for a coding agent: what is decided, and what is still open.

    Without SESSION it tells of the whole project: decisions in force, conflicts, proposals and
    open questions, in fewer than 500 tokens. Decisions that concern the task come first, with
    their reasons.

    \b
    Examples:
      preflights prompt
      preflights prompt --for "add a column to the orders"
      preflights prompt last
      preflights prompt 3f9a12c4 | claude -p
    """
    if session is not None and task is not None:
        message = "a session has its task: give SESSION or --for"
        raise click.UsageError(message)
    if session is None:
        from preflights_es.use.brief import compose_brief

        of_project = compose_brief(app, task or "")
        tell_behind(app, voice)
        voice.json(of_project)
        voice.say(of_project.prompt.rstrip("\n"))
        return 0
    found = sessions.prompt(app, session)
    voice.json(found)
    voice.say(found.prompt.rstrip("\n"))
    return 0


WHAT_MAX: Final = 200  # characters of one value in the list of events
ERASED, GONE, DAMAGED, UNREAD = "erased", "gone", "damaged", "cannot be read by this code"
"""In place of a payload: it was erased; it is missing without an erasure; it is no payload; the
code of its workflow does not take it."""

_UNSAID: Final = ("", None, (), False, UNSET, UNSEEN)


@click.command()
@click.argument("session", default="last")
@reading_command
def log_command(session: str, app: Request, voice: Voice) -> int:
    """Show the events of a session; with --json one a line, as `admin export` writes them.

    For a damaged session, show the events that are there, then the damage.

    \b
    Examples:
      preflights log last
      preflights log last --json | jq -r .type
    """
    app.finish_pending()
    found = log(app, session, decodes=not voice.as_json)
    if voice.as_json:
        from preflights_es.store import jsonl

        voice.lines(b"".join(map(jsonl.encode_event_line, found.stored)))
    elif found.stored:
        _say_events(voice, found)
    if found.damage is not None:
        raise found.damage
    return 0


def _say_events(voice: Voice, found: LoggedSession) -> None:
    from preflights_es.projections.audit import speaker_kind_of_event

    stored, taken = found.stored, erased(found.stored)
    holds = not isinstance(found.damage, LogDamaged)
    rows = (
        (
            str(one.version),
            _format_recorded_at(second, one),
            indented(one.type, one.workflow, is_input=bool(one.input_id)),
            speaker_kind_of_event(one) or "",
            _event_in_words(one, event, taken, holds=holds),
        )
        for one, event in zip(stored, found.events, strict=True)
    )
    streamed(("", "UTC", "event", "by", "what"), rows, whole=True)
    first = stored[0]
    began = _format_recorded_at(format_date_only, first)
    voice.hint(f"Session {first.session_id} of {began} in project {escaped_text(first.project)}")


def _event_in_words(
    one: Stored, event: Event | Unread | None, taken: set[int], *, holds: bool
) -> str:
    if one.data is None:
        return ERASED if one.version in taken else GONE
    if event is None:
        return ""
    if isinstance(event, Unread):
        return UNREAD if holds else DAMAGED
    return what_of(event)


def _format_recorded_at(form: Callable[[int], str], one: Stored) -> str:
    """When it was recorded; empty where a damaged database has something else."""
    at: Any = one.recorded_at
    return form(at) if isinstance(at, int) else ""


def indented(tag: str, workflow: str, *, is_input: bool) -> str:
    """The event's name; a Decision stands under the Input that it follows from."""
    name = str(tag).rsplit(".", 1)[0].removeprefix(f"{workflow}.")
    return name if is_input else f"  {name}"


def what_of(event: object) -> str:
    """The payload in short, without what stands in other columns or is the same everywhere."""
    hidden = {
        "at",
        "actor",
        "heuristics",
        "pack",
        "inlined",
        "setup",
        "context",
        "project",
        "told",
        "uid",
        "call",
    }
    names = [name for name in getattr(event, "__struct_fields__", ()) if name not in hidden]
    pairs = ((name, getattr(event, name)) for name in names)
    return ", ".join(
        f"{name}={_short_field_value(value)}" for name, value in pairs if value not in _UNSAID
    )


def _short_field_value(value: object) -> str:
    if isinstance(value, str):
        return repr(shortened(one_line(value), WHAT_MAX))
    if isinstance(value, Question):
        return value.id
    if isinstance(value, Evidence):
        return repr(shortened(one_line(str(value)), WHAT_MAX))
    if isinstance(value, Signature):
        return repr(made_with(value))
    if isinstance(value, SourceSession):
        return short_session(value.session_id)
    if isinstance(value, tuple) and value and isinstance(value[0], Message):
        before = f"{len(value) - 1} before, " if len(value) > 1 else ""
        return f"[{before}{_short_field_value(value[-1].content)}]"
    if isinstance(value, tuple):
        return shortened("[" + ", ".join(_short_field_value(v) for v in value) + "]", WHAT_MAX)
    names = getattr(value, "__struct_fields__", None)
    if names is None:
        return str(value)
    return " ".join(_short_field_value(getattr(value, n)) for n in names if getattr(value, n))
