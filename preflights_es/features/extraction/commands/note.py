"""`note take`: a note from words, a file or a pipe."""

from __future__ import annotations

import sys
from typing import Final

import click

from preflights_cli import dialogue
from preflights_cli import options as answer_options
from preflights_cli.common import (
    Voice,
    given,
    is_terminal,
    key_option,
    language_option,
    led,
    recording,
    whole,
)
from preflights_cli.rendering import said
from preflights_es.features.extraction.commands.group import COMMANDS
from preflights_es.features.extraction.domain.values import NOTE_MAX
from preflights_es.features.extraction.use.sessions import start
from preflights_es.kernel.errors import Refused
from preflights_es.use.request import Request

BYTES_MAX: Final = 4 * NOTE_MAX + 3  # of a file: every character in four, and a mark


@click.command()
@click.argument("note", metavar="[TEXT]", nargs=-1, callback=whole)
@click.option(
    "--file", "file", metavar="FILE", callback=given, help="Read the note from a file; - is stdin."
)
@click.option("--no-input", is_flag=True, help="Stop at the question with exit code 3.")
@click.option(
    "--strict", is_flag=True, help="If the model fails, wait; do not leave the note unprocessed."
)
@language_option
@key_option
@led
@recording
def take_command(
    note: str | None,
    file: str | None,
    no_input: bool,
    strict: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Take a note: from the words given, from --file, or from the standard input.

    A model or the rules (--provider mock, the default) read it, and ask at most one question. If
    the model fails, the note stays unprocessed: file its items by hand (`preflights note add`).

    \b
    Examples:
      preflights note "Milch kaufen, 30 min joggen, Idee: Podcast"
      preflights note --provider anthropic "Dentist on Monday, finish the slides (urgent)"
      echo "call mom at 2:30 pm" | preflights note --json
    """
    text = _text(note, file)
    if note and (meant := _command_meant(note)):
        message = f"did you mean `note {meant}`? To take it as a note: preflights note -- {note}"
        raise click.UsageError(message)
    found = start(app, text, strict=strict)
    if is_terminal() and not (voice.as_json or no_input):
        return dialogue.run(app, voice, found)
    return said(voice, found)


def _text(note: str | None, file: str | None) -> str:
    if note is not None and file is not None:
        message = "give the note as words or as --file, not both"
        raise click.UsageError(message)
    if note is not None and note != "-":
        return note
    if file is None and note is None and sys.stdin.isatty():
        message = "there is no note: give it as an argument, with --file, or through a pipe"
        raise click.UsageError(message)
    return _read(file or "-")


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


def _read(file: str) -> str:
    where, raw = answer_options.content(file, BYTES_MAX)
    if len(raw) > BYTES_MAX:
        raise Refused(f"{where} is too long: a note has at most {NOTE_MAX:,} characters")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(
            f"{where} is not UTF-8, at byte {error.start + 1}: save it as UTF-8"
        ) from error
