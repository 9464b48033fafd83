"""A server on this machine that imitates Anthropic's and OpenAI's APIs, and misbehaves on demand.

    with FakeAPI() as api:
        api.script(text("hello"), status(429, retry_after="2"), cut_off("hel"))
        provider = AnthropicProvider("a-key", base_url=api.anthropic)
        ...
        assert api.requests[0].body["messages"][0]["content"] == "Hi"

A script is a list of replies, used in the order in which requests come; the last one is repeated.
Without a script every request is answered by `text("ok")`. A reply is a function from the request
to what is sent; those that hold a completion (`text`, `cut_off`, `refused`) take the shape of the
endpoint that was asked: Messages, Chat Completions or Responses. `api.anthropic` and `api.openai`
are the base URLs the SDKs want.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final

MESSAGES: Final = "/v1/messages"
CHAT: Final = "/v1/chat/completions"
RESPONSES: Final = "/v1/responses"

MODEL: Final = "a-model-2026-11-01"
"""As the server reports it, whatever was asked for."""
REQUEST_ID: Final = "req_0123"
LOOK_S: Final = 0.02  # seconds between two looks at whether a client is still there
INPUT_TOKENS: Final = 12
OUTPUT_TOKENS: Final = 7


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    """By their names in lower case."""
    body: Any


@dataclass(frozen=True)
class Sent:
    """What the server sends."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    delay_s: float = 0.0
    """Seconds before the first byte."""
    cut_at: int | None = None
    """Bytes of the body after which the connection is cut; its whole length was announced."""
    pace_s: float = 0.0
    """Seconds before each byte of the body."""


Reply = Callable[[Request], Sent]


# 1. Replies with a completion ----------------------------------------------------------------


def text(said: str = "ok") -> Reply:
    """A whole response."""
    return lambda request: _completion(request, said, "end_turn", "stop", "completed")


def cut_off(said: str = "hel") -> Reply:
    """A response that reached the limit of tokens."""
    return lambda request: _completion(request, said, "max_tokens", "length", "max_output_tokens")


def refused(said: str = "I can't help with that.") -> Reply:
    """A response in which the model refuses."""
    return lambda request: _completion(request, said, "refusal", "stop", "refusal")


def filtered(said: str = "") -> Reply:
    """A response that a filter stopped."""
    return lambda request: _completion(request, said, "refusal", "content_filter", "content_filter")


def _completion(request: Request, said: str, messages: str, chat: str, responses: str) -> Sent:
    shapes = {
        MESSAGES: lambda: message(said, messages),
        CHAT: lambda: chat_completion(said, chat, refusal=messages == "refusal" and chat == "stop"),
        RESPONSES: lambda: response(said, responses),
    }
    shape = shapes.get(request.path)
    return json_body(shape())(request) if shape else status(404)(request)


def message(said: str, stop_reason: str = "end_turn") -> dict[str, Any]:
    """The body of Anthropic's Messages; the model thought before it wrote."""
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": said},
        ],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }


def chat_completion(
    said: str, finish_reason: str = "stop", *, refusal: bool = False
) -> dict[str, Any]:
    """The body of OpenAI's Chat Completions."""
    spoken = {"content": None, "refusal": said} if refusal else {"content": said, "refusal": None}
    return {
        "id": "chatcmpl-01",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **spoken},
                "finish_reason": finish_reason,
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": INPUT_TOKENS,
            "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        },
    }


