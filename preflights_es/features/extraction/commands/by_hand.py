"""`note add`, `done`, `cancel` and `edit`: items filed and changed by hand."""

from __future__ import annotations

from typing import cast, get_args

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import Voice, common, given, key_option, language_option, recording
from preflights_cli.rendering import said
from preflights_es.features.extraction.domain.values import Energy, Importance, ItemType
from preflights_es.features.extraction.use.sessions import add, close, edit
from preflights_es.use.request import Request
from preflights_es.use.results import Session

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
@click.option("--date", metavar="DATE", help="Day of an event; default: that of the note.")
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
      preflights note add event "Dentist" --start 09:30 --date 2027-01-31
      preflights note add idea "A podcast about logs"
    """
    fields = _fields(minutes, said_of)
    return _said(voice, add(app, cast("ItemType", type_), title, fields, session))


def _fields(minutes: str | None, said_of: dict[str, str | None]) -> list[tuple[str, str]]:
    """Pairs of field and value, as typed, without missing ones."""
    names = {"start": "start_time", "end": "end_time"}
    fields = [(names.get(k, k), value) for k, value in said_of.items() if value is not None]
    if minutes is None:
        return fields
    low, dash, high = minutes.partition("-")
    return [("duration_min", low), ("duration_max", high if dash else low), *fields]


def _said(voice: Voice, session: Session) -> int:
    """What became of it; what else the note waits for is no failure of this command."""
    said(voice, session)
    return EXIT_REFUSED if session.not_done else 0


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
    return _said(voice, close(app, task, "done"))


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
    return _said(voice, close(app, task, "cancelled"))


@click.command()
@click.argument("item")
@click.option("--title", metavar="TEXT", help="New title.")
@click.option("--minutes", metavar="MIN[-MAX]", help="New duration; empty for unknown.")
@click.option("--importance", metavar="IMPORTANCE", help="low, normal or high; empty removes it.")
@click.option("--due", metavar="DATE", help="Such as 2027-01-31; empty removes it.")
@click.option("--energy", metavar="ENERGY", help="deep_work, admin or creative; empty removes it.")
@click.option("--after", metavar="TASK", help="Do it after another task; none removes it.")
@click.option("--date", metavar="DATE", help="Day of an event; empty for that of the note.")
@click.option("--start", metavar="HH:MM", help="Start of an event; empty removes it.")
@click.option("--end", metavar="HH:MM", help="End of an event; empty removes it.")
@key_option
@common
def edit_command(
    item: str, minutes: str | None, app: Request, voice: Voice, **said_of: str | None
) -> int:
    """Change the fields of a task or an event; an empty value removes a field.

    \b
    Examples:
      preflights note edit 3f9a12c4.1 --title "Write to the tax office" --minutes 30
      preflights note edit last.1 --due ""
      preflights note edit last.1 --after last.2
      preflights note edit 3f9a12c4.2 --date 2027-01-31 --start 14:00
    """
    fields = _fields(minutes, said_of)
    if not fields:
        message = "nothing to change: give --title, --minutes, --due or another option"
        raise click.UsageError(message)
    return _said(voice, edit(app, item, fields))
