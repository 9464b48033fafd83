"""`admin erase`: what a session holds goes, and that it went stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import click
import msgspec

from preflights_cli.advice import worded
from preflights_cli.common import Voice, given, is_terminal, reading_where
from preflights_cli.dates import day
from preflights_cli.main import EXIT_DAMAGED, EXIT_REFUSED
from preflights_cli.progress import counted, tell_scrubbed
from preflights_es.archive.erasure import DAYS_MAX, Doomed
from preflights_es.archive.quotes import Quotes
from preflights_es.core.errors import ErasedSession, PreflightsError, SessionMoved
from preflights_es.core.ids import short
from preflights_es.core.text import shortened, shown
from preflights_es.services.request import Request
from preflights_es.services.session_files import Shelf
from preflights_es.services.sync import erased_file, from_file

TITLE_MAX: Final = 60  # characters of a title in the list
_DAYS: Final = re.compile(r"([0-9]{1,5})d")
_HOW: Final = {
    "known": "its model was told of it",
    "supersedes": "it replaces it",
    "superseded_by": "it was replaced by it",
}


def _days(ctx: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """A number of days, written `365d`."""
    if given(ctx, parameter, value) is None or value is None:
        return None
    found = _DAYS.fullmatch(value.strip())
    if found is None or int(found[1]) > DAYS_MAX:
        message = f"found {shown(value)!r}, expected days such as 365d, at most {DAYS_MAX}d"
        raise click.BadParameter(message, param=parameter)
    return int(found[1])


@click.command()
@click.argument("session", nargs=-1)
@click.option(
    "--older-than",
    "days",
    metavar="DAYS",
    callback=_days,
    help="Erase sessions without an event for this long, such as 365d.",
)
@click.option("--quoting", is_flag=True, help="Also erase the sessions that quote them.")
@click.option("--reason", default="", metavar="TEXT", help="Reason; it is recorded, and stays.")
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
@click.option("--dry-run", is_flag=True, help="Only show what would be erased.")
@reading_where("dry_run", creates=True)
def erase_command(
    session: tuple[str, ...],
    days: int | None,
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
      preflights admin erase --older-than 365d --dry-run
    """
    _check_usage(session, days, voice, unasked=yes or dry_run)
    app, ids = _meant(app, voice, session, dry_run=dry_run)
    doomed, trouble = _doomed(app, ids, days)
    for error in trouble:
        voice.warn(worded(error))
    ended = EXIT_DAMAGED if trouble else 0
    quotes = app.erasure.quoting(doomed)
    others = _others(app, voice, quotes)
    also: Sequence[Doomed] | None = others if quoting else []
    going = [*doomed, *(others if quoting else ())]
    if not voice.as_json:
        _say_doomed(voice, going, titled=dry_run or not yes)
        _say_quotes(voice, quotes, going)
    text = app.erasure.reason(reason, [*doomed, *others])
    if dry_run or not doomed:
        voice.json(_json(going, quotes, erased=False))
        voice.say("Nothing was erased: this is a dry run." if doomed else "No session is that old.")
        return ended
    if not yes:
        also = _agreed(voice, doomed, others, quoting=quoting)
    if also is None:
        voice.say("Nothing was erased.")
        return EXIT_REFUSED
    gone = _erased(app, voice, [*doomed, *also], text, resting=days is not None)
    app.notice_redacted("the reason", reason)
    scrubbed = app.process.store.scrubbed()
    voice.json(_json(gone, quotes, erased=True, scrubbed=scrubbed))
    _say_left(voice, gone, quotes)
    tell_scrubbed(app, voice, scrubbed=scrubbed)
    voice.hint("Exports, backups and what-if files are copies that erasing does not reach.")
    return ended


def _erased(
    app: Request, voice: Voice, doomed: Sequence[Doomed], reason: str, *, resting: bool
) -> list[Doomed]:
    """Those that were erased; another process may be first, or wake one that was to rest."""
    gone: list[Doomed] = []
    for one in doomed:
        try:
            app.erasure.erase(one.session_id, reason, expect=one.version if resting else None)
        except (ErasedSession, SessionMoved) as error:
            voice.warn(worded(error))
            continue
        gone.append(one)
        voice.say(f"Erased {short(one.session_id)}.")
        _erase_file(app, voice, one.session_id)
    return gone


def _erase_file(app: Request, voice: Voice, session_id: str) -> None:
    try:
        path = erased_file(app.process, session_id)
    except PreflightsError as error:
        voice.warn(str(error))
        return
    if path:
        voice.say(shown(f"Erased {path}: commit it, so that your team's clones erase it too."))
        voice.say(
            "Git's history keeps the text: `git filter-repo --invert-paths --path "
            f"{shown(path)}` removes it, if every clone is made anew."
        )


def _check_usage(typed: Sequence[str], days: int | None, voice: Voice, *, unasked: bool) -> None:
    if bool(typed) == (days is not None):
        message = "name a session, or give --older-than"
        raise click.UsageError(message)
    if not unasked and (voice.as_json or not is_terminal()):
        message = "without a terminal, erase needs --yes"
        raise click.UsageError(message)


