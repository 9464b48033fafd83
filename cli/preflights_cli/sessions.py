"""`sessions`, `show`, `prompt` and `log`: sessions and their events; nothing here changes a
session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec import UNSET
from msgspec.structs import replace

from preflights_cli.common import Voice, reading_command, tell_behind
from preflights_cli.names import SESSION
from preflights_cli.table import table_text
from preflights_es.kernel import ids
from preflights_es.kernel.errors import (
    AnotherVersion,
    LogDamaged,
    RecordWithoutSession,
    WorkflowMissing,
)
from preflights_es.kernel.events import (
    UNSEEN,
    Actor,
    Event,
    Evidence,
    Input,
    Signature,
    SourceSession,
)
from preflights_es.kernel.ids import format_date_only, format_time_only, short_session
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import escaped_text, late_pattern, one_line, shortened
from preflights_es.store.stored_events import erased
from preflights_es.use import sessions
from preflights_es.use.request import Request
from preflights_es.use.sessions import LoggedSession, Unread, log
from preflights_es.words.event_names import event_in_words
from preflights_es.words.questions import Question
from preflights_es.words.signing import made_with

if TYPE_CHECKING:
    from preflights_es.projections.audit import LoggedStep


@click.command()
@click.argument("session", type=SESSION, default="last")
@reading_command
def show_command(session: str, app: Request, voice: Voice) -> int:
    """Show one session: what is decided, by whom, and what is open.

    \b
    Examples:
      preflights show
      preflights show 3f9a12c4 --json
    """
    from preflights_cli.rendering import say_session_result

    try:
        found = sessions.show(app, session)
        say_session_result(voice, found)
        is_faulted = found.status == "faulted"
        is_told = is_faulted or (found.erased is None and sessions.has_calls(app, session))
        if not voice.as_json and is_told:
            story, _ = sessions.tell_story(app, found.session_id)
            if story.sums:
                voice.say(voice.dim(escaped_text(str(replace(story, trouble="")))))
            if story.trouble:
                voice.warn(story.trouble)
    except RecordWithoutSession as error:
        from preflights_cli.decisions import say_record

        say_record(voice, app, error)
    return 0


@click.command()
@click.argument("session", type=SESSION, required=False)
@click.option("--for", "task", metavar="TASK", help="What the agent is about to do, in words.")
@reading_command
def prompt_command(session: str | None, task: str | None, app: Request, voice: Voice) -> int:
    """Print the brief for a coding agent: what is decided, and what is still open.

    Without SESSION it tells of the whole project: decisions in force, conflicts, proposals and
    open questions, in fewer than 500 tokens. Decisions that concern the task come first, with
    their reasons.

    \b
    Examples:
      preflights prompt
      preflights prompt --for "add a column to the orders"
      preflights prompt last
      preflights prompt 3f9a12c4 | claude -p
    """
    if session is not None and task is not None:
        raise click.UsageError("a session has its task: give SESSION or --for")
    if session is None:
        from preflights_es.use.brief import compose_brief

        of_project = compose_brief(app, task or "")
        tell_behind(app, voice)
        voice.json(of_project)
        voice.say(of_project.prompt.rstrip("\n"), is_copied=True)
        return 0
    found = sessions.prompt(app, session)
    voice.json(found)
    voice.say(found.prompt.rstrip("\n"), is_copied=True)
    return 0


WHAT_MAX: Final = 200  # characters of one value in the list of events
ERASED, GONE, DAMAGED, UNREAD = "erased", "gone", "damaged", "cannot be read by this code"
"""In place of a payload: it was erased; it is missing without an erasure; it is no payload; the
code of its workflow does not take it."""

_UNSAID: Final = ("", None, (), False, UNSET, UNSEEN)


@click.command()
@click.argument("session", type=SESSION, default="last")
@reading_command
def log_command(session: str, app: Request, voice: Voice) -> int:
    """Show the events of a session; with --json one a line, as `admin export` writes them.

    At a terminal a pager shows them: PAGER names another one, `cat` none. For a damaged session,
    show the events that are there, then the damage.

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
        told: Mapping[int, str] = {}
        with suppress(WorkflowMissing, AnotherVersion):  # its events are listed all the same
            if found.damage is None:
                from preflights_es.projections.session_story import list_call_sentences

                story, read = sessions.tell_story(app, session)
                voice.say(escaped_text(str(replace(story, trouble=""))))
                if story.trouble:
                    voice.warn(story.trouble)
                told = list_call_sentences(read)
        _say_events(voice, found, told)
    if found.damage is not None:
        raise found.damage
    return 0


