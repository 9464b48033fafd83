"""Canonical JSON, and where two values differ."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.kernel.events import Actor
from preflights_es.kernel.json import (
    ABSENT,
    NESTED_MAX,
    canonical_json,
    decode_plain_json,
    differences,
    is_too_deep,
)
from tests.each import each

# Adding 0.0 makes one zero of two: they are equal, though their texts differ.
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("a~/1", max_size=3), inner),
    max_leaves=10,
)


def found(recorded: Any, computed: Any) -> list[tuple[str, Any, Any]]:
    return list(differences(recorded, computed))


@each(
    ("recorded", "computed", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [("/a", 1, 2)]),
        (1, 2, [("", 1, 2)]),
        ("1", 1, [("", "1", 1)]),
        ({"a": 1, "b": 2}, {"b": 3, "a": 2}, [("/a", 1, 2), ("/b", 2, 3)]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [("/a/b/1", 2, 3)]),
        ([1, 2], [1], [("/1", 2, ABSENT)]),
        ([], [[]], [("/0", ABSENT, [])]),
        (["A", "B"], ["N", "A", "B"], [("/0", ABSENT, "N")]),
        (
            [{"k": 1}, "A", "B"],
            ["A", "N", "B", 1],
            [("/0", {"k": 1}, ABSENT), ("/1", ABSENT, "N"), ("/3", ABSENT, 1)],
        ),
        (
            ["A", "A"],
            ["B", "A", "A", "A"],
            [("/0", "A", "B"), ("/2", ABSENT, "A"), ("/3", ABSENT, "A")],
        ),
        ({"a": 1}, {}, [("/a", 1, ABSENT)]),
        ({}, {"a": None}, [("/a", ABSENT, None)]),
        ({"a": None}, {"a": 0}, [("/a", None, 0)]),
        ({"x": 1, "y": 1}, {"z": 1, "x": 2}, [("/x", 1, 2), ("/y", 1, ABSENT), ("/z", ABSENT, 1)]),
        ({"a": [1]}, {"a": {"0": 1}}, [("/a", [1], {"0": 1})]),
    ],
)
def test_every_difference_stands_at_its_pointer(
    recorded: Any, computed: Any, expected: list[tuple[str, Any, Any]]
) -> None:
    assert found(recorded, computed) == expected


@each(
    ("key", "pointer"),
    [
        ("a/b", "/a~1b"),
        ("a~b", "/a~0b"),
        ("~1", "/~01"),
        ("~0/", "/~00~1"),
        ("", "/"),
        ("0", "/0"),
        ("ü \n", "/ü \n"),
    ],
)
def test_tilde_and_slash_are_escaped_in_a_pointer(key: str, pointer: str) -> None:
    assert found({key: 1}, {key: 2}) == [(pointer, 1, 2)]
    assert found({"in": [{key: 1}]}, {"in": [{}]}) == [(f"/in/0{pointer}", 1, ABSENT)]


def test_a_number_of_another_type_differs() -> None:
    assert found({"a": 1}, {"a": 1.0}) == [("/a", 1, 1.0)]
    assert found({"a": 1}, {"a": True}) == [("/a", 1, True)]
    assert found([0], [False]) == [("/0", 0, False)]


@given(PLAIN)
def test_a_value_differs_from_itself_nowhere(value: Any) -> None:
    assert found(value, value) == []
    assert (
        found(decode_plain_json(canonical_json(value)), decode_plain_json(canonical_json(value)))
        == []
    )


def resolved(value: Any, pointer: str) -> Any:
    """What a JSON Pointer points at (RFC 6901); ABSENT where there is nothing."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError):
            return ABSENT
    return value


@given(PLAIN, PLAIN)
def test_a_pointer_leads_to_each_value_that_is_there(recorded: Any, computed: Any) -> None:
    for pointer, a, b in found(recorded, computed):
        assert a is ABSENT or resolved(recorded, pointer) == a
        assert b is ABSENT or resolved(computed, pointer) == b
        assert a is not b
        assert type(a) is not type(b) or a != b


@given(PLAIN, PLAIN)
def test_what_differs_nowhere_has_the_same_bytes(recorded: Any, computed: Any) -> None:
    assert (found(recorded, computed) == []) == (_sorted(recorded) == _sorted(computed))


def _sorted(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def test_the_canonical_form_keeps_the_order_of_the_class_and_has_no_blanks() -> None:
    assert canonical_json(Actor("user", "Ä b")) == '{"kind":"user","name":"Ä b"}'.encode()


def test_a_lone_surrogate_is_not_encoded() -> None:
    with pytest.raises(UnicodeEncodeError):
        canonical_json("\ud800")


@each("text", [b"", b"{", b"NaN", b"[1,]", b"'a'", b"1 2"])
def test_what_is_not_json_is_not_decoded(text: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_plain_json(text)


@each(("opens", "closes"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[0,{"[":', b"}]")])
def test_what_nests_deeper_than_the_limit_is_too_deep(opens: bytes, closes: bytes) -> None:
    most = NESTED_MAX // (opens.count(b"{") + opens.count(b"[", 0, 1))
    for wide in (b"1", b'"' + b"[" * 500 + rb"\"[{" + b'"'):
        assert not is_too_deep(opens * most + wide + closes * most)
        assert is_too_deep(opens * (most + 1) + wide + closes * (most + 1))
    assert not is_too_deep(b"[" + b",".join([b"[{}]"] * 500) + b"]")


def test_absent_says_so() -> None:
    assert repr(ABSENT) == "(absent)"
