"""`log`: the events of a session, and what an event says in short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click
from msgspec import UNSET

from preflights_cli.common import Voice, reading_command
from preflights_cli.dates import format_date_only, second
from preflights_cli.table import streamed
from preflights_es.kernel.completions import Message
from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.events import UNSEEN, Event, Evidence, Signature, SourceSession
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.store.chain import erased
from preflights_es.use.request import Request
from preflights_es.use.sessions import LoggedSession, Unread, log
from preflights_es.words.questions import Question
from preflights_es.words.signing import made_with

WHAT_MAX: Final = 200  # characters of one value in the list of events
ERASED, GONE, DAMAGED, UNREAD = "erased", "gone", "damaged", "cannot be read by this code"
"""In place of a payload: it was erased; it is missing without an erasure; it is no payload; the
code of its workflow does not take it."""

_UNSAID: Final = ("", None, (), False, UNSET, UNSEEN)


@click.command()
@click.argument("session", default="last")
@reading_command
def log_command(session: str, app: Request, voice: Voice) -> int:
    """Show the events of a session; with --json one a line, as `admin export` writes them.

    For a damaged session, show the events that are there, then the damage.

    \b
    Examples:
      preflights log last
      preflights log last --json | jq -r .type
    """
    app.finish_pending()
    found = log(app, session, decodes=not voice.as_json)
    if voice.as_json:
        from preflights_es.store import jsonl

        voice.lines(b"".join(map(jsonl.encode_event_line, found.stored)))
    elif found.stored:
        _say_events(voice, found)
    if found.damage is not None:
        raise found.damage
    return 0


def _say_events(voice: Voice, found: LoggedSession) -> None:
    from preflights_es.projections.audit import speaker_kind_of_event

    stored, taken = found.stored, erased(found.stored)
    holds = not isinstance(found.damage, LogDamaged)
    rows = (
        (
            str(one.version),
            _format_recorded_at(second, one),
            indented(one.type, one.workflow, is_input=bool(one.input_id)),
            speaker_kind_of_event(one) or "",
            _event_in_words(one, event, taken, holds=holds),
        )
        for one, event in zip(stored, found.events, strict=True)
    )
    streamed(("", "UTC", "event", "by", "what"), rows, whole=True)
    first = stored[0]
    began = _format_recorded_at(format_date_only, first)
    voice.hint(f"Session {first.session_id} of {began} in project {escaped_text(first.project)}")


def _event_in_words(
    one: Stored, event: Event | Unread | None, taken: set[int], *, holds: bool
) -> str:
    if one.data is None:
        return ERASED if one.version in taken else GONE
    if event is None:
        return ""
    if isinstance(event, Unread):
        return UNREAD if holds else DAMAGED
    return what_of(event)


def _format_recorded_at(form: Callable[[int], str], one: Stored) -> str:
    """When it was recorded; empty where a damaged database has something else."""
    at: Any = one.recorded_at
    return form(at) if isinstance(at, int) else ""


def indented(tag: str, workflow: str, *, is_input: bool) -> str:
    """The event's name; a Decision stands under the Input that it follows from."""
    name = str(tag).rsplit(".", 1)[0].removeprefix(f"{workflow}.")
    return name if is_input else f"  {name}"


def what_of(event: object) -> str:
    """The payload in short, without what stands in other columns or is the same everywhere."""
    hidden = {
        "at",
        "actor",
        "heuristics",
        "pack",
        "inlined",
        "setup",
        "context",
        "project",
        "told",
        "uid",
        "call",
    }
    names = [name for name in getattr(event, "__struct_fields__", ()) if name not in hidden]
    pairs = ((name, getattr(event, name)) for name in names)
    return ", ".join(
        f"{name}={_short_field_value(value)}" for name, value in pairs if value not in _UNSAID
    )


def _short_field_value(value: object) -> str:
    if isinstance(value, str):
        return repr(shortened(one_line(value), WHAT_MAX))
    if isinstance(value, Question):
        return value.id
    if isinstance(value, Evidence):
        return repr(shortened(one_line(str(value)), WHAT_MAX))
    if isinstance(value, Signature):
        return repr(made_with(value))
    if isinstance(value, SourceSession):
        return short_session(value.session_id)
    if isinstance(value, tuple) and value and isinstance(value[0], Message):
        before = f"{len(value) - 1} before, " if len(value) > 1 else ""
        return f"[{before}{_short_field_value(value[-1].content)}]"
    if isinstance(value, tuple):
        return shortened("[" + ", ".join(_short_field_value(v) for v in value) + "]", WHAT_MAX)
    names = getattr(value, "__struct_fields__", None)
    if names is None:
        return str(value)
    return " ".join(_short_field_value(getattr(value, n)) for n in names if getattr(value, n))
