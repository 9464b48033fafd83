"""`audit`: every step of a session, as a view over its events; it is stored nowhere.

A table with a row an event would double the log to say what the log says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, get_args

import msgspec

from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import Event, Input
from preflights_es.kernel.lead import ResponseAccepted, ResponseRejected
from preflights_es.kernel.ports import Stored
from preflights_es.projections.projection import Read

SpeakerKind = Literal["user", "agent", "script", "model"]
KINDS: Final = get_args(SpeakerKind)
OF_A_MODEL: Final = tuple(
    tag.rpartition(".")[0] + "." for tag in (CompletionReceived.tag, CompletionFailed.tag)
)
"""How the tags begin, of any version, of what came from a provider."""


class Model(msgspec.Struct, frozen=True):
    """Who was asked, or answered, where that was a provider."""

    provider: str
    model: str


class TrailActor(msgspec.Struct, frozen=True):
    """Who is behind an Input.

    The log has three kinds of actors; what a model said is recorded by a script, and is not its
    word: a fourth.
    """

    kind: SpeakerKind
    name: str = ""
    """Of a model, as its provider calls it. Empty when it was not given, and after an erasure."""


class LoggedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One event, and who is behind it."""

    stored: Stored
    event: Event | None
    """None where it was erased, or cannot be decoded."""
    role: Literal["input", "decision"]
    follows: int | None
    """Version of the Input that a Decision follows from."""
    actor: TrailActor | None
    """Of an Input. Of one that was erased the kind is left: the name went with the payload."""
    model: Model | None
    """Of a request, and of what came of it."""
    damage: str
    """Why the session does not verify; empty where it does."""


def steps(read: Read) -> Iterator[LoggedStep]:
    """Every event of a session, in order."""
    return steps_of(read.stored, read.events, read.why if read.trouble == "damaged" else "")


def steps_of(
    stored: Sequence[Stored], events: Sequence[Event | None], damage: str
) -> Iterator[LoggedStep]:
    """The same, also of a session whose code is not here.

    Args:
        events: what each is; None where it was erased, or cannot be decoded.
        damage: why the session does not verify.
    """
    requests: dict[str, Model] = {}
    follows: int | None = None
    for one, event in zip(stored, events, strict=True):
        is_input = one.input_id is not None
        if isinstance(event, CompletionRequested):
            requests[event.call] = Model(event.provider, event.model)
        model = _model_behind_event(event, requests)
        yield LoggedStep(
            stored=one,
            event=event,
            role="input" if is_input else "decision",
            follows=None if is_input else follows,
            actor=_actor_behind_event(one, event, model) if is_input else None,
            model=model,
            damage=damage,
        )
        if is_input:
            follows = one.version


def speaker_kind_of_event(one: Stored) -> SpeakerKind | None:
    """Who is behind an Input, as far as its envelope says; None for a Decision."""
    match one.actor_kind:
        case "user" | "agent" | "script" as found:
            return "model" if str(one.type).startswith(OF_A_MODEL) else found
        case _:
            return None


def _actor_behind_event(one: Stored, event: Event | None, model: Model | None) -> TrailActor | None:
    actor = event.actor if isinstance(event, Input) else None
    found = speaker_kind_of_event(one) or (actor.kind if actor else None)
    if found is None:
        return None
    if found == "model":
        return TrailActor(found, model.model if model else "")
    return TrailActor(found, actor.name if actor else "")


def _model_behind_event(event: Event | None, requests: dict[str, Model]) -> Model | None:
    match event:
        case CompletionRequested():
            return requests[event.call]
        case ResponseAccepted() | ResponseRejected():
            return requests.get(event.call)
        case CompletionReceived() | CompletionFailed():
            asked = requests.get(event.call, Model("", ""))
            return Model(asked.provider, event.model or asked.model)
        case _:
            return None


class TrailFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which steps of a trail are wanted."""

    since: int | None = None
    """Microseconds since 1970 UTC, by the store's clock; earlier steps are left out."""
    until: int | None = None
    """Later ones are left out."""
    actor: str = ""
    """A kind, a name, or `kind:name`, in any case: Inputs of whom that is, and what followed."""
    upto: int | None = None
    """The last version that is wanted."""


def filter_wanted_steps(found: Iterable[LoggedStep], want: TrailFilter) -> Iterator[LoggedStep]:
    """Those of a session's steps that are wanted."""
    is_theirs = not want.actor
    for step in found:
        if want.actor and step.role == "input":
            is_theirs = is_by(step, want.actor)
        if want.upto is not None and step.stored.version > want.upto:
            return
        if is_theirs and _is_within_period(step.stored.recorded_at, want):
            yield step


def _is_within_period(at: object, want: TrailFilter) -> bool:
    """Whether a step is of the time that is wanted; damage that has no time is hidden by none."""
    if not isinstance(at, int):
        return True
    return (want.since is None or at >= want.since) and (want.until is None or at <= want.until)


def is_by(step: LoggedStep, who: str) -> bool:
    """Whether the actor with this kind or name is behind an Input.

    Args:
        who: a kind, a name, or `kind:name`, in any case. A word that is a kind is never read as a
            name: `kind:name` finds an actor called that. A model has its own name and its
            provider's.
    """
    if step.actor is None:
        return False
    said, found = who.casefold(), step.actor
    names = [found.name.casefold()]
    if step.model is not None:
        names.append(step.model.provider.casefold())
    kind_said, colon, name_said = said.partition(":")
    if kind_said not in KINDS:
        return said in names
    return kind_said == found.kind and (not colon or name_said.strip() in names)
