"""`admin erase`: what a session holds goes, and that it went stays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.advice import error_with_advice
from preflights_cli.common import Voice, is_terminal, reading_where, sign_option
from preflights_cli.dates import format_date_only
from preflights_cli.progress import count_in_words, tell_scrubbed
from preflights_es.history.erasure import Doomed, Quotes
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import escaped_text, shortened
from preflights_es.use.erasures import (
    Erased,
    erase,
    plan_erasure,
    report_erasure,
    resolve_erasure_targets,
)
from preflights_es.use.request import Request

TITLE_MAX: Final = 60  # characters of a title in the list
_HOW: Final = {
    "known": "it read it",
    "supersedes": "it replaces it",
    "superseded_by": "it was replaced by it",
    "kept": "both were kept, with a reason",
    "named": "it names it",
}


@click.command()
@click.argument("session", nargs=-1, required=True)
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
        message = "without a terminal, erase needs --yes"
        raise click.UsageError(message)
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
    tell = partial(_tell, voice)
    done = erase(app, planned, [*doomed, *also], tell=tell)
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
        voice.warn(
            f"session {short_session(session_id)} cannot be read: it may quote what is erased"
        )


def _say_left(voice: Voice, done: Erased) -> None:
    if left := dict.fromkeys(quote.session_id for quote in done.quotes if quote.stays):
        voice.say(f"Not erased, though it quotes: {', '.join(map(short_session, left))}.")
    if paths := [path for one in done.sessions for path in one.documents]:
        voice.say(
            f"Delete yourself: {', '.join(map(escaped_text, paths))}; git keeps what was committed."
        )
    ids = {one.session_id for one in done.sessions}
    naming = dict.fromkeys(p for q in done.quotes if q.quoted in ids for p in q.documents)
    if others := [path for path in naming if path not in paths]:
        voice.say(f"Edit yourself, since they name it: {', '.join(map(escaped_text, others))}.")
