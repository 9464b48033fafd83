"""`audit trail`: every step that led to a decision, in the forms in which others read it."""

from __future__ import annotations

from functools import partial
from typing import Final

import click

from preflights_cli.common import Voice, given, reading
from preflights_cli.dates import between, refuse_backwards
from preflights_cli.trail_forms import WRITERS
from preflights_es.kernel.ids import short
from preflights_es.use.request import Request
from preflights_es.use.trail import ACTORS_MAX, Trouble, trail

FORMATS: Final = tuple(WRITERS)


@click.command("trail", short_help="Show every step, as a table, JSON Lines, CSV or CloudEvents.")
@click.option(
    "--decision", metavar="UID", callback=given, help="Only steps that led to this decision."
)
@click.option("--session", metavar="ID", callback=given, help="Only this session.")
@between("Steps")
@click.option(
    "--actor",
    metavar="WHO",
    callback=given,
    help="Only steps of this kind of actor (user, agent, script, model) or of this name.",
)
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Default: table; --json is jsonl.",
)
@reading
def trail_command(
    decision: str | None,
    session: str | None,
    since: int | None,
    until: int | None,
    actor: str | None,
    any_project: bool,
    form: str | None,
    app: Request,
    voice: Voice,
) -> int:
    """Show every step that was recorded, with the actor behind it.

    The oldest session comes first. A provider's response is shown as the model's, never as a
    person's. Erased and damaged steps are marked as such.

    \b
    Examples:
      preflights audit trail --decision 4af671ebc321
      preflights audit trail --since 2026-11-01 --actor model --format csv
      preflights audit trail --session last --format cloudevents
    """
    if decision is not None and session is not None:
        message = "--decision and --session exclude each other: leave one out"
        raise click.UsageError(message)
    if voice.as_json and form not in (None, "jsonl"):
        message = f"--json and --format {form}: leave one out"
        raise click.UsageError(message)
    refuse_backwards(since, until)
    app.finish_pending()
    who = (actor or "").strip()
    of = partial(trail, app, decision=decision, session=session, any_project=any_project)
    found = of(since=since, until=until, actor=who, tell=lambda one: voice.warn(_said(one)))
    form = form or ("jsonl" if voice.as_json else "table")
    is_said = WRITERS[form](voice, found.steps)
    if form == "table" and not is_said:
        is_filtered = any(of().steps)
        voice.say("No step fits the filter." if is_filtered else "Nothing was recorded.")
    if found.actors and not found.has_actor:
        there = ", ".join(found.actors) + (", ..." if len(found.actors) == ACTORS_MAX else "")
        is_limited = since is not None or until is not None
        where = "in the sessions of that time" if is_limited else "here"
        voice.warn(f"no actor {where} is {who!r}: there are {there}")
    return 0


def _said(trouble: Trouble) -> str:
    id_, why = short(trouble.session_id), trouble.why
    match trouble.kind:
        case "left_out":
            return f"session {id_} is left out: {why}"
        case "faulted":
            return f"session {id_} cannot be folded: {why}"
        case _:
            return why if trouble.session_id in why else f"session {id_}: {why}"
