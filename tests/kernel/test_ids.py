"""Ids that sort by time and are typed by their end."""

from __future__ import annotations

import re
import uuid

from hypothesis import given
from hypothesis import strategies as st

from preflights_es.kernel import ids

MILLISECONDS = st.integers(0, 2**48 - 1)
ENTROPY = st.binary(min_size=10, max_size=10)


@given(MILLISECONDS, ENTROPY)
def test_an_id_is_laid_out_as_rfc_9562_says(at: int, entropy: bytes) -> None:
    made = ids.uuid7(at, entropy)
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", made
    )
    parsed = uuid.UUID(made)
    assert str(parsed) == made
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert parsed.int >> 80 == at
    assert ids.milliseconds(made) == at


@given(MILLISECONDS, ENTROPY)
def test_every_random_bit_but_the_six_fixed_ones_is_kept(at: int, entropy: bytes) -> None:
    free = (1 << 80) - 1 & ~(0xF << 76) & ~(0x3 << 62)
    made = uuid.UUID(ids.uuid7(at, entropy)).int
    assert made & free == int.from_bytes(entropy, "big") & free


def test_the_example_of_rfc_9562_is_met() -> None:
    # RFC 9562, appendix A.6: 2022-02-22 14:22:22 -05:00, rand_a 0xcc3, rand_b 0x18c4dc0c0c07398f.
    entropy = (0x0CC3 << 64 | 0x18C4DC0C0C07398F).to_bytes(10, "big")
    assert ids.uuid7(0x017F22E279B0, entropy) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


@given(MILLISECONDS, MILLISECONDS, ENTROPY, ENTROPY)
def test_ids_sort_by_time(a: int, b: int, first: bytes, second: bytes) -> None:
    earlier, later = sorted((a, b))
    if earlier < later:
        assert ids.uuid7(earlier, first) < ids.uuid7(later, second)


def test_a_time_beyond_the_field_does_not_spill_over() -> None:
    assert ids.uuid7(2**48 + 5, bytes(10)) == ids.uuid7(5, bytes(10))
    assert ids.uuid7(-5, bytes(10)) == ids.uuid7(0, bytes(10))


@given(MILLISECONDS, MILLISECONDS, ENTROPY, ENTROPY)
def test_ids_go_on_as_a_clock_steps_back(now: int, then: int, first: bytes, second: bytes) -> None:
    made, last = ids.uuid7(now, first), ids.uuid7(then, second)
    found = ids.keep_id_ascending(made, last)
    assert uuid.UUID(found).version == 7
    assert ids.decision_uid(found) == ids.decision_uid(made)
    if made > last or then == 2**48 - 1:
        assert found == made
    else:
        assert found > last
        assert ids.milliseconds(found) == then + 1


def test_what_is_no_id_is_nothing_to_go_on_from() -> None:
    assert ids.keep_id_ascending("01", "by hand") == "01"


@given(MILLISECONDS, ENTROPY)
def test_what_people_type_is_an_end_of_the_id(at: int, entropy: bytes) -> None:
    made = ids.uuid7(at, entropy)
    assert made.endswith(ids.short_session(made))
    assert made.endswith(ids.decision_uid(made))
    assert ids.decision_uid(made).endswith(ids.short_session(made))
    assert len(ids.short_session(made)) == ids.SHORT == 8
    assert re.fullmatch(r"[0-9a-f]{12}", ids.decision_uid(made))
    assert ids.TYPED_MIN <= ids.SHORT
