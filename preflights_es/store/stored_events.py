"""An event at rest: its tag and its bytes, and the hash chain over envelopes and payloads.

The encoding of the envelope is normative in docs/specs/log.md.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, reduce
from hashlib import sha256
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
from preflights_es.kernel.events import ARTIFACT_EVENTS, ERASED_TAG, SESSION_EVENTS, Event, Input
from preflights_es.kernel.ids import SALT_BYTES
from preflights_es.kernel.ports import AppendBatch, Draft, Stored
from preflights_es.kernel.session import Decider
from preflights_es.kernel.text import late_pattern

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
    (late_pattern(r"Object missing required field `(.+?)`"), r"no field `\1`"),
    (late_pattern(r"Object contains unknown field `(.+?)`"), r"unknown field `\1`"),
    (late_pattern(r" - at `\$\.?(.+?)`"), r" at `\1`"),
)


def mismatch(error: Exception) -> str:
    """Why bytes are no event of a class, in words that name the field."""
    return reduce(lambda text, pair: pair[0].sub(pair[1], text), _MISMATCHES, str(error))


def _newer(stored: Stored, found: str) -> LogFromFuture:
    where = f"session {stored.session_id}, event {stored.version}"
    by = f"another version of the workflow {stored.workflow}"
    cure = "upgrade preflights, or the package that brings the workflow"
    return LogFromFuture(f"{where}: written by {by} ({found}): {cure}")


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


FORMAT: Final = "preflights.event/1"
HASH_BYTES: Final = 32
GENESIS: Final = bytes(HASH_BYTES)

_NONE = struct.pack(">I", 0xFFFFFFFF)
_times = struct.Struct(">Q").pack
_signed = struct.Struct(">q").pack
_length = struct.Struct(">I").pack


def _frame_hashed_text(value: str | None) -> bytes:
    """Length in bytes as an unsigned 32 bit integer, then UTF-8; all ones for None."""
    if value is None:
        return _NONE
    raw = value.encode()
    return _length(len(raw)) + raw


@lru_cache(maxsize=4096, typed=True)
def _tag(value: str) -> bytes:
    """Of an event's type, which a log repeats as it does the ending."""
    return _frame_hashed_text(value)


@lru_cache(maxsize=4096, typed=True)
def _encode_envelope_ending(actor_kind: str | None, decider: str) -> bytes:
    """What stands behind the Input's id."""
    return _frame_hashed_text(actor_kind) + _frame_hashed_text(decider)


@lru_cache(maxsize=64)
def stream_prefix(session_id: str, project: str, workflow: str) -> bytes:
    """The part of the envelope that all events of a session share."""
    return b"".join(map(_frame_hashed_text, (FORMAT, session_id, project, workflow)))


def digest_payload(salt: bytes, data: bytes) -> bytes:
    """The digest of a payload with its salt."""
    return sha256(salt + data).digest()


def hash_event_link(previous: bytes, prefix: bytes, event: Stored) -> bytes:
    """The hash of an event, given that of the one before."""
    envelope = _times(event.version) + _tag(event.type) + _signed(event.recorded_at)
    envelope += _frame_hashed_text(event.input_id)
    envelope += _encode_envelope_ending(event.actor_kind, event.decider)
    return _hash_link_parts(previous, prefix, envelope, event.digest)


def _hash_link_parts(previous: bytes, prefix: bytes, envelope: bytes, digest: bytes) -> bytes:
    return sha256(b"".join((previous, prefix, envelope, digest))).digest()


def can_follow_head(first: Stored, head: bytes | None, version: int) -> bool:
    """Whether an event can be put behind a head; None where the session has none yet."""
    prefix = stream_prefix(first.session_id, first.project, first.workflow)
    is_next = first.version == version + 1
    return is_next and hash_event_link(head or GENESIS, prefix, first) == first.hash


