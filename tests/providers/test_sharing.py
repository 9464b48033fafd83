"""Sessions of one event loop share one provider: no more calls at once than it allows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from preflights_es.history.replayer import Replayer
from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.store.sql import SqlStore
from tests import toy
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.providers import server
from tests.providers.asking import ENDPOINTS, provider
from tests.providers.server import FakeAPI
from tests.store.given import session_id

SESSIONS = 20
AT_ONCE = 3
FAILING = 4


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    store = SqlStore(str(tmp_path / "log.db"), Clock(), salt)
    yield Runner(store, {"toy": toy.WORKFLOW}, Clock(), Ids())
    store.close()


def asked(runner: Runner) -> list[Handle]:
    """Sessions whose call is due."""
    return [
        runner.open(
            toy.WORKFLOW, PROJECT, toy.asked(f"why {n}?"), session_id(n), f"input-{n}"
        ).handle
        for n in range(SESSIONS)
    ]


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_many_sessions_share_a_client_that_asks_for_few(runner: Runner, endpoint: str) -> None:
    handles = asked(runner)

    async def together(api: FakeAPI) -> list[Step]:
        async with provider(endpoint, api, concurrency=AT_ONCE) as shared:
            return list(
                await asyncio.gather(*(runner.settle(handle, shared) for handle in handles))
            )

    with FakeAPI() as api:
        # Those that fail ask again when all others had their turn: none of them fails twice.
        replies = (*[server.status(500)] * FAILING, server.text("because"))
        api.script(*(server.slow(reply, 0.03) for reply in replies))
        steps = asyncio.run(together(api))
        assert api.most_at_once == AT_ONCE
        assert len(api.requests) == SESSIONS + FAILING
    for step in steps:
        stored = runner.store.read(step.handle.session_id)
        found = Replayer(runner.workflows).replay(stored, step.handle.hash)
        assert found.status == "identical"
    types = [one.type for handle in handles for one in runner.store.read(handle.session_id)]
    assert types.count(CompletionFailed.tag) == FAILING
    assert types.count(CompletionReceived.tag) == SESSIONS
    assert [step.handle.session.state.answers for step in steps] == [("because",)] * SESSIONS
    assert runner.store.open_calls(PROJECT) == ()
