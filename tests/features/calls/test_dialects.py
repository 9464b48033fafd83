"""Bodies of providers: which dialect, which turns, what was answered, what continues what."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.calls.domain.dialects import (
    Dialect,
    ReadAnswer,
    answers_agree,
    digest_answered,
    digest_beginnings,
    join_request,
    read_answer,
    recognize_dialect,
    split_request,
    turns_field,
    turns_of_request,
    words_of_turns,
)
from preflights_es.kernel.json import canonical_json
from tests.each import each

ASKED: dict[str, Any] = {"role": "user", "content": "hello"}
CALL = ("lookup", '{"id":3}')


def streamed(*events: object, end: str = "\n\n") -> str:
    """Server-sent events, as Anthropic and Responses name them and OpenAI's chat does not."""
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
        data = event if isinstance(event, str) else json.dumps(event)
        lines.append(f"{name}data: {data}{end}")
    return "".join(lines)


def chunk(**delta: Any) -> dict[str, Any]:
    stop = delta.pop("stop", None)
    choice = {"index": 0, "delta": delta, "finish_reason": stop}
    return {"object": "chat.completion.chunk", "model": "gpt-x", "choices": [choice]}


def asked_tool(arguments: str, **named: Any) -> list[dict[str, Any]]:
    name = {"name": named.pop("name")} if "name" in named else {}
    return [{"index": 0, **named, "function": {**name, "arguments": arguments}}]


CHAT_STREAM = (
    chunk(role="assistant", content=""),
    chunk(content="Let me "),
    chunk(content="look 😀."),
    chunk(tool_calls=asked_tool("", id="c1", type="function", name="lookup")),
    chunk(tool_calls=asked_tool('{"id"')),
    chunk(tool_calls=asked_tool(": 3}")),
    chunk(stop="tool_calls"),
    {"model": "gpt-x", "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
    "[DONE]",
)
CHAT_BODY = {
    "object": "chat.completion",
    "model": "gpt-x",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Let me look 😀.",
                "refusal": None,
                "tool_calls": asked_tool('{"id": 3}', id="c1", type="function", name="lookup"),
            },
            "finish_reason": "tool_calls",
        },
        {
            "index": 1,
            "message": {"role": "assistant", "content": "another"},
            "finish_reason": "stop",
        },
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
}
ANTHROPIC_STREAM = (
    {
        "type": "message_start",
        "message": {
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": [],
            "usage": {"input_tokens": 9, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "thinking_delta", "thinking": "hm"},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Let me "}},
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "text_delta", "text": "look 😀."},
    },
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "t1", "name": "lookup", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": ""},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": '{"id": 3}'},
    },
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 4},
    },
    {"type": "message_stop"},
)
ANTHROPIC_BODY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "Let me look 😀."},
        {"type": "tool_use", "id": "t1", "name": "lookup", "input": {"id": 3}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 9, "output_tokens": 4},
}
OUTPUT = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
    {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Let me look 😀.", "annotations": []}],
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "lookup",
        "arguments": '{"id": 3}',
    },
]
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "error": None,
    "model": "gpt-x",
    "output": OUTPUT,
    "usage": {"input_tokens": 9, "output_tokens": 4},
}
RESPONSES_STREAM = (
    {"type": "response.created", "response": {**RESPONSE, "status": "in_progress", "output": []}},
    {"type": "response.output_item.added", "output_index": 1, "item": {"type": "message"}},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "Let me "},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "look 😀."},
    {
        "type": "response.output_item.added",
        "output_index": 2,
        "item": {"type": "function_call", "name": "lookup", "arguments": ""},
    },
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"id"'},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": ": 3}"},
    {"type": "response.output_item.done", "output_index": 2, "item": OUTPUT[2]},
    {"type": "response.completed", "response": RESPONSE},
)
STREAMS: tuple[tuple[Dialect, tuple[Any, ...], str], ...] = (
    ("openai-chat", CHAT_STREAM, "tool_calls"),
    ("anthropic", ANTHROPIC_STREAM, "tool_use"),
    ("openai-responses", RESPONSES_STREAM, "completed"),
)
BODIES: tuple[tuple[Dialect, Any, str], ...] = (
    ("openai-chat", CHAT_BODY, "tool_calls"),
    ("anthropic", ANTHROPIC_BODY, "tool_use"),
    ("openai-responses", RESPONSE, "completed"),
)


