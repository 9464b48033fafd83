"""`admin projections status` and `admin projections rebuild`."""

from __future__ import annotations

import click

from preflights_cli.common import Voice, reading_command, writing_command
from preflights_cli.decisions import LISTING
from preflights_cli.progress import bar, count_in_words
from preflights_cli.table import streamed
from preflights_es.kernel.text import escaped_text
from preflights_es.use.request import Request
from preflights_es.use.upkeep import projections, rebuild


@click.group()
def projections_command() -> None:
    """Manage projections (derived tables): artifacts, decisions, items, memory, sessions, usage.

    A command that reads a projection brings it up to date first, so no service has to run.

    \b
    Examples:
      preflights admin projections status
      preflights admin projections rebuild decisions
    """


@projections_command.command("status", short_help="Show how far each projection is.")
@reading_command
def projections_status_command(app: Request, voice: Voice) -> int:
    """Show how far each projection is; this command folds no session.

    \b
    Examples:
      preflights admin projections status
      preflights admin projections status --json
    """
    found = projections(app)
    voice.json(found)
    if not voice.as_json:
        streamed(
            ("projection", "version", "sessions", "state"),
            (
                (one.name, str(one.version), f"{one.sessions:,}", one.state)
                for one in found.projections
            ),
        )
        sessions, waiting = (
            count_in_words(found.sessions, "session"),
            count_in_words(found.waiting, "append"),
        )
        voice.say(f"{sessions} in the log, {waiting} to fold.")
    return 0


@projections_command.command("rebuild", short_help="Fold every session again.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@writing_command
def rebuild_command(names: tuple[str, ...], app: Request, voice: Voice) -> int:
    """Fold every session again for all or some projections; other processes may record meanwhile.

    The log stays as it is.

    \b
    Examples:
      preflights admin projections rebuild
      preflights admin projections rebuild usage
    """
    known = [one.name for one in projections(app).projections]
    if unknown := [name for name in names if name not in known]:
        message = f"there is no projection {unknown[0]!r}: expected one of {', '.join(known)}"
        raise click.BadParameter(message, param_hint="NAME")
    done, mended = rebuild(app, names, bar(voice, "Rebuilding"))
    voice.json(done)
    sessions, events = (
        count_in_words(done.sessions, "session"),
        count_in_words(done.events, "event"),
    )
    voice.say(f"Rebuilt {', '.join(done.rebuilt)} from {sessions} ({events}).")
    if done.reopened:
        voice.say(f"Restored {count_in_words(done.reopened, 'open call')} without a row.")
    for due in mended.owed:
        voice.hint(
            f"{escaped_text(due.path)} was never written: the next command in its project writes it"
        )
    if mended.unfolded:
        lists = f"`preflights {LISTING} --any-project` lists them"
        voice.warn(f"{count_in_words(mended.unfolded, 'session')} could not be folded: {lists}")
    return 0
