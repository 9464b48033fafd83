"""The group `calls`: alone it lists; a key press of a completion imports no command."""

from __future__ import annotations

import click

from preflights_cli.commands import Lazy


class _Calls(Lazy):
    """`calls` and its options are `calls list`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_asked = bool(args) and (args[0] in ("-h", "--help") or not args[0].startswith("-"))
        if not is_asked and not ctx.resilient_parsing:
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.command(cls=_Calls, under="calls")
def calls_command() -> None:
    """Take in the calls of models that any program made, look at them, judge them, erase them.

    `preflights calls` alone lists the sessions: one for each conversation, or recorded run.

    \b
    Examples:
      preflights calls import calls.jsonl
      preflights calls record -- python app.py
      preflights calls
      preflights calls show last
      preflights calls judge last
      preflights regress --workflow calls --model NEW --live
    """
