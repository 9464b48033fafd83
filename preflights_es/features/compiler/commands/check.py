"""`plan check`: where plans disagree with each other, with documents and with decisions."""

from __future__ import annotations

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import Voice, reading, tell_behind
from preflights_cli.progress import counted
from preflights_es.features.compiler.commands.display import (
    say_findings,
    say_perhaps,
    say_waived,
    waiving,
)
from preflights_es.features.compiler.use.check import CheckedPlan, check
from preflights_es.kernel.ids import SHORT
from preflights_es.kernel.items import path_of
from preflights_es.kernel.text import one_line, shown
from preflights_es.use.request import Request


@click.command()
@click.argument("id_", metavar="[ID]", required=False)
@reading
def check_command(id_: str | None, app: Request, voice: Voice) -> int:
    """Compare the plans in force with each other, with documents and with decisions.

    Exit code 1 while a finding is open. A person waives one with `preflights approve ID --waive`.
    With ID it checks one artifact, a draft too.

    \b
    Examples:
      preflights plan check
      preflights plan check 3f9a12c4 --json
    """
    app.finish_pending()
    found = check(app, id_)
    tell_behind(app, voice)
    voice.json(found)
    for one in found.plans:
        _say(voice, one)
    if found.agrees:
        plans = counted(len(found.plans), "plan")
        voice.say(f"{plans} checked: no open finding." if found.plans else "No plan is in force.")
        return 0
    return EXIT_REFUSED


def _say(voice: Voice, one: CheckedPlan) -> None:
    if not (one.findings or one.waived or one.perhaps or one.stale):
        return
    of = f" of {one_line(one.subject)}" if one.subject else ""
    voice.say(voice.bold(shown(f"{one.type}{of} {one.id[:SHORT]}, {one.standing}")))
    say_findings(voice, one.findings)
    say_waived(voice, one.waived)
    say_perhaps(voice, one.perhaps)
    for cause in one.stale:
        voice.say(f"  stale: {path_of(cause)}")
    if one.findings:
        voice.hint(waiving(one.id, one.findings))
