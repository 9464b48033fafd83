"""Answers as bytes: a secret goes from JSON and from the pieces of a stream; all else stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.redaction.answers import redact_answer
from preflights_es.redaction.bodies import BodyString, redact_string
from preflights_es.redaction.patterns import KINDS, SECRETS
from tests.each import each
from tests.redaction.test_redaction import FRAGMENTS, GITHUB, OPENAI, PEM, SHAPES
from tests.redaction.test_responses import VALUES, pairs_of, shape

STREAM: Final = "text/event-stream; charset=utf-8"
Pieces = Sequence[str]


def event(data: Any, name: str = "") -> str:
    """One event, as the dialects write it."""
    line = f"event: {name}\n" if name else ""
    return f"{line}data: {json.dumps(data, separators=(',', ':'), ensure_ascii=False)}\n\n"


def chat(pieces: Pieces, field: str = "content") -> str:
    def chunk(delta: Any) -> Any:
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        return {"id": "chatcmpl-9f8eA7b6C5d4E3f2A1b0C9d8E7f6A", "choices": [choice]}

    deltas = [{"role": "assistant", "content": ""}, *({field: piece} for piece in pieces)]
    return "".join(map(event, map(chunk, deltas))) + "data: [DONE]\n\n"


def chat_arguments(pieces: Pieces) -> str:
    def delta(piece: str) -> Any:
        calls = [
            {"index": 0, "function": {"name": "other"}},
            {"index": 1, "id": "call_a1", "function": {"arguments": piece}},
        ]
        return {"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}

    return "".join(event(delta(piece)) for piece in pieces)


def responses(pieces: Pieces, kind: str = "response.output_text", field: str = "text") -> str:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    whole = "".join(pieces)
    deltas = [event({"type": f"{kind}.delta", **place, "delta": piece}) for piece in pieces]
    done = event({"type": f"{kind}.done", **place, field: whole}, f"{kind}.done")
    output = [{"type": "message", "content": [{"type": "output_text", "text": whole}]}]
    completed = event({"type": "response.completed", "response": {"output": output}})
    return "".join((*deltas, done, completed))


def messages(pieces: Pieces, kind: str = "text_delta", field: str = "text") -> str:
    deltas = (
        event({"type": "content_block_delta", "index": 1, "delta": {"type": kind, field: piece}})
        for piece in pieces[1:]
    )
    block = {"type": "text", "text": pieces[0]}
    if field != "text":
        block = {"type": kind, field: pieces[0]}
    start = event({"type": "content_block_start", "index": 1, "content_block": block})
    sealed = {"type": "signature_delta", "signature": "EqQB" * 20}
    other = {"type": "content_block_delta", "index": 0, "delta": sealed}
    return start + event(other).join(("", *deltas)) + "event: ping\ndata: {}\n\n"


DIALECTS: Final[tuple[Callable[[Pieces], str], ...]] = (
    chat,
    lambda pieces: chat(pieces, "reasoning_content"),
    chat_arguments,
    responses,
    lambda pieces: responses(pieces, "response.function_call_arguments", "arguments"),
    messages,
    lambda pieces: messages(pieces, "input_json_delta", "partial_json"),
    lambda pieces: messages(pieces, "thinking_delta", "thinking"),
)


def texts_at(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Pairs of a name and the text behind it."""
    match value:
        case str():
            yield name, value
        case dict():
            for key, inner in value.items():
                yield from texts_at(inner, key)
        case list():
            for inner in value:
                yield from texts_at(inner, name)


def events_of(stream: str) -> list[Any]:
    payloads = (line.removeprefix("data:") for line in stream.split("\n") if line[:5] == "data:")
    return [json.loads(one) for one in payloads if one.strip() != "[DONE]"]


def said(stream: str) -> str:
    """All texts of a stream, one after the other: what a reader puts together."""
    return "".join(text for one in events_of(stream) for _, text in texts_at(one))


OF_PIECES = frozenset(
    {"content", "reasoning_content", "arguments", "delta", "text", "partial_json", "thinking"}
)


def pieces_of(stream: str) -> list[str]:
    """The pieces of the text that a stream gives."""
    deltas = [one for one in events_of(stream) if "response" not in one]
    deltas = [one for one in deltas if not one.get("type", "").endswith(".done")]
    return [text for one in deltas for name, text in texts_at(one) if name in OF_PIECES]


# A key where an answer may hold one, and a text in front of it and behind it.
TOLD: Final = [
    *(("Use ", secret, " for it.") for secret, _ in SHAPES),
    ("Well, the passphrase is ", "xK7-mango-91", ". Keep it"),
    ("DB_PASSWORD=", "swordfish99", "\nDB_NAME=x"),
    ("postgres://ada:", "tUlip42x", "@db.example.org/x"),
]


