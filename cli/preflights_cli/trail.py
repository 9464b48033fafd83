"""`audit trail`: every step that led to a decision, in the forms in which others read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import click
import msgspec

from preflights_cli.common import Voice, finish_pending, given, reading
from preflights_cli.dates import Moment
from preflights_cli.sessions import erased
from preflights_cli.trail_forms import WRITERS, ToldStep
from preflights_cli.usage import refuse_backwards
from preflights_es.core.errors import PreflightsError
from preflights_es.core.ids import short
from preflights_es.core.ports import Head
from preflights_es.core.text import NAME_MAX, shortened
from preflights_es.projections.audit import TrailActor, TrailFilter, TrailStep, is_by, steps, wanted
from preflights_es.projections.decisions import patches
from preflights_es.projections.folding import Read
from preflights_es.services.looking import heads_with_files, looking
from preflights_es.services.request import Request
from preflights_es.services.why import refuse_undecided

FORMATS: Final = tuple(WRITERS)
NAMED_MAX: Final = 8  # of the actors found, where none has the name asked for


@click.command("trail", short_help="Show every step, as a table, JSON Lines, CSV or CloudEvents.")
@click.option(
    "--decision", metavar="UID", callback=given, help="Only steps that led to this decision."
)
@click.option("--session", metavar="ID", callback=given, help="Only this session.")
@click.option(
    "--since",
    type=Moment(is_end=False),
    metavar="DATE",
    help="Steps since this day or time (UTC without an offset).",
)
@click.option(
    "--until",
    type=Moment(is_end=True),
    metavar="DATE",
    help="Steps until this day or time (UTC without an offset).",
)
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
    finish_pending(app, voice)
    want = TrailFilter(since=since, until=until, actor=(actor or "").strip())
    met = Met(want.actor)
    if decision is not None or session is not None:
        typed = decision or session or ""
        found = _of_session(app, voice, typed, want, met, decides=decision is not None)
    else:
        project = None if any_project else app.process.project
        found = _of_project(app, voice, project, want, met)
        is_limited = since is not None or until is not None
        met.is_empty = not (is_limited and app.process.store.heads(project, 1))
    form = form or ("jsonl" if voice.as_json else "table")
    WRITERS[form](voice, found)
    if form == "table" and not met.is_wanted:
        voice.say("Nothing was recorded." if met.is_empty else "No step fits the filter.")
    if want.actor and met.others and not met.is_there:
        there = ", ".join(met.others) + (", ..." if len(met.others) == NAMED_MAX else "")
        is_limited = since is not None or until is not None
        where = "in the sessions of that time" if is_limited else "here"
        voice.warn(f"no actor {where} is {want.actor!r}: there are {there}")
    return 0


class Met:
    """The actors and times met, to report an unknown name or a time without steps."""

    def __init__(self, said: str) -> None:
        self._said = said
        self.is_empty = True
        """Whether there was no step at all, wanted or not, as far as sessions were read."""
        self.is_wanted = False
        """Whether one of them was wanted."""
        self.is_there = False
        self.others: dict[str, None] = {}
        """The first few, as `--actor` takes them."""

    def passing(self, found: Iterable[TrailStep]) -> Iterator[TrailStep]:
        """The same steps."""
        for step in found:
            self.is_empty = False
            if self._said and step.actor is not None:
                self.is_there = self.is_there or is_by(step, self._said)
                if len(self.others) < NAMED_MAX:
                    self.others[_named(step.actor)] = None
            yield step


def _named(actor: TrailActor) -> str:
    return f"{actor.kind}:{shortened(actor.name, NAME_MAX)}" if actor.name else actor.kind


def _of_session(
    app: Request, voice: Voice, typed: str, want: TrailFilter, met: Met, *, decides: bool
) -> Iterator[ToldStep]:
    app = looking(app, typed)
    session_id = app.sessions.resolved(typed)
    if decides:
        read = app.process.history(session_id)  # refuses a session that cannot be folded
        want = msgspec.structs.replace(want, upto=_decided_at(read))
    else:
        head = app.process.store.head(session_id)
        assert head is not None, "it was found"
        read = _read(app, head)
    return _told(voice, read, want, met)


def _decided_at(read: Read) -> int:
    """The version of the event by which the decision counts, or was proposed."""
    found = patches(read)
    if not found:
        refuse_undecided(read, "no_decision_to_trail")
    return found[-1].recorded or found[-1].version


def _read(app: Request, head: Head) -> Read:
    return app.process.projector.reader.read(app.process.following.stream(head), opaque=True)


def _of_project(
    app: Request, voice: Voice, project: str | None, want: TrailFilter, met: Met
) -> Iterator[ToldStep]:
    """Session by session, so that a log of any size passes through.

    Of a time, sessions without an event in it are not read: what was done to them since they were
    folded is for `audit verify` to find.
    """

    def within(at: Request) -> Iterator[Head]:
        return at.process.projector.within(project, want.since, want.until)

    for at, head in heads_with_files(app, within):
        try:
            read = _read(at, head)
        except PreflightsError as error:
            voice.warn(f"session {short(head.session_id)} is left out: {error}")
            continue
        yield from _told(voice, read, want, met)


def _told(voice: Voice, read: Read, want: TrailFilter, met: Met) -> Iterator[ToldStep]:
    """Those steps of a session that are wanted; what is wrong with it is said first."""
    id_, why = read.head.session_id, read.why
    if read.trouble == "damaged":
        voice.warn(why if id_ in why else f"session {short(id_)}: {why}")
    elif read.trouble == "faulted":
        voice.warn(f"session {short(id_)} cannot be folded: {why}")
    taken = erased(read.stored)
    for step in wanted(met.passing(steps(read)), want):
        met.is_wanted = True
        yield ToldStep(step, step.stored.version in taken)
