"""`admin db` and `admin render`: the log's database, and documents that are rebuilt."""

from __future__ import annotations

import click
from msgspec.structs import asdict

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import Voice, creating_command, reading_command, reading_where
from preflights_cli.progress import bar, count_in_words
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import escaped_text
from preflights_es.use.request import Request
from preflights_es.use.upkeep import InItsPlace, Rendered, backup, read_log_status, render, upgrade


@click.group()
def db_command() -> None:
    """Manage the log's database.

    \b
    Examples:
      preflights admin db status
      preflights admin db backup /mnt/elsewhere/log.db
    """


@db_command.command("upgrade", short_help="Create the log, or bring its tables up to date.")
@creating_command
def upgrade_command(app: Request, voice: Voice) -> int:
    """Create the log, or bring its tables up to date. Commands that record do so by themselves.

    \b
    Examples:
      preflights admin db upgrade
      preflights admin db upgrade --db sqlite:////srv/preflights/log.db
    """
    done = upgrade(app)
    voice.json(done)
    voice.say(f"{escaped_text(done.database)} has schema {done.schema}.")
    return 0


@db_command.command("status", short_help="Show where the log is, and whether it is intact.")
@reading_command
def db_status_command(app: Request, voice: Voice) -> int:
    """Show where the log is, how large it is, and whether its file is intact.

    A log that does not exist yet has no schema; this command does not create it.

    \b
    Examples:
      preflights admin db status
      preflights admin db status --json
    """
    found = read_log_status(app)
    voice.json(found)
    for name, value in asdict(found).items():
        absent = "not said" if name == "project" else "none yet"
        what = absent if value is None else str(value)
        voice.say(f"{name.replace('_', ' '):<14}{escaped_text(what)}")
    return 0


@db_command.command("backup", short_help="Copy the log to a new file, while writers go on.")
@click.argument("file")
@reading_command
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
    sessions, events = (
        count_in_words(made.sessions, "session"),
        count_in_words(made.events, "event"),
    )
    voice.say(escaped_text(f"Copied {sessions}, {events}, to {file}: every chain holds."))
    return 0


@click.command()
@click.argument("session", default="last")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the document; write nothing.")
@click.option("--check", is_flag=True, help="Only compare; exit code 1 when the file differs.")
@reading_where("to_stdout", "check")
def render_command(session: str, to_stdout: bool, check: bool, app: Request, voice: Voice) -> int:
    """Rebuild the document of a session, byte for byte.

    A file that was edited is left alone; the text is written beside it as .new.

    \b
    Examples:
      preflights admin render last
      preflights admin render 3f9a12c4 --check
    """
    if check and to_stdout:
        message = "--check and --stdout exclude each other"
        raise click.UsageError(message)
    app.finish_pending()
    done, other = render(app, session, write=not check, prints=to_stdout)
    voice.json(done)
    if done.text is None:
        voice.say(escaped_text(_rendered_document_outcome(done, other)))
    elif not voice.as_json:
        click.echo(done.text, nl=False)
    return EXIT_REFUSED if done.outcome in ("missing", "differs") else 0


def _rendered_document_outcome(done: Rendered, other: InItsPlace | None) -> str:
    if other and done.outcome in ("differs", "beside"):
        mend = "`preflights admin renumber` gives one of them another number"
        theirs = (
            f"{other.path} is the document of session {short_session(other.session_id)}: {mend}."
        )
        lies = f" The rebuilt text lies in {done.path}." if done.outcome == "beside" else ""
        return f"{theirs}{lies}"
    return {
        "written": f"Wrote {done.path}.",
        "same": f"{done.path} is as it should be.",
        "beside": f"The document was edited: the rebuilt text lies in {done.path}.",
        "missing": f"{done.path} is missing.",
        "differs": f"{done.path} differs from what the log says.",
    }[done.outcome]