@each(("dialect", "told"), zip(cycle(DIALECTS), TOLD))
def test_a_secret_in_pieces_of_one_character_is_gone(
    dialect: Callable[[Pieces], str], told: tuple[str, str, str]
) -> None:
    redacted = redact_answer(dialect("".join(told)), STREAM)
    assert redacted.kinds
    assert told[1] not in said(redacted.text)
    assert told[1] not in "".join(pieces_of(redacted.text))
    assert redact_answer(redacted.text, STREAM) == (redacted.text, ())


@pytest.mark.slow("sizes")
@each(("before", "secret", "after"), TOLD)
def test_a_secret_cut_at_any_place_is_gone(before: str, secret: str, after: str) -> None:
    text = f"{before}{secret}{after}"
    for number in range(len(text) + 1):
        dialect = DIALECTS[number % len(DIALECTS)]
        redacted = redact_answer(dialect([text[:number], text[number:]]), STREAM)
        assert secret not in "".join(pieces_of(redacted.text))
        assert secret not in redacted.text
        assert redact_answer(redacted.text, STREAM) == (redacted.text, ())


PIECES = st.lists(
    st.sampled_from([*FRAGMENTS, *(text for one in TOLD for text in one)]), max_size=8
)


@given(PIECES, st.sampled_from(DIALECTS), st.data())
def test_pieces_joined_are_the_redacted_text(
    parts: list[str], dialect: Callable[[Pieces], str], data: st.DataObject
) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    stream = dialect(pieces)
    once = redact_answer(stream, STREAM, KINDS).text
    whole = redact_string(BodyString(text), KINDS)
    assert (once == stream) == (not whole.kinds)
    assert "".join(pieces_of(once)) == whole.text
    assert redact_answer(once, STREAM, KINDS) == (once, ())


@given(PIECES, st.sampled_from(DIALECTS), st.data())
def test_a_stream_that_is_cut_off_is_redacted_once(
    parts: list[str], dialect: Callable[[Pieces], str], data: st.DataObject
) -> None:
    stream = dialect(parts or [""])
    cut = stream[: data.draw(st.integers(0, len(stream)))]
    once = redact_answer(cut, STREAM, KINDS).text
    assert redact_answer(once, STREAM, KINDS) == (once, ())


@each("dialect", DIALECTS)
def test_a_stream_cut_in_a_line_gives_no_part_of_a_key(dialect: Callable[[Pieces], str]) -> None:
    stream = dialect(["Use sk-", "proj-", "a1B2a1B2", "a1B2a1B2a1B2", "a1B2a1B2 now"])
    for end in range(stream.index("a1B2"), len(stream), 3):
        redacted = redact_answer(stream[:end], STREAM).text
        assert "a1B2a1B2" not in redacted  # a shorter one is no key yet


# What stays ------------------------------------------------------------------------------------


def test_all_but_the_pieces_of_a_secret_stays_byte_for_byte() -> None:
    pieces = ["My ", "token ", "is ", GITHUB[:9], GITHUB[9:20], GITHUB[20:] + ", the", " end ü"]
    stream = chat(pieces).replace("\n", "\r\n")
    expected = chat(["My ", "token ", "is ", "[redacted:token]", "", ", the", " end ü"])
    assert redact_answer(stream, STREAM) == (expected.replace("\n", "\r\n"), ("token",))


@each("ending", ["\n", "\r\n", "\r"])
def test_a_stream_without_a_secret_stays(ending: str) -> None:
    odd = ': ping\n\nid: 7\nretry: 10\ndata\ndata:{"a": 1.0,  "b":"\\u00fc\\/"}\ndata: x\n\n\n'
    for dialect in DIALECTS:
        stream = (odd + dialect(["How do I re", "set it?", " ü\n"])).replace("\n", ending)
        for end in range(0, len(stream), 29):
            assert redact_answer(stream[:end], STREAM, KINDS) == (stream[:end], ())


def test_two_choices_and_two_calls_are_two_texts() -> None:
    def chunk(index: int, piece: str) -> str:
        return event({"choices": [{"index": index, "delta": {"content": piece}}]})

    stream = chunk(0, GITHUB[:6]) + chunk(1, "no") + chunk(0, GITHUB[6:]) + chunk(1, "thing")
    expected = chunk(0, "[redacted:token]") + chunk(1, "no") + chunk(0, "") + chunk(1, "thing")
    assert redact_answer(stream, STREAM) == (expected, ("token",))


