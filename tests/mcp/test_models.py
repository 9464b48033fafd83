"""A model at work: the client is told, may leave, and finds what was said recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from mcp import Client

from preflights_es.mcp.server import server, threads
from preflights_es.settings.load import Options
from tests.cli.program import Project
from tests.mcp.clients import ERAS, opened, talked, told
from tests.providers.server import FakeAPI, slow, text, wait_until

CLARIFY = {"category": "Database", "question": "Which one?", "options": ["SQLite", "MySQL"]}
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
    monkeypatch.setenv("PREFLIGHTS_OPENAI_API_KEY", "sk-not-a-real-key")
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
