"""Real providers under the runner: what goes wrong is recorded, and the session goes on."""

from __future__ import annotations

import asyncio
import base64

import pytest

from preflights_es.history.replayer import Replayer
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import Event
from preflights_es.kernel.lead import Lead, ResponseRejected
from preflights_es.providers.apis import EMPTY
from preflights_es.runtime.runner import Runner
from preflights_es.store.memory import MemoryStore
from tests import toy
from tests.each import each
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.led import Case, Session
from tests.providers import server
from tests.providers.asking import ENDPOINTS, KEY, provider
from tests.providers.server import FakeAPI, Reply

SESSION = "00000001-0000-7000-8000-000000000001"

BAD: dict[str, tuple[Reply, str]] = {
    "malformed": (server.body(b'{"content'), "api_error"),
    "empty": (server.body(b""), "api_error"),
    "html": (server.html(), "api_error"),
    "rate limit": (server.status(429, retry_after="2"), "rate_limit"),
    "server": (server.status(500), "api_error"),
    "overloaded": (server.status(529), "api_error"),
    "slow": (server.slow(server.text(), 5), "timeout"),
    "cut": (server.broken(server.text()), "api_error"),
    "truncated": (server.cut_off(), "truncated"),
    "refused": (server.refused(), "refused"),
    "filtered": (server.filtered(), "refused"),
    "typed": (server.body(b"{}", "text/plain"), "api_error"),
    "echo": (server.echo_key(), "request_rejected"),
}


PAID = ("truncated", "refused")
"""Kinds of failure in which a response came, and was paid."""


def settled(endpoint: str, *replies: Reply) -> tuple[list[Event], MemoryStore]:
    """The events of a session that asked once, and the log they lie in."""
    store = MemoryStore(Clock(), salt)
    runner = Runner(store, {"toy": toy.WORKFLOW}, Clock(), Ids())
    step = runner.open(toy.WORKFLOW, PROJECT, toy.asked("why?"), SESSION, "first")
    with FakeAPI() as api:
        # An SDK's first call prepares its types, for longer than a test wants to wait below.
        asyncio.run(provider(endpoint, api).complete("Hi"))
        api.script(*replies)
        asyncio.run(runner.settle(step.handle, provider(endpoint, api, timeout_s=0.8)))
    head = store.head(SESSION)
    assert head is not None
    report = Replayer({"toy": toy.WORKFLOW}).replay(store.read(SESSION), head.hash)
    assert report.status == "identical"
    codec = runner.codec(toy.WORKFLOW)
    return [codec.decode(one) for one in store.read(SESSION)], store


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("bad", BAD)
def test_a_failure_is_recorded_and_the_next_try_answers(endpoint: str, bad: str) -> None:
    reply, kind = BAD[bad]
    events, store = settled(endpoint, reply, server.text("because"))
    (failed,) = (event for event in events if isinstance(event, CompletionFailed))
    assert failed.kind == kind
    assert failed.retry_after_ms == (2_000 if bad == "rate limit" else None)
    assert failed.latency_ms is not None
    paid = (server.INPUT_TOKENS, server.OUTPUT_TOKENS) if kind in PAID else (None, None)
    assert (failed.input_tokens, failed.output_tokens) == paid
    assert bool(failed.stop_reason) == (kind in PAID)
    assert bool(failed.received) == (bad in PAID)  # what a filter stops is often empty
    assert failed.model == (server.MODEL if kind in PAID else "")
    assert failed.request_id == (server.REQUEST_ID if kind in PAID else "")
    (received,) = (event for event in events if isinstance(event, CompletionReceived))
    assert (received.text, received.model) == ("because", server.MODEL)
    assert (received.request_id, received.output_tokens) == (
        server.REQUEST_ID,
        server.OUTPUT_TOKENS,
    )
    stored = b"".join(one.data or b"" for one in store.read(SESSION))
    assert KEY.encode() not in stored
    assert b"127.0.0.1" not in stored or bad == "echo"  # there the server says it


def test_a_response_that_is_no_unicode_is_recorded() -> None:
    body = b'{"content": [{"type": "text", "text": "caf\xe9"}]}'
    events, _ = settled("messages", server.body(body))
    (received,) = (event for event in events if isinstance(event, CompletionReceived))
    assert base64.b64decode(received.text_base64 or "") == b"caf\xe9"
    events, _ = settled("chat", server.text("\ud800"))
    (received,) = (event for event in events if isinstance(event, CompletionReceived))
    assert base64.b64decode(received.text_base64 or "") == b"\xed\xa0\x80"


def test_a_value_that_is_no_unicode_is_asked_for_once_more() -> None:
    lead = Lead("openai", "gpt-6.1-terra")
    with FakeAPI() as api:
        said = '{"items": [{"type": "idea", "title": "caf\ud800", "confidence": 1}]}'
        api.script(server.text(said), server.text('{"items": []}'))
        begun = Session(Case("extraction", "Milch"), lead)
        session = asyncio.run(begun.led(provider("chat", api)))
    (refused,) = (one for one in session.events if isinstance(one, ResponseRejected))
    assert refused.kind == "invalid_json"
    assert refused.violations[0].message == "a character is half of one (a lone surrogate)"
    assert "caf\\u" in refused.excerpt


@each("blank", [" ", "\n\t \n", "\u2003"])
def test_a_reply_of_white_space_goes_back_to_anthropic_as_a_placeholder(blank: str) -> None:
    lead = Lead("anthropic", "claude-sonnet-5-5")
    with FakeAPI() as api:
        api.script(server.text(blank), server.text('{"items": []}'))
        begun = Session(Case("extraction", "Milch"), lead)
        session = asyncio.run(begun.led(provider("messages", api)))
        sent = api.requests[1].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"] == EMPTY
    # The log says what was said, as it always did: what is recorded replays unchanged.
    retried = [e for e in session.events if isinstance(e, CompletionRequested)][1]
    assert retried.messages[-2].content == blank
    assert session.replayed().status == "identical"


@pytest.mark.parametrize("endpoint", ["messages", "chat"])
def test_a_server_plans_a_day_once_it_keeps_to_the_rules(endpoint: str) -> None:
    unknown = '{"focus_task_id": "s.9", "reasoning": "so"}'
    plan = '{"focus_task_id": "s.1", "mini_task_ids": ["s.3"], "reasoning": "so"}'
    with FakeAPI() as api:
        api.script(server.text(unknown), server.text(f"Here:\n{plan}"))
        begun = Session(Case("planning", "report 90, call 10, bill 15"), Lead("anthropic", "m"))
        session = asyncio.run(begun.led(provider(endpoint, api)))
        said = str(api.requests[1].body["messages"])
    assert "did not match the schema: /focus_task_id" in said
    made = session.handle.session.state.plan
    assert (made.focus_task_id, made.mini_task_ids, made.source) == ("s.1", ("s.3",), "model")
    assert session.replayed().status == "identical"
