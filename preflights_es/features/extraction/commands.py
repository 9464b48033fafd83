"""Notes on the command line: `note` and its commands, and how a note is shown."""

from __future__ import annotations

import sys
from typing import Final, cast, get_args

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import (
    Voice,
    creating_command,
    is_terminal,
    key_option,
    language_option,
    reading_command,
    require_quoted_text,
    text_option,
    with_lead_options,
    writing_command,
)
from preflights_cli.rendering import Shown, say_session_result
from preflights_cli.table import streamed
from preflights_es.features.extraction.domain.events import NOTE_MAX, Energy, Importance, ItemType
from preflights_es.features.extraction.domain.state import NoteView, ShownItem
from preflights_es.features.extraction.group import COMMANDS
from preflights_es.features.extraction.use import add, close, items, start_note
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.system import clock_ids
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from preflights_es.words.items import day_shown
from preflights_es.words.workflow import View

# 1. Taking a note ---------------------------------------------------------------------------

BYTES_MAX: Final = 4 * NOTE_MAX + 3  # of a file: every character in four, and a mark


@click.command()
@click.argument("note", metavar="[TEXT]", nargs=-1, callback=require_quoted_text)
@text_option("--file", "file", metavar="FILE", help="Read the note from a file; - is stdin.")
@click.option("--no-input", is_flag=True, help="Stop at the question with exit code 3.")
@click.option(
    "--strict", is_flag=True, help="If the model fails, wait; do not leave the note unprocessed."
)
@language_option
@key_option
@with_lead_options
@creating_command
def take_command(
    note: str | None, file: str | None, no_input: bool, strict: bool, app: Request, voice: Voice
) -> int:
    """Take a note: from the words given, from --file, or from the standard input.

    Each line is an item, word for word. Marks at the end of a line say more: `due:fri`, `~30m`,
    `!high`, `@fri-14:00` for an event; `idea:` stands in front. With --provider, a model reads the
    note as it likes, and asks at most one question.

    \b
    Examples:
      preflights note "pay the rent ~10m due:fri"
      preflights note "Dentist @2026-12-01T09:00-10:00"
      preflights note --provider anthropic "Dentist on Monday, finish the slides (urgent)"
      preflights note --json < monday.txt
    """
    text = _read_note_text(note, file)
    if note and (meant := _command_meant(note)):
        message = f"did you mean `note {meant}`? To take it as a note: preflights note -- {note}"
        raise click.UsageError(message)
    found = start_note(app, NewSession(text, strict=strict))
    if is_terminal() and not (voice.as_json or no_input):
        from preflights_cli import dialogue  # lists of notes need none

        return dialogue.run_dialogue(app, voice, found)
    return say_session_result(voice, found)


def _read_note_text(note: str | None, file: str | None) -> str:
    if note is not None and file is not None:
        raise click.UsageError("give the note as words or as --file, not both")
    if note is not None and note != "-":
        return note
    if file is None and note is None and sys.stdin.isatty():
        message = "there is no note: give it as an argument, with --file, or through a pipe"
        raise click.UsageError(message)
    return _read_note_file(file or "-")


def _command_meant(word: str) -> str | None:
    """The command that a note of one word is a slip of: at most one letter is wrong."""
    if word == "help":
        return "--help"
    names: tuple[str, ...] = click.get_current_context().meta.get(COMMANDS, ())
    return next((name for name in names if _is_one_edit(word.lower(), name)), None)


def _is_one_edit(word: str, name: str) -> bool:
    if abs(len(word) - len(name)) > 1:
        return False
    differ = (i for i, (one, other) in enumerate(zip(word, name, strict=False)) if one != other)
    same = next(differ, min(len(word), len(name)))
    left, right = word[same:], name[same:]
    swapped = left[:2] == right[1::-1] and left[2:] == right[2:]
    return swapped or right[1:] in (left, left[1:]) or right == left[1:]


def _read_note_file(file: str) -> str:
    from preflights_cli import options

    where, raw = options.read_input_file(file, BYTES_MAX)
    if len(raw) > BYTES_MAX:
        raise Refused(f"{where} is too long: a note has at most {NOTE_MAX:,} characters")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{where} is not UTF-8, at byte {error.start + 1}: save it as UTF-8"
        raise Refused(message) from error


# 2. The list ---------------------------------------------------------------------------------


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also what is done or cancelled.")
@reading_command
def list_command(everything: bool, app: Request, voice: Voice) -> int:
    """List open tasks, events and ideas of this project, the oldest note's first.

    \b
    Examples:
      preflights note list
      preflights note list --all --json
    """
    found = items(app, everything=everything)
    voice.listed({"format": "items/1", "items": []}, "items", found)
    if voice.as_json:
        return 0
    cells = ((item.id, item.type, item_line(item)) for item in found)
    if not streamed(("id", "type", "item"), cells, whole=True):
        voice.say("Nothing is open here.")
    return 0


# 3. By hand ----------------------------------------------------------------------------------


