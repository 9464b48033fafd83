"""`admin db`, `admin projections`, `admin render` and `admin erase`: the log's database, derived
tables, documents that are rebuilt, and contents of sessions that go.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import click
from msgspec.structs import asdict

from preflights_cli import EXIT_REFUSED
from preflights_cli.advice import error_with_advice
from preflights_cli.common import (
    Voice,
    bar,
    creating_command,
    is_terminal,
    reading_command,
    reading_where,
    sign_option,
    tell_scrubbed,
    writing_command,
)
from preflights_cli.decisions import LISTING
from preflights_cli.names import SESSION
from preflights_cli.table import streamed
from preflights_es.history.erasure import Doomed, Quotes
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ids import format_date_only, short_session
from preflights_es.kernel.text import count_in_words, escaped_text, shortened
from preflights_es.use.request import Request
from preflights_es.use.upkeep import (
    Erased,
    InItsPlace,
    Rendered,
    backup,
    erase,
    plan_erasure,
    projections,
    read_log_status,
    rebuild,
    render,
    report_erasure,
    resolve_erasure_targets,
    upgrade,
)


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
    sessions = count_in_words(made.sessions, "session")
    events = count_in_words(made.events, "event")
    voice.say(escaped_text(f"Copied {sessions}, {events}, to {file}: every chain holds."))
    return 0


@click.command()
@click.argument("session", type=SESSION, default="last")
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
        raise click.UsageError("--check and --stdout exclude each other")
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
        of_session = f"session {short_session(other.session_id)}"
        theirs = f"{other.path} is the document of {of_session}: {mend}."
        lies = f" The rebuilt text lies in {done.path}." if done.outcome == "beside" else ""
        return f"{theirs}{lies}"
    return {
        "written": f"Wrote {done.path}.",
        "same": f"{done.path} is as it should be.",
        "beside": f"The document was edited: the rebuilt text lies in {done.path}.",
        "missing": f"{done.path} is missing.",
        "differs": f"{done.path} differs from what the log says.",
    }[done.outcome]


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
        listed = found.projections
        rows = ((one.name, str(one.version), f"{one.sessions:,}", one.state) for one in listed)
        streamed(("projection", "version", "sessions", "state"), rows)
        sessions = count_in_words(found.sessions, "session")
        waiting = count_in_words(found.waiting, "append")
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
    sessions = count_in_words(done.sessions, "session")
    events = count_in_words(done.events, "event")
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


TITLE_MAX: Final = 60  # characters of a title in the list
_HOW: Final = {
    "known": "it read it",
    "supersedes": "it replaces it",
    "superseded_by": "it was replaced by it",
    "kept": "both were kept, with a reason",
    "named": "it names it",
}


@click.command()
@click.argument("session", type=SESSION, nargs=-1, required=True)
@click.option("--quoting", is_flag=True, help="Also erase the sessions that quote them.")
@click.option("--reason", default="", metavar="TEXT", help="Reason; it is recorded, and stays.")
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
@sign_option
@click.option("--dry-run", is_flag=True, help="Only show what would be erased.")
@reading_where("dry_run", creates_where="session")
def erase_command(
    session: tuple[str, ...],
    quoting: bool,
    reason: str,
    yes: bool,
    dry_run: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Erase the contents of sessions for good. The log keeps who erased them, and when.

    Texts, answers, names and responses are removed, so the sessions cannot be replayed. Ids, times,
    kinds of events and hashes stay, so the chain still verifies. The command does not reach
    documents, copies, git history or the provider's data: it lists them as far as it knows them.

    \b
    Examples:
      preflights admin erase 3f9a12c4
      preflights admin erase 3f9a12c4 --quoting --yes --reason "requested by the customer"
      preflights admin erase 3f9a12c4 --dry-run
    """
    if not (yes or dry_run) and (voice.as_json or not is_terminal()):
        raise click.UsageError("without a terminal, erase needs --yes")
    app, ids = resolve_erasure_targets(app, session, looks=dry_run)
    planned = plan_erasure(app, ids, reason)
    for error in planned.kept:
        voice.warn(error_with_advice(error))
    doomed, others, quotes = planned.doomed, planned.others, planned.quotes
    also: Sequence[Doomed] | None = others if quoting else []
    going = [*doomed, *(others if quoting else ())]
    if not voice.as_json:
        _say_doomed(voice, going, titled=dry_run or not yes)
        _say_quotes(voice, quotes, going)
    if dry_run:
        voice.json(report_erasure(planned, going))
        voice.say("Nothing was erased: this is a dry run.")
        return 0
    if not yes:
        also = _confirm_erasing(voice, doomed, others, quoting=quoting)
    if also is None:
        voice.say("Nothing was erased.")
        return EXIT_REFUSED
    done = erase(app, planned, [*doomed, *also], tell=partial(_tell, voice))
    app.notice_redacted("the reason", reason)
    voice.json(done)
    _say_left(voice, done)
    tell_scrubbed(app, voice, scrubbed=bool(done.scrubbed))
    voice.hint("Exports, backups and what-if files are copies that erasing does not reach.")
    return 0


