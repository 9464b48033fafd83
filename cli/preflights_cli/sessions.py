"""`sessions`, `show`, `prompt` and `log`: sessions and their events; nothing here changes a
session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec.structs import replace

from preflights_cli.common import Voice, reading_command, tell_behind
from preflights_cli.names import SESSION
from preflights_cli.table import table_text
from preflights_es.kernel.errors import (
    AnotherVersion,
    LogDamaged,
    RecordWithoutSession,
    WorkflowMissing,
)
from preflights_es.kernel.events import Event
from preflights_es.kernel.ids import format_date_only, format_time_only
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import escaped_text
from preflights_es.store.stored_events import erased
from preflights_es.use import sessions
from preflights_es.use.request import Request
from preflights_es.use.sessions import LoggedSession, Unread, log

if TYPE_CHECKING:
    from preflights_es.projections.event_sentences import EventWords


@click.command()
@click.argument("session", type=SESSION, default="last")
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
        is_faulted = found.status == "faulted"
        is_told = is_faulted or (found.erased is None and sessions.has_calls(app, session))
        if not voice.as_json and is_told:
            story, _ = sessions.tell_story(app, found.session_id)
            if story.sums:
                voice.say(voice.dim(escaped_text(str(replace(story, trouble="")))))
            if story.trouble:
                voice.warn(story.trouble)
    except RecordWithoutSession as error:
        from preflights_cli.decisions import say_record

        say_record(voice, app, error)
    return 0


@click.command()
@click.argument("session", type=SESSION, required=False)
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
        raise click.UsageError("a session has its task: give SESSION or --for")
    if session is None:
        from preflights_es.use.brief import compose_brief

        of_project = compose_brief(app, task or "")
        tell_behind(app, voice)
        voice.json(of_project)
        voice.say(of_project.prompt.rstrip("\n"), is_copied=True)
        return 0
    found = sessions.prompt(app, session)
    voice.json(found)
    voice.say(found.prompt.rstrip("\n"), is_copied=True)
    return 0


SENTENCE_ROOM: Final = 60  # characters of a sentence beside its number and time
ERASED, GONE, DAMAGED, UNREAD = "erased", "gone", "damaged", "cannot be read by this code"
"""In place of a payload: it was erased; it is missing without an erasure; it is no payload; the
code of its workflow does not take it."""


@click.command()
@click.argument("session", type=SESSION, default="last")
@reading_command
def log_command(session: str, app: Request, voice: Voice) -> int:
    """Show the events of a session; with --json one a line, as `admin export` writes them.

    At a terminal a pager shows them: PAGER names another one, `cat` none. For a damaged session,
    show the events that are there, then the damage.

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
        from preflights_es.projections.event_sentences import list_call_words
        from preflights_es.projections.session_story import list_told_calls

        told: dict[int, EventWords] = {}
        with suppress(WorkflowMissing, AnotherVersion):  # its events are listed all the same
            if found.damage is None:
                story, read = sessions.tell_story(app, session)
                voice.say(escaped_text(str(replace(story, trouble=""))))
                if story.trouble:
                    voice.warn(story.trouble)
                told = list_call_words(read, list_told_calls(read))
        _say_events(voice, found, told)
    if found.damage is not None:
        raise found.damage
    return 0


def _say_events(voice: Voice, found: LoggedSession, told: Mapping[int, EventWords]) -> None:
    from preflights_es.projections.audit import steps_of
    from preflights_es.projections.event_sentences import list_event_sentences

    stored = found.stored
    steps = [*steps_of(stored, [_decoded(one) for one in found.events], "")]
    sentences = list_event_sentences(steps, {**told, **_say_what_is_missing(found)})
    rows = (
        (
            "" if n else str(step.stored.version),
            "" if n else _format_recorded_at(format_time_only, step.stored),
            indented(line, is_input=step.role == "input"),
        )
        for step, sentence in zip(steps, sentences, strict=True)
        for n, line in enumerate(sentence.fold_lines(SENTENCE_ROOM))
    )
    voice.paged(table_text(("", "UTC", "what happened"), rows, whole=True))
    first = stored[0]
    began = _format_recorded_at(format_date_only, first)
    voice.hint(f"Session {first.session_id} of {began} in project {escaped_text(first.project)}")


def _decoded(one: Event | Unread | None) -> Event | None:
    return one if isinstance(one, Event) else None


def _say_what_is_missing(found: LoggedSession) -> dict[int, EventWords]:
    from preflights_es.projections.event_sentences import EventWords

    taken, unread = erased(found.stored), UNREAD
    if isinstance(found.damage, LogDamaged):
        unread = DAMAGED
    return {
        one.version: EventWords(
            "", unread if one.data is not None else ERASED if one.version in taken else GONE
        )
        for one, event in zip(found.stored, found.events, strict=True)
        if one.data is None or isinstance(event, Unread)
    }


def _format_recorded_at(form: Callable[[int], str], one: Stored) -> str:
    """When it was recorded; empty where a damaged database has something else."""
    at: Any = one.recorded_at
    return form(at) if isinstance(at, int) else ""


def indented(name: str, *, is_input: bool) -> str:
    """The name of an event; a Decision stands under the Input that it follows from."""
    return name if is_input else f"  {name}"