def _say_events(voice: Voice, found: LoggedSession, told: Mapping[int, str]) -> None:
    """Args:
    told: what is said of some events in place of their fields, by version.
    """
    from preflights_es.projections.audit import steps_of

    stored, taken = found.stored, erased(found.stored)
    holds = not isinstance(found.damage, LogDamaged)
    read = [one if isinstance(one, Event) else None for one in found.events]
    rows = (
        (
            str(step.stored.version),
            _format_recorded_at(format_time_only, step.stored),
            _event_sentence(
                step,
                told.get(step.stored.version)
                or _event_in_short(step.stored, event, taken, holds=holds),
            ),
        )
        for step, event in zip(steps_of(stored, read, ""), found.events, strict=True)
    )
    voice.paged(table_text(("", "UTC", "what happened"), rows, whole=True))
    first = stored[0]
    began = _format_recorded_at(format_date_only, first)
    voice.hint(f"Session {first.session_id} of {began} in project {escaped_text(first.project)}")


def _event_sentence(step: LoggedStep, what: str) -> str:
    """`Answers given by a script (Ada): auth_strategy OAuth`; a Decision stands under its Input."""
    from preflights_cli.decisions import who
    from preflights_es.projections.audit import speaker_kind_of_event

    provider = step.model.provider if step.model else ""
    name = indented(event_in_words(step.stored.type, provider), is_input=bool(step.stored.input_id))
    kind = speaker_kind_of_event(step.stored)
    if kind is not None and kind != "model":
        named = step.event.actor.name if isinstance(step.event, Input) else ""
        name = f"{name[0].upper()}{name[1:]} by {who(Actor(kind, named))}"
    return f"{name}: {what}" if what else name


def _event_in_short(
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


def indented(name: str, *, is_input: bool) -> str:
    """The name of an event; a Decision stands under the Input that it follows from."""
    return name if is_input else f"  {name}"


_HASH: Final = late_pattern(r"\A([0-9a-f]{8})[0-9a-f]{56}\Z")
_ID: Final = late_pattern(r"\A[0-9a-f]{8}(?:-[0-9a-f]{4}){4}([0-9a-f]{8})\Z")
_TIMES: Final = 10**15  # what is more is no count: microseconds since 1970, of 2001 or later
_HIDDEN: Final = frozenset(
    ("at", "actor", "heuristics", "pack", "inlined", "setup", "context", "project", "told", "uid")
) | {"call", "contract", "program", "prompts", "request_id", "sha256"}
"""Fields that stand elsewhere, are the same everywhere, or say nothing to people."""


def what_of(event: Event) -> str:
    """The payload in short; what the event's own name or another field says is not said again."""
    named = event_in_words(event.tag).split()
    said = dict[object, str]()
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if name in _HIDDEN or value in _UNSAID or (isinstance(value, str) and value in said):
            continue
        key = value if isinstance(value, str) else (name,)
        said[key] = _field_in_words(name, value, is_named=name not in named)
    return "; ".join(said.values())


def _field_in_words(name: str, value: object, *, is_named: bool) -> str:
    words, unit = (name[:-3], " ms") if name.endswith("_ms") else (name, "")
    if value is True:
        return words.replace("_", " ")
    text = f"{_short_field_value(value)}{unit}"
    return f"{words.replace('_', ' ')} {text}" if is_named else text


def _number_in_words(value: int) -> str:
    return f"{value:,}" if value < _TIMES else ids.iso(value)[:16].replace("T", " ")


def _short_field_value(value: object) -> str:
    if isinstance(value, str):
        if value.startswith(("{", "[")):  # a text of JSON is read as a value
            from preflights_es.projections.json_words import text_in_words

            return text_in_words(value)
        value = _ID.sub(r"\1", _HASH.sub(r"\1…", value))
        return f'"{shortened(one_line(value), WHAT_MAX)}"' if " " in value else one_line(value)
    if isinstance(value, Evidence):
        return shortened(one_line(str(value)), WHAT_MAX)
    if isinstance(value, Signature):
        return made_with(value)
    if isinstance(value, SourceSession):
        return short_session(value.session_id)
    if isinstance(value, Question):
        return _short_field_value(value.question)
    if isinstance(value, tuple):
        is_pair = len(value) == 2 and all(isinstance(one, str) for one in value)
        return shortened((" " if is_pair else ", ").join(map(_short_field_value, value)), WHAT_MAX)
    names = getattr(value, "__struct_fields__", None)
    if names is None:
        return _number_in_words(value) if isinstance(value, int) else str(value)
    inner = (getattr(value, name) for name in names if name not in _HIDDEN)
    return " ".join(_short_field_value(one) for one in inner if one not in _UNSAID)