@click.command()
@click.argument("type_", metavar="task|event|idea", type=click.Choice(get_args(ItemType)))
@click.argument("title")
@text_option("--note", "session", metavar="SESSION", help="Session of the note the item is from.")
@click.option("--minutes", metavar="MIN[-MAX]", help="Duration of a task.")
@click.option("--importance", type=click.Choice(get_args(Importance)), help="Importance of a task.")
@click.option("--due", metavar="DATE", help="Due date of a task: fri, tomorrow or 2026-12-01.")
@click.option("--energy", type=click.Choice(get_args(Energy)), help="Energy that a task needs.")
@click.option("--start", metavar="HH:MM", help="Start of an event.")
@click.option("--end", metavar="HH:MM", help="End of an event.")
@click.option("--date", metavar="DATE", help="Day of an event, as --due.")
@click.option("--content", metavar="TEXT", help="Text of an idea.")
@language_option
@key_option
@creating_command
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
    fields = _collect_item_fields(minutes, said_of)
    added = add(app, cast("ItemType", type_), title, fields, note=session)
    return _report_item_change(voice, added)


def _collect_item_fields(
    minutes: str | None, said_of: dict[str, str | None]
) -> list[tuple[str, str]]:
    """Pairs of field and value, as typed, without missing ones."""
    names = {"start": "start_time", "end": "end_time"}
    fields = [(names.get(k, k), value) for k, value in said_of.items() if value is not None]
    if minutes is None:
        return fields
    low, dash, high = minutes.partition("-")
    return [("duration_min", low), ("duration_max", high if dash else low), *fields]


def _report_item_change(voice: Voice, session: View) -> int:
    """What became of it; what else the note waits for is no failure of this command."""
    say_session_result(voice, session)
    return EXIT_REFUSED if session.not_done else 0


@click.command()
@click.argument("task")
@key_option
@writing_command
def done_command(task: str, app: Request, voice: Voice) -> int:
    """Mark a task as done.

    \b
    Examples:
      preflights note done 3f9a12c4.1
    """
    return _report_item_change(voice, close(app, task, "done"))


@click.command()
@click.argument("item")
@key_option
@writing_command
def cancel_command(item: str, app: Request, voice: Voice) -> int:
    """Cancel an item: a task that will not be done, an event or an idea that is wrong.

    \b
    Examples:
      preflights note cancel last.2
    """
    return _report_item_change(voice, close(app, item, "cancelled"))


# 4. In words ---------------------------------------------------------------------------------

CONTENT_SHOWN: Final = 300  # characters of an idea's content; the rest with --json


def describe_note(voice: Voice, session: View) -> None:
    """A note in a few lines."""
    assert isinstance(session, NoteView), "the caller checked the workflow"
    voice.say(f"{voice.bold(escaped_text(one_line(session.intention)))}")
    is_closed = session.status in ("abandoned", "erased")
    stands = session.note_status if session.note and not is_closed else session.status
    voice.say(f"  note {short_session(session.session_id)}, {stands.replace('_', ' ')}")
    width = max((len(item.id) for item in session.items), default=0)
    for item in session.items:
        voice.say(f"  {item.id:<{width}}  {item.type:<5}  {item_line(item)}")


def item_line(item: ShownItem) -> str:
    """An item in one line, safe on a terminal."""
    details = [
        _times(item),
        _minutes(item),
        f"{item.importance} importance" if item.importance else "",
        f"due {_format_item_day(item.due)}" if item.due else "",
        (item.energy or "").replace("_", " "),
        _format_item_decision(item),
        item.status if item.status != "open" else "",
    ]
    told = ", ".join(filter(None, details))
    return escaped_text(f"{_format_title_with_content(item)}{f'  ({told})' if told else ''}")


def _format_item_decision(item: ShownItem) -> str:
    if item.record is not None:
        return f"decided by ADR-{item.record:04d}"
    return f"decided by {short_session(item.decision)}" if item.decision else ""


def _format_title_with_content(item: ShownItem) -> str:
    """The title, and what an idea holds besides, as far as it fits a list."""
    content = one_line(item.content or "")
    if content.startswith(item.title.removesuffix("…")):
        return shortened(content, CONTENT_SHOWN)
    return f"{item.title}: {shortened(content, CONTENT_SHOWN)}" if content else item.title


def _format_item_day(day: str) -> str:
    return day_shown(day, clock_ids.local(clock_ids.now())[0])


def _times(item: ShownItem) -> str:
    if item.start_time is None:
        return _format_item_day(item.date) if item.date else ""
    times = f"{item.start_time}-{item.end_time}" if item.end_time else item.start_time
    return f"{_format_item_day(item.date) if item.date else 'no day,'} {times}"


def _minutes(item: ShownItem) -> str:
    low, high = item.duration_min, item.duration_max
    if low is None and high is None:
        return ""
    if low is None:
        return f"up to {high} min"
    if high is None:
        return f"at least {low} min"
    return f"{low} min" if low == high else f"{low}-{high} min"


BY_HAND: Final = "preflights note add task TITLE --note {id}"
ANEW: Final = "Wrong? preflights note cancel {id}.N, then say it anew: preflights note add --help"


def note_hint(session: View) -> str:
    """What may come next."""
    id_ = short_session(session.session_id)
    by_hand = f"File it by hand: {BY_HAND.format(id=id_)}"
    return {"stopped": by_hand, "done": ANEW.format(id=id_)}.get(session.status, "")


SHOWN: Final = Shown(describe=describe_note, hint=note_hint, by_hand=BY_HAND)
