"""The server on a port of this machine: only with the token, and no other site's page."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

import httpx2
import mcp_types as types
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from preflights_es.kernel.errors import SettingsError, StoreUnavailable
from preflights_es.surfaces.mcp import server as serving
from preflights_es.surfaces.mcp.server import server, threads
from tests.cli.program import Project
from tests.surfaces.mcp.clients import CLAUDE, ERAS, opened, told

TOKEN: Final = "a-token-of-these-tests"
BODY: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "0"},
    },
}
SHOWN: Final = {
    "Authorization": f"Bearer {TOKEN}",
    "Accept": "application/json, text/event-stream",
}


@contextmanager
def running(shop: Project) -> Iterator[str]:
    """The address of a server in a thread of its own."""
    with (
        closing(opened(shop.folder)) as request,
        threads() as pool,
        socket.create_server(("127.0.0.1", 0)) as bound,
    ):
        app = serving.app(server(request, pool), TOKEN, bound.getsockname()[1])
        served = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
        thread = threading.Thread(target=served.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
        finally:
            served.should_exit = True
            thread.join()


@pytest.mark.slow("whole runs")
def test_only_programs_of_this_machine_with_the_token_are_served(shop: Project) -> None:
    async def elicited(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"choice": "OAuth"})

    async def flow(address: str, era: str) -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(address, http_client=http)
            forms = Client(transport, mode=era, client_info=CLAUDE, elicitation_callback=elicited)
            async with forms as client:
                return await told(client, "start_decision", intention=f"Add login {era}")

    with running(shop) as address, httpx2.Client() as http:
        for era in ERAS:
            assert asyncio.run(flow(address, era))["decided"] == {"Strategy": "OAuth"}

        def code(**headers: str) -> int:
            return http.post(address, json=BODY, headers=headers).status_code

        assert code(**SHOWN) == 200
        assert code() == 401
        assert code(Authorization="Bearer another") == 401
        assert code(**SHOWN, Host="evil.example") == 421
        assert code(**SHOWN, Host="localhost:evil.example") == 421
        assert code(**SHOWN, Origin="https://evil.example") == 403
        assert code(**SHOWN, Origin="http://localhost:1") == 200
        large = {**BODY, "params": {"x": "x" * 10_000_000}}
        assert http.post(address, json=large, headers=SHOWN).status_code == 413
        garbage = {**SHOWN, "Content-Type": "application/json"}
        assert http.post(address, content=b"garbage", headers=garbage).status_code == 400
        assert http.post(address.replace("/mcp", "/"), headers=SHOWN).status_code == 404


def test_a_token_that_no_header_holds_and_a_port_in_use_are_refused(shop: Project) -> None:
    with closing(opened(shop.folder)) as request, threads() as pool:
        made = server(request, pool)
        for token in ("short", " " * 20, f"{TOKEN}\n"):
            with pytest.raises(SettingsError, match="PREFLIGHTS_MCP_TOKEN"):
                serving.http(made, 0, token, print)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(StoreUnavailable, match=f"port {port}"):
                serving.http(made, port, TOKEN, print)


def test_a_port_without_http_is_refused(shop: Project) -> None:
    refused = shop.call("mcp", "--port", "80")
    assert (refused.code, "--port goes with --http" in refused.err) == (2, True)


@pytest.mark.slow("whole runs")
def test_the_command_prints_its_address_and_a_new_token(shop: Project) -> None:
    process = shop.started("mcp", "--http", "--port", "0")
    assert process.stderr is not None
    try:
        lines = [process.stderr.readline().decode() for _ in range(2)]
    finally:
        process.terminate()
        process.communicate()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp\n", lines[0])
    assert re.fullmatch(r"token [\w-]{40,}\n", lines[1])
