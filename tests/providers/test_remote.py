"""The real SDKs against a server that misbehaves: a completion, or one typed error."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.kernel.completions import Completion, Message, native
from preflights_es.kernel.errors import (
    LLMAPIError,
    LLMEmptyError,
    LLMError,
    LLMOutputError,
    LLMRateLimitError,
    LLMRefusedError,
    LLMRequestRejectedError,
    LLMTimeoutError,
    LLMTruncatedError,
    ProviderMissing,
    ReportedCall,
    SettingsError,
)
from preflights_es.kernel.text import Secret
from preflights_es.providers import http_body
from preflights_es.providers.apis import AnthropicProvider, OpenAIProvider, check_importable
from preflights_es.providers.capabilities import NO_LIVE
from tests.each import each
from tests.providers import server
from tests.providers.asking import ENDPOINTS, KEY, answer, failure, outcomes, provider, request
from tests.providers.server import FakeAPI, Reply


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    with FakeAPI() as running:
        yield running


@pytest.fixture(params=ENDPOINTS)
def endpoint(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# 1. Success ----------------------------------------------------------------------------------


def test_a_response_is_a_completion_with_all_that_was_said(api: FakeAPI, endpoint: str) -> None:
    api.script(server.text('{"a": "ä"}'))
    reasons = {"messages": "end_turn", "chat": "stop", "responses": "completed"}
    assert answer(provider(endpoint, api)) == Completion(
        text='{"a": "ä"}',
        model=server.MODEL,
        stop_reason=reasons[endpoint],
        request_id=server.REQUEST_ID,
        input_tokens=server.INPUT_TOKENS,
        output_tokens=server.OUTPUT_TOKENS,
    )


def test_what_is_sent_to_messages_is_the_request(api: FakeAPI) -> None:
    answer(provider("messages", api, temperature=0.0, top_p=0.3))
    assert api.requests[0].path == server.MESSAGES
    assert api.requests[0].body == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 16_384,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hi"}],
    }


def test_what_is_sent_to_chat_completions_is_the_request(api: FakeAPI) -> None:
    answer(provider("chat", api, model="llama", temperature=0.5, top_p=0.3, max_tokens=99))
    assert api.requests[0].path == server.CHAT
    assert api.requests[0].body == {
        "model": "llama",
        "max_tokens": 99,
        "temperature": 0.5,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
    }


def test_what_is_sent_to_responses_is_the_request_and_is_not_to_be_stored(api: FakeAPI) -> None:
    answer(provider("responses", api))
    assert api.requests[0].path == server.RESPONSES
    assert api.requests[0].body == {
        "model": "gpt-6.1-terra",
        "max_output_tokens": 16_384,
        "store": False,
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
    }


def test_a_request_s_schema_is_sent_where_the_api_has_it(api: FakeAPI, endpoint: str) -> None:
    asked = provider(endpoint, api)
    schema = native("preflights_es.features.clarification", "clarify.v1")
    told = replace(request(asked), contract="clarify.v1", output=schema)
    asyncio.run(asked.respond(told))
    held = {"type": "json_schema", "schema": json.loads(schema)}
    strict = {"name": "clarify_v1", "strict": True, "schema": json.loads(schema)}
    expected: dict[str, dict[str, Any]] = {
        "messages": {"output_config": {"format": held}},
        "chat": {"response_format": {"type": "json_schema", "json_schema": strict}},
        "responses": {"text": {"format": {"type": "json_schema", **strict}}},
    }
    sent = api.requests[0].body
    assert {name: sent[name] for name in expected[endpoint]} == expected[endpoint]


def test_exactly_the_parameters_of_the_request_are_sent(api: FakeAPI) -> None:
    asked = provider("chat", api, temperature=1.0, max_tokens=5)
    said = [Message("user", "Hi")]
    told = replace(asked.asked(said), model="m", parameters=(("top_p", "0.25"),))
    asyncio.run(asked.respond(told))
    sent = api.requests[0].body
    assert (sent["model"], sent["top_p"]) == ("m", 0.25)
    assert not {"temperature", "max_tokens", "max_completion_tokens"} & set(sent)


@pytest.mark.parametrize("pair", [("top_k", "3"), ("max_tokens", '"many"'), ("max_tokens", "{")])
def test_an_unsendable_parameter_is_said_not_sent(api: FakeAPI, pair: tuple[str, str]) -> None:
    from msgspec.structs import replace

    asked = provider("messages", api)
    told = replace(request(asked), parameters=(pair,))
    with pytest.raises(LLMAPIError, match=f"{pair[0]}.*nothing was sent"):
        asyncio.run(asked.respond(told))
    assert not api.requests


def test_every_attempt_is_one_request(api: FakeAPI, endpoint: str) -> None:
    for reply in (server.status(429, retry_after="0"), server.status(500), server.status(529)):
        api.script(reply)
        failure(provider(endpoint, api))
    assert len(api.requests) == 3


def test_the_text_of_several_parts_is_one_text(api: FakeAPI) -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    api.script(server.json_body(server.message("") | {"content": blocks}))
    assert answer(provider("messages", api)).text == "ab"
    chat = server.chat_completion("")
    chat["choices"][0]["message"]["content"] = blocks
    api.script(server.json_body(chat))
    assert answer(provider("chat", api)).text == "ab"


def test_a_server_that_reports_next_to_nothing_is_understood(api: FakeAPI) -> None:
    api.script(server.body(b'{"choices": [{"message": {"content": "ok"}}], "usage": []}'))
    found = answer(provider("chat", api))
    assert (found.text, found.model, found.input_tokens) == ("ok", "", None)


def test_a_response_without_a_header_is_known_by_the_id_in_its_body(api: FakeAPI) -> None:
    raw = json.dumps(server.chat_completion("ok")).encode()
    api.script(lambda _: server.Sent(raw))
    assert answer(provider("chat", api)).request_id == "chatcmpl-01"


def test_a_body_may_come_compressed(api: FakeAPI, endpoint: str) -> None:
    import gzip

    def compressed(asked: server.Request) -> server.Sent:
        sent = server.text("small")(asked)
        more = {"content-encoding": "gzip"}
        return server.Sent(gzip.compress(sent.body), headers=sent.headers | more)

    api.script(compressed)
    assert answer(provider(endpoint, api)).text == "small"
    assert api.requests[0].headers["accept-encoding"] == "gzip"


# 2. Text that is no Unicode ------------------------------------------------------------------


def test_bytes_that_are_no_utf8_are_kept_as_they_came(api: FakeAPI, endpoint: str) -> None:
    shapes: dict[str, Any] = {
        "messages": server.message("x@y"),
        "chat": server.chat_completion("x@y"),
        "responses": server.response("x@y"),
    }
    raw = json.dumps(shapes[endpoint]).encode().replace(b"x@y", b"caf\xe9 \\ud800")
    api.script(server.body(raw))
    found = answer(provider(endpoint, api))
    assert found.text is None
    assert base64.b64decode(found.text_base64 or "") == b"caf\xe9 \xed\xa0\x80"


def test_a_lone_surrogate_is_handed_on(api: FakeAPI, endpoint: str) -> None:
    api.script(server.text("a\ud800b"))
    assert answer(provider(endpoint, api)).text == "a\ud800b"


def test_names_with_lone_surrogates_can_be_recorded(api: FakeAPI) -> None:
    api.script(server.json_body(server.message("ok") | {"model": "m\udcff" + "x" * 999}))
    model = answer(provider("messages", api)).model
    assert model.encode()
    assert len(model) <= http_body.WORD_MAX


@given(st.lists(st.binary(max_size=4) | st.sampled_from([b"\\ud8", "é".encode(), b"\xff"])))
def test_any_bytes_come_back_out_of_their_text(parts: list[bytes]) -> None:
    raw = b"".join(parts)
    text, _ = http_body.decode_body_text(b"." + raw)
    assert http_body.restore_body_bytes(text) == b"." + raw


# 3. Failures ---------------------------------------------------------------------------------

BAD: dict[str, tuple[Reply, type[LLMError], str]] = {
    "malformed": (server.body(b'{"content": [{"te'), LLMAPIError, "is not JSON"),
    "empty": (server.body(b""), LLMAPIError, "it is empty"),
    "blank": (server.body(b" \n"), LLMAPIError, "it is empty"),
    "html": (server.html(), LLMAPIError, "answered text/html and not JSON"),
    "plain": (server.body(b'{"choices": []}', "text/plain"), LLMAPIError, "text/plain"),
    "untyped": (server.body(b"{}", ""), LLMAPIError, "without a type"),
    "stream": (server.body(b"data: {}\n\n", "text/event-stream"), LLMAPIError, "event-stream"),
    "object": (server.json_body({}), LLMAPIError, "missing required field"),
    "array": (server.json_body([1]), LLMAPIError, "is not what was asked for"),
    "null": (server.json_body(None), LLMAPIError, "is not what was asked for"),
    "number": (server.json_body(3), LLMAPIError, "is not what was asked for"),
    "deep": (server.body(b"[" * 100_000), LLMAPIError, "RecursionError"),
    "digits": (server.body(b'{"content": ' + b"9" * 9_999 + b"}"), LLMAPIError, "is not JSON"),
    "utf-16": (server.body("{}".encode("utf-16")), LLMAPIError, "is not JSON"),
    "charset": (server.body(b"{", "application/json; charset=hex"), LLMAPIError, "is not JSON"),
    "no content": (server.body(b"", code=204), LLMAPIError, "it is empty"),
    "rate limit": (server.status(429), LLMRateLimitError, "429"),
    "timeout": (server.status(504), LLMTimeoutError, "504"),
    "gave up": (server.status(408), LLMTimeoutError, "408"),
    "server": (server.status(500, "oh no"), LLMAPIError, "500 an_error: oh no"),
    "overloaded": (server.status(529, "Overloaded", "overloaded_error"), LLMAPIError, "Overloaded"),
    "bad request": (server.status(400, "no such model"), LLMRequestRejectedError, "no such model"),
    "forbidden": (server.status(403), LLMRequestRejectedError, "key in MY_KEY may not"),
    "unknown key": (server.status(401), LLMRequestRejectedError, "key in MY_KEY was refused"),
    "not found": (server.status(404), LLMRequestRejectedError, "is `base_url` right"),
    "no credit": (server.status(402), LLMRequestRejectedError, "402"),
    "too large": (server.status(413), LLMRequestRejectedError, "413"),
    "unprocessable": (server.status(422), LLMRequestRejectedError, "422"),
    "spent": (server.status(429, "", "insufficient_quota"), LLMRequestRejectedError, "429"),
    "spent in a success": (
        server.json_body({"error": {"code": "insufficient_quota"}}),
        LLMRequestRejectedError,
        "without a message",
    ),
    "list in a success": (
        server.json_body([{"error": {"code": 429, "message": "per minute"}}]),
        LLMRateLimitError,
        "response: per minute",
    ),
    "wrong by name": (
        server.json_body({"error": {"type": "authentication_error", "message": "bad key"}}),
        LLMRequestRejectedError,
        "bad key",
    ),
    "too large for a minute": (
        server.status(413, "TPM", "rate_limit_exceeded"),
        LLMRequestRejectedError,
        "TPM",
    ),
    "list of a rate limit": (
        server.json_body([{"error": {"code": 429, "message": "per minute"}}], 429),
        LLMRateLimitError,
        "429: per minute",
    ),
    "words elsewhere": (
        server.json_body(
            {"id": "x", "choices": None, "base_resp": {"status_msg": "insufficient balance"}}
        ),
        LLMAPIError,
        "insufficient balance",
    ),
    "status as text": (server.json_body({"error": {"code": "504"}}), LLMTimeoutError, "without"),
    "moved": (
        server.status(307, location="http://127.0.0.1:9/"),
        LLMAPIError,
        "is `base_url` right",
    ),
    "html error": (server.html(502), LLMAPIError, "502"),
    "bad charset": (server.body(b"x", "text/html; charset=hex", 500), LLMAPIError, "500: x"),
    "empty error": (server.body(b"", code=500), LLMAPIError, "without a message"),
    "odd error": (server.json_body({"error": {"message": 3}}, 500), LLMAPIError, "500"),
    "text error": (server.json_body({"error": "full"}, 500), LLMAPIError, "500: full"),
    "bare error": (server.json_body({"message": "full"}, 500), LLMAPIError, "500: full"),
    "list error": (server.json_body([1], 500), LLMAPIError, r"500: \[1\]"),
    "deep error": (server.body(b'{"error":' * 50_000, code=500), LLMAPIError, "500"),
    "cut": (server.broken(server.text()), LLMAPIError, "RemoteProtocolError"),
    "cut error": (server.broken(server.status(500)), LLMAPIError, "RemoteProtocolError"),
    "reported": (
        server.json_body({"error": {"message": "busy", "code": 429}}),
        LLMRateLimitError,
        "an error in the response: busy",
    ),
    "reported in words": (server.json_body({"error": "busy"}), LLMAPIError, "busy"),
    "reported by name": (
        server.json_body({"error": {"code": "rate_limit_exceeded"}, "output": []}),
        LLMRateLimitError,
        "without a message",
    ),
    "bad gzip": (
        lambda _: server.Sent(b"xyz", headers={"content-encoding": "gzip"}),
        LLMAPIError,
        "DecodingError",
    ),
    "encoded twice": (
        lambda _: server.Sent(b"xyz", headers={"content-encoding": "gzip, gzip"}),
        LLMAPIError,
        "encoded as 'gzip, gzip', which the request did not accept",
    ),
    "no ascii": (server.body(b"{", "application/json; charset=\xff", 500), LLMAPIError, "500: {"),
    "bad header": (
        lambda _: server.Sent(b"{}", headers={"transfer-encoding": "chunked"}),
        LLMAPIError,
        "RemoteProtocolError",
    ),
}


@each("bad", BAD)
def test_what_goes_wrong_there_is_one_typed_error(api: FakeAPI, endpoint: str, bad: str) -> None:
    reply, kind, words = BAD[bad]
    api.script(reply)
    error = failure(provider(endpoint, api, key=Secret(KEY, "MY_KEY")))
    assert type(error) is kind
    with pytest.raises(kind, match=words):
        raise error
    assert str(error).startswith("anthropic: " if endpoint == "messages" else "openai: ")
    assert str(error).isprintable()
    assert len(str(error)) <= 1_000
    assert "127.0.0.1" not in str(error)


SHAPELESS: dict[str, list[Any]] = {
    "messages": [
        {"content": None},
        {"content": "text"},
        {"content": [None]},
        {"content": [{}]},
        {"content": [{"type": "text", "text": None}]},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ],
    "chat": [
        {"choices": None},
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {}}]},
        {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": 3}}]},
        {"choices": [{"message": {"content": [{"type": "image"}, 3, None]}}]},
        {"choices": [{"message": {"tool_calls": []}, "finish_reason": "tool_calls"}]},
    ],
    "responses": [
        {"output": None},
        {"output": []},
        {"output": [None]},
        {"output": [{"type": "message", "content": None}]},
        {"output": [{"type": "reasoning", "content": [{"type": "text", "text": "hm"}]}]},
        {"output": [], "status": "queued"},
        {"output": [], "status": "cancelled"},
        {"output": [], "status": "failed", "error": {"code": "server_error", "message": "no"}},
        {"output": [], "status": {"a": 1}},
    ],
}


def test_a_body_without_a_text_is_an_error(api: FakeAPI, endpoint: str) -> None:
    shapes = SHAPELESS[endpoint]
    api.script(*map(server.json_body, shapes))
    for shape, found in zip(shapes, outcomes(provider(endpoint, api), len(shapes)), strict=True):
        assert type(found) in (LLMAPIError, LLMEmptyError), shape


_NAMES = {
    *(
        "model",
        "content",
        "type",
        "text",
        "choices",
        "message",
        "refusal",
        "finish_reason",
        "usage",
    ),
    *("output", "status", "incomplete_details", "reason", "stop_reason", "input_tokens"),
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(sorted({"error", "code", "id", *_NAMES})), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=json_values, code=st.sampled_from([200, 400, 401, 429, 500]), where=st.integers(0, 2))
def test_any_json_ends_in_a_completion_or_an_error(value: Any, code: int, where: int) -> None:
    asked: Any = (
        AnthropicProvider("k", base_url="http://localhost"),
        OpenAIProvider("k", base_url="http://localhost"),
        OpenAIProvider("k", base_url="http://localhost", api="responses"),
    )[where]
    said = http_body.HttpAnswer(
        code, {"content-type": "application/json"}, json.dumps(value).encode()
    )
    with contextlib.suppress(LLMError):
        if code == 200:
            found = asked._completion(said)
            assert f"{found.model}{found.stop_reason}{found.request_id}".encode() is not None
        else:
            raise asked.reported(said, http_body.reported_in(said.body), str(code))


@pytest.mark.slow("whole runs")
def test_the_rest_of_the_error_bodies_goes_through_the_sdks(api: FakeAPI, endpoint: str) -> None:
    odd: list[Any] = [
        {"error": {"details": 3, "type": []}},
        {"error": {"details": {"error_code": {}}, "message": {}}},
        {"error": [], "code": {}, "param": 1, "type": 5},
        {"error": {"code": 5, "param": {}, "type": {}}},
        "text",
        {"error": {"message": "\ud800", "type": "\ud800"}},
    ]
    codes = (400, 401, 403, 404, 409, 413, 422, 429, 500, 501, 503, 504, 529, 599, 418)
    api.script(*(server.json_body(body, code) for code in codes for body in odd))
    for found in outcomes(provider(endpoint, api), len(codes) * len(odd)):
        assert isinstance(found, LLMError)
        assert str(found).encode()


def test_a_server_that_is_not_there_is_an_error(endpoint: str) -> None:
    with FakeAPI() as api:
        asked = provider(endpoint, api)
    error = failure(asked)
    assert type(error) is LLMAPIError
    assert "ConnectError" in str(error)


def test_a_server_that_speaks_something_else_is_an_error(endpoint: str) -> None:
    async def one() -> LLMError:
        async def shout(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"220 mail.example ESMTP\r\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(shout, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            for scheme in ("http", "https"):
                url = f"{scheme}://127.0.0.1:{port}"
                kind = AnthropicProvider if endpoint == "messages" else OpenAIProvider
                asked = kind(KEY, base_url=url, timeout_s=5)
                with pytest.raises(LLMAPIError) as raised:
                    await asked.respond(request(asked))
            return raised.value

    assert "no answer: " in str(asyncio.run(one()))


# 4. Time -------------------------------------------------------------------------------------


def test_a_slow_server_is_a_timeout(api: FakeAPI, endpoint: str) -> None:
    answer(provider(endpoint, api))
    api.script(server.slow(server.text(), 5))
    error = failure(provider(endpoint, api, timeout_s=0.2))
    assert type(error) is LLMTimeoutError
    assert isinstance(error, TimeoutError)
    assert "within 0.2 s" in str(error)


def test_a_server_that_drips_is_a_timeout_too(api: FakeAPI, endpoint: str) -> None:
    answer(provider(endpoint, api))
    api.script(server.dripping(server.text(), 0.05))
    assert type(failure(provider(endpoint, api, timeout_s=0.3))) is LLMTimeoutError


@each(
    ("headers", "expected"),
    [
        ({"retry-after": "2"}, 2_000),
        ({"retry-after": "1.5"}, 1_500),
        ({"retry-after-ms": "250", "retry-after": "9"}, 250),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9_000),
        ({"retry-after-ms": "0.2"}, 1),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, http_body.RETRY_AFTER_MAX_MS),
        ({"retry-after": "1e300"}, http_body.RETRY_AFTER_MAX_MS),
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        (
            {
                "date": "Sun, 22 Nov 2026 10:00:00 GMT",
                "retry-after": "Sun, 22 Nov 2026 10:00:30 GMT",
            },
            30_000,
        ),
        ({"retry-after": "Sun, 22 Nov 2026 10:00:30 GMT"}, None),
        ({"date": "Sun, 22 Nov 2026 10:00:00", "retry-after": "Sun, 22 Nov 2026 10:00 GMT"}, None),
    ],
)
def test_a_rate_limit_hints_at_milliseconds(headers: dict[str, str], expected: int | None) -> None:
    assert http_body.retry_after_ms(headers) == expected


def test_a_hint_beyond_what_is_waited_is_said(api: FakeAPI, endpoint: str) -> None:
    api.script(server.status(429, "busy", retry_after="86400"))
    assert "busy" in str(error := failure(provider(endpoint, api)))
    assert "the server says to wait 1 day, 0:00:00" in str(error)


UNTAKEN: list[tuple[str, int, dict[str, Any], tuple[str, ...]]] = [
    ("chat", 400, {"message": "Unsupported parameter", "param": "max_tokens"}, ("max_tokens",)),
    ("chat", 400, {"message": "'temperature' is deprecated for this model"}, ("temperature",)),
    ("chat", 422, {"detail": [{"loc": ["body", "temperature"], "msg": "no"}]}, ("temperature",)),
    ("chat", 200, {"message": "max_tokens is too large", "code": 400}, ("max_tokens",)),
    ("chat", 400, {"message": "use max_tokens, no temperature"}, ("max_tokens", "temperature")),
    ("chat", 400, {"message": "top_p must be 1"}, ()),  # which is not sent
    ("chat", 400, {"message": "no my_max_tokens"}, ()),
    ("chat", 401, {"message": "max_tokens"}, ()),
    ("chat", 500, {"message": "max_tokens"}, ()),
    ("responses", 400, {"message": "no max_output_tokens, no store"}, ("max_output_tokens",)),
    ("messages", 400, {"message": "max_tokens: 16384 > 8192"}, ()),  # which must be sent
]


@each(("endpoint", "code", "error", "names"), UNTAKEN)
def test_without_the_parameters_that_a_server_refuses_it_is_asked_once_more(
    endpoint: str, code: int, error: dict[str, Any], names: tuple[str, ...]
) -> None:
    with FakeAPI() as api:
        refused = server.json_body({"error": error} if "detail" not in error else error, code)
        api.script(refused, refused)
        asked = provider(endpoint, api, model="alias", temperature=0.5)
        assert getattr(failure(asked), "untaken", ()) == names
        api.script(refused, server.text("ok"))
        known = provider(endpoint, api, model="alias", temperature=0.5)  # in the same process
        assert not set(names) & set(dict(request(known).parameters))
        if names:
            told = replace(request(known), parameters=tuple((name, "1") for name in names))
            assert asyncio.run(known.answered(told)).text == "ok"
            assert set(names) <= set(api.requests[1].body)
            assert not set(names) & set(api.requests[2].body)


def test_the_hint_travels_with_the_error(api: FakeAPI, endpoint: str) -> None:
    api.script(server.status(429, retry_after="2"))
    assert failure(provider(endpoint, api)).retry_after_ms == 2_000
    api.script(server.status(529, retry_after_ms="70"))
    assert failure(provider(endpoint, api)).retry_after_ms == 70


# 5. Not the whole of a response --------------------------------------------------------------


def test_a_cut_off_response_is_an_error_that_keeps_what_came(api: FakeAPI, endpoint: str) -> None:
    api.script(server.cut_off('{"half": '))
    error = failure(provider(endpoint, api))
    assert isinstance(error, LLMTruncatedError)
    assert isinstance(error, LLMOutputError)
    assert error.kind == "truncated"
    assert error.received == '{"half":'
    assert error.stop_reason in ("max_tokens", "length", "max_output_tokens")
    assert (error.model, error.request_id) == (server.MODEL, server.REQUEST_ID)
    assert (error.input_tokens, error.output_tokens) == (server.INPUT_TOKENS, server.OUTPUT_TOKENS)
    assert '{"half":' in str(error)


@pytest.mark.parametrize("reply", [server.refused("No."), server.filtered("No.")])
def test_a_refused_response_is_an_error_that_keeps_the_words(
    api: FakeAPI, endpoint: str, reply: Reply
) -> None:
    api.script(reply)
    error = failure(provider(endpoint, api))
    assert isinstance(error, LLMRefusedError)
    assert error.kind == "refused"
    assert error.received == "No."


ENDS: list[tuple[str, str, str | None, Any, type[LLMError], str]] = [
    ("messages", "model_context_window_exceeded", "a", None, LLMTruncatedError, "tokens in: 12"),
    ("messages", "pause_turn", "a", None, LLMTruncatedError, "pause_turn"),
    ("messages", "guardrail_intervened", "No.", None, LLMRefusedError, "No."),
    ("messages", "network_error", "a", None, LLMAPIError, "ended with network_error"),
    ("messages", "tool_use", None, None, LLMEmptyError, "no text"),
    ("messages", "end_turn", None, None, LLMEmptyError, "no text"),
    ("chat", "length", None, None, LLMTruncatedError, "length"),
    ("chat", "model_length", "a", None, LLMTruncatedError, "model_length"),
    ("chat", "sensitive", "", None, LLMRefusedError, "sensitive"),
    ("chat", "SAFETY", "", None, LLMRefusedError, "SAFETY"),
    ("chat", "tool_calls", None, None, LLMEmptyError, "no text"),
    ("chat", "tool_calls", "", None, LLMEmptyError, "no text"),
    ("chat", "error", "a", None, LLMAPIError, "ended with error: without a message"),
    ("chat", "network_error", "", None, LLMAPIError, "ended with network_error"),
    ("chat", "error", "", {"code": 429, "message": "busy"}, LLMRateLimitError, "busy"),
    ("chat", "stop", "a", {"code": "502", "message": "dropped"}, LLMAPIError, "dropped"),
    ("chat", "", "a", {"code": 402, "message": "no credit"}, LLMRequestRejectedError, "no credit"),
    ("chat", "error", "a", "broke down", LLMAPIError, "broke down"),
    ("chat", "stop", "", None, LLMEmptyError, "no text"),
    ("chat", "load", "", None, LLMEmptyError, "no text"),
    ("chat", "insufficient_system_resource", "{}", None, LLMAPIError, "ended with insufficient"),
    ("chat", "abort", "{}", None, LLMAPIError, "ended with abort"),
    ("chat", "Cancelled", "{}", None, LLMAPIError, "ended with cancelled"),
    ("chat", "MALFORMED_FUNCTION_CALL", "", None, LLMAPIError, "ended with malformed"),
    ("chat", "PROHIBITED_CONTENT", "", None, LLMRefusedError, "PROHIBITED_CONTENT"),
    ("chat", "content_filter: RECITATION", "{", None, LLMRefusedError, "RECITATION"),
    ("chat", "MaxTokens", "{", None, LLMTruncatedError, "MaxTokens"),
]


@each(("endpoint", "reason", "text", "error", "kind", "words"), ENDS)
def test_a_response_that_did_not_end_by_itself_is_an_error(
    api: FakeAPI,
    endpoint: str,
    reason: str,
    text: str | None,
    error: Any,
    kind: type[LLMError],
    words: str,
) -> None:
    body = server.message(text or "", reason)
    body["content"] = body["content"][: 1 if text is None else 2]
    if endpoint == "chat":
        body = server.chat_completion("", reason)
        body["choices"][0] |= {"message": {"content": text}, "error": error}
    api.script(server.json_body(body))
    found = failure(provider(endpoint, api))
    assert type(found) is kind
    assert words in str(found)
    if isinstance(found, ReportedCall):  # it was paid
        assert found.output_tokens == server.OUTPUT_TOKENS


def test_the_record_of_a_long_response_is_short(api: FakeAPI, endpoint: str) -> None:
    api.script(server.cut_off("x" * 100_000))
    error = failure(provider(endpoint, api))
    assert isinstance(error, LLMTruncatedError)
    assert len(error.received) <= 2_000
    assert len(str(error)) <= 1_000


def test_a_response_without_end_is_not_read_to_its_end(api: FakeAPI, endpoint: str) -> None:
    import gzip

    bomb = gzip.compress(b" " * (http_body.RESPONSE_MAX + 1))
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    for code in (200, 500):
        sent = server.Sent(bomb, code, headers)
        api.script(lambda _: sent)  # noqa: B023  used before the next
        assert "more than 16,777,216 bytes" in str(failure(provider(endpoint, api)))


def test_a_large_limit_is_no_reason_to_refuse(api: FakeAPI, endpoint: str) -> None:
    assert answer(provider(endpoint, api, max_tokens=1_000_000)).text == "ok"


# 6. Keys -------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [KEY, 'with"quote\\and/slash+plus=', "pass"])
def test_an_echoed_key_is_in_no_message(
    api: FakeAPI, endpoint: str, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    escaped = json.dumps(key)[1:-1]
    raw = f"x{'y' * 70}{key} {escaped}".encode()
    replies = [
        server.echo_key(401),
        server.echo_key(500),
        server.body(raw, "text/plain", 500),
        server.body(raw, "text/plain"),
        server.body(raw),
        server.json_body({"error": {"message": key, "type": key}}),
        server.json_body({key: key}, 400),
        server.cut_off(f"it is {key}"),
        server.refused(f"it is {key}"),
    ]
    for reply in replies:
        api.script(reply)
        with pytest.raises(LLMError) as raised:
            answer(provider(endpoint, api, key=Secret(key, "MY_KEY")))
        error = raised.value
        told = f"{error}{error!r}{vars(error)}{''.join(traceback.format_exception(error))}"
        assert key not in told
        assert escaped not in told
        assert error.__cause__ is None
        assert error.__context__ is None
    assert key not in caplog.text


def test_a_server_does_not_get_the_key_into_the_log(api: FakeAPI, endpoint: str) -> None:
    api.script(server.text(f"your key is {KEY}!"))
    assert answer(provider(endpoint, api)).text == "your key is [redacted:key]!"
    api.script(server.json_body(server.message("ok", KEY) | {"model": KEY, "id": KEY}))
    found = answer(provider("messages", api))
    assert (found.model, found.stop_reason) == ("[redacted:key]", "[redacted:key]")


def test_a_placeholder_for_a_key_is_a_word_like_any_other(api: FakeAPI) -> None:
    api.script(server.text("use ollama"))
    assert answer(provider("chat", api, key="ollama")).text == "use ollama"


def test_other_secrets_are_redacted_by_the_caller(api: FakeAPI, endpoint: str) -> None:
    api.script(server.status(500, "the other key is hunter2"))
    error = failure(provider(endpoint, api, redact=lambda text: text.replace("hunter2", "***")))
    assert "the other key is ***" in str(error)


def test_a_provider_shows_no_key(api: FakeAPI, endpoint: str) -> None:
    asked = provider(endpoint, api)
    assert KEY not in repr(asked) + repr(vars(asked)) + str(asked)


def test_without_a_key_a_server_of_ones_own_is_asked_all_the_same(
    api: FakeAPI, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "another-users")
    assert answer(provider(endpoint, api, key="")).text == "ok"
    assert "another-users" not in str(api.requests[0].headers)


def test_what_cannot_be_a_key_is_refused_at_once() -> None:
    for key in ("schlüssel", "two words", "line\nbreak", "\ud800"):
        with pytest.raises(SettingsError, match="the key: expected a key") as raised:
            OpenAIProvider(key, base_url="http://localhost")
        assert key not in str(raised.value)


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h", "ftp"])
def test_this_machine_is_not_asked_by_way_of_a_proxy(
    api: FakeAPI, endpoint: str, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"{scheme}://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    asked = provider(endpoint, api)
    check_importable(asked)
    assert answer(asked).text == "ok"


@each(
    ("variable", "proxy", "words"),
    [
        ("HTTPS_PROXY", "ftp://127.0.0.1:9", "look at HTTPS_PROXY and SSL_CERT_FILE: ValueError"),
        ("ALL_PROXY", "socks5://127.0.0.1:9", "the SOCKS proxy of ALL_PROXY needs the package"),
        ("HTTP_PROXY", "http://u:SECRET/pw@proxy:80", "the address in HTTP_PROXY is invalid"),
        ("ALL_PROXY", "proxy:80a", "the address in ALL_PROXY is invalid"),
    ],
)
def test_an_environment_that_cannot_be_used_is_an_error(
    monkeypatch: pytest.MonkeyPatch, variable: str, proxy: str, words: str
) -> None:
    monkeypatch.delenv(NO_LIVE, raising=False)
    monkeypatch.setenv(variable, proxy)
    for kind in (AnthropicProvider, OpenAIProvider):
        asked = kind(KEY, base_url="http://gateway.invalid")
        error = failure(asked)
        assert words in str(error)
        assert "SECRET" not in str(error)
        assert error.__context__ is None
        if "_PROXY" in words and "look" not in words:
            with pytest.raises(ProviderMissing, match=words):
                check_importable(asked)


# 7. Sharing ----------------------------------------------------------------------------------


def test_sessions_share_a_client_within_its_limit_at_once(api: FakeAPI, endpoint: str) -> None:
    api.script(server.slow(server.text(), 0.05))
    asked = provider(endpoint, api, concurrency=3)

    async def many() -> list[Completion]:
        async with asked:
            return await asyncio.gather(*(asked.respond(request(asked)) for _ in range(12)))

    assert len(asyncio.run(many())) == 12
    assert 1 < api.most_at_once <= 3


@pytest.mark.slow("clocks")
def test_waiting_for_a_turn_is_not_the_time_of_a_call(api: FakeAPI) -> None:
    answer(provider("chat", api))
    api.script(server.slow(server.text(), 0.2))
    asked = provider("chat", api, concurrency=1, timeout_s=0.6)

    async def many() -> list[Completion]:
        return await asyncio.gather(*(asked.respond(request(asked)) for _ in range(5)))

    assert len(asyncio.run(many())) == 5


def test_a_provider_outlives_event_loops_and_may_be_left_open(api: FakeAPI, endpoint: str) -> None:
    asked = provider(endpoint, api)
    for _ in range(3):
        assert asyncio.run(asked.complete("Hi")) == "ok"
        assert asyncio.run(asked.chat([{"role": "user", "content": "Hi"}])) == "ok"


def test_a_closed_provider_opens_again(api: FakeAPI, endpoint: str) -> None:
    asked = provider(endpoint, api)

    async def twice() -> tuple[str, str]:
        first = await asked.complete("Hi")
        await asked.aclose()
        await asked.aclose()
        second = await asked.complete("Hi")
        await asked.aclose()
        return first, second

    assert asyncio.run(twice()) == ("ok", "ok")


def test_a_cancelled_call_is_cancelled(api: FakeAPI, endpoint: str) -> None:
    api.script(server.slow(server.text(), 5))
    asked = provider(endpoint, api)

    async def cancelled() -> str:
        task = asyncio.create_task(asked.complete("Hi"))
        await asyncio.to_thread(server.wait_until, lambda: bool(api.requests))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        api.script(server.text())
        return await asked.complete("Hi")

    assert asyncio.run(cancelled()) == "ok"


def test_a_bug_of_ours_is_seen(api: FakeAPI, endpoint: str) -> None:
    asked = provider(endpoint, api)
    broken = type("Broken", (type(asked),), {"read": lambda self, answer: 1 / 0})
    asked.__class__ = broken
    with pytest.raises(ZeroDivisionError):
        answer(asked)