def response(said: str, reason: str = "completed") -> dict[str, Any]:
    """The body of OpenAI's Responses; the reason `refusal` makes the model refuse."""
    whole = reason in ("completed", "refusal")
    part = (
        {"type": "refusal", "refusal": said}
        if reason == "refusal"
        else {"type": "output_text", "text": said, "annotations": []}
    )
    return {
        "id": "resp_01",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed" if whole else "incomplete",
        "error": None,
        "incomplete_details": None if whole else {"reason": reason},
        "model": MODEL,
        "output": [
            {"id": "rs_01", "type": "reasoning", "summary": []},
            {
                "id": "msg_01",
                "type": "message",
                "role": "assistant",
                "status": "completed" if whole else "incomplete",
                "content": [part],
            },
        ],
        "usage": {
            "input_tokens": INPUT_TOKENS,
            "output_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        },
    }


# 2. Replies with something else --------------------------------------------------------------


def json_body(value: Any, code: int = 200) -> Reply:
    """Any JSON."""
    return body(json.dumps(value).encode(), code=code)


def body(raw: bytes, content_type: str = "application/json", code: int = 200) -> Reply:
    """Any bytes; an empty content type is not sent."""
    ids = {"request-id": REQUEST_ID, "x-request-id": REQUEST_ID}
    headers = ids | ({"content-type": content_type} if content_type else {})
    return lambda request: Sent(raw, code, headers)


def status(
    code: int, error: str = "something went wrong", kind: str = "an_error", **headers: str
) -> Reply:
    """An error as both makers write it; `retry_after` becomes `retry-after`."""
    told = {"type": "error", "error": {"type": kind, "message": error, "code": None}}
    more = {name.replace("_", "-"): value for name, value in headers.items()}

    def reply(request: Request) -> Sent:
        sent = json_body(told, code)(request)
        return replace(sent, headers=sent.headers | more)

    return reply


def echo_key(code: int = 401) -> Reply:
    """An error that repeats the key it was given."""

    def reply(request: Request) -> Sent:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        key = key or request.headers.get("x-api-key", "")
        return status(code, f"invalid key {key} in {request.headers}")(request)

    return reply


def html(code: int = 200) -> Reply:
    """What a proxy or a wrong address says."""
    return body(b"<!doctype html><title>Sign in</title>", "text/html; charset=utf-8", code)


def slow(reply: Reply, seconds: float) -> Reply:
    """The same, after a while."""
    return lambda request: replace(reply(request), delay_s=seconds)


def dripping(reply: Reply, seconds: float) -> Reply:
    """The same, a byte at a time, with so many seconds before each."""
    return lambda request: replace(reply(request), pace_s=seconds)


def broken(reply: Reply, after: int = 20) -> Reply:
    """The same, cut in the middle of its body."""
    return lambda request: replace(reply(request), cut_at=after)


# 3. The server -------------------------------------------------------------------------------


class FakeAPI:
    """Listens on a free port of 127.0.0.1 while its context lasts."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        """In the order in which they came."""
        self.most_at_once = 0
        """The largest number of requests that were under way together; who hung up is not."""
        self._replies: list[Reply] = [text()]
        self._under_way = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self

    @property
    def url(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def anthropic(self) -> str:
        """The base URL for Anthropic's SDK."""
        return self.url

    @property
    def openai(self) -> str:
        """The base URL for OpenAI's SDK."""
        return f"{self.url}/v1"

    def script(self, *replies: Reply) -> None:
        """What the next requests get."""
        with self._lock:
            self._replies = list(replies) or [text()]

    def __enter__(self) -> FakeAPI:
        # A short poll: closing waits for it.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take(self, request: Request) -> Reply:
        """The reply to a request, which is kept."""
        with self._lock:
            self.requests.append(request)
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def done(self) -> None:
        """A request was answered."""
        with self._lock:
            self._under_way -= 1

    def wait(self, seconds: float, in_vain: Callable[[], bool] = bool) -> None:
        """Wait, but not after the server closes, nor when it is in vain."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not in_vain():
            if self._closing.wait(min(left, LOOK_S)):
                return


class _Server(ThreadingHTTPServer):
    api: FakeAPI
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is part of a test."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer of a connection that stays waits for 40 ms

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        raw = self.rfile.read(length)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(raw) if raw else None)
        reply = self.server.api.take(request)
        try:
            sent = reply(request)
            self.server.api.wait(sent.delay_s, self._hung_up)
        finally:
            self.server.api.done()
        self._send(sent)

    def _hung_up(self) -> bool:
        """Whether the client, which has nothing more to say, closed the connection."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except ConnectionError:
            return True

    def _send(self, sent: Sent) -> None:
        self.send_response(sent.status)
        headers = {name.lower(): value for name, value in sent.headers.items()}
        if "transfer-encoding" not in headers and "content-length" not in headers:
            headers["content-length"] = str(len(sent.body))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if sent.cut_at is not None:
            self.wfile.write(sent.body[: sent.cut_at])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif sent.pace_s:
            for byte in sent.body:
                self.server.api.wait(sent.pace_s)
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
        else:
            self.wfile.write(sent.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as the base calls it
        """Says nothing."""


def wait_until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Return when a condition holds.

    Raises:
        AssertionError: it does not within the time.
    """
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