def _agreed(
    voice: Voice, doomed: Sequence[Doomed], others: Sequence[Doomed], *, quoting: bool
) -> Sequence[Doomed] | None:
    """The sessions that go as well; None where a person thinks better of it."""
    asked = [*doomed, *(others if quoting else ())]
    if not click.confirm(f"Erase {counted(len(asked), 'session')} for good?"):
        return None
    if not others or quoting:
        return others
    _say_doomed(voice, others, titled=True)
    them = "it" if len(doomed) == 1 else "them"
    one = f"the session that quotes {them}"
    what = one if len(others) == 1 else f"the {len(others):,} sessions that quote {them}"
    return others if click.confirm(f"Also erase {what}?") else []


def _meant(
    app: Request, voice: Voice, typed: Sequence[str], *, dry_run: bool
) -> tuple[Request, list[str]]:
    """The sessions that were named; where only files have them, the log takes them over first."""
    if dry_run and len(typed) == 1:
        app = app.holding(typed[0])
        return app, [app.sessions.resolved(typed[0])]
    ids = [*dict.fromkeys(from_file(app, one) for one in typed)]
    for session_id in ids:
        file = None if dry_run else Shelf(app.process).file_of(session_id)
        if file is not None and file.compared == "restored":
            _erase_file(app, voice, session_id)  # an erasure was killed, or a branch has the text
    return app, ids


def _doomed(
    app: Request, session_ids: Sequence[str], days: int | None
) -> tuple[list[Doomed], list[PreflightsError]]:
    if days is None:
        return [app.erasure.doomed(session_id) for session_id in session_ids], []
    found = list(app.erasure.older_than(days))
    doomed = [one for one in found if isinstance(one, Doomed)]
    return doomed, [one for one in found if isinstance(one, PreflightsError)]


def _others(app: Request, voice: Voice, quotes: Quotes) -> list[Doomed]:
    """The sessions that quote, as far as they can be erased themselves."""
    others: list[Doomed] = []
    for one in app.erasure.each_doomed(dict.fromkeys(q.session_id for q in quotes.found)):
        if isinstance(one, PreflightsError):
            voice.warn(str(one))
        else:
            others.append(one)
    return others


# What is said --------------------------------------------------------------------------------


def _say_doomed(voice: Voice, doomed: Sequence[Doomed], *, titled: bool) -> None:
    for one in doomed:
        # Without a question the erased title is not repeated: logs of scripts are kept.
        title = f"  {shown(shortened(one.title, TITLE_MAX))}" if titled else ""
        status = one.status.replace("_", " ")
        events = counted(one.version, "event")
        voice.say(f"{short(one.session_id)}  {status}, {events}, {day(one.last_at)}{title}")
        for path in one.documents:
            voice.say(f"  its document stays: {shown(path)}")
        for provider in one.sent_to:
            voice.say(f"  was sent to: {shown(provider)}")


def _say_quotes(voice: Voice, quotes: Quotes, going: Sequence[Doomed]) -> None:
    said = {one.session_id for one in going}  # with their documents
    for quote in quotes.found:
        quoting, quoted = short(quote.session_id), short(quote.quoted)
        voice.say(f"{quoting}  quotes {quoted}: {_HOW[quote.how]}")
        for path in quote.documents if quote.session_id not in said else ():
            voice.say(f"  its document names it, and stays: {shown(path)}")
    for session_id in quotes.unread:
        voice.warn(f"session {short(session_id)} cannot be read: it may quote what is erased")


def _say_left(voice: Voice, gone: Sequence[Doomed], quotes: Quotes) -> None:
    left = _left(gone, quotes)
    if left:
        voice.say(f"Not erased, though it quotes: {', '.join(map(short, left))}.")
    if paths := [path for one in gone for path in one.documents]:
        voice.say(f"Delete yourself: {', '.join(map(shown, paths))}; git keeps what was committed.")
    ids = {one.session_id for one in gone}
    naming = dict.fromkeys(p for q in quotes.found if q.quoted in ids for p in q.documents)
    if others := [path for path in naming if path not in paths]:
        voice.say(f"Edit yourself, since they name it: {', '.join(map(shown, others))}.")


def _left(gone: Sequence[Doomed], quotes: Quotes) -> list[str]:
    """Sessions that quote, and stay."""
    ids = {one.session_id for one in gone}
    return [s for s in dict.fromkeys(q.session_id for q in quotes.found) if s not in ids]


def _json(
    doomed: Sequence[Doomed], quotes: Quotes, *, erased: bool, scrubbed: bool | None = None
) -> dict[str, Any]:
    left = _left(doomed, quotes)
    return {
        "format": "erase/1",
        "erased": erased,
        "sessions": [
            {**msgspec.to_builtins(one), "title": None if erased else one.title} for one in doomed
        ],
        "quotes": [
            {**msgspec.to_builtins(quote), "stays": quote.session_id in left}
            for quote in quotes.found
        ],
        "unread": list(quotes.unread),
        "scrubbed": scrubbed,
    }
