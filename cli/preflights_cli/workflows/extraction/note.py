"""`note` and `task`: what is on somebody's mind, taken down and put right."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final, cast, get_args

import click

from preflights_cli import dialogue
from preflights_cli.common import (
    Voice,
    common,
    finish_pending,
    given,
    is_terminal,
    key_option,
    language_option,
    led,
    tell_name,
)
from preflights_cli.main import EXIT_REFUSED
from preflights_cli.rendering import is_refusal
from preflights_cli.rendering import said as session_said
from preflights_cli.workflows.extraction.display import refusal
from preflights_es.core.errors import Refused
from preflights_es.runtime.runner import Step
from preflights_es.services.extraction.notes import NOTE_MAX, notes
from preflights_es.services.request import Request
from preflights_es.system import clock_ids
from preflights_es.workflows.extraction import WORKFLOW
from preflights_es.workflows.extraction.values import Energy, Importance, ItemType

BYTES_MAX: Final = 4 * NOTE_MAX + 3  # of a file: every character in four, and a mark
ITEM_OPTIONS: Final = ("importance", "due", "energy", "start", "end", "content")


# 1. Taking -----------------------------------------------------------------------------------


_BULLET: Final = re.compile(r"-+\s")


class _Note(click.Group):
    """`note add ...` files by hand; any other words are a note."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return "take", self.commands["take"], args

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in ("-h", "--help"):
            return super().parse_args(ctx, args)
        if not args or args[0] not in self.commands:
            args = ["take", *args]
        end = args.index("--") if "--" in args else len(args)
        # "- buy milk" is a list, and no option.
        lists = [word for word in args[:end] if _BULLET.match(word)]
        options = [word for word in args[:end] if not _BULLET.match(word)]
        words = [*lists, *args[end + 1 :]]
        return super().parse_args(ctx, [*options, "--", *words] if words else options)


@click.group(cls=_Note)
def note_command() -> None:
    """Write down what is on your mind; it becomes tasks, events and ideas.

    `preflights note TEXT` takes a note, with `--file FILE` or from the standard input too (see
    `preflights note take --help`).

    \b
    Examples:
      preflights note "Email an Chef, Meeting 14 Uhr, Präsentation fertig"
      preflights note --file monday.txt
      preflights note add task "Call the tax office" --minutes 10-20
    """


