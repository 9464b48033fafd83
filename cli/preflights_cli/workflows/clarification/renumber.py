"""`admin renumber`: records whose numbers collide get new ones."""

from __future__ import annotations

import click

from preflights_cli.common import Voice, finish_pending, reading_where
from preflights_cli.main import EXIT_REFUSED
from preflights_es.core.text import shown
from preflights_es.projections.decisions import DECISIONS, decision
from preflights_es.services.clarification.clarifications import clarifications_of
from preflights_es.services.clarification.renumber import mended
from preflights_es.services.request import Request


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
    finish_pending(app, voice)
    app.process.documents.check_folders()
    moves = mended(
        app.process.runner,
        clarifications_of(app),
        app.process.documents,
        app.process.settings.decisions,
        _second(app),
        write=not check,
    )
    voice.json(
        {
            "format": "renumber/1",
            "moves": [{"from": m.path, "to": m.to, "session_id": m.session_id} for m in moves],
        }
    )
    for move in moves:
        voice.say(shown(f"{move.path} -> {move.to}"))
    if not moves:
        voice.say("No numbers collide.")
    return EXIT_REFUSED if check and moves else 0


def _second(app: Request) -> list[str]:
    """Sessions of this project that bear a number which the log gave to another one."""
    given = app.process.store.numbers(app.process.project)
    rows = app.process.projector.rows(DECISIONS.name, app.process.project)
    return [
        one.session_id
        for one in map(decision, rows)
        if one.decided.number is not None
        and given.get(one.decided.number, one.session_id) != one.session_id
    ]
