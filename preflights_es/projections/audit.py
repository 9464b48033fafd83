"""`audit`: every step of a session, as a view over its events; it is stored nowhere.

A table with a row an event would double the log to say what the log says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from preflights_es.core.completions import CompletionFailed, CompletionReceived, CompletionRequested
from preflights_es.core.events import Actor, Event, Input
from preflights_es.core.ports import Stored
from preflights_es.projections.reading import Read


class Model(msgspec.Struct, frozen=True):
    """Who was asked, or answered, where that was a provider."""

    provider: str
    model: str


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One event, and who is behind it."""

    stored: Stored
    event: Event | None
    """None where it was erased, or cannot be decoded."""
    role: Literal["input", "decision"]
    follows: int | None
    """Version of the Input that a Decision follows from."""
    actor: Actor | None
    """Of an Input. Of one that was erased the kind is left: the name went with the payload."""
    model: Model | None
    """Of a request, and of a response: then nobody typed it, whoever recorded it."""
    damage: str
    """Why the session does not verify; empty where it does."""


def steps(read: Read) -> Iterator[Step]:
    """Every event of a session, in order."""
    requests: dict[str, Model] = {}
    follows: int | None = None
    damage = read.why if read.trouble == "damaged" else ""
    for one, event in zip(read.stored, read.events, strict=True):
        is_input = one.input_id is not None
        if isinstance(event, CompletionRequested):
            requests[event.call] = Model(event.provider, event.model)
        yield Step(
            stored=one,
            event=event,
            role="input" if is_input else "decision",
            follows=None if is_input else follows,
            actor=_actor(one, event) if is_input else None,
            model=_model(event, requests),
            damage=damage,
        )
        if is_input:
            follows = one.version


def _actor(one: Stored, event: Event | None) -> Actor | None:
    if isinstance(event, Input):
        return event.actor
    match one.actor_kind:
        case "user" | "agent" | "script" as kind:
            return Actor(kind)
        case _:
            return None


def _model(event: Event | None, requests: dict[str, Model]) -> Model | None:
    match event:
        case CompletionRequested():
            return requests[event.call]
        case CompletionReceived() | CompletionFailed():
            asked = requests.get(event.call, Model("", ""))
            return Model(asked.provider, event.model or asked.model)
        case _:
            return None


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which steps of a trail are wanted."""

    since: int | None = None
    """Microseconds since 1970 UTC, by the store's clock; earlier steps are left out."""
    until: int | None = None
    """Later ones are left out."""
    actor: str = ""
    """A kind, a name, or `kind:name`, in any case: Inputs of that actor, and what followed."""
    upto: int | None = None
    """The last version that is wanted."""


def wanted(found: Iterator[Step], want: Wanted) -> Iterator[Step]:
    """Those of a session's steps that are wanted."""
    behind: Actor | None = None
    for step in found:
        behind = step.actor if step.role == "input" else behind
        at, version = step.stored.recorded_at, step.stored.version
        if (want.since is not None and at < want.since) or (
            want.until is not None and at > want.until
        ):
            continue
        if want.upto is not None and version > want.upto:
            return
        if not want.actor or (behind is not None and _is(behind, want.actor)):
            yield step


def _is(actor: Actor, said: str) -> bool:
    names = (actor.kind, actor.name, f"{actor.kind}:{actor.name}")
    return said.casefold() in (name.casefold() for name in names)