def sealed(batch: AppendBatch, now: int, salt: Callable[[], bytes]) -> tuple[Stored, ...]:
    """The events of a batch as they will be stored."""
    session_id, project, workflow = batch.session_id, batch.project, batch.workflow
    prefix = stream_prefix(session_id, project, workflow)
    previous, at = batch.expected_hash or GENESIS, _signed(now)
    events: list[Stored] = []
    for version, draft in enumerate(batch.events, batch.expected_version + 1):
        type_, input_id, data, grain = draft.type, draft.input_id, draft.data, salt()
        kind, decider, digest_ = draft.actor_kind, draft.decider, sha256(grain + data).digest()
        # As `link` has it, which would read all of this once more from the event.
        envelope = _times(version) + _tag(type_) + at + _frame_hashed_text(input_id)
        envelope += _encode_envelope_ending(kind, decider)
        previous = _hash_link_parts(previous, prefix, envelope, digest_)
        own = (version, type_, now, input_id, kind, decider, data, grain, digest_, previous)
        events.append(Stored(session_id, project, workflow, *own))
    return tuple(events)


def verified(events: Sequence[Stored], head: bytes | None = None) -> Sequence[Stored]:
    """The same events, every link checked, from the first of the session on.

    Args:
        head: the hash that the session's head bore when it was read, where there is one to compare
            with; a session may have grown since.

    Raises:
        LogDamaged: names the first event that does not fit.
    """
    if not events:
        if head is not None:
            raise LogDamaged("the session", 1, "missing: only the head is left")
        return events
    first = events[0]
    prefix = _prefix(first)
    previous = GENESIS
    covered = erased_before(events)
    for expected, event in enumerate(events, 1):
        try:
            trouble = _find_event_trouble(event, first, expected, expected < covered)
            previous = hash_event_link(previous, prefix, event)
        except (AttributeError, TypeError, struct.error) as error:
            # A database keeps what it is given, whatever the column's type says.
            trouble = f"its values are of another kind: {error}"
        if trouble is None and previous != event.hash:
            trouble = "its hash does not follow from the one before"
        if trouble is not None:
            raise LogDamaged(f"session {first.session_id}", expected, trouble)
    if head not in (None, previous) and all(event.hash != head for event in events):
        trouble = "it is the last one, but not the session's head"
        raise LogDamaged(f"session {first.session_id}", len(events), trouble)
    return events


def _prefix(first: Stored) -> bytes:
    try:
        return stream_prefix(first.session_id, first.project, first.workflow)
    except AttributeError as error:
        found = f"its head's values are of another kind: {error}"
        raise LogDamaged(f"session {first.session_id}", 1, found) from error


def erased_before(events: Sequence[Stored]) -> int:
    """The place of the last erasure, from 1: payloads in front of it may be gone; 0 without one."""
    return max((n for n, event in enumerate(events, 1) if event.type == ERASED_TAG), default=0)


def erased(events: Sequence[Stored]) -> set[int]:
    """Versions of the events whose payloads an erasure of their session took."""
    covered = max(erased_before(events) - 1, 0)
    return {one.version for one in events[:covered] if one.data is None}


def _find_event_trouble(event: Stored, first: Stored, expected: int, covered: bool) -> str | None:
    """Why an event cannot stand at its place, whatever stood before it.

    Args:
        covered: whether an erasure stands behind it: payload and salt may both be gone.
    """
    if event.version != expected:
        return f"missing: the next one is {event.version}"
    if (
        event.session_id != first.session_id
        or event.project != first.project
        or event.workflow != first.workflow
    ):
        return "it belongs to another session"
    salt, data = event.salt, event.data
    if data is None and salt is None:
        return None if covered else "its payload is gone without an erasure"
    if data is None or salt is None or len(salt) != SALT_BYTES:
        return "its salt does not go with its payload"
    if sha256(salt + data).digest() != event.digest:
        return "its payload was changed"
    return None


def group_events_by_session(events: Iterable[Stored]) -> dict[str, list[Stored]]:
    """Events by session, in the order in which each first appears."""
    streams: dict[str, list[Stored]] = {}
    for event in events:
        streams.setdefault(event.session_id, []).append(event)
    return streams
