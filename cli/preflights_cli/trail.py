"""`audit trail`: every event of a session, as a table in words or as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

import click

from preflights_cli.common import Voice, escaped, reading_command, require_option_value
from preflights_cli.dates import refuse_backwards, time_range_options
from preflights_cli.decisions import who
from preflights_cli.log import ERASED, GONE, UNREAD, indented, what_of
from preflights_cli.table import streamed
from preflights_es.kernel.events import Actor, Event, Evidence
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import escaped_text
from preflights_es.use.archives import ImportedBy
from preflights_es.use.request import Request
from preflights_es.use.trail import ACTORS_MAX, DecodedStep, TrailStep, Trouble, trail

IMPORTED_MAX: Final = 20  # imported sessions that are named
HEADINGS: Final = ("session", "", "UTC", "event", "by", "what")


# 1. For people -------------------------------------------------------------------------------


def _print_trail_table(voice: Voice, found: Iterable[DecodedStep]) -> bool:
    """Whether there was a step."""
    imported: dict[str, ImportedBy] = {}

    def row(one: DecodedStep) -> tuple[str, ...]:
        if one.step.imported is not None and len(imported) < IMPORTED_MAX:
            imported[one.step.session_id] = one.step.imported
        return _trail_table_row(one)

    is_any = streamed(HEADINGS, map(row, found), whole=True)
    for session_id, one in imported.items():
        voice.say(escaped_text(f"(file) {short_session(session_id)}: {one.told}"))
    return is_any


def _trail_table_row(told: DecodedStep) -> tuple[str, ...]:
    step = told.step
    return (
        short_session(step.session_id),
        str(step.version),
        step.recorded_at[:19].replace("T", " "),
        indented(step.type, step.workflow, is_input=step.role == "input"),
        _step_actor_label(step, told.event),
        _step_in_words(told),
    )


def _step_actor_label(step: TrailStep, event: Event | None) -> str:
    """The actor behind an Input, and how an acceptance came; empty for a Decision."""
    if step.role == "decision":
        return ""
    if step.actor is None:
        return "?"
    if step.actor.kind == "model":
        provider = step.model.provider if step.model else ""
        return " ".join(word for word in ("model", provider, step.actor.name) if word)
    mark = " (file)" if step.imported else ""
    seen = getattr(event, "evidence", None)
    if isinstance(seen, Evidence) and seen.brought:
        mark += f" ({seen.brought})"
    return f"{who(Actor(step.actor.kind, step.actor.name))}{mark}"


def _step_in_words(told: DecodedStep) -> str:
    if told.event is not None:
        signature = told.step.signature
        return what_of(told.event) + (f", {escaped_text(str(signature))}" if signature else "")
    if told.is_gone:
        return ERASED if told.step.erased else GONE
    return UNREAD


# 2. For programs -----------------------------------------------------------------------------


@click.command("trail", short_help="Show every step, as a table or JSON Lines.")
@click.option(
    "--decision",
    metavar="UID",
    callback=require_option_value,
    help="Only steps that led to this decision.",
)
@click.option("--session", metavar="ID", callback=require_option_value, help="Only this session.")
@time_range_options("Steps")
@click.option(
    "--actor",
    metavar="WHO",
    callback=require_option_value,
    help="Only steps of this kind of actor (user, agent, script, model) or of this name.",
)
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@reading_command
def trail_command(
    decision: str | None,
    session: str | None,
    since: int | None,
    until: int | None,
    actor: str | None,
    any_project: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Show every step that was recorded, with the actor behind it.

    The oldest session comes first. A provider's response is shown as the model's, never as a
    person's. Erased and damaged steps are marked as such.

    \b
    Examples:
      preflights audit trail --decision 4af671ebc321
      preflights audit trail --since 2026-11-01 --actor model
      preflights audit trail --session last --json
    """
    if decision is not None and session is not None:
        message = "--decision and --session exclude each other: leave one out"
        raise click.UsageError(message)
    refuse_backwards(since, until)
    app.finish_pending()
    who = (actor or "").strip()
    of = partial(trail, app, decision=decision, session=session, any_project=any_project)
    found = of(
        since=since,
        until=until,
        actor=who,
        tell=lambda one: voice.warn(_trail_trouble_in_words(one)),
    )
    if voice.as_json:
        for told in found.steps:
            voice.lines(escaped(canonical_json(told.step)) + b"\n")
    elif not _print_trail_table(voice, found.steps):
        is_filtered = any(of().steps)
        voice.say("No step fits the filter." if is_filtered else "Nothing was recorded.")
    if found.actors and not found.has_actor:
        there = ", ".join(found.actors) + (", ..." if len(found.actors) == ACTORS_MAX else "")
        is_limited = since is not None or until is not None
        where = "in the sessions of that time" if is_limited else "here"
        voice.warn(f"no actor {where} is {who!r}: there are {there}")
    return 0


def _trail_trouble_in_words(trouble: Trouble) -> str:
    id_, why = short_session(trouble.session_id), trouble.why
    match trouble.kind:
        case "left_out":
            return f"session {id_} is left out: {why}"
        case "faulted":
            return f"session {id_} cannot be folded: {why}"
        case _:
            return why if trouble.session_id in why else f"session {id_}: {why}"
