"""`calls` on the command line: import, list, show, erase."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Final, get_args

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import (
    Voice,
    bar,
    creating_command,
    hint_other_projects,
    is_terminal,
    reading_command,
    tell_scrubbed,
    text_option,
    writing_command,
)
from preflights_cli.rendering import Shown
from preflights_cli.table import streamed
from preflights_es.features.calls.cleaning import find_calls_sessions
from preflights_es.features.calls.domain.events import CallsOpened
from preflights_es.features.calls.domain.state import CallsView
from preflights_es.features.calls.source_calls import SourceForm
from preflights_es.features.calls.use import (
    CallsRow,
    ImportedCalls,
    ShownCall,
    find_calls_of_user,
    find_calls_older_than,
    import_calls,
    list_calls,
    load_call_events,
    show_calls,
)
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import count_in_words, escaped_text, one_line, shortened, shown_lines
from preflights_es.projections.usage import costs_in_words
from preflights_es.runtime.finder import LAST
from preflights_es.use.request import Request
from preflights_es.use.upkeep import Erased, erase, plan_erasure
from preflights_es.words.workflow import View

BAR_BYTES: Final = 2_000_000  # a smaller file is taken before a bar is drawn
DIGITS_MAX: Final = 5  # of a number of days
NOTHING_ERASED: Final = Erased(erased=False, sessions=(), quotes=(), unread=(), scrubbed=None)
ABOUT_SHOWN: Final = 60  # characters of what a session is about, in the list
_POINTERS: Final = (
    ("request", "Where the request stands in a line: a JSON Pointer such as /input."),
    ("response", "Where the response stands."),
    ("session", "Where the id of the conversation stands."),
    ("time", "Where the time stands."),
    ("user", "Where the id of the user stands; it is kept as a hash."),
)


def _pointer_options(command: Callable[..., int]) -> Callable[..., int]:
    for name, words in reversed(_POINTERS):
        command = click.option(f"--{name}", metavar="/POINTER", help=words)(command)
    return command


# 1. Taking in --------------------------------------------------------------------------------


@click.command()
@click.argument("file", nargs=-1, required=True)
@click.option(
    "--from",
    "source",
    type=click.Choice(get_args(SourceForm)),
    help="What the file is. Default: by its first lines.",
)
@_pointer_options
@creating_command
def import_command(
    file: tuple[str, ...],
    source: SourceForm | None,
    app: Request,
    voice: Voice,
    **pointers: str | None,
) -> int:
    """Take in the calls of models that a FILE holds (- is stdin); it may be compressed by gzip.

    Each conversation becomes a session. A second import of the same file adds none, and a longer
    file goes on. Secrets, e-mail addresses, phone numbers, cards and accounts are taken out before
    anything is recorded.

    \b
    Examples:
      preflights calls import calls.jsonl
      preflights calls import log.jsonl.gz --request /body --response /reply --session /thread
      preflights calls import --from otel spans.json
      preflights calls import --from llm logs.db
    """
    said = {name: value for name, value in pointers.items() if value is not None}
    if said and source not in (None, "jsonl"):
        message = f"--{next(iter(said))} is for --from jsonl: {source} says where things stand"
        raise click.UsageError(message)
    drawn = bar(voice, "Importing", least=BAR_BYTES)
    made = import_calls(app, file, source, said, drawn=drawn, tell=voice.remark)
    voice.json(made)
    _say_imported(voice, made)
    return EXIT_REFUSED if made.unread and not (made.added or made.present) else 0


def _say_imported(voice: Voice, made: ImportedCalls) -> None:
    added = count_in_words(made.added, "call")
    sessions = count_in_words(made.sessions, "session")
    new = f"{added} added to {sessions}, {made.new_sessions:,} of them new."
    voice.say(new if made.added else "No call was added.")
    if made.present:
        were = "was" if made.present == 1 else "were"
        voice.say(f"{count_in_words(made.present, 'call')} {were} in the log already.")
    if made.erased:
        were = "was" if made.erased == 1 else "were"
        voice.say(f"{count_in_words(made.erased, 'call')} of erased sessions {were} left out.")
    if made.elsewhere:
        are = "is" if made.elsewhere == 1 else "are"
        voice.say(f"{count_in_words(made.elsewhere, 'call')} {are} in the log in other sessions.")
        voice.hint("They stay there: with other pointers, import the file into a new log (`--db`).")
    if made.redacted:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in made.redacted.items())
        voice.say(f"Taken out before recording: {kinds}.")
    if made.left_out:
        parts = count_in_words(made.left_out, "part")
        voice.say(f"{parts} of calls too large to keep: the size and the hash are kept.")
    for why, unread in groupby(made.unread_lines, attrgetter("why")):
        numbers = [str(one.line) for one in unread]
        lines = "lines" if len(numbers) > 1 else "line"
        voice.warn(f"{lines} {', '.join(numbers)}: {why}")
    if more := made.unread - len(made.unread_lines):
        voice.warn(f"and {count_in_words(more, 'more line')} could not be read")
    for why, count in made.refused.items():
        voice.warn(f"{count_in_words(count, 'call')} could not be recorded: {why}")
    if made.added:
        voice.hint("`preflights calls` lists them, `preflights calls show last` shows one.")


# 2. Looking ----------------------------------------------------------------------------------


@click.command()
@click.option(
    "--all", "everything", is_flag=True, help="Every session, also older and erased ones."
)
@reading_command
def list_command(everything: bool, app: Request, voice: Voice) -> int:
    """List the sessions of calls, the newest first.

    \b
    Examples:
      preflights calls
      preflights calls --all --json
    """
    found, more = list_calls(app, everything=everything)
    shape = {"format": "calls-list/1", "more": more, "sessions": []}
    voice.listed(shape, "sessions", found)
    if voice.as_json:
        return 0
    names = ("session", "day", "model", "calls", "judged", "status", "cost", "about")
    if not streamed(names, map(_list_cells, found)):
        voice.say("No calls here: `preflights calls import FILE` takes some in.")
        hint_other_projects(app, voice)
    if more:
        voice.hint("Older ones are left out: `preflights calls --all` lists them.")
    return 0


def _list_cells(row: CallsRow) -> tuple[str, ...]:
    return (
        short_session(row.session_id),
        (row.made_at or "")[:10],
        ", ".join(row.models),
        f"{row.calls:,}" + (f" ({row.missed:,} missing)" if row.missed else ""),
        f"{row.judged:,}" if row.judged else "",
        row.status,
        costs_in_words(row.costs),
        shortened(one_line(row.about), ABOUT_SHOWN),
    )


@click.command()
@click.argument("session", default=LAST)
@reading_command
def show_command(session: str, app: Request, voice: Voice) -> int:
    """Print a conversation as people read it: what was sent, and what came back.

    \b
    Examples:
      preflights calls show last
      preflights calls show 3f9a12c4 --json
    """
    found = show_calls(app, session)
    voice.json(found)
    if voice.as_json:
        return 0
    voice.say(voice.bold(escaped_text(one_line(found.about))))
    came = " ".join(filter(None, (found.source, found.file, found.conversation)))
    voice.say(voice.dim(escaped_text(f"  {short_session(found.session_id)}, from {came}")))
    if found.missed:
        voice.say(f"  {count_in_words(found.missed, 'call')} of it are missing.")
    for call in found.calls:
        _say_call(voice, call)
    return 0


def _say_call(voice: Voice, call: ShownCall) -> None:
    told = (
        call.made_at[:19].replace("T", " ") if call.made_at else "",
        call.model,
        call.stop,
        _tokens(call),
    )
    voice.say()
    voice.say(voice.dim(escaped_text(f"call {call.call}  {', '.join(filter(None, told))}")))
    for turn in call.turns:
        say_spoken_words(voice, turn.role, turn.words)
    say_spoken_words(voice, "answer", call.answer)
    for tool in call.tools:
        say_spoken_words(voice, "calls", f"{tool.name} {tool.arguments}")
    for what in call.left_out:
        voice.say(f"  left out, {escaped_text(what)}")
    if call.ended:
        what = "failed" if call.status >= 400 else "not whole"
        voice.say(f"  {what}: {escaped_text(call.ended)}")
    for one in call.judged:
        voice.say(f"  {escaped_text(one.words)}.")


def _tokens(call: ShownCall) -> str:
    if call.input_tokens is None or call.output_tokens is None:
        return ""
    return f"{call.input_tokens:,} -> {call.output_tokens:,} tokens"


def say_spoken_words(voice: Voice, who: str, words: str) -> None:
    if not words:
        return
    first, *rest = shown_lines(words).split("\n")
    voice.say(f"  {voice.bold(escaped_text(who))}: {first}")
    for line in rest:
        voice.say(f"    {line}")


# 3. Erasing ----------------------------------------------------------------------------------


def _read_days(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    text = (value or "0").removesuffix("d")
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX):
        raise click.BadParameter(f"{value!r} is no number of days: expected such as 30d")
    return None if value is None else int(text)


@click.command()
@click.argument("session", nargs=-1)
@text_option("--user", metavar="ID", help="All sessions of a user, by the id of the source.")
@click.option(
    "--older-than", "days", callback=_read_days, metavar="30d", help="By the last call's time."
)
@click.option("--reason", default="", metavar="TEXT", help="Reason; it is recorded, and stays.")
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
@writing_command
def erase_command(
    session: tuple[str, ...],
    user: str | None,
    days: int | None,
    reason: str,
    yes: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Erase sessions of calls for good, with the judgements of them.

    The ids of the calls stay, so that a second import does not bring them back.

    \b
    Examples:
      preflights calls erase 3f9a12c4
      preflights calls erase --user customer-4711 --yes --reason "asked for by the customer"
      preflights calls erase --older-than 30d --yes
    """
    if sum((bool(session), user is not None, days is not None)) != 1:
        raise click.UsageError("name sessions, or give --user or --older-than")
    if not yes and (voice.as_json or not is_terminal()):
        raise click.UsageError("without a terminal, erase needs --yes")
    found = _sessions_to_erase(app, session, user, days)
    if not found:
        voice.say("No session fits.")
        voice.json(NOTHING_ERASED)
        return 0
    planned = plan_erasure(app, found, reason)
    if not yes and not click.confirm(f"Erase {count_in_words(len(found), 'session')} for good?"):
        voice.say("Nothing was erased.")
        return EXIT_REFUSED
    done = erase(app, planned, planned.doomed, tell=partial(_tell_trouble, voice))
    voice.json(done)
    voice.say(f"Erased {count_in_words(len(done.sessions), 'session')}.")
    tell_scrubbed(app, voice, scrubbed=bool(done.scrubbed))
    voice.hint("The files that the calls came from, exports and backups are not reached.")
    return 0


