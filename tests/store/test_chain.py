"""What the chain finds, and what it cannot find."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.events import ERASED_TAG
from preflights_es.kernel.ports import Stored
from preflights_es.store.stored_events import (
    can_follow_head,
    digest_payload,
    group_events_by_session,
    hash_event_link,
    sealed,
    stream_prefix,
    verified,
)
from tests.each import each
from tests.fixed import NOON, PROJECT
from tests.store.given import (
    WORKFLOW,
    Salt,
    batch,
    chain_of,
    conversation,
    erased,
    heard,
    resealed,
    said,
    session_id,
)


def found(events: list[Stored], head: bytes | None = None) -> LogDamaged:
    with pytest.raises(LogDamaged) as caught:
        verified(events, head)
    return caught.value


def altered(events: list[Stored], at: int, /, **changes: Any) -> list[Stored]:
    return [replace(e, **changes) if e.version == at else e for e in events]


# 1. What verifies ----------------------------------------------------------------------------


def test_what_was_sealed_verifies_whole_in_part_and_behind_a_head() -> None:
    events = conversation()
    assert verified(events) is events
    assert verified(events, events[-1].hash) is events
    assert verified(events, events[2].hash) is events, "it grew after its head was read"
    # Documented in docs/specs/log.md: to find that a tail was cut takes a head or a checkpoint.
    assert len(verified(events[:4])) == 4
    assert verified([]) == []
    last = events[-1]
    more = batch(1, said("four", "d"), heard("four"))
    more = replace(more, expected_version=last.version, expected_hash=last.hash)
    later = [*events, *sealed(more, NOON + 1, Salt())]
    assert verified(later, later[-1].hash) is later


# 2. Fields -----------------------------------------------------------------------------------

OF_THE_ENVELOPE = {
    "type": "toy.heard.v2",
    "recorded_at": NOON + 1,
    "input_id": "forged",
    "actor_kind": "user",
    "decider": "toy/2",
}


@each("version", range(1, 7))
@each("field", OF_THE_ENVELOPE)
def test_a_changed_field_of_the_envelope_is_found(version: int, field: str) -> None:
    events = conversation()
    was = getattr(events[version - 1], field)
    to = "agent" if was == OF_THE_ENVELOPE[field] else OF_THE_ENVELOPE[field]
    assert found(altered(events, version, **{field: to})).version == version


@each("field", ["input_id", "actor_kind"])
@each(("version", "to"), [(1, None), (1, ""), (2, "")])
def test_absent_and_empty_are_not_the_same(version: int, field: str, to: str | None) -> None:
    assert found(altered(conversation(), version, **{field: to})).version == version


@each("field", ["session_id", "project", "workflow"])
@each("version", range(1, 7))
def test_an_event_or_a_whole_stream_of_another_name_is_found(version: int, field: str) -> None:
    assert found(altered(conversation(), version, **{field: "elsewhere"})).version == version


@each("field", ["session_id", "project", "workflow"])
def test_a_whole_stream_under_another_name_is_found_at_its_head(field: str) -> None:
    assert found([replace(event, **{field: "elsewhere"}) for event in conversation()]).version == 1
    damage = found([replace(event, **{field: 7}) for event in conversation()])
    assert "its head's values are of another kind" in str(damage)
    assert damage.version == 1


@each("version", range(1, 7))
def test_a_changed_payload_is_found(version: int) -> None:
    damage = found(altered(conversation(), version, data=b'{"text":"forged"}'))
    assert (damage.version, damage.found) == (version, "its payload was changed")


@each("version", range(1, 7))
@each("field", ["salt", "digest", "hash"])
def test_a_changed_link_is_found(version: int, field: str) -> None:
    events = conversation()
    was: bytes = getattr(events[version - 1], field)
    flipped = bytes([was[0] ^ 1]) + was[1:]
    damage = found(altered(events, version, **{field: flipped}))
    assert damage.version == version


def test_a_payload_changed_with_its_digest_is_found_and_with_its_hash_at_the_next_event() -> None:
    events = conversation()
    salt = events[2].salt
    assert salt is not None
    forged = b'{"text":"forged"}'
    event = replace(events[2], data=forged, digest=digest_payload(salt, forged))
    assert found([*events[:2], event, *events[3:]]).version == 3
    prefix = stream_prefix(session_id(1), PROJECT, WORKFLOW)
    linked = replace(event, hash=hash_event_link(events[1].hash, prefix, event))
    assert found([*events[:2], linked, *events[3:]]).version == 4


def test_bytes_cannot_move_between_two_fields() -> None:
    events = conversation()
    event = events[2]
    assert event.salt is not None
    assert event.data is not None
    salt, data = event.salt + event.data[:1], event.data[1:]
    assert digest_payload(salt, data) == event.digest
    assert found(altered(events, 3, salt=salt, data=data)).version == 3
    moved = altered(events, 2, type="toy.heard.v", decider="1toy/1")
    assert found(moved).version == 2


@given(st.integers(1, 6), st.sampled_from(["data", "salt", "digest", "hash"]), st.data())
def test_any_flipped_bit_is_found(version: int, field: str, data: st.DataObject) -> None:
    events = conversation()
    was: bytes = getattr(events[version - 1], field)
    at = data.draw(st.integers(0, len(was) * 8 - 1))
    flipped = bytearray(was)
    flipped[at // 8] ^= 1 << at % 8
    assert found(altered(events, version, **{field: bytes(flipped)})).version == version


# 3. Order ------------------------------------------------------------------------------------


@each("version", range(1, 6))
def test_a_deleted_event_is_found_even_where_the_others_closed_ranks(version: int) -> None:
    left = [e for e in conversation() if e.version != version]
    assert found(left).version == version
    assert found([replace(e, version=n) for n, e in enumerate(left, 1)]).version == version


@each("at", range(7))
def test_an_inserted_event_is_found(at: int) -> None:
    events = conversation()
    forged = chain_of(said("forged", "z"))[0]
    made = [*events[:at], forged, *events[at:]]
    numbered = [replace(e, version=n) for n, e in enumerate(made, 1)]
    # Put in front of all others it is a chain of its own, to which the next one does not belong.
    assert found(numbered).version == max(at + 1, 2 if at == 0 else 1)


@each("at", range(5))
def test_swapped_events_are_found(at: int) -> None:
    events = conversation()
    events[at], events[at + 1] = events[at + 1], events[at]
    assert found(events).version == at + 1
    assert found([replace(e, version=n) for n, e in enumerate(events, 1)]).version == at + 1


@each("left", range(6))
def test_a_tail_that_was_cut_is_found_against_the_head(left: int) -> None:
    events = conversation()
    assert found(events[:left], events[-1].hash).version == max(left, 1)


def test_an_event_of_another_session_is_found_and_a_chain_made_anew_by_its_head() -> None:
    events = conversation()
    forged = b'{"text":"forged"}'
    anew = resealed(altered(events, 3, data=forged))
    assert verified(anew) is anew
    assert found(anew, events[-1].hash).version == 6
    twin = chain_of(*(said("ONE", "a"), heard("one"), said("two", "b"), heard("two")))
    assert twin[2].digest == events[2].digest
    assert found([*events[:2], twin[2], *events[3:]]).version == 3
    events[2] = chain_of(*(said(f"{n}", f"{n}") for n in range(6)), number=2)[2]
    assert found(events).version == 3


# 4. Erasure ----------------------------------------------------------------------------------


def _gone(events: list[Stored], *versions: int) -> list[Stored]:
    return [
        replace(e, data=None, salt=None) if e.version in versions else e
        for e in events  # the digest stays, and with it the chain
    ]


def test_an_erasure_covers_no_other_change() -> None:
    damage = found(_gone(conversation(), 3))
    assert (damage.version, damage.found) == (3, "its payload is gone without an erasure")
    events = _gone(chain_of(said("one", "a"), heard("one"), erased()), 1)
    assert found(altered(events, 2, data=b'{"text":"forged"}')).version == 2
    assert found(altered(events, 1, digest=bytes(32))).version == 1
    assert found(altered(events, 1, recorded_at=0)).version == 1


def test_payloads_are_gone_only_where_an_erasure_covers_them_and_it_covers_not_itself() -> None:
    events = chain_of(said("one", "a"), heard("one"), erased())
    assert events[2].type == ERASED_TAG
    gone = _gone(events, 1, 2)
    assert verified(gone, events[-1].hash) is gone
    damage = found(_gone(events, 1, 2, 3))
    assert (damage.version, damage.found) == (3, "its payload is gone without an erasure")
    for changes in ({"salt": None}, {"salt": None, "data": b'{"text":"forged"}'}, {"data": None}):
        damage = found(altered(events, 2, **changes))
        assert (damage.version, damage.found) == (2, "its salt does not go with its payload")


# 5. Values of the wrong kind -----------------------------------------------------------------


@each(
    "changes",
    [
        {"type": b"toy.heard.v1"},
        {"type": None},
        {"type": 7},
        {"recorded_at": "yesterday"},
        {"recorded_at": None},
        {"recorded_at": 1.5},
        {"recorded_at": 2**63},
        {"input_id": 7},
        {"actor_kind": b"user"},
        {"decider": 7},
        {"digest": "00"},
        {"digest": None},
        {"hash": "00"},
        {"hash": None},
        {"data": 7},
        {"data": "text"},
        {"salt": "0123456789abcdef"},
        {"salt": 16},
        {"version": "2"},
        {"version": None},
        {"version": 2**64},
    ],
)
def test_a_value_of_the_wrong_kind_is_damage_and_no_crash(changes: dict[str, Any]) -> None:
    assert found(altered(conversation(), 2, **changes)).version == 2


# 6. Putting behind ---------------------------------------------------------------------------


def test_an_event_follows_the_head_it_was_sealed_behind_and_no_other() -> None:
    events = conversation()
    assert can_follow_head(events[0], None, 0)
    assert can_follow_head(events[2], events[1].hash, 2)
    assert not can_follow_head(events[2], events[0].hash, 2)
    assert not can_follow_head(events[2], events[1].hash, 1)
    assert not can_follow_head(events[2], None, 2)
    assert not can_follow_head(events[0], events[0].hash, 0)


def test_events_are_told_apart_by_session_in_the_order_of_their_first() -> None:
    one, two = conversation(), chain_of(said("hi", "x"), heard("hi"), number=2)
    mixed = [two[0], one[0], one[1], two[1], *one[2:]]
    streams = group_events_by_session(mixed)
    assert list(streams) == [session_id(2), session_id(1)]
    assert streams == {session_id(1): one, session_id(2): two}
