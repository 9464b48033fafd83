"""`note list`, `tasks`, `events` and `ideas`: notes, and what they hold, in order."""

from __future__ import annotations

import click

from preflights_cli.common import Voice, reading
from preflights_cli.table import streamed
from preflights_es.features.extraction.commands.display import said
from preflights_es.features.extraction.domain.values import ItemType
from preflights_es.features.extraction.use.sessions import items, notes
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import one_line
from preflights_es.use.request import Request


@click.command()
@click.option("--unprocessed", is_flag=True, help="Only notes that wait to be filed by hand.")
@reading
def list_command(unprocessed: bool, app: Request, voice: Voice) -> int:
    """List the notes of this project, newest first.

    \b
    Examples:
      preflights note list
      preflights note list --unprocessed
    """
    found = notes(app, unprocessed=unprocessed)
    voice.listed({"format": "notes/1", "notes": []}, "notes", found)
    if voice.as_json:
        return 0
    cells = (
        (short(row.session_id), row.note_status, str(row.items), one_line(row.note))
        for row in found
    )
    # What is to be filed by hand is wanted whole.
    if not streamed(("id", "status", "items", "note"), cells, whole=unprocessed):
        voice.say("No note waits to be filed by hand." if unprocessed else "No notes here yet.")
    return 0


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also done and cancelled tasks.")
@reading
def tasks_command(everything: bool, app: Request, voice: Voice) -> int:
    """List the open tasks of this project, the oldest note's first.

    \b
    Examples:
      preflights note tasks
      preflights note tasks --all --json
    """
    return _listed(app, voice, "task", everything=everything)


@click.command()
@reading
def events_command(app: Request, voice: Voice) -> int:
    """List the events that notes of this project hold, the oldest note's first.

    \b
    Examples:
      preflights note events
      preflights note events --json
    """
    return _listed(app, voice, "event", everything=True)


@click.command()
@reading
def ideas_command(app: Request, voice: Voice) -> int:
    """List the ideas that notes of this project hold, the oldest note's first.

    \b
    Examples:
      preflights note ideas
      preflights note ideas --json
    """
    return _listed(app, voice, "idea", everything=True)


def _listed(app: Request, voice: Voice, type_: ItemType, *, everything: bool) -> int:
    found = items(app, type_, everything=everything)
    voice.listed({"format": "items/1", "items": []}, "items", found)
    if voice.as_json:
        return 0
    cells = ((item.id, said(item)) for item in found)
    if not streamed(("id", type_), cells, whole=True):
        voice.say(f"No {'open ' if not everything else ''}{type_}s here.")
    return 0
