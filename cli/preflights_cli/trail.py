"""`audit trail`: every step that led to a decision, in the forms in which others read it."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from urllib.parse import quote

import click
import msgspec

from preflights_cli.common import Voice, common, finish_pending, given
from preflights_cli.decisions import actor_json, who
from preflights_cli.look import what_of
from preflights_cli.moments import Moment, iso
from preflights_cli.table import Column, table
from preflights_es.app import App
from preflights_es.core.errors import PreflightsError, Refused
from preflights_es.core.events import Input
from preflights_es.core.ids import short
from preflights_es.core.json import decoded
from preflights_es.core.ports import Head
from preflights_es.core.text import shown
from preflights_es.projections.audit import Step, Wanted, steps, wanted
from preflights_es.projections.decisions import patches
from preflights_es.projections.reading import Read

FORMATS: Final = ("table", "jsonl", "csv", "cloudevents")
COLUMNS: Final = (
    *("recorded_at", "session_id", "version", "role", "type", "follows", "actor_kind"),
    *("actor_name", "provider", "model", "call", "what", "hash"),
)
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute."""
PAGE: Final = 200  # sessions whose heads are read at once


@click.command("trail", short_help="Show every step, as a table, JSON Lines, CSV or CloudEvents.")
@click.option("--decision", metavar="UID", callback=given, help="What led to that decision.")
@click.option("--session", metavar="ID", callback=given, help="Of one session alone.")
@click.option(
    "--since", type=Moment(is_end=False), metavar="DATE", help="Steps of that day or later."
)
@click.option(
    "--until", type=Moment(is_end=True), metavar="DATE", help="Steps of that day or earlier."
)
@click.option(
    "--actor",
    metavar="WHO",
    callback=given,
    help="What user, agent or script, or somebody of that name, did, and what followed.",
)
@click.option("--any-project", is_flag=True, help="Of every project in this log.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="table, unless said; --json is jsonl.",
)
@common
def trail_command(
    decision: str | None,
    session: str | None,
    since: int | None,
    until: int | None,
    actor: str | None,
    any_project: bool,
    form: str | None,
    app: App,
    voice: Voice,
) -> int:
    """Show every step that was recorded, with whoever is behind it.

    The oldest session comes first. A provider's response is shown as the model's, never as a
    person's, and what was erased as erased.

    \b
    Examples:
      preflights audit trail --decision 4af671ebc321
      preflights audit trail --since 2026-11-01 --actor agent --format csv
      preflights audit trail --session last --format cloudevents
    """
    if decision is not None and session is not None:
        message = "--decision and --session name the same: leave one out"
        raise click.UsageError(message)
    if voice.as_json and form not in (None, "jsonl"):
        message = f"--json and --format {form}: leave one out"
        raise click.UsageError(message)
    finish_pending(app, voice)
    want = Wanted(since=since, until=until, actor=(actor or "").strip())
    if decision is not None or session is not None:
        found = _of_session(app, decision or session or "", want, decides=decision is not None)
    else:
        found = _of_project(app, voice, None if any_project else app.settings.project, want)
    _WRITERS[form or ("jsonl" if voice.as_json else "table")](voice, found)
    return 0


def _of_session(app: App, typed: str, want: Wanted, *, decides: bool) -> Iterator[Step]:
    session_id = app.sessions.resolved(typed)
    head = app.store.head(session_id)
    assert head is not None, "it was found"
    read = _read(app, head)
    if decides:
        want = msgspec.structs.replace(want, upto=_decided_at(read))
    return wanted(steps(read), want)


def _decided_at(read: Read) -> int:
    """The version of the event by which the decision counts, or was proposed."""
    found = patches(read)
    if not found:
        raise Refused(
            f"session {short(read.head.session_id)} has decided nothing: name it by --session"
        )
    return found[-1].recorded or found[-1].version


def _read(app: App, head: Head) -> Read:
    return app.projector.reader.read(app.following.stream(head))


def _of_project(app: App, voice: Voice, project: str | None, want: Wanted) -> Iterator[Step]:
    """Session by session, so that a log of any size passes through."""
    after = ""
    while page := app.following.page(after, PAGE):
        after = page[-1].session_id
        for head in page:
            if project in (None, head.project):
                try:
                    read = _read(app, head)
                except PreflightsError as error:
                    voice.warn(f"session {short(head.session_id)} is left out: {error}")
                    continue
                if read.trouble == "damaged":
                    voice.warn(read.why)
                yield from wanted(steps(read), want)


# 1. For people -------------------------------------------------------------------------------


def _table(voice: Voice, found: Iterable[Step]) -> None:
    some = list(found)
    if not some:
        voice.say("Nothing was recorded.")
        return
    table(
        (
            Column("session", [short(step.stored.session_id) for step in some]),
            Column("", [str(step.stored.version) for step in some]),
            Column("UTC", [_time(step)[:19].replace("T", " ") for step in some]),
            Column("event", [_name(step) for step in some]),
            Column("by", [_by(step) for step in some]),
            Column("what", [_what(step) for step in some]),
        ),
        fold=True,
    )


