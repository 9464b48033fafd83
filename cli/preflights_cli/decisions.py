"""`decisions`: what is decided, now or as it stood on another day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

import click
import msgspec

from preflights_cli.common import Voice, finish_pending, given, reading, tell_behind
from preflights_cli.dates import Moment, day
from preflights_cli.progress import counted
from preflights_cli.records import say_foreign
from preflights_cli.table import streamed
from preflights_es.core.decision_record import Decided
from preflights_es.core.errors import ArtifactOutside, PreflightsError, ProjectionDamaged
from preflights_es.core.events import INT_MAX, Actor
from preflights_es.core.ids import short
from preflights_es.core.projection_ports import Choice
from preflights_es.core.text import one_line
from preflights_es.core.times import iso
from preflights_es.projections.decisions import Decision, accepted_at, decision, in_force
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.services.records import Foreign, foreign
from preflights_es.services.request import Request
from preflights_es.services.results import DecisionRow, Who

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
    listed = _listed(app, at, category, everything=everything)
    first = next(listed, None)
    found = chain(() if first is None else (first,), listed)
    if first is None and category is not None:
        _tell_category(app, voice, category)
    _tell_missing(app, voice, at, looks_back=everything or at is not None)
    strangers = _foreign(app, everything=everything, is_filtered=bool(category) or at is not None)
    shape: dict[str, Any] = {
        "format": "decisions/1",
        "project": app.process.project,
        "at": None if at is None else iso(at),
        "behind": tell_behind(app, voice),
        "foreign": msgspec.to_builtins(strangers.rows),
        "decisions": [],
    }
    voice.listed(shape, "decisions", (msgspec.to_builtins(DecisionRow.of(one)) for one in found))
    if not voice.as_json:
        _say_decisions(voice, found, everything=everything)
    say_foreign(voice, strangers)
    return 0


def _foreign(app: Request, *, everything: bool, is_filtered: bool) -> Foreign:
    """Records without a session; a filter leaves them out, since they have no category or history.

    A folder that cannot be used is told by the command that writes there.
    """
    try:
        found = Foreign(rows=()) if is_filtered else foreign(app.process, everything=everything)
    except ArtifactOutside:
        found = Foreign(rows=())
    return found


def _listed(
    app: Request, at: int | None, category: str | None, *, everything: bool
) -> Iterator[Decision]:
    """Those that are listed, one at a time."""
    then = INT_MAX if at is None else at
    choice: Choice = "all" if everything else "in_force"
    rows = app.process.projector.rows("decisions", app.process.project, choice, then)
    found = map(decision, rows) if everything else in_force(rows, at)
    for one in found:
        if category is None or one.decided.category.casefold() == category.casefold():
            yield one


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
        voice.warn(str(error))  # what is decided is kept elsewhere
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


def _say_decisions(voice: Voice, found: Iterable[Decision], *, everything: bool) -> None:
    columns: dict[str, Callable[[Decided], str]] = {
        "uid": lambda decided: short(decided.uid),
        **({"standing": _standing} if everything else {}),
        "record": _record,
        "by": _by,
        "category": _category,
        "decided": _values,
        "intention": lambda decided: one_line(decided.title),
    }
    rows = ([cell(one.decided) for cell in columns.values()] for one in found)
    if streamed(tuple(columns), rows):
        voice.hint("Ask why with: preflights why UID")
    else:
        voice.say("Nothing is decided here." if everything else "Nothing is in force here.")


def _standing(decided: Decided) -> str:
    """Where it stands, and what took its place."""
    later = decided.superseded_by
    return decided.standing if later is None else f"{decided.standing} by {short(later.uid)}"


def _record(decided: Decided) -> str:
    if decided.number is not None:
        return f"ADR-{decided.number:04}"
    return "task" if decided.kind == "task" else ""


def _by(decided: Decided) -> str:
    """Who acknowledged it, and the day on which it was accepted."""
    actor = decided.acknowledged_by
    return f"{who(actor)} {day(accepted_at(decided))}".rstrip() if actor is not None else ""


def who(actor: Actor | Who) -> str:
    """A person by name; an agent, script or model is never shown as a person."""
    if actor.kind == "user":
        return actor.name or "a person"
    return f"{KINDS[actor.kind]}{f' ({actor.name})' if actor.name else ''}"


def _category(decided: Decided) -> str:
    return decided.category + _mark(decided, CATEGORY)


def _values(decided: Decided) -> str:
    return ", ".join(
        f"{name}: {one_line(value)}{_mark(decided, name)}" for name, value in decided.fields
    )


def _mark(decided: Decided, field: str) -> str:
    """A mark for a model's reading: it is never shown as a person's word."""
    is_suggested = any(o.field == field and o.source == "suggested" for o in decided.origins)
    return " (model)" if is_suggested else ""
