"""A body that another program made is sent as it is, by the client that asks all else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from preflights_es.kernel.errors import (
    LLMAPIError,
    LLMError,
    LLMRateLimitError,
    LLMRequestRejectedError,
    LLMTimeoutError,
)
from preflights_es.providers.remote import BodyAnswer
from tests.providers import server
from tests.providers.asking import ENDPOINTS, KEY, provider
from tests.providers.server import FakeAPI

BODY: Final[dict[str, Any]] = {
    "model": "m",
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    "an_unknown_field": {"kept": [1, 2.5, None]},
}
TOOL: Final = {"type": "function", "id": "1", "function": {"name": "look_up", "arguments": "{}"}}


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    with FakeAPI() as found:
        yield found


def sent(endpoint: str, api: FakeAPI, body: dict[str, Any], **options: Any) -> BodyAnswer:
    async def one() -> BodyAnswer:
        async with provider(endpoint, api, **options) as asked:
            return await asked.send_body(body)

    return asyncio.run(one())


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_body_goes_out_as_it_is_but_for_its_stream(endpoint: str, api: FakeAPI) -> None:
    answer = sent(endpoint, api, {**BODY, "stream": True, "stream_options": {"x": 1}})
    (request,) = api.requests
    paths = {"messages": server.MESSAGES, "chat": server.CHAT, "responses": server.RESPONSES}
    assert (request.path, request.body) == (paths[endpoint], BODY)
    assert KEY in (request.headers.get("authorization", "") + request.headers.get("x-api-key", ""))
    assert (answer.status, answer.content_type) == (200, "application/json")
    assert json.loads(answer.body)["model"] == server.MODEL
    assert answer.seconds >= 0


@pytest.mark.parametrize("reply", [server.cut_off(), server.refused(), server.filtered()])
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_an_answer_that_is_cut_off_or_refused_is_an_answer(
    endpoint: str, reply: server.Reply, api: FakeAPI
) -> None:
    api.script(reply)
    assert json.loads(sent(endpoint, api, BODY).body)["id"]


def test_an_answer_that_calls_a_tool_is_an_answer(api: FakeAPI) -> None:
    completion = server.chat_completion("", "tool_calls")
    completion["choices"][0]["message"] = {"content": None, "tool_calls": [TOOL]}
    api.script(server.json_body(completion))
    assert b"look_up" in sent("chat", api, BODY).body


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (server.status(429, retry_after="2"), LLMRateLimitError),
        (server.status(500), LLMAPIError),
        (server.status(404), LLMRequestRejectedError),
        (server.echo_key(), LLMRequestRejectedError),
        (server.json_body({"error": {"message": "no"}}), LLMAPIError),
        (server.html(), LLMAPIError),
        (server.broken(server.text()), LLMAPIError),
        (server.slow(server.text(), 1), LLMTimeoutError),
    ],
)
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_what_brings_nothing_is_the_error_that_it_always_was(
    endpoint: str, reply: server.Reply, error: type[LLMError], api: FakeAPI
) -> None:
    api.script(reply)
    with pytest.raises(error) as raised:
        sent(endpoint, api, BODY, **({"timeout_s": 0.3} if error is LLMTimeoutError else {}))
    assert KEY not in str(raised.value)