@each(
    ("path", "body", "expected"),
    [
        ("/v1/chat/completions", None, "openai-chat"),
        (
            "https://x.example/openai/deployments/d/chat/completions?api-version=1",
            {},
            "openai-chat",
        ),
        ("/v1/responses", {"input": "hi"}, "openai-responses"),
        ("/v1/messages", {"messages": []}, "anthropic"),
        ("/v1/messages/count_tokens", {"messages": []}, "other"),
        ("/v1/threads/thread_1/messages", {"role": "user"}, "other"),
        ("/v1/embeddings", {"input": "hi"}, "other"),
        ("", {"messages": [ASKED], "model": "claude-x"}, "openai-chat"),
        ("", {"messages": [ASKED], "system": "be brief", "max_tokens": 9}, "anthropic"),
        ("", {"messages": [ASKED], "tools": [{"name": "t", "input_schema": {}}]}, "anthropic"),
        ("", {"messages": [{"content": [{"type": "tool_result"}]}]}, "anthropic"),
        ("", {"model": "gpt-x", "input": "hi"}, "openai-responses"),
        ("", {"model": "gpt-x", "input": [ASKED]}, "openai-responses"),
        ("", {"model": "text-embedding-3-small", "input": ["hi"]}, "other"),
        ("", {"model": "voyage", "input": "hi", "input_type": "query"}, "other"),
        ("", {"model": "gpt-image", "prompt": "a cat"}, "other"),
        ("", ["no", "object"], "other"),
    ],
)
def test_a_dialect_is_recognized_by_path_or_else_by_shape(
    path: str, body: object, expected: str
) -> None:
    assert recognize_dialect(path, body) == expected


@each(("dialect", "events", "stop"), STREAMS)
@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"])
def test_a_stream_is_read_as_its_whole_answer(
    dialect: Dialect, events: tuple[Any, ...], stop: str, end: str
) -> None:
    text = streamed(*events, end=end)
    if end == "\r\n\r\n":
        text = text.replace("\ndata:", "\r\ndata:")
    read = read_answer(dialect, "text/event-stream; charset=utf-8", text)
    assert (read.text, read.tools, read.stop) == ("Let me look 😀.", (CALL,), stop)
    assert (read.tokens_in, read.tokens_out, read.model[-2:]) == (9, 4, "-x")
    assert read == read_answer(dialect, "", text), "without a content type, too"


@each(("dialect", "body", "stop"), BODIES)
def test_a_body_is_read_as_its_stream_is(dialect: Dialect, body: Any, stop: str) -> None:
    events = next(events for name, events, _ in STREAMS if name == dialect)
    read = read_answer(dialect, "application/json", json.dumps(body, indent=1))
    assert read == read_answer(dialect, "text/event-stream", streamed(*events))
    assert read.stop == stop


@each(("dialect", "events", "stop"), STREAMS)
def test_a_cut_stream_gives_what_came(dialect: Dialect, events: tuple[Any, ...], stop: str) -> None:
    whole = streamed(*events)
    cut = whole[: whole.index("look") - 2]
    read = read_answer(dialect, "text/event-stream", cut)
    assert (read.text, read.tools, read.stop) == ("Let me ", (), "")
    half = whole[: whole.index(": 3}") if dialect != "anthropic" else whole.index('{\\"id\\"')]
    read = read_answer(dialect, "text/event-stream", half)
    assert (read.text, read.tools[0][0], read.stop) == ("Let me look 😀.", "lookup", "")
    assert read_answer(dialect, "text/event-stream", "data: {") == ReadAnswer()


