"""The forms of `audit trail`: a table for people; JSON Lines, CSV and CloudEvents for programs."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from preflights_cli.common import Voice, escaped
from preflights_cli.decisions import who
from preflights_cli.sessions import ERASED, GONE, UNREAD, what_of
from preflights_cli.table import streamed
from preflights_es.core.events import Actor, Input
from preflights_es.core.ids import short
from preflights_es.core.json import decoded
from preflights_es.core.text import shown
from preflights_es.core.times import iso
from preflights_es.projections.audit import TrailStep

COLUMNS: Final = (
    *("recorded_at", "session_id", "version", "role", "type", "follows", "actor_kind"),
    *("actor_name", "provider", "model", "call", "what", "hash", "damage"),
)
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet would compute."""
HEADINGS: Final = ("session", "", "UTC", "event", "by", "what")
NONCHARACTERS: Final = dict.fromkeys(
    (*range(0xFDD0, 0xFDF0), *(p << 16 | n for p in range(17) for n in (0xFFFE, 0xFFFF))), "\ufffd"
)
"""What no String of CloudEvents may hold, beside what `shown` escapes; and what stands for it."""


class ToldStep(NamedTuple):
    """A step of the trail, and what became of its payload."""

    step: TrailStep
    is_erased: bool
    """Whether an erasure took it; a payload that is gone without one is damage."""


# 1. For people -------------------------------------------------------------------------------


def _table(_voice: Voice, found: Iterable[ToldStep]) -> None:
    streamed(HEADINGS, map(_row, found), whole=True)


def _row(told: ToldStep) -> tuple[str, ...]:
    step = told.step
    return (
        short(step.stored.session_id),
        str(step.stored.version),
        _time(step)[:19].replace("T", " "),
        _name(step),
        _by(step),
        _what(told),
    )


def _name(step: TrailStep) -> str:
    one = step.stored
    name = str(one.type).rsplit(".", 1)[0].removeprefix(f"{one.workflow}.")
    return name if step.role == "input" else f"  {name}"


def _by(step: TrailStep) -> str:
    """The actor behind an Input; empty for a Decision."""
    if step.role == "decision":
        return ""
    if step.actor is None:
        return "?"
    if step.actor.kind == "model":
        provider = step.model.provider if step.model else ""
        return " ".join(word for word in ("model", provider, step.actor.name) if word)
    return who(Actor(step.actor.kind, step.actor.name))


def _what(told: ToldStep) -> str:
    step = told.step
    if step.event is not None:
        return what_of(step.event)
    if step.stored.data is None:
        return ERASED if told.is_erased else GONE
    return UNREAD


# 2. For programs -----------------------------------------------------------------------------


def _time(step: TrailStep) -> str:
    at: Any = step.stored.recorded_at  # a damaged database keeps what it was given
    return iso(at) if isinstance(at, int) else ""


def _data(step: TrailStep) -> msgspec.Raw | None:
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


def _call(step: TrailStep) -> str | None:
    call = getattr(step.event, "call", None)
    return call if isinstance(call, str) else None


def _shape(told: ToldStep) -> dict[str, Any]:
    step = told.step
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
        "erased": told.is_erased,
        "damage": step.damage or None,
        "data": _data(step),
    }


def _jsonl(voice: Voice, found: Iterable[ToldStep]) -> None:
    for told in found:
        voice.lines(escaped(msgspec.json.encode(_shape(told))) + b"\n")


def _cloudevents(voice: Voice, found: Iterable[ToldStep]) -> None:
    """CloudEvents 1.0.2 in their JSON format, one a line."""
    for told in found:
        voice.lines(escaped(msgspec.json.encode(_cloudevent(told))) + b"\n")


def _cloudevent(told: ToldStep) -> dict[str, Any]:
    step, one = told.step, told.step.stored
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
        "erased": True if told.is_erased else None,
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


def _csv(_voice: Voice, found: Iterable[ToldStep]) -> None:
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


def _cells(told: ToldStep) -> tuple[object, ...]:
    step, one = told.step, told.step.stored
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
        _what(told),
        one.hash.hex(),
        step.damage,
    )


def _cell(value: object) -> str:
    text = "" if value is None else shown(str(value))
    return f"'{text}" if text.startswith(FORMULA) else text


WRITERS: Final[dict[str, Callable[[Voice, Iterable[ToldStep]], None]]] = {
    "table": _table,
    "jsonl": _jsonl,
    "csv": _csv,
    "cloudevents": _cloudevents,
}
"""The writers, by the name that `--format` gives."""
