"""`note add`, `done`, `cancel` and `edit`: items filed and changed by hand."""

from __future__ import annotations

from typing import cast, get_args

import click

from preflights_cli.common import (
    Voice,
    common,
    finish_pending,
    given,
    key_option,
    language_option,
    recording,
    tell_name,
)
from preflights_cli.main import EXIT_REFUSED
from preflights_cli.rendering import is_refusal
from preflights_cli.rendering import said as session_said
from preflights_cli.workflows.extraction.display import refusal
from preflights_es.core.errors import Refused
from preflights_es.runtime.runner import Step
from preflights_es.services.extraction.notes import notes_of
from preflights_es.services.request import Request
from preflights_es.workflows.extraction.values import Energy, Importance, ItemType

# 1. Adding ----------------------------------------------------------------------------------


@click.command()
@click.argument("type_", metavar="task|event|idea", type=click.Choice(get_args(ItemType)))
@click.argument("title")
@click.option(
    "--note",
    "session",
    metavar="SESSION",
    callback=given,
    help="Session of the note the item is from.",
)
@click.option("--minutes", metavar="MIN[-MAX]", help="Duration of a task.")
@click.option("--importance", type=click.Choice(get_args(Importance)), help="Importance of a task.")
@click.option("--due", metavar="DATE", help="Due date of a task, such as 2027-01-31.")
@click.option("--energy", type=click.Choice(get_args(Energy)), help="Energy that a task needs.")
@click.option("--start", metavar="HH:MM", help="Start of an event.")
@click.option("--end", metavar="HH:MM", help="End of an event.")
@click.option("--content", metavar="TEXT", help="Text of an idea.")
@language_option
@key_option
@recording
def add_command(
    type_: str,
    title: str,
    session: str | None,
    minutes: str | None,
    app: Request,
    voice: Voice,
    **said_of: str | None,
) -> int:
    """File an item by hand: from a note that no model could read, or without a note.

    \b
    Examples:
      preflights note add task "Call the tax office" --minutes 10-20 --importance high
      preflights note add event "Dentist" --start 09:30 --note 3f9a12c4
      preflights note add idea "A podcast about logs"
    """
    finish_pending(app, voice)
    tell_name(app, voice)
    to = app.sessions.load(session) if session else None
    fields = _fields(minutes, said_of)
    item_type = cast("ItemType", type_)
    if to is None and (wrong := notes_of(app).unfit(item_type, title, fields)):
        raise Refused(refusal(wrong))  # a session that would hold nothing is not opened
    step = notes_of(app).add(item_type, title, fields, app.process.settings.language, to)
    return _said(voice, step)


def _fields(minutes: str | None, said_of: dict[str, str | None]) -> list[tuple[str, str]]:
    """Pairs of field and value, as typed, without missing ones."""
    names = {"start": "start_time", "end": "end_time"}
    fields = [(names.get(k, k), value) for k, value in said_of.items() if value is not None]
    if minutes is None:
        return fields
    low, dash, high = minutes.partition("-")
    return [("duration_min", low), ("duration_max", high if dash else low), *fields]


def _said(voice: Voice, step: Step) -> int:
    """What became of it; what else the note waits for is no failure of this command."""
    session_said(voice, step.handle, step.decisions)
    return EXIT_REFUSED if any(map(is_refusal, step.decisions)) else 0


# 2. Tasks ------------------------------------------------------------------------------------


@click.command()
@click.argument("task")
@key_option
@common
def done_command(task: str, app: Request, voice: Voice) -> int:
    """Mark a task as done.

    \b
    Examples:
      preflights note done 3f9a12c4.1
    """
    finish_pending(app, voice)
    step = notes_of(app).closed(notes_of(app).found(task), "done")
    return _said(voice, step)


@click.command()
@click.argument("task")
@key_option
@common
def cancel_command(task: str, app: Request, voice: Voice) -> int:
    """Cancel a task: it will not be done.

    \b
    Examples:
      preflights note cancel last.2
    """
    finish_pending(app, voice)
    step = notes_of(app).closed(notes_of(app).found(task), "cancelled")
    return _said(voice, step)


@click.command()
@click.argument("task")
@click.option("--title", metavar="TEXT", help="New title.")
@click.option("--minutes", metavar="MIN[-MAX]", help="New duration; empty for unknown.")
@click.option("--importance", metavar="IMPORTANCE", help="low, normal or high; empty removes it.")
@click.option("--due", metavar="DATE", help="Such as 2027-01-31; empty removes it.")
@click.option("--energy", metavar="ENERGY", help="deep_work, admin or creative; empty removes it.")
@key_option
@common
def edit_command(
    task: str, minutes: str | None, app: Request, voice: Voice, **said_of: str | None
) -> int:
    """Change the fields of a task; an empty value removes a field.

    \b
    Examples:
      preflights note edit 3f9a12c4.1 --title "Write to the tax office" --minutes 30
      preflights note edit last.1 --due ""
    """
    fields = _fields(minutes, said_of)
    if not fields:
        message = "nothing to change: give --title, --minutes, --importance, --due or --energy"
        raise click.UsageError(message)
    finish_pending(app, voice)
    step = notes_of(app).edited(notes_of(app).found(task), fields)
    return _said(voice, step)
