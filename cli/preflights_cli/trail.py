"""`audit trail`: every event of a session, in words, as a table or for another program."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final
from urllib.parse import quote

import click

from preflights_cli.common import Voice, escaped, given, reading
from preflights_cli.dates import between, refuse_backwards
from preflights_cli.decisions import who
from preflights_cli.log import ERASED, GONE, UNREAD, indented, what_of
from preflights_cli.table import streamed
from preflights_es.kernel.events import UNSEEN, Actor, Event, Evidence, Signable
from preflights_es.kernel.ids import short
from preflights_es.kernel.json import encoded
from preflights_es.kernel.signing import worth
from preflights_es.kernel.text import shown
from preflights_es.use.archives import ImportedBy
from preflights_es.use.request import Request
from preflights_es.use.trail import ACTORS_MAX, DecodedStep, TrailStep, Trouble, trail

COLUMNS: Final = (
    *("recorded_at", "session_id", "version", "role", "type", "follows", "actor_kind"),
    *("actor_name", "provider", "model", "call", "what", "hash", "damage", "imported"),
)
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet would compute."""
IMPORTED_MAX: Final = 20  # imported sessions that are named
HEADINGS: Final = ("session", "", "UTC", "event", "by", "what")
NONCHARACTERS: Final = dict.fromkeys(
    (*range(0xFDD0, 0xFDF0), *(p << 16 | n for p in range(17) for n in (0xFFFE, 0xFFFF))), "\ufffd"
)
"""What no String of CloudEvents may hold, beside what `shown` escapes; and what stands for it."""


# 1. For people -------------------------------------------------------------------------------


def _table(voice: Voice, found: Iterable[DecodedStep]) -> bool:
    """Whether there was a step."""
    imported: dict[str, ImportedBy] = {}

    def row(one: DecodedStep) -> tuple[str, ...]:
        if one.step.imported is not None and len(imported) < IMPORTED_MAX:
            imported[one.step.session_id] = one.step.imported
        return _row(one)

    is_any = streamed(HEADINGS, map(row, found), whole=True)
    for session_id, one in imported.items():
        voice.say(shown(f"(file) {short(session_id)}: {one.told}"))
    return is_any


def _row(told: DecodedStep) -> tuple[str, ...]:
    step = told.step
    return (
        short(step.session_id),
        str(step.version),
        step.recorded_at[:19].replace("T", " "),
        indented(step.type, step.workflow, is_input=step.role == "input"),
        _by(step, told.event),
        _what(told),
    )


def _by(step: TrailStep, event: Event | None) -> str:
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


def _what(told: DecodedStep) -> str:
    if told.event is not None:
        said = worth(told.step.signature, told.step.policy, claims=_claims(told.step, told.event))
        return ", ".join((what_of(told.event), *map(shown, said)))
    if told.is_gone:
        return ERASED if told.step.erased else GONE
    return UNREAD


def _claims(step: TrailStep, event: Event) -> bool:
    """Whether a person could have signed it: what an agent imported is the file's word."""
    if not isinstance(event, Signable) or event.actor.kind != "user" or step.damage:
        return False
    is_filed = step.imported is not None and step.imported.standing == "proposed"
    return not is_filed and not getattr(event, "evidence", UNSEEN).brought


# 2. For programs -----------------------------------------------------------------------------


def _jsonl(voice: Voice, found: Iterable[DecodedStep]) -> None:
    for told in found:
        voice.lines(escaped(encoded(told.step)) + b"\n")


def _cloudevents(voice: Voice, found: Iterable[DecodedStep]) -> None:
    """CloudEvents 1.0.2 in their JSON format, one a line."""
    for told in found:
        voice.lines(escaped(encoded(_cloudevent(told.step))) + b"\n")


def _cloudevent(step: TrailStep) -> dict[str, Any]:
    actor, model, data = step.actor, step.model, step.data
    attributes: dict[str, Any] = {
        "specversion": "1.0",
        "id": f"{step.session_id}/{step.version}",
        "source": f"/preflights/{quote(step.project, safe='')}",
        "type": step.type,
        "subject": step.session_id,
        "time": step.recorded_at,
        "sessionversion": step.version,
        "role": step.role,
        "follows": step.follows,
        "actorkind": actor.kind if actor else None,
        "actorname": actor.name if actor else None,
        "provider": model.provider if model else None,
        "model": model.model if model else None,
        "eventhash": step.hash,
        "imported": step.imported.told if step.imported else None,
        "erased": True if step.erased else None,
        "damage": step.damage,
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


def _csv(_voice: Voice, found: Iterable[DecodedStep]) -> None:
    """RFC 4180, but for its line ends; a cell that a spreadsheet would compute gets a quote."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(COLUMNS)
    for told in found:
        writer.writerow([_cell(value) for value in _cells(told)])
        sys.stdout.buffer.write(page.getvalue().encode())
        page.seek(0)
        page.truncate()
    sys.stdout.buffer.write(page.getvalue().encode())


def _cells(told: DecodedStep) -> tuple[object, ...]:
    step = told.step
    return (
        step.recorded_at,
        step.session_id,
        step.version,
        step.role,
        step.type,
        step.follows,
        step.actor.kind if step.actor else None,
        step.actor.name if step.actor else None,
        step.model.provider if step.model else None,
        step.model.model if step.model else None,
        step.call,
        _what(told),
        step.hash,
        step.damage,
        step.imported.told if step.imported else None,
    )


def _cell(value: object) -> str:
    text = "" if value is None else shown(str(value))
    return f"'{text}" if text.startswith(FORMULA) else text


WRITERS: Final[dict[str, Callable[[Voice, Iterable[DecodedStep]], object]]] = {
    "table": _table,
    "jsonl": _jsonl,
    "csv": _csv,
    "cloudevents": _cloudevents,
}
"""The writers, by the name that `--format` gives."""


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
