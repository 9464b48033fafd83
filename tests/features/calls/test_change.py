"""What a change makes of recorded requests."""

from __future__ import annotations

from typing import Any, Final

import pytest

from preflights_es.features.calls.domain.change import (
    CallsChange,
    WordsChange,
    changed_body,
    system_texts,
    unchanged_body,
)

CHAT: Final[dict[str, Any]] = {
    "model": "old",
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [
        {"role": "system", "content": "Be brief. Sort the mail."},
        {"role": "user", "content": [{"type": "text", "text": "Where is my order?"}]},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "description": "Sort the mail."}}],
}
BODY: Final = unchanged_body(CHAT, "")


def test_the_unchanged_side_is_what_was_recorded_but_for_its_stream() -> None:
    assert {name: CHAT[name] for name in ("model", "messages", "tools")} == BODY
    assert unchanged_body(CHAT, "kept")["model"] == "kept"


def test_a_model_takes_the_place_of_the_other() -> None:
    assert changed_body(BODY, CallsChange(model="new")) == {**BODY, "model": "new"}
    assert changed_body(BODY, CallsChange(model="old")) is None


def test_a_call_without_the_words_is_not_changed_by_the_model_alone() -> None:
    change = CallsChange(model="new", words=(WordsChange("Sort the post.", "Sort it."),))
    assert changed_body(BODY, change) is None


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        (BODY, ["Be brief. Sort the mail."]),
        ({"messages": [{"role": "developer", "content": [{"text": "a"}, "b"]}]}, ["a", "b"]),
        ({"system": "a", "messages": []}, ["a"]),
        ({"system": [{"type": "text", "text": "a"}], "messages": []}, ["a"]),
        ({"instructions": "a", "input": "Hi"}, ["a"]),
        ({"input": [{"role": "system", "content": [{"type": "input_text", "text": "a"}]}]}, ["a"]),
        ({"messages": [{"role": "user", "content": "a"}], "system": 3}, []),
    ],
)  # fmt: skip
def test_system_texts_stand_elsewhere_by_dialect(body: dict[str, Any], texts: list[str]) -> None:
    assert system_texts(body) == texts
    change = CallsChange(words=(WordsChange("", "NEW"),))
    changed = changed_body(body, change)
    assert (changed is None) is (not texts)
    assert changed is None or system_texts(changed)[0] == "NEW"


@pytest.mark.parametrize(
    ("pointer", "changed"),
    [
        ("/temperature", {"a": {"b": [1, 2]}, "temperature": 9}),
        ("/a/b/1", {"a": {"b": [1, 9]}}),
        ("/a/c", {"a": {"b": [1, 2], "c": 9}}),
        ("/a", {"a": 9}),
        ("/a~1b", {"a": {"b": [1, 2]}, "a/b": 9}),
        ("/a/b/2", None),
        ("/a/b/x", None),
        ("/x/y", None),
        ("/a/b/0/z", None),
    ],
)
def test_a_value_is_set_where_its_place_is(pointer: str, changed: object) -> None:
    body = {"a": {"b": [1, 2]}}
    assert changed_body(body, CallsChange(values=((pointer, 9),))) == changed
    assert body == {"a": {"b": [1, 2]}}
