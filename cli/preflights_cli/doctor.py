"""`doctor`: how this installation stands here."""

from __future__ import annotations

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import Voice, current_folder, require_option_value
from preflights_cli.health import diagnose
from preflights_es.kernel.ports import Access
from preflights_es.kernel.text import escaped_text
from preflights_es.use.bootstrap import opened_process

MARKS = {"ok": "ok", "note": "note", "wrong": "MEND"}
"""How a line begins; what has to be mended stands out."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--db", metavar="URL", callback=require_option_value, help="The log's database.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of a bug.")
@click.pass_context
def doctor_command(ctx: click.Context, as_json: bool, db: str | None) -> int:
    """Look at the installation, the log, records, agents and keys; say what has to be mended.

    It asks no model and no server, and changes nothing but our caches. Exit code 1: something has
    to be mended.

    \b
    Examples:
      preflights doctor
      preflights doctor --json
    """
    voice = Voice(as_json=as_json, quiet=False, verbose=False)
    database = db or (ctx.obj or {}).get("db")
    health = diagnose(
        lambda: opened_process(
            current_folder(), asks=False, database=database, access=Access.READ
        ).request()
    )
    voice.json(health)
    for line in health.lines:
        mark = MARKS[line.state]
        text = f"{mark:<5} {line.subject:<14} {escaped_text(line.found)}"
        voice.say(voice.bold(text) if line.state == "wrong" else text)
        if line.cure:
            voice.say(voice.dim(f"{'':<21}{escaped_text(line.cure)}"))
    return 0 if health.is_well else EXIT_REFUSED
