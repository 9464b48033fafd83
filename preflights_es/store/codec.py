"""Between events and bytes: tags, decoders, and upcasters for tags of the past."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, Final

from preflights_es.kernel import json
from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.errors import (
    ErasedSession,
    LogDamaged,
    LogFromFuture,
    PreflightsError,
    UnreadableEvent,
    UnwritableEvent,
)
from preflights_es.kernel.events import ARTIFACT_EVENTS, SESSION_EVENTS, Event, Input
from preflights_es.kernel.ports import Draft, Stored
from preflights_es.kernel.session import Decider

Decode = Callable[[bytes], Event]

_NO_PAYLOAD = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What an upcaster raises on JSON that is no payload of its tag."""


_SHARED_EVENTS: Final = (*SESSION_EVENTS, *COMPLETION_EVENTS, *ARTIFACT_EVENTS)


class Codec:
    """The events of one workflow, and of the kernel, by tag."""

    def __init__(self, decider: Decider[Any]) -> None:
        self.decider = decider
        self._decoders = _Decoders((*_SHARED_EVENTS, *decider.events))
        self._upcasters = decider.upcasters
        self._deciders = {decider.version}

    def draft(self, event: Event, input_id: str | None = None) -> Draft:
        """An event ready to be appended; an Input needs its id.

        Raises:
            UnwritableEvent: it could not be read back.
        """
        return self.read_back(event, input_id)[0]

    def read_back(self, event: Event, input_id: str | None = None) -> tuple[Draft, Event]:
        """An event ready to be appended, and the event as the log will give it back.

        A class checks nothing when it is made, and what is appended is never changed: so it is read
        before it is written.

        Raises:
            UnwritableEvent: it cannot be read back.
        """
        decode = self._decoders[event.tag]
        if decode is None:
            raise self._unwritable(event, "the workflow does not list its class among its events")
        try:
            data = json.canonical_json(event)
            found = decode(data)
        except (TypeError, ValueError, RecursionError) as error:
            raise self._unwritable(event, mismatch(error)) from error
        actor = found.actor.kind if isinstance(found, Input) else None
        return Draft(event.tag, data, self.decider.version, input_id, actor_kind=actor), found

    def _unwritable(self, event: Event, why: str) -> UnwritableEvent:
        made_by = type(event) if isinstance(event, Input) else self.decider.decide
        return UnwritableEvent(self.decider.name, event.tag or type(event).__name__, why, made_by)

    def upcast(self, stored: Stored) -> tuple[str, bytes]:
        """Tag and payload in today's form; the same bytes for what is of today.

        Raises:
            ErasedSession: the payload was erased.
            LogDamaged: its upcaster does not know the payload's shape.
        """
        tag, data = stored.type, stored.data
        if data is None:
            raise ErasedSession(stored.session_id)
        if tag not in self._upcasters:
            return tag, data
        try:
            payload = json.decode_plain_json(data)
            while tag in self._upcasters:
                tag, upcaster = self._upcasters[tag]
                payload = upcaster(payload)
        except _NO_PAYLOAD as error:
            raise _none(stored, stored.type, repr(error)) from error
        return tag, json.canonical_json(payload)

    def decode(self, stored: Stored) -> Event:
        """The event that a stored one holds.

        Raises:
            LogFromFuture: the tag is not known here, or the decider has a higher number.
            ErasedSession: the payload was erased.
            UnreadableEvent: it is not what the tag says; the caller has checked the chain.
            LogDamaged: it is no JSON.
        """
        if stored.decider not in self._deciders:
            self._check_decider(stored)
        if stored.data is None or stored.type in self._upcasters:
            return self.decode_payload(stored, *self.upcast(stored))
        return self.decode_payload(stored, stored.type, stored.data)

    def decode_payload(self, stored: Stored, tag: str, data: bytes) -> Event:
        """As `decode`, for a payload that is of today already."""
        decode = self._decoders[tag]
        if decode is None:
            raise _newer(stored, f"its tag {tag} is not known here")
        return _decode_event_payload(decode, stored, tag, data)

    def _check_decider(self, stored: Stored) -> None:
        """Remember a decider of today or before.

        Raises:
            LogFromFuture: rules that are not here yet decided it.
        """
        name, _, number = stored.decider.rpartition("/")
        ours, _, last = self.decider.version.rpartition("/")
        is_numbered = number.isdecimal() and last.isdecimal()
        if name == ours and is_numbered and int(number) > int(last):
            raise _newer(stored, f"decider {stored.decider}, this version has {ours}/{last}")
        self._deciders.add(stored.decider)


def shared_event(stored: Stored) -> Event | None:
    """An event that sessions of every workflow have, read without the code of one.

    None for an event of the workflow's own.

    Raises:
        ErasedSession, LogDamaged, UnreadableEvent: as of `Codec.decode`.
    """
    if stored.data is None:
        raise ErasedSession(stored.session_id)
    decode = _shared[stored.type]
    return decode and _decode_event_payload(decode, stored, stored.type, stored.data)


def _decode_event_payload(decode: Decode, stored: Stored, tag: str, data: bytes) -> Event:
    try:
        return decode(data)
    except (ValueError, RecursionError) as error:
        raise _explain_unreadable_payload(stored, tag, data, error) from error


_MISMATCHES: Final = (
    (re.compile(r"Object missing required field `(.+?)`"), r"no field `\1`"),
    (re.compile(r"Object contains unknown field `(.+?)`"), r"unknown field `\1`"),
    (re.compile(r" - at `\$\.?(.+?)`"), r" at `\1`"),
)


def mismatch(error: Exception) -> str:
    """Why bytes are no event of a class, in words that name the field."""
    return reduce(lambda text, pair: pair[0].sub(pair[1], text), _MISMATCHES, str(error))


def _newer(stored: Stored, found: str) -> LogFromFuture:
    where = f"session {stored.session_id}, event {stored.version}"
    return LogFromFuture(f"{where}: written by a newer Preflights ({found}): upgrade preflights")


def _explain_unreadable_payload(
    stored: Stored, tag: str, data: bytes, error: Exception
) -> PreflightsError:
    """Why a payload is no event of its class: it is no JSON, or JSON of another shape."""
    try:
        json.decode_plain_json(data)
    except (ValueError, RecursionError):
        return _none(stored, tag, error)
    return UnreadableEvent(
        session_id=stored.session_id,
        version=stored.version,
        workflow=stored.workflow,
        tag=tag,
        why=mismatch(error),
    )


def unambiguous(stored: Stored) -> None:
    """See that no name stands twice in an object of a payload, which `decode` takes time not to do.

    Raises:
        LogDamaged: one reader of it may find another value in it than the next.
    """
    if stored.data is not None and (name := json.repeated(stored.data)) is not None:
        raise _none(stored, stored.type, f"it has the name {name} twice")


def _none(stored: Stored, tag: str, why: object) -> LogDamaged:
    return LogDamaged(f"session {stored.session_id}", stored.version, f"not a {tag}: {why}")


class _Decoders(dict[str, Decode | None]):
    """By tag, each made when it is first used: a command meets a few of them."""

    def __init__(self, classes: Iterable[type[Event]]) -> None:
        self._classes = {cls.tag: cls for cls in classes}
        assert "" not in self._classes, "every event has a tag"

    def __missing__(self, tag: str) -> Decode | None:
        cls = self._classes.get(tag)
        made = self[tag] = None if cls is None else json.decoder(cls)
        return made


_shared: Final = _Decoders(_SHARED_EVENTS)