def _sessions_to_erase(
    app: Request, named: Sequence[str], user: str | None, days: int | None
) -> list[str]:
    if user is not None:
        return find_calls_of_user(app, user)
    if days is not None:
        return find_calls_older_than(app, days)
    parts = (part for one in named for part in find_calls_sessions(app, one))
    return [show_calls(app, part).session_id for part in parts]


def _tell_trouble(voice: Voice, what: object) -> None:
    if isinstance(what, PreflightsError):
        voice.warn(str(what))


# 4. In words ---------------------------------------------------------------------------------


def describe_calls(voice: Voice, session: View) -> None:
    """A session of calls in a few lines."""
    assert isinstance(session, CallsView), "the caller checked the workflow"
    voice.say(voice.bold(escaped_text(one_line(session.intention))))
    told = (count_in_words(session.calls, "call"), ", ".join(session.models), session.source)
    what = escaped_text(", ".join(filter(None, told)))
    voice.say(f"  calls {short_session(session.session_id)}, {session.status}: {what}")
    if session.missed:
        voice.say(f"  {count_in_words(session.missed, 'call')} are missing")


def hint_recorded_program(app: Request, session: str) -> str:
    """How the program of a recorded run is run again; empty for other calls."""
    try:
        _, events = load_call_events(app, session)
    except PreflightsError:  # it is in a file alone
        return ""
    if not any(isinstance(one, CallsOpened) and one.source == "record" for one in events):
        return ""
    command = f"`preflights calls replay {short_session(session)} -- COMMAND`"
    return f"{command} runs the program again with these answers."


def calls_hint(session: View) -> str:
    """How they are read."""
    return f"Read them with: preflights calls show {short_session(session.session_id)}"


SHOWN: Final = Shown(describe=describe_calls, hint=calls_hint, replayed=hint_recorded_program)
