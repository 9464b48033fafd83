"""Draws that a key decides."""

from __future__ import annotations

import struct
from collections import Counter
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.kernel.completions import Message
from preflights_es.words.simulation import (
    BELOW_MAX,
    GENERATION,
    Draws,
    begin_draw_key,
    framed,
    prompt_of,
)
from tests.each import each

ANY_TEXT = st.text(st.characters(), max_size=20)  # surrogates among them
MESSAGES = st.lists(
    st.builds(Message, st.sampled_from(["system", "user", "assistant"]), ANY_TEXT), max_size=4
)

# 1. Keys -------------------------------------------------------------------------------------


def lp(part: bytes) -> bytes:
    return struct.pack(">Q", len(part)) + part


def test_a_draw_is_the_digest_of_the_key_and_the_number_of_the_block() -> None:
    root = begin_draw_key("response", -42)
    root.update(prompt_of([Message("user", "hello")]))
    drawn = Draws(root)
    begin = lp(b"simllm/1") + lp(b"response") + lp(b"-2a") + lp(b"hello")
    blocks = [sha256(begin + struct.pack(">Q", i)).digest() for i in (0, 1)]
    expected = [n for block in blocks for n in struct.unpack(">4Q", block)]
    found = [drawn.hex() for _ in range(8)]
    assert found == [f"{n:016x}" for n in expected]
    assert found[:2] == ["4254568830d7487d", "066e4028f31c9adb"]  # as docs/simulator.md says


def test_the_generation_stands_in_every_key() -> None:
    assert Draws.of("a", "b").hex() == Draws(sha256(framed(GENERATION, "a", "b"))).hex()


@given(st.lists(ANY_TEXT, max_size=4), st.lists(ANY_TEXT, max_size=4))
def test_different_parts_have_different_encodings(one: list[str], other: list[str]) -> None:
    assert (framed(*one) == framed(*other)) == (one == other)


@given(MESSAGES, MESSAGES)
def test_other_conversations_are_other_prompts(one: list[Message], other: list[Message]) -> None:
    assert (prompt_of(one) == prompt_of(other)) == (one == other)


def test_seeds_of_any_size_and_sign_have_keys_of_their_own() -> None:
    seeds = (0, 1, -1, 42, -42, 2**64, -(2**64), 10**5000, -(10**5000), 2**64 + 42)
    assert len({begin_draw_key("response", seed).digest() for seed in seeds}) == len(seeds)


@each("seed", [True, False, 1.0, "1", None, b"1"])
def test_a_seed_that_is_no_whole_number_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="expected an int"):
        begin_draw_key("response", seed)


# 2. Draws ------------------------------------------------------------------------------------


def draws(name: object = "") -> Draws:
    return Draws.of("test", str(name))


def test_the_same_key_draws_the_same_and_another_draws_something_else() -> None:
    assert [draws(1).below(100) for _ in range(3)] == [draws(1).below(100)] * 3
    assert len({draws(i).hex() for i in range(1_000)}) == 1_000


def test_every_option_is_drawn_about_equally_often() -> None:
    drawn = draws()
    counts = Counter(drawn.below(7) for _ in range(14_000))
    assert sorted(counts) == list(range(7))
    expected = 2_000
    chi_squared = sum((found - expected) ** 2 / expected for found in counts.values())
    assert chi_squared < 22.5  # six degrees of freedom, one in a thousand


def test_a_number_between_two_ends_can_be_either() -> None:
    drawn = draws()
    assert {drawn.between(-1, 1) for _ in range(200)} == {-1, 0, 1}
    assert drawn.between(5, 5) == 5


def test_a_chance_of_nothing_and_of_everything_is_certain() -> None:
    drawn = draws()
    assert not any(drawn.chance(0.0) for _ in range(1_000))
    assert all(drawn.chance(1.0) for _ in range(1_000))
    assert all(0.0 <= drawn.unit() < 1.0 for _ in range(1_000))


def test_chance_keeps_its_probability() -> None:
    drawn = draws()
    happened = sum(drawn.chance(0.3) for _ in range(20_000))
    assert abs(happened - 6_000) < 4 * (20_000 * 0.3 * 0.7) ** 0.5


@each("options", [0, -1, BELOW_MAX + 1])
def test_there_must_be_something_to_choose_from(options: int) -> None:
    with pytest.raises(ValueError, match="options"):
        draws().below(options)


def test_nothing_can_be_picked_from_nothing() -> None:
    with pytest.raises(ValueError, match="options"):
        draws().pick(())


def test_weights_decide_how_often_and_zero_is_never() -> None:
    drawn = draws()
    counts = Counter(drawn.weighted("abc", (1, 0, 3)) for _ in range(4_000))
    assert counts["b"] == 0
    assert abs(counts["a"] - 1_000) < 4 * (4_000 * 0.25 * 0.75) ** 0.5


def test_a_sample_holds_different_ones_and_leaves_what_was_given() -> None:
    options = ["a", "b", "c", "d"]
    drawn = draws()
    samples = [tuple(drawn.sample(options, 2)) for _ in range(1_000)]
    assert options == ["a", "b", "c", "d"]
    assert len(set(samples)) == 12
    assert all(a != b for a, b in samples)


def test_a_sample_of_more_than_there_are_is_all_of_them() -> None:
    assert sorted(draws().sample("abc", 9)) == ["a", "b", "c"]
    assert draws().sample("", 2) == []
