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

from preflights_cli.common import Voice, common, escaped, finish_pending, given
from preflights_cli.decisions import who
from preflights_cli.look import what_of
from preflights_cli.moments import Moment, iso
from preflights_cli.table import streamed
from preflights_es.app import App
from preflights_es.core.errors import PreflightsError, Refused
from preflights_es.core.events import Actor, Input
from preflights_es.core.ids import short
from preflights_es.core.json import decoded
from preflights_es.core.ports import Head
from preflights_es.core.text import NAME_MAX, shortened, shown
from preflights_es.projections.audit import Behind, Step, Wanted, is_by, steps, wanted
from preflights_es.projections.decisions import patches
from preflights_es.projections.reading import Read

FORMATS: Final = ("table", "jsonl", "csv", "cloudevents")
COLUMNS: Final = (
    *("recorded_at", "session_id", "version", "role", "type", "follows", "actor_kind"),
    *("actor_name", "provider", "model", "call", "what", "hash"),
)
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute."""
HEADINGS: Final = ("session", "", "UTC", "event", "by", "what")
NONCHARACTERS: Final = dict.fromkeys(
    (*range(0xFDD0, 0xFDF0), *(p << 16 | n for p in range(17) for n in (0xFFFE, 0xFFFF))), "\ufffd"
)
"""What no String of CloudEvents may hold, beside what `shown` escapes; and what stands for it."""
PAGE: Final = 200  # sessions whose heads are read at once
NAMED_MAX: Final = 8  # of those who are there, where nobody is who was asked for


@click.command("trail", short_help="Show every step, as a table, JSON Lines, CSV or CloudEvents.")
@click.option("--decision", metavar="UID", callback=given, help="What led to that decision.")
@click.option("--session", metavar="ID", callback=given, help="Of one session alone.")
@click.option(
    "--since",
    type=Moment(is_end=False),
    metavar="DATE",
    help="Steps since that day, or time; UTC without an offset.",
)
@click.option(
    "--until",
    type=Moment(is_end=True),
    metavar="DATE",
    help="Steps until that day, or time; UTC likewise.",
)
@click.option(
    "--actor",
    metavar="WHO",
    callback=given,
    help="What user, agent, script or model, or somebody of that name, did, and what followed.",
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
      preflights audit trail --since 2026-11-01 --actor model --format csv
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
    met = Met(want.actor)
    if decision is not None or session is not None:
        typed = decision or session or ""
        found = _of_session(app, typed, want, met, decides=decision is not None)
    else:
        project = None if any_project else app.settings.project
        found = _of_project(app, voice, project, want, met)
    _WRITERS[form or ("jsonl" if voice.as_json else "table")](voice, found)
    if want.actor and met.others and not met.is_there:
        there = ", ".join(met.others) + (", ..." if len(met.others) == NAMED_MAX else "")
        voice.warn(f"nobody here is {want.actor!r}: there are {there}")
    return 0


class Met:
    """Who came by, so that a name which nobody has is not mere silence."""

    def __init__(self, said: str) -> None:
        self._said = said
        self.is_there = False
        self.others: dict[str, None] = {}
        """The first few, as `--actor` takes them."""

    def passing(self, found: Iterable[Step]) -> Iterator[Step]:
        """The same steps."""
        for step in found:
            if self._said and step.actor is not None:
                self.is_there = self.is_there or is_by(step, self._said)
                if len(self.others) < NAMED_MAX:
                    self.others[_named(step.actor)] = None
            yield step


def _named(actor: Behind) -> str:
    return f"{actor.kind}:{shortened(actor.name, NAME_MAX)}" if actor.name else actor.kind


def _of_session(app: App, typed: str, want: Wanted, met: Met, *, decides: bool) -> Iterator[Step]:
    session_id = app.sessions.resolved(typed)
    head = app.store.head(session_id)
    assert head is not None, "it was found"
    read = _read(app, head)
    if decides:
        want = msgspec.structs.replace(want, upto=_decided_at(read))
    return wanted(met.passing(steps(read)), want)


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


def _of_project(
    app: App, voice: Voice, project: str | None, want: Wanted, met: Met
) -> Iterator[Step]:
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
                yield from wanted(met.passing(steps(read)), want)


# 1. For people -------------------------------------------------------------------------------


def _table(voice: Voice, found: Iterable[Step]) -> None:
    if not streamed(HEADINGS, map(_row, found), fold=True):
        voice.say("Nothing was recorded.")


def _row(step: Step) -> tuple[str, ...]:
    return (
        short(step.stored.session_id),
        str(step.stored.version),
        _time(step)[:19].replace("T", " "),
        _name(step),
        _by(step),
        _what(step),
    )


def _name(step: Step) -> str:
    one = step.stored
    name = one.type.rsplit(".", 1)[0].removeprefix(f"{one.workflow}.")
    return name if step.role == "input" else f"  {name}"


def _by(step: Step) -> str:
    """Who is behind an Input; nobody behind a Decision."""
    if step.role == "decision":
        return ""
    if step.actor is None:
        return "?"
    if step.actor.kind == "model":
        provider = step.model.provider if step.model else ""
        return " ".join(word for word in ("model", provider, step.actor.name) if word)
    return who(Actor(step.actor.kind, step.actor.name))


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
        "actor": msgspec.to_builtins(step.actor),
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
        voice.lines(escaped(msgspec.json.encode(_shape(step))) + b"\n")


def _cloudevents(voice: Voice, found: Iterable[Step]) -> None:
    """CloudEvents 1.0.2 in their JSON format, one a line."""
    for step in found:
        voice.lines(escaped(msgspec.json.encode(_cloudevent(step))) + b"\n")


def _cloudevent(step: Step) -> dict[str, Any]:
    one = step.stored
    actor, model, data = step.actor, step.model, _data(step)
    attributes: dict[str, Any] = {
        "specversion": "1.0",
        "id": f"{one.session_id}/{one.version}",
        "source": f"/preflights/{quote(one.project, safe='')}",
        "type": one.type,
        "subject": one.session_id,
        "time": _time(step),
        "sessionversion": one.version,
        "role": step.role,
        "follows": step.follows,
        "actorkind": actor.kind if actor else None,
        "actorname": actor.name if actor else None,
        "provider": model.provider if model else None,
        "model": model.model if model else None,
        "eventhash": one.hash.hex(),
        "erased": True if one.data is None else None,
    }
    return {
        # What has no value is left out: neither null nor an empty text is one.
        **{
            name: _attribute(value) for name, value in attributes.items() if value not in (None, "")
        },
        **({} if data is None else {"datacontenttype": "application/json", "data": data}),
    }


def _attribute(value: Any) -> Any:
    """A text without the characters that a String of CloudEvents must not hold."""
    if not isinstance(value, str) or (value.isascii() and value.isprintable()):
        return value
    return shown(value).translate(NONCHARACTERS)


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
