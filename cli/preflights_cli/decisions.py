"""`decisions`: what is decided, now or as it stood on another day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, Final

import click
import msgspec

from preflights_cli.advice import worded
from preflights_cli.common import Voice, finish_pending, given, reading, tell_behind
from preflights_cli.dates import Moment
from preflights_cli.progress import counted
from preflights_cli.table import streamed
from preflights_es.core.errors import PreflightsError, ProjectionDamaged
from preflights_es.core.events import Actor
from preflights_es.core.ids import short
from preflights_es.core.text import one_line
from preflights_es.core.times import iso
from preflights_es.projections.decisions import decision
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.services.request import Request
from preflights_es.services.results import DecisionRow, Who
from preflights_es.services.sessions import decisions

DAY_LENGTH: Final = len("2026-11-22")
KINDS: Final = {"user": "a person", "agent": "an agent", "script": "a script"}
CATEGORY: Final = "Category"  # the field under which its origin stands
LOST_MAX: Final = 5  # sessions that are named each, where they could not be folded
LISTING: Final = "sessions --status damaged"
"""The command that lists what could not be folded; also what is faulted for that reason."""


@click.command()
@click.option(
    "--at",
    "at",
    type=Moment(is_end=True),
    metavar="DATE",
    help="Decisions in force at the end of this day, or at this time (UTC without an offset).",
)
@click.option("--category", metavar="NAME", callback=given, help="Only this category.")
@click.option("--all", "everything", is_flag=True, help="Every patch, also those not in force.")
@reading
def decisions_command(
    at: int | None, category: str | None, everything: bool, app: Request, voice: Voice
) -> int:
    """List the decisions of this project that are in force: accepted, and not superseded.

    \b
    Examples:
      preflights decisions
      preflights decisions --at 2026-11-22 --json
      preflights decisions --category Database --all
    """
    if everything and at is not None:
        message = "--all and --at exclude each other: leave one out"
        raise click.UsageError(message)
    finish_pending(app, voice)
    listed = decisions(app, at=at, category=category, everything=everything)
    first = next(listed, None)
    found = chain(() if first is None else (first,), listed)
    if first is None and category is not None:
        _tell_category(app, voice, category)
    _tell_missing(app, voice, at, looks_back=everything or at is not None)
    shape: dict[str, Any] = {
        "format": "decisions/1",
        "project": app.process.project,
        "at": None if at is None else iso(at),
        "behind": tell_behind(app, voice),
        "decisions": [],
    }
    voice.listed(shape, "decisions", map(msgspec.to_builtins, found))
    if not voice.as_json:
        _say_decisions(voice, found, everything=everything)
    return 0


def _tell_category(app: Request, voice: Voice, said: str) -> None:
    """Say so where no decision has it, in force or not: a slip is not mere silence."""
    rows = app.process.projector.rows("decisions", app.process.project)
    known = {decision(row).decided.category for row in rows}
    if known and said.casefold() not in map(str.casefold, known):
        there = ", ".join(sorted(known))
        voice.warn(f"no decision here is of the category {said!r}: there are {there}")


def _tell_missing(app: Request, voice: Voice, at: int | None, *, looks_back: bool) -> None:
    """Say which sessions cannot be folded, and how many were erased: the list leaves them out.

    Their statuses are read off the projection, so that no session is folded for it once more, but
    where nothing may be written.
    """
    lost = erased = 0
    named: list[tuple[str, str]] = []
    try:
        for row in app.process.projector.rows("sessions", app.process.project, "unfolded"):
            if not _may_decide(row["workflow"]):
                continue
            if is_unfolded(row):
                lost += 1
                named += [(row["session_id"], row["status"])] if lost <= LOST_MAX else []
            erased += row["status"] == "erased" and (at is None or row["began_at"] <= at)
    except ProjectionDamaged as error:
        voice.warn(worded(error))  # what is decided is kept elsewhere
    for session_id, status in named:
        voice.warn(_lost(app, session_id, status))
    if (more := lost - LOST_MAX) > 0:
        voice.warn(f"and {counted(more, 'session')} more: `preflights {LISTING}` lists them all")
    if erased and looks_back and not voice.quiet:
        were = "was" if erased == 1 else "were"
        what = f"{counted(erased, 'session')} of this project {were} erased"
        click.echo(f"{what}: what may have been decided there is not told.", err=True)


def _lost(app: Request, session_id: str, status: str) -> str:
    id_ = short(session_id)
    try:
        app.process.runner.load(session_id)
    except PreflightsError:
        return f"session {id_} is {status}: what it decided is not told"
    again = "`preflights admin projections rebuild` folds it again"
    return f"session {id_} was {status} when it was folded, what it decided is not told: {again}"


def _may_decide(workflow: str) -> bool:
    known = WORKFLOWS.get(workflow)
    return known is None or known.decided is not None


def is_unfolded(row: Mapping[str, Any]) -> bool:
    """Whether a session could not be folded, by its row of the projection `sessions`.

    One whose last Input is undecided is faulted as well; it has a view, and so a progress.
    """
    return row["status"] in ("damaged", "faulted") and row["progress"] is None


def _say_decisions(voice: Voice, found: Iterable[DecisionRow], *, everything: bool) -> None:
    columns: dict[str, Callable[[DecisionRow], str]] = {
        "uid": lambda decided: short(decided.uid),
        **({"standing": _standing} if everything else {}),
        "record": _record,
        "by": _by,
        "category": _category,
        "decided": _values,
        "intention": lambda decided: one_line(decided.title),
    }
    rows = ([cell(one) for cell in columns.values()] for one in found)
    if streamed(tuple(columns), rows):
        voice.hint("Ask why with: preflights why UID")
    else:
        voice.say("Nothing is decided here." if everything else "Nothing is in force here.")


def _standing(decided: DecisionRow) -> str:
    """Where it stands, and what took its place."""
    later = decided.superseded_by
    return decided.standing if later is None else f"{decided.standing} by {short(later.uid)}"


def _record(decided: DecisionRow) -> str:
    record = "task" if decided.kind == "task" else ""
    if decided.number is not None:
        record = f"ADR-{decided.number:04}"
    return f"{record} (file)".lstrip() if decided.file else record


def _by(decided: DecisionRow) -> str:
    """Who acknowledged it, and the day on which it was accepted."""
    actor = decided.acknowledged_by
    return f"{who(actor)} {(decided.accepted_at or '')[:DAY_LENGTH]}".rstrip() if actor else ""


def who(actor: Actor | Who) -> str:
    """A person by name; an agent, script or model is never shown as a person."""
    if actor.kind == "user":
        return actor.name or "a person"
    return f"{KINDS[actor.kind]}{f' ({actor.name})' if actor.name else ''}"


def _category(decided: DecisionRow) -> str:
    return decided.category + _mark(decided, CATEGORY)


def _values(decided: DecisionRow) -> str:
    return ", ".join(
        f"{name}: {one_line(value)}{_mark(decided, name)}" for name, value in decided.fields
    )


def _mark(decided: DecisionRow, field: str) -> str:
    """A mark for a model's reading: it is never shown as a person's word."""
    is_suggested = any(o.field == field and o.source == "suggested" for o in decided.provenance)
    return " (model)" if is_suggested else ""
