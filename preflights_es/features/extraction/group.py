"""The group `note`: a key press of a completion imports no command."""

from __future__ import annotations

import re
from typing import Final

import click

from preflights_cli.commands import Lazy

COMMANDS: Final = "preflights.note.commands"
"""Key in a context: the command names that a note of one word may misspell."""
_BULLET: Final = re.compile(r"-+\s")


class _Note(Lazy):
    """`note add ...` is a command; any other words are a note."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)  # a completion of the first word
        if args and args[0] in ("-h", "--help"):
            return super().parse_args(ctx, args)
        if not args or args[0] not in self.table():
            # Behind two dashes the person says that it is a note.
            others = tuple(name for name in self.table() if name != "take")
            ctx.meta[COMMANDS] = () if "--" in args else others
            args = ["take", *args]
        if "--" not in args:
            # "- buy milk" is a list, and no option.
            lists = [word for word in args if _BULLET.match(word)]
            options = [word for word in args if not _BULLET.match(word)]
            args = [*options, "--", *lists] if lists else options
        return super().parse_args(ctx, args)


@click.command(cls=_Note, under="note")
def note_command() -> None:
    """Write down what is on your mind: each line becomes a task, an event or an idea.

    `preflights note TEXT` takes a note, also from `--file FILE` or the standard input (see
    `preflights note take --help`). Put `--` before a note that begins with a command below, such
    as "done".

    \b
    Examples:
      preflights note "pay the rent ~10m due:fri"
      preflights note "Dentist @2026-12-01T09:00"
      preflights note --file monday.txt
      preflights note -- "done"
      preflights note list
      preflights note add task "Call the tax office" --minutes 10-20
      preflights note done last.1
    """
