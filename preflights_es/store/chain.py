"""The hash chain over envelopes and payloads: how it is made, and where it breaks.

    digest = sha256(salt || data)
    hash   = sha256(previous hash || envelope || digest)

The encoding of the envelope is normative in docs/specs/log.md, with test vectors. It finds a
payload changed, an event removed, inserted or moved; a chain that was recomputed as a whole is
found only against a checkpoint kept elsewhere.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final

from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.events import ERASED_TAG
from preflights_es.kernel.ids import SALT_BYTES
from preflights_es.kernel.ports import AppendBatch, Stored

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
    """Of an event's type, which a log repeats as it does `_ending`."""
    return _frame_hashed_text(value)


@lru_cache(maxsize=4096, typed=True)
def _encode_envelope_ending(actor_kind: str | None, decider: str) -> bytes:
    """What stands behind the Input's id."""
    return _frame_hashed_text(actor_kind) + _frame_hashed_text(decider)


@lru_cache(maxsize=64)
def stream_prefix(session_id: str, project: str, workflow: str) -> bytes:
    """The part of the envelope that all events of a session share."""
    return (
        _frame_hashed_text(FORMAT)
        + _frame_hashed_text(session_id)
        + _frame_hashed_text(project)
        + _frame_hashed_text(workflow)
    )


def digest_payload(salt: bytes, data: bytes) -> bytes:
    """The digest of a payload with its salt."""
    return sha256(salt + data).digest()


def hash_event_link(previous: bytes, prefix: bytes, event: Stored) -> bytes:
    """The hash of an event, given that of the one before."""
    envelope = _times(event.version) + _tag(event.type) + _signed(event.recorded_at)
    envelope += _frame_hashed_text(event.input_id) + _encode_envelope_ending(
        event.actor_kind, event.decider
    )
    return _hash_link_parts(previous, prefix, envelope, event.digest)


def _hash_link_parts(previous: bytes, prefix: bytes, envelope: bytes, digest: bytes) -> bytes:
    return sha256(b"".join((previous, prefix, envelope, digest))).digest()


def can_follow_head(first: Stored, head: bytes | None, version: int) -> bool:
    """Whether an event can be put behind a head; None where the session has none yet."""
    prefix = stream_prefix(first.session_id, first.project, first.workflow)
    return (
        first.version == version + 1
        and hash_event_link(head or GENESIS, prefix, first) == first.hash
    )


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
        envelope = (
            _times(version)
            + _tag(type_)
            + at
            + _frame_hashed_text(input_id)
            + _encode_envelope_ending(kind, decider)
        )
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
        raise LogDamaged(
            f"session {first.session_id}",
            len(events),
            "it is the last one, but not the session's head",
        )
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
