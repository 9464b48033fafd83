"""Edits of JSON as text: the value is right, and every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.agents.agent_files import (
    UnclearJson,
    added,
    locate_json_value,
    parse_plain_json,
)
from tests.each import each

KEYS = st.text('ab"/*{,é', max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text('ab"\\/*, \n{}[]:\ud800', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)
BLANKS = st.sampled_from(["", " ", "\n", "\r\n", "  \n\t", "\t", "\r"])
SERVER = {"command": "p", "args": ["mcp"], "e": {}}
HOOK = {"matcher": "x", "hooks": [{"t": 1}]}


def _written(value: Any, data: st.DataObject) -> str:
    """The value, with blanks as a person may set them."""

    def blank() -> str:
        return data.draw(BLANKS)

    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    if isinstance(value, dict):
        inner = [
            f"{json.dumps(key)}{blank()}:{blank()}{_written(one, data)}"
            for key, one in value.items()
        ]
    else:
        inner = [_written(one, data) for one in value]
    body = ",".join(f"{blank()}{one}{blank()}" for one in inner)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}{blank()}{body}{closing}"


@given(st.data(), st.dictionaries(KEYS, VALUES, max_size=4))
def test_what_is_added_stands_behind_the_rest(data: st.DataObject, value: dict[str, Any]) -> None:
    value |= data.draw(st.sampled_from([{}, {"servers": {}}, {"servers": {"x": {"y": [1]}}}]))
    value |= data.draw(st.sampled_from([{}, {"hooks": {}}, {"hooks": {"S": [1], "T": 2}}]))
    text = data.draw(st.sampled_from(["", "\ufeff"])) + _written(value, data)
    assert parse_plain_json(text) == value

    once = added(text, ("servers", "ours"), SERVER)
    both = added(once, ("hooks", "S"), HOOK, item=True)
    wanted = json.loads(json.dumps(value))
    wanted.setdefault("servers", {})["ours"] = SERVER
    wanted.setdefault("hooks", {}).setdefault("S", []).append(HOOK)
    got = parse_plain_json(both)
    assert got == wanted
    assert list(got)[: len(value)] == list(value)
    for key, one in value.items():
        there = locate_json_value(text, (key,))
        if one not in (value.get("servers"), value.get("hooks")) and there:
            assert text[slice(*there)] in both


def test_indent_and_lines_stay_as_they_were() -> None:
    found = '{\n\t"servers": {\n\t\t"a": {}\n\t},\n\t"b": [1,2]\n}\n'
    assert added(found, ("servers", "b"), {"c": 1}) == (
        '{\n\t"servers": {\n\t\t"a": {},\n\t\t"b": {\n\t\t\t"c": 1\n\t\t}\n\t},\n\t"b": [1,2]\n}\n'
    )
    assert added('{"servers": {"a": 1}}', ("servers", "b"), 2) == '{"servers": {"a": 1, "b": 2}}'


@each(
    ("text", "why"),
    [
        ("", "(line 1)"),
        ("{\n'a': 1}", "(line 2)"),
        ("{a: 1}", "(line 1)"),
        ('{"a": 1', "(line 1)"),
        ('{"a": 1 "b": 2}', "(line 1)"),
        ('{"a": 1}{}', "(line 1)"),
        ('{"a": "\n"}', "(line 1)"),
        ("{}\n// no end", "(line 2)"),
        ('{"a": 1, "a": 2}', "it says 'a' twice"),
        ("[" * 100_000, "it is nested too deep"),
    ],
)
def test_what_is_no_json_is_said(text: str, why: str) -> None:
    with pytest.raises(UnclearJson) as raised:
        parse_plain_json(text)
    assert str(raised.value).removeprefix("it is no JSON without comments ") == why


@each("number", ["0", "-1", "1.5e3", "1e999", "9" * 5000, "-0.0"])
def test_any_number_is_read_and_stays(number: str) -> None:
    text = f'{{"a": {number}}}'
    assert isinstance(parse_plain_json(text)["a"], float)
    assert f'"a": {number}' in added(text, ("b",), 1)


@each("text", ["[]", "1", '{"servers": []}', '{"servers": null}'])
def test_another_value_where_an_object_belongs_is_left(text: str) -> None:
    with pytest.raises(UnclearJson, match="no object where"):
        added(text, ("servers", "ours"), SERVER)


def test_another_value_where_a_list_belongs_is_left() -> None:
    with pytest.raises(UnclearJson, match="no list where 'S' belongs"):
        added('{"hooks": {"S": {}}}', ("hooks", "S"), HOOK, item=True)
