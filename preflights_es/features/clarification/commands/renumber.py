"""`admin renumber`: records whose numbers collide get new ones."""

from __future__ import annotations

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import Voice, reading_where
from preflights_es.features.clarification.use.renumber import renumber
from preflights_es.kernel.text import shown
from preflights_es.use.request import Request


@click.command()
@click.option("--check", is_flag=True, help="Only show collisions; exit code 1 if there are any.")
@reading_where("check")
def renumber_command(check: bool, app: Request, voice: Voice) -> int:
    """Give records whose numbers collide after a merge new numbers.

    The oldest record keeps its number, and the others get the next free ones. Documents that
    refer to them are rewritten.

    \b
    Examples:
      preflights admin renumber --check
      preflights admin renumber
    """
    app.finish_pending()
    done = renumber(app, write=not check)
    voice.json(done)
    for move in done.moves:
        voice.say(shown(f"{move.path} -> {move.to}"))
    if not done.moves:
        voice.say("No numbers collide.")
    return EXIT_REFUSED if check and done.moves else 0
