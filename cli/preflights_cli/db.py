"""`admin db upgrade`, `admin db status` and `admin db backup`."""

from __future__ import annotations

import click
from msgspec.structs import asdict

from preflights_cli.common import Voice, reading, recording
from preflights_cli.progress import bar, counted
from preflights_es.kernel.text import shown
from preflights_es.use.database import backup, status, upgrade
from preflights_es.use.request import Request


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
    done = upgrade(app)
    voice.json(done)
    voice.say(f"{shown(done.database)} has schema {done.schema}.")
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
    found = status(app)
    voice.json(found)
    for name, value in asdict(found).items():
        what = "none yet" if value is None and found.schema is None else str(value)
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
    if file == "-":
        raise click.BadParameter("a database cannot be written to a stream: name a new file")
    made = backup(app, file, bar(voice, "Verifying"))
    voice.json(made)
    sessions, events = counted(made.sessions, "session"), counted(made.events, "event")
    voice.say(shown(f"Copied {sessions}, {events}, to {file}: every chain holds."))
    return 0
