"""The server on stdio, or on a port of this machine."""

from __future__ import annotations

import hmac
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any, Final

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from preflights_es.kernel.errors import SettingsError, StoreUnavailable

LOOPBACK: Final = "127.0.0.1"
PATH: Final = "/mcp"
HOSTS: Final = (LOOPBACK, "localhost")
TOKEN_MIN: Final = 16  # characters


def stdio(made: Server[Any]) -> None:
    """Serve one client on stdin and stdout, until it closes one of them or a signal ends it."""
    # The thread that reads stdin cannot be stopped: without this the process would wait for it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def run() -> None:
        # The SDK holds the wire; what other code prints would reach it at the end, from a buffer.
        async with stdio_server() as (read, write):
            with redirect_stdout(sys.stderr):
                await made.run(read, write, made.create_initialization_options())

    try:
        anyio.run(run)
    except* BrokenPipeError:
        pass  # the client is gone


def http(made: Server[Any], port: int, token: str, tell: Callable[[str], None]) -> None:
    """Serve clients of this machine on a port, until the process is stopped.

    Args:
        port: 0 for any that is free.
        token: that every request shows; empty for a new one, which is told.
        tell: takes the address, and the new token.

    Raises:
        SettingsError: the token is too short, or no header can hold it.
        StoreUnavailable: the port is taken.
    """
    import uvicorn

    said, secret = bool(token), token or secrets.token_urlsafe(32)
    if len(secret) < TOKEN_MIN:
        raise SettingsError(f"PREFLIGHTS_MCP_TOKEN: it has fewer than {TOKEN_MIN} characters")
    if any(not "!" <= character <= "~" for character in secret):
        raise SettingsError("PREFLIGHTS_MCP_TOKEN: a token has letters, digits and signs of ASCII")
    try:
        bound = socket.create_server((LOOPBACK, port))
    except OSError as error:
        message = f"port {port} of {LOOPBACK} cannot be used: {error.strerror or error}"
        raise StoreUnavailable(message) from error
    with bound:
        port = bound.getsockname()[1]
        tell(f"http://{LOOPBACK}:{port}{PATH}")
        if not said:
            tell(f"token {secret}")
        config = uvicorn.Config(app(made, secret, port), log_config=None, access_log=False)
        uvicorn.Server(config).run(sockets=[bound])


def app(made: Server[Any], token: str, port: int) -> ASGIApp:
    """The server as an application: only this machine, only with the token.

    Args:
        port: on which it is served; the SDK takes `localhost:*` for any host that begins so.
    """
    guard = TransportSecuritySettings(
        allowed_hosts=[f"{host}:{port}" for host in HOSTS],
        allowed_origins=[f"http://{host}:*" for host in HOSTS],
    )
    inner = made.streamable_http_app(streamable_http_path=PATH, transport_security=guard)
    return _Guarded(inner, token)


class _Guarded:
    """Lets those in who show the token."""

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner = inner
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        shown = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "lifespan" or hmac.compare_digest(shown, self._expected):
            await self._inner(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "a bearer token is needed: the server printed it on stderr, or PREFLIGHTS_MCP_TOKEN "
            "says it\n",
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
        await refusal(scope, receive, send)