@note_command.command(
    "take", short_help="Take a note: the default, so that `take` can be left out."
)
@click.argument("text", nargs=-1)
@click.option("--file", "file", metavar="FILE", callback=given, help="The note; - is stdin.")
@click.option("--no-input", is_flag=True, help="Stop at the question, exit code 3.")
@click.option("--strict", is_flag=True, help="Wait instead of leaving the note unprocessed.")
@language_option
@key_option
@led
def take_command(
    text: tuple[str, ...],
    file: str | None,
    no_input: bool,
    strict: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Take a note: from the words given, from --file, or from the standard input.

    A model reads it, or the rules do (--provider mock, the default); at most one question is asked.
    What no model could read stays as it is, to be filed by hand.

    \b
    Examples:
      preflights note "Milch kaufen, 30 min joggen, Idee: Podcast"
      preflights note --provider anthropic "Dentist on Monday, finish the slides (urgent)"
      echo "call mom at 2:30 pm" | preflights note --json
    """
    note = _text(text, file)
    finish_pending(app, voice)
    tell_name(app, voice)
    setup = app.setup(WORKFLOW, strict=strict)
    when, zone = clock_ids.local(clock_ids.now())
    step = notes(app).take(note, setup, app.process.settings.language, when, zone)
    if is_terminal() and not (voice.as_json or no_input):
        return dialogue.run(app, voice, app.sessions.converse(step))
    return session_said(voice, step.handle, step.decisions)


def _text(words: tuple[str, ...], file: str | None) -> str:
    if words and file is not None:
        message = "give the note as words or as --file, not both"
        raise click.UsageError(message)
    if len(words) > 1:
        message = f"the note has {len(words)} parts: put quotes around the whole of it"
        raise click.UsageError(message)
    if words and words[0] != "-":
        return words[0]
    if file is None and not words and sys.stdin.isatty():
        message = "there is no note: give it as an argument, with --file, or through a pipe"
        raise click.UsageError(message)
    return _read(file if file not in (None, "-") else None)


def _read(file: str | None) -> str:
    where = "the standard input" if file is None else file
    try:
        if file is None:
            raw = sys.stdin.buffer.read(BYTES_MAX + 1)
        else:
            with Path(file).open("rb") as opened:
                raw = opened.read(BYTES_MAX + 1)
        if len(raw) > BYTES_MAX:
            raise Refused(f"{where} is too long: a note has at most {NOTE_MAX:,} characters")
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise Refused(f"{where} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Refused(
            f"{where} is not UTF-8, at byte {error.start + 1}: save it as UTF-8"
        ) from error


# 2. By hand ----------------------------------------------------------------------------------


@note_command.command("add", short_help="File a task, an event or an idea by hand.")
@click.argument("type_", metavar="task|event|idea", type=click.Choice(get_args(ItemType)))
@click.argument("title")
@click.option("--note", "session", metavar="SESSION", callback=given, help="The note it is from.")
@click.option("--minutes", metavar="MIN[-MAX]", help="Of a task: how long it takes.")
@click.option("--importance", type=click.Choice(get_args(Importance)), help="Of a task.")
@click.option("--due", metavar="DATE", help="Of a task, such as 2027-01-31.")
@click.option("--energy", type=click.Choice(get_args(Energy)), help="Of a task.")
@click.option("--start", metavar="HH:MM", help="Of an event.")
@click.option("--end", metavar="HH:MM", help="Of an event.")
@click.option("--content", metavar="TEXT", help="Of an idea.")
@language_option
@key_option
@common
def add_command(
    type_: str,
    title: str,
    session: str | None,
    minutes: str | None,
    app: Request,
    voice: Voice,
    **said_of: str | None,
) -> int:
    """File an item by hand: of a note that no model could read, or of none.

    \b
    Examples:
      preflights note add task "Call the tax office" --minutes 10-20 --importance high
      preflights note add event "Dentist" --start 09:30 --note 3f9a12c4
      preflights note add idea "A podcast about logs"
    """
    finish_pending(app, voice)
    tell_name(app, voice)
    to = app.sessions.load(session) if session else None
    fields = _fields(minutes, said_of)
    item_type = cast("ItemType", type_)
    if to is None and (wrong := notes(app).unfit(item_type, title, fields)):
        raise Refused(refusal(wrong))  # a session that would hold nothing is not opened
    step = notes(app).add(item_type, title, fields, app.process.settings.language, to)
    return _said(voice, step)


def _fields(minutes: str | None, said_of: dict[str, str | None]) -> list[tuple[str, str]]:
    """Pairs of field and value, as typed; what was not given is left out."""
    names = {"start": "start_time", "end": "end_time"}
    fields = [(names.get(k, k), value) for k, value in said_of.items() if value is not None]
    if minutes is None:
        return fields
    low, dash, high = minutes.partition("-")
    return [("duration_min", low), ("duration_max", high if dash else low), *fields]


def _said(voice: Voice, step: Step) -> int:
    """What became of it; what else the note waits for is no failure of this command."""
    session_said(voice, step.handle, step.decisions)
    return EXIT_REFUSED if any(map(is_refusal, step.decisions)) else 0


# 3. Tasks ------------------------------------------------------------------------------------


@click.group()
def task_command() -> None:
    """Close a task, or change what it says.

    \b
    Examples:
      preflights task done 3f9a12c4.1
      preflights task edit 3f9a12c4.2 --minutes 30-45 --due 2027-01-31
    """


@task_command.command("done", short_help="It is done.")
@click.argument("task")
@key_option
@common
def done_command(task: str, app: Request, voice: Voice) -> int:
    """Say that a task is done.

    \b
    Examples:
      preflights task done 3f9a12c4.1
    """
    finish_pending(app, voice)
    step = notes(app).closed(notes(app).found(task), "done")
    return _said(voice, step)


@task_command.command("cancel", short_help="It will not be done.")
@click.argument("task")
@key_option
@common
def cancel_command(task: str, app: Request, voice: Voice) -> int:
    """Say that a task will not be done.

    \b
    Examples:
      preflights task cancel last.2
    """
    finish_pending(app, voice)
    step = notes(app).closed(notes(app).found(task), "cancelled")
    return _said(voice, step)


@task_command.command("edit", short_help="It says something else.")
@click.argument("task")
@click.option("--title", metavar="TEXT", help="What there is to do.")
@click.option("--minutes", metavar="MIN[-MAX]", help="How long it takes; empty for nobody knows.")
@click.option("--importance", metavar="IMPORTANCE", help="low, normal or high; empty for none.")
@click.option("--due", metavar="DATE", help="Such as 2027-01-31; empty for none.")
@click.option("--energy", metavar="ENERGY", help="deep_work, admin or creative; empty for none.")
@key_option
@common
def edit_command(
    task: str, minutes: str | None, app: Request, voice: Voice, **said_of: str | None
) -> int:
    """Change what a task says; an empty value takes a field away.

    \b
    Examples:
      preflights task edit 3f9a12c4.1 --title "Write to the tax office" --minutes 30
      preflights task edit last.1 --due ""
    """
    fields = _fields(minutes, said_of)
    if not fields:
        message = "nothing to change: give --title, --minutes, --importance, --due or --energy"
        raise click.UsageError(message)
    finish_pending(app, voice)
    step = notes(app).edited(notes(app).found(task), fields)
    return _said(voice, step)