def _tell(voice: Voice, one: Doomed | PreflightsError) -> None:
    if isinstance(one, PreflightsError):
        voice.warn(error_with_advice(one))
    else:
        voice.say(f"Erased {short_session(one.session_id)}.")


def _confirm_erasing(
    voice: Voice, doomed: Sequence[Doomed], others: Sequence[Doomed], *, quoting: bool
) -> Sequence[Doomed] | None:
    """The sessions that go as well; None where a person thinks better of it."""
    asked = [*doomed, *(others if quoting else ())]
    if not click.confirm(f"Erase {count_in_words(len(asked), 'session')} for good?"):
        return None
    if not others or quoting:
        return others
    _say_doomed(voice, others, titled=True)
    them = "it" if len(doomed) == 1 else "them"
    one = f"the session that quotes {them}"
    what = one if len(others) == 1 else f"the {len(others):,} sessions that quote {them}"
    return others if click.confirm(f"Also erase {what}?") else []


# What is said --------------------------------------------------------------------------------


def _say_doomed(voice: Voice, doomed: Sequence[Doomed], *, titled: bool) -> None:
    for one in doomed:
        # Without a question the erased title is not repeated: logs of scripts are kept.
        title = f"  {escaped_text(shortened(one.title or '', TITLE_MAX))}" if titled else ""
        status = one.status.replace("_", " ")
        events = count_in_words(one.version, "event")
        last_day = format_date_only(one.last_at)
        voice.say(f"{short_session(one.session_id)}  {status}, {events}, {last_day}{title}")
        for path in one.documents:
            voice.say(f"  its document stays: {escaped_text(path)}")
        for provider in one.sent_to:
            voice.say(f"  was sent to: {escaped_text(provider)}")


def _say_quotes(voice: Voice, quotes: Quotes, going: Sequence[Doomed]) -> None:
    said = {one.session_id for one in going}  # with their documents
    for quote in quotes.found:
        quoting, quoted = short_session(quote.session_id), short_session(quote.quoted)
        voice.say(f"{quoting}  quotes {quoted}: {_HOW[quote.how]}")
        for path in quote.documents if quote.session_id not in said else ():
            voice.say(f"  its document names it, and stays: {escaped_text(path)}")
    for session_id in quotes.unread:
        id_ = short_session(session_id)
        voice.warn(f"session {id_} cannot be read: it may quote what is erased")


def _say_left(voice: Voice, done: Erased) -> None:
    if left := dict.fromkeys(quote.session_id for quote in done.quotes if quote.stays):
        named = [short_session(one) for one in left]
        voice.say(f"Not erased, though it quotes: {', '.join(named)}.")
        voice.hint(f"Erase it with: preflights admin erase {' '.join(named)}")
    if paths := [path for one in done.sessions for path in one.documents]:
        names = ", ".join(map(escaped_text, paths))
        voice.say(f"Delete yourself: {names}; git keeps what was committed.")
    ids = {one.session_id for one in done.sessions}
    naming = dict.fromkeys(p for q in done.quotes if q.quoted in ids for p in q.documents)
    if others := [path for path in naming if path not in paths]:
        voice.say(f"Edit yourself, since they name it: {', '.join(map(escaped_text, others))}.")