@each("dialect", [DIALECTS[2], DIALECTS[4], DIALECTS[6]])
def test_arguments_in_pieces_stay_json(dialect: Callable[[Pieces], str]) -> None:
    arguments = json.dumps({"user": "ada", "password": "hunter2xyz", "note": 'é " ü'})
    redacted = redact_answer(dialect([*arguments]), STREAM)
    joined = "".join(pieces_of(redacted.text))
    assert json.loads(joined) == json.loads(arguments) | {"password": "[redacted:password]"}
    assert "hunter2xyz" not in said(redacted.text)


@each("content_type", [STREAM, "text/plain", None])
def test_events_without_an_empty_line_between_them_are_events(content_type: str | None) -> None:
    pieces = ["Use ", GITHUB[:9], GITHUB[9:], " now"]
    stream = chat(pieces).replace("\n\n", "\n")
    expected = chat(["Use ", "[redacted:token]", "", " now"]).replace("\n\n", "\n")
    assert redact_answer(stream, content_type) == (expected, ("token",))


@pytest.mark.parametrize("field", ["message", "response"])
def test_lines_of_json_are_a_stream(field: str) -> None:
    said = "the key is ", *OPENAI, " here"
    held = ({"content": one} if field == "message" else one for one in said)
    text = "".join(json.dumps({"model": "m", field: one, "done": False}) + "\n" for one in held)
    redacted = redact_answer(text, "application/x-ndjson")
    assert redacted.kinds == ("key",)
    lines = map(json.loads, redacted.text.splitlines())
    pieces = [one[field]["content"] if field == "message" else one[field] for one in lines]
    assert "".join(pieces) == "the key is [redacted:key] here"


def test_a_secret_in_another_field_or_line_goes() -> None:
    fields = event({"error": {"message": f"bad key {OPENAI}"}}) + f": {GITHUB}\n\n"
    expected = event({"error": {"message": "bad key [redacted:key]"}}) + ": [redacted:token]\n\n"
    assert redact_answer(fields, STREAM) == (expected, ("key", "token"))


def test_data_of_several_lines_is_one_text() -> None:
    stream = 'data: {"a":\ndata:  "' + GITHUB + '"}\n\n'
    assert redact_answer(stream, STREAM).text == stream.replace(GITHUB, "[redacted:token]")
    key = "".join(f"data: {line}\n" for line in PEM.splitlines())
    assert redact_answer(f"{key}\n", STREAM).text == "data: [redacted:key]\n\n"
    pretty = json.dumps({"a": [{"b": GITHUB}]}, indent=1).replace("\n", "\ndata: ")
    expected = f"data: {pretty}\n\n".replace(GITHUB, "[redacted:token]")
    assert redact_answer(f"data: {pretty}\n\n", STREAM).text == expected


# Other answers ---------------------------------------------------------------------------------

WHOLE = [
    ('{ "a":"%s",  "b": 1.0 }\n', "application/json"),
    ('{"a": "%s", "b": "cut o', "application/json"),
    ("<html>%s</html>", "text/html"),
    ('data: {"a": "%s"}\n\n', None),
    ('{"a": "%s"}', None),
    ("%s", "text/plain"),
]


@each(("answer", "content_type"), WHOLE)
def test_any_answer_loses_its_secret_alone(answer: str, content_type: str | None) -> None:
    expected = answer % "use [redacted:token] now"
    assert redact_answer(answer % f"use {GITHUB} now", content_type) == (expected, ("token",))
    assert redact_answer(answer % "nothing", content_type) == (answer % "nothing", ())


def test_ids_stay_in_an_answer_that_is_cut_off() -> None:
    answer = '{"id":"call_9f8e7d6c5b4a39281706f5e4","session_id":"' + "0a1b2c3d" * 8 + '","x":"a'
    assert redact_answer(answer, "application/json", SECRETS) == (answer, ())


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_json_of_a_body_stays_json(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    recorded = redact_answer(text, "application/json")
    found = json.loads(recorded.text, object_pairs_hook=pairs_of)
    assert shape(found) == shape(json.loads(text, object_pairs_hook=pairs_of))
    assert (recorded.text == text) == (not recorded.kinds)
    assert redact_answer(recorded.text, "application/json") == (recorded.text, ())


@given(st.text(alphabet=st.sampled_from('{}[]":,\\ut0d8a \n-1')))
def test_no_answer_raises(text: str) -> None:
    for content_type in ("application/json", STREAM, None):
        once = redact_answer(text, content_type, KINDS).text
        assert redact_answer(once, content_type, KINDS) == (once, ())