@each(
    ("content_type", "answer", "expected"),
    [
        ("text/plain", '{"choices": []}', ReadAnswer(text='{"choices": []}')),
        ("", "four words of it", ReadAnswer(text="four words of it")),
        ("", '{"total": 4}', ReadAnswer(text='{"total": 4}')),
        ("application/json", '{"error": {"message": "no key"}}', ReadAnswer(error="no key")),
        ("application/json", '{"error": "no model"}', ReadAnswer(error="no model")),
        (
            "text/event-stream",
            streamed({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
            ReadAnswer(error="busy"),
        ),
        (
            "application/json",
            '{"choices": [{"message": {"content": null, "refusal": "I must not"}}]}',
            ReadAnswer(refusal="I must not"),
        ),
        (
            "application/json",
            '{"role": "assistant", "content": [{"type": "text", "text": "hi"}]}',
            ReadAnswer(text="hi"),
        ),
        (
            "application/json",
            json.dumps(
                {
                    "object": "response",
                    "status": "incomplete",
                    "output": [],
                    "incomplete_details": {"reason": "max_output_tokens"},
                }
            ),
            ReadAnswer(stop="max_output_tokens"),
        ),
    ],
)
def test_words_errors_and_refusals(content_type: str, answer: str, expected: ReadAnswer) -> None:
    assert read_answer("openai-chat", content_type, answer) == expected


def test_calls_of_one_index_and_two_ids_are_two() -> None:
    events = [
        chunk(tool_calls=asked_tool('{"a": 1}', id="c1", name="one")),
        chunk(tool_calls=asked_tool("", id="c2", name="two")),
    ]
    read = read_answer("openai-chat", "text/event-stream", streamed(*events))
    assert read.tools == (("one", '{"a":1}'), ("two", "{}"))


def test_arguments_that_are_no_json_stay_as_they_are() -> None:
    event = chunk(tool_calls=asked_tool('{"a": ', id="c1", name="one"))
    read = read_answer("openai-chat", "text/event-stream", streamed(event))
    assert read.tools == (("one", '{"a": '),)


def test_the_older_way_to_call_a_function_is_read() -> None:
    called = {"name": "lookup", "arguments": '{"id": 3}'}
    body = {"choices": [{"message": {"content": None, "function_call": called}}]}
    assert read_answer("openai-chat", "", json.dumps(body)).tools == (CALL,)
    events = [chunk(function_call={"name": "lookup"}), chunk(function_call={"arguments": "{}"})]
    assert read_answer("openai-chat", "", streamed(*events)).tools == (("lookup", "{}"),)


def test_vectors_of_an_embedding_are_no_words() -> None:
    answer = '{"object": "list", "data": [{"embedding": [0.1]}], "usage": {"prompt_tokens": 2}}'
    assert read_answer("other", "application/json", answer) == ReadAnswer()


@each(
    ("a", "b", "agree"),
    [
        ('{"a": 1, "b": [2]}', '{"b":[2.0],"a":1}', True),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": "x  y"}', '{"a": "x y"}', False),
        ("two  words\n", " two words", True),
        ("two words", "twowords", False),
        ('{"a": 1', '{"a": 1 ', True),
        ("yes", "Yes", False),
    ],
)
def test_answers_agree_as_json_or_but_for_blanks(a: str, b: str, agree: bool) -> None:
    assert answers_agree(ReadAnswer(text=a), ReadAnswer(text=b)) is agree
    assert answers_agree(ReadAnswer(tools=(("t", a),)), ReadAnswer(tools=(("t", b),))) is agree
    assert not answers_agree(ReadAnswer(text=a), ReadAnswer(text=a, tools=(CALL,)))
    assert not answers_agree(ReadAnswer(tools=(("t", a),)), ReadAnswer(tools=(("u", a),)))


def continues(turns: Sequence[Any], earlier: Sequence[Any], answer: ReadAnswer) -> bool:
    return digest_answered(earlier, answer, {}) in digest_beginnings(turns, {})


READ = ReadAnswer(text="Let me look 😀.", tools=(CALL,))
CHAT_TURN = {**CHAT_BODY["choices"][0]["message"], "audio": None, "function_call": None}  # type: ignore[index]  # a list
CARRIED: tuple[tuple[Any, ...], ...] = (
    (CHAT_TURN,),
    ({**CHAT_TURN, "content": [{"type": "text", "text": "Let me  look 😀.\n"}]},),
    ({"role": "assistant", "content": ANTHROPIC_BODY["content"]},),
    tuple(OUTPUT),
    tuple(OUTPUT[1:]),
    ({"role": "assistant", "content": "Let me look 😀."}, OUTPUT[2]),
)


@each("turns", CARRIED)
def test_a_request_continues_a_call_whose_answer_it_carries(turns: tuple[Any, ...]) -> None:
    result = {"role": "tool", "tool_call_id": "c1", "content": "found"}
    assert continues([ASKED, *turns], [ASKED], READ)
    assert continues([ASKED, *turns, result], [ASKED], READ)
    assert not continues([ASKED, *turns[:-1], result], [ASKED], READ)
    assert not continues([ASKED, result, *turns], [ASKED], READ)
    assert not continues([ASKED, *turns], [{**ASKED, "content": "hi"}], READ)
    assert not continues([ASKED, *turns], [ASKED], ReadAnswer(text="another", tools=(CALL,)))


def test_two_customers_who_say_hello_are_two() -> None:
    assert not continues([ASKED], [ASKED], READ)
    assert not continues([ASKED, {"role": "assistant", "content": ""}], [ASKED], ReadAnswer())
    assert not continues([{"role": "assistant", "content": "hi"}], [], ReadAnswer(text="hi"))


def test_cache_marks_and_shapes_make_no_difference() -> None:
    image: dict[str, Any] = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    marked = {**image, "cache_control": {"type": "ephemeral"}}
    said = {"role": "assistant", "content": "a cat"}
    earlier = {"role": "user", "content": [{"type": "text", "text": "what?"}, marked]}
    later = {"role": "user", "content": [{"type": "text", "text": "what?"}, image]}
    assert continues([later, said], [earlier], ReadAnswer(text="a cat"))
    other = {"role": "user", "content": [{"type": "text", "text": "what?"}]}
    assert not continues([other, said], [earlier], ReadAnswer(text="a cat"))


def test_turns_are_words_for_people() -> None:
    turns: list[Any] = [
        {"role": "system", "content": "be brief"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "what is this?"},
                {"type": "image_url", "image_url": {"url": "https://x.example/cat.png"}},
                {"source": {"data": "AAAA"}},
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": CHAT_TURN["tool_calls"]},
        {"role": "tool", "tool_call_id": "c1", "content": "found\nit"},
        *OUTPUT,
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"role": "user", "content": [{"type": "tool_result", "content": "found"}]},
        "hello",
    ]
    call = '[calls lookup {"id": 3}]'
    assert words_of_turns(turns) == [
        ("system", "be brief"),
        ("user", "what is this?\n[image_url]\n[part]"),
        ("assistant", call),
        ("tool", "[result: found it]"),
        ("assistant", "[reasoning]"),
        ("assistant", "Let me look 😀."),
        ("assistant", call),
        ("tool", "[result: found]"),
        ("user", "[result: found]"),
        ("user", "hello"),
    ]


# --- Laws ---

TEXTS = st.text(max_size=6) | st.sampled_from(["text", "tool_use", "assistant", "response.x", "0"])
KEYS = st.sampled_from(
    [
        "type",
        "role",
        "content",
        "text",
        "choices",
        "message",
        "delta",
        "index",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "usage",
        "error",
        "output",
        "item",
        "input",
        "id",
        "object",
        "status",
        "response",
        "model",
        "refusal",
        "content_block",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
DIALECTS = st.sampled_from(["openai-chat", "openai-responses", "anthropic", "other"])
TYPES = st.sampled_from(["", "application/json", "text/event-stream", "text/plain"])
KINDS = st.sampled_from([event["type"] for event in (*ANTHROPIC_STREAM, *RESPONSES_STREAM)])


ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(DIALECTS, TYPES, ANY_TEXT, st.lists(VALUES, max_size=3), st.lists(KINDS, max_size=3))
def test_no_answer_whatever_it_holds_is_an_error(
    dialect: Dialect, content_type: str, text: str, values: list[Any], kinds: list[str]
) -> None:
    events = [{**value, "type": kind} for value in values for kind in kinds if type(value) is dict]
    answers = [text, json.dumps(values[:1]), *map(json.dumps, values)]
    for answer in (*answers, streamed(*values), streamed(*events), text + streamed(*events)):
        read = read_answer(dialect, content_type, answer)
        canonical_json(read)  # it can be kept
        assert answers_agree(read, read) is not bool(read.error)


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4), TEXTS)
def test_any_turns_are_compared_and_shown(turns: list[Any], earlier: list[Any], text: str) -> None:
    assert len(words_of_turns(turns)) == len(turns)
    assert not continues(turns, turns, ReadAnswer(text="x" + text))
    recognize_dialect("", {"messages": turns, "tools": earlier, "input": text})


@given(
    st.dictionaries(st.sampled_from(["model", "messages", "input", "x"]), VALUES),
    st.lists(VALUES, max_size=4) | st.text(max_size=3),
    st.sampled_from(["messages", "input"]),
    st.integers(0, 6),
)
def test_a_request_is_split_and_joined_without_loss(
    request: dict[str, Any], turns: Any, field: str, count: int
) -> None:
    request = {**request, field: turns, "last": 1}
    before = turns_of_request(request)[:count]
    rest = split_request(request, count)
    assert canonical_json(join_request(rest, before)) == canonical_json(request)
    assert turns_field(rest) == turns_field(request)


@each(
    ("name", "hostile"),
    [
        ("deep", "[" * 100_000),
        ("deep, whole", "[" * 300 + "]" * 300),
        ("half of a pair", '{"choices": [{"message": {"content": "\\ud83d"}}]}'),
        ("half, raw", "\ud83d"),
        ("half in a stream", 'data: {"choices": [{"delta": {"content": "\\ud83d"}}]}\n\n'),
        ("a number of 5,000 digits", '{"usage": {"input_tokens": 1' + "0" * 5000 + "}}"),
        ("a number of 30 digits", '{"choices": [], "usage": {"prompt_tokens": 1' + "0" * 30 + "}}"),
    ],
)
def test_hostile_answers_can_be_read_and_kept(name: str, hostile: str) -> None:
    read = read_answer("openai-chat", "", hostile)
    assert len(canonical_json(read)) < 200_000, name
    assert read.tokens_in == 0