def _name(step: Step) -> str:
    one = step.stored
    name = one.type.rsplit(".", 1)[0].removeprefix(f"{one.workflow}.")
    return name if step.role == "input" else f"  {name}"


def _by(step: Step) -> str:
    """The model where a provider answered, the actor of any other Input, nobody for a Decision."""
    if step.role == "decision":
        return ""
    if step.model is not None:
        return f"model {step.model.provider} {step.model.model}".strip()
    return who(step.actor) if step.actor is not None else "?"


def _what(step: Step) -> str:
    if step.event is None:
        return "erased" if step.stored.data is None else "damaged"
    return what_of(step.event)


# 2. For programs -----------------------------------------------------------------------------


def _time(step: Step) -> str:
    at: Any = step.stored.recorded_at  # a damaged database keeps what it was given
    return iso(at) if isinstance(at, int) else ""


def _data(step: Step) -> msgspec.Raw | None:
    """The payload, byte for byte; null where it is gone or no JSON."""
    data = step.stored.data
    if data is None:
        return None
    if step.event is None:
        try:
            decoded(data)
        except ValueError:
            return None
    return msgspec.Raw(data)


def _call(step: Step) -> str | None:
    call = getattr(step.event, "call", None)
    return call if isinstance(call, str) else None


def _shape(step: Step) -> dict[str, Any]:
    one, event = step.stored, step.event
    return {
        "format": "trail/1",
        "session_id": one.session_id,
        "project": one.project,
        "workflow": one.workflow,
        "version": one.version,
        "type": one.type,
        "role": step.role,
        "follows": step.follows,
        "recorded_at": _time(step),
        "at": iso(event.at) if isinstance(event, Input) else None,
        "actor": actor_json(step.actor),
        "model": msgspec.to_builtins(step.model),
        "call": _call(step),
        "decider": one.decider,
        "input_id": one.input_id,
        "hash": one.hash.hex(),
        "erased": one.data is None,
        "damage": step.damage or None,
        "data": _data(step),
    }


def _jsonl(voice: Voice, found: Iterable[Step]) -> None:
    for step in found:
        voice.lines(msgspec.json.encode(_shape(step)) + b"\n")


def _cloudevents(voice: Voice, found: Iterable[Step]) -> None:
    """CloudEvents 1.0.2 in their JSON format, one a line."""
    for step in found:
        voice.lines(msgspec.json.encode(_cloudevent(step)) + b"\n")


def _cloudevent(step: Step) -> dict[str, Any]:
    one = step.stored
    extensions = {
        "sessionversion": one.version,
        "role": step.role,
        "follows": step.follows,
        "actorkind": step.actor.kind if step.actor else None,
        "actorname": step.actor.name if step.actor and step.actor.name else None,
        "provider": step.model.provider if step.model and step.model.provider else None,
        "model": step.model.model if step.model and step.model.model else None,
        "eventhash": one.hash.hex(),
        "erased": True if one.data is None else None,
    }
    data = _data(step)
    return {
        "specversion": "1.0",
        "id": f"{one.session_id}/{one.version}",
        "source": f"/preflights/{quote(one.project, safe='')}",
        "type": one.type,
        "subject": one.session_id,
        "time": _time(step),
        # An attribute without a value is left out: null is no value of CloudEvents.
        **{name: value for name, value in extensions.items() if value is not None},
        **({} if data is None else {"datacontenttype": "application/json", "data": data}),
    }


def _csv(_voice: Voice, found: Iterable[Step]) -> None:
    """RFC 4180, but for its line ends; a cell that a spreadsheet would compute gets a quote."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(COLUMNS)
    for step in found:
        writer.writerow([_cell(value) for value in _cells(step)])
        sys.stdout.buffer.write(page.getvalue().encode())
        page.seek(0)
        page.truncate()
    sys.stdout.buffer.write(page.getvalue().encode())


def _cells(step: Step) -> tuple[object, ...]:
    one = step.stored
    return (
        _time(step),
        one.session_id,
        one.version,
        step.role,
        one.type,
        step.follows,
        step.actor.kind if step.actor else None,
        step.actor.name if step.actor else None,
        step.model.provider if step.model else None,
        step.model.model if step.model else None,
        _call(step),
        _what(step),
        one.hash.hex(),
    )


def _cell(value: object) -> str:
    text = "" if value is None else shown(str(value))
    return f"'{text}" if text.startswith(FORMULA) else text


_WRITERS: Final[dict[str, Callable[[Voice, Iterable[Step]], None]]] = {
    "table": _table,
    "jsonl": _jsonl,
    "csv": _csv,
    "cloudevents": _cloudevents,
}
