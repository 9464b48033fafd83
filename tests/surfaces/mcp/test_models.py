"""A model at work: the client is told, may leave, and finds what was said recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from mcp import Client

from preflights_es.kernel.completions import CompletionReceived
from preflights_es.settings.load import Options
from preflights_es.surfaces.mcp_server import server, threads
from tests.cli.program import Project
from tests.cli.test_lost_claims import forgotten
from tests.providers.server import FakeAPI, slow, text, wait_until
from tests.scripted import asks
from tests.surfaces.mcp.clients import CLAUDE, ERAS, opened, talked, told
from tests.surfaces.mcp.test_wire import Raw

CLARIFY = asks("Database", "Which one?", "SQLite", "MySQL")
KEY = "PREFLIGHTS_OPENAI_API_KEY"
WAIT_S = 0.6  # longer than until a model at work is shown


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    with FakeAPI() as made:
        made.script(slow(text(json.dumps(CLARIFY)), WAIT_S))
        yield made


async def with_model(shop: Project, api: FakeAPI, flow: Any, era: str) -> Any:
    """What comes of a talk of which a model leads the sessions."""
    options = Options(provider="openai", model="a-model", base_url=api.openai)
    with closing(opened(shop.folder, options=options)) as request, threads() as pool:
        found = await talked(server(request, pool), flow, era)
        # What the client left goes on in a thread.
        await asyncio.to_thread(wait_until, lambda: shop_is_asked(request))
        return found


def shop_is_asked(request: Any) -> bool:
    """Whether the one session has its question."""
    (head,) = request.process.store.heads(request.process.project)
    return bool(request.process.runner.load(head.session_id).view.questions)


@pytest.mark.parametrize("era", ERAS)
def test_progress_is_told_and_a_cancelled_call_is_saved(
    shop: Project, api: FakeAPI, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "sk-not-a-real-key")
    heard: list[str | None] = []

    async def hears(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async def flow(client: Client) -> None:
        said = {"intention": "Keep orders in a database"}
        calling = client.call_tool("start_decision", said, progress_callback=hears)
        task = asyncio.create_task(calling)
        while not heard:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        again = await told(client, "start_decision", **said)
        assert again["status"] in ("waiting", "needs_answers")

    asyncio.run(with_model(shop, api, flow, era))
    assert heard[0] == "asking openai a-model"
    assert len(api.requests) == 1


@pytest.mark.slow("kills")
def test_a_model_that_a_dead_server_asked_is_asked_again_by_the_same_call(
    shop: Project, api: FakeAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "sk-not-a-real-key")
    said = {"intention": "Keep orders in a database"}
    led = ("--provider", "openai", "--model", "a-model", "--base-url", api.openai)
    process = shop.started("mcp", *led, env={KEY: "sk-not-a-real-key"})
    server = Raw(process)
    client = CLAUDE.model_dump(include={"name", "version"})
    begun = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    server.ask(1, "initialize", **begun)
    server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    call = {"name": "start_decision", "arguments": said}
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    server.send(json.dumps(message).encode())
    wait_until(lambda: len(api.requests) == 1)
    process.kill()
    process.communicate()

    async def flow(client: Client) -> list[str]:
        held = await told(client, "start_decision", **said)
        forgotten(shop)  # as after the time that a call may take
        return [held["status"], (await told(client, "start_decision", **said))["status"]]

    api.script(text(json.dumps(CLARIFY)))
    assert asyncio.run(with_model(shop, api, flow, "auto")) == ["waiting", "needs_answers"]


@pytest.mark.slow("crowds")
def test_equal_calls_at_once_are_one_session_and_one_call_of_its_model(shop: Project) -> None:
    equal, rounds = 20, 12

    async def flow(client: Client) -> list[set[tuple[str, str]]]:
        found = []
        for number in range(rounds):
            said = {"intention": f"Keep orders of shop {number} in a database"}
            calls = (told(client, "start_decision", **said) for _ in range(equal))
            came = await asyncio.gather(*calls)
            found.append({(one["session"], one["status"]) for one in came})
        return found

    options = Options(provider="sim", seed="7")
    with closing(opened(shop.folder, options=options)) as request, threads() as pool:
        for came in asyncio.run(talked(server(request, pool), flow, "auto")):
            assert len({session for session, _ in came}) == 1
            assert {status for _, status in came} <= {"needs_answers", "waiting"}
        process = request.process
        heads = process.store.heads(process.project)
        runner = process.runner
        assert len(heads) == rounds
        for head in heads:
            codec = runner.codec(runner.workflow(head.workflow))
            events = map(codec.decode, process.store.read(head.session_id))
            assert sum(isinstance(one, CompletionReceived) for one in events) == 1
            assert runner.load(head.session_id).view.questions
