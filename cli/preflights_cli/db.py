"""`admin db upgrade`, `admin db status` and `admin db backup`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from preflights_cli.common import Voice, reading, recording
from preflights_cli.progress import bar_over, counted
from preflights_es.archive.verification import walked
from preflights_es.core.errors import LogDamaged
from preflights_es.core.text import shown
from preflights_es.services.request import Request
from preflights_es.store import frozen
from preflights_es.store.sql import SqlStore
from preflights_es.store.urls import file_of, parsed, shown_url
from preflights_es.system import clock_ids
from preflights_es.system.output_file import new_path


@click.group()
def db_command() -> None:
    """Manage the log's database.

    \b
    Examples:
      preflights admin db status
      preflights admin db backup /mnt/elsewhere/log.db
    """


@db_command.command("upgrade", short_help="Create the log, or bring its tables up to date.")
@recording
def upgrade_command(app: Request, voice: Voice) -> int:
    """Create the log, or bring its tables up to date. Commands that record do so by themselves.

    \b
    Examples:
      preflights admin db upgrade
      preflights admin db upgrade --db sqlite:////srv/preflights/log.db
    """
    store = app.process.store
    _ = app.process.project  # a shared log learns which repository this is
    voice.json(
        {"format": "db-upgrade/1", "database": shown_url(store.url), "schema": store.schema()}
    )
    voice.say(f"{shown(shown_url(store.url))} has schema {store.schema()}.")
    return 0


@db_command.command("status", short_help="Show where the log is, and whether it is intact.")
@reading
def status_command(app: Request, voice: Voice) -> int:
    """Show where the log is, how large it is, and whether its file is intact.

    A log that does not exist yet has no schema; this command does not create it.

    \b
    Examples:
      preflights admin db status
      preflights admin db status --json
    """
    store = app.process.store
    store.check()
    url = parsed(app.process.settings.database)
    is_there = store.url == url
    shape = {
        "format": "db-status/1",
        "database": shown_url(url),
        "engine": "sqlite" if file_of(url) else "postgresql",
        "schema": store.schema() if is_there else None,
        "schema_known": frozen.schema(),
        "bytes": store.database.size() if is_there else None,
        "project": app.process.project,
        **store.counts(),
    }
    voice.json(shape)
    for name, value in shape.items():
        if name != "format":
            what = "none yet" if value is None and not is_there else str(value)
            voice.say(f"{name.replace('_', ' '):<14}{shown(what)}")
    return 0


@db_command.command("backup", short_help="Copy the log to a new file, while writers go on.")
@click.argument("file")
@reading
def backup_command(file: str, app: Request, voice: Voice) -> int:
    """Copy the log to a new file, while writers go on; the copy is verified first.

    The copy is a log of its own: `--db FILE` reads it. It does not hold events recorded after the
    copy began.

    \b
    Examples:
      preflights admin db backup /mnt/elsewhere/log.db
      preflights audit verify --all --db /mnt/elsewhere/log.db
    """
    from preflights_es.store.backup import blamed_on, copied

    if file == "-":
        raise click.BadParameter("a database cannot be written to a stream: name a new file")
    log = app.process.settings.database
    with new_path(file) as path:
        copied(log, path)
        with (
            blamed_on(log, path),
            closing(SqlStore(str(path), clock_ids.now, clock_ids.salt)) as copy,
        ):
            copy.check()
            heads = copy.heads(None)
            with bar_over(heads, voice, "Verifying") as looked_at:
                found = walked(copy, looked_at)
        for broken in found.broken:
            raise LogDamaged(f"session {broken.session_id}", broken.version, broken.found)
    shape = {
        "format": "db-backup/1",
        "file": file,
        "bytes": Path(file).stat().st_size,
        "sessions": found.sessions,
        "events": found.events,
    }
    voice.json(shape)
    sessions, events = counted(found.sessions, "session"), counted(found.events, "event")
    voice.say(shown(f"Copied {sessions}, {events}, to {file}: every chain holds."))
    return 0
