"""Clients of the server, within this process, and what their person does with a form."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import mcp_types as types
from mcp import Client
from mcp.server import Server

from preflights_cli.advice import advised
from preflights_es.surfaces.mcp_server import server, threads
from preflights_es.use import bootstrap
from preflights_es.use.request import Request

ERAS: Final = ("legacy", "auto")
"""With a handshake, and without a session."""
CLAUDE: Final = types.Implementation(name="claude-code", version="2.1.300")
NAME: Final = "claude-code 2.1.300"
Form = dict[str, Any]
Person = Callable[[Form], Awaitable[types.ElicitResult]]
"""Takes a form, gives what a person does with it."""
Talk = Callable[[Client], Awaitable[Any]]


def person(*replies: object, seen: list[Form] | None = None) -> Person:
    """Fills in one form after the other: an action, or the words of an answer."""
    left = list(replies)

    async def filled(form: Form) -> types.ElicitResult:
        if seen is not None:
            seen.append(form)
        reply = left.pop(0)
        if reply in ("decline", "cancel"):
            return types.ElicitResult(action=reply)
        content: Any = reply if isinstance(reply, dict) else {"choice": reply}
        return types.ElicitResult(action="accept", content=content)

    return filled


def opened(folder: Path, **how: Any) -> Request:
    """A process in a folder, as the command opens it."""
    return bootstrap.opened_process(folder, **how).request()


async def talked(made: Server[Any], talk: Talk, era: str, asks: Person | None = None) -> Any:
    """What comes of a talk of one client."""

    async def elicited(context: Any, params: Any) -> types.ElicitResult:
        assert asks is not None, "else the client has no forms"
        return await asks({"message": params.message, **params.requested_schema})

    forms = elicited if asks else None
    async with Client(made, mode=era, client_info=CLAUDE, elicitation_callback=forms) as client:
        return await talk(client)


def talk(
    folder: Path, talk: Talk, era: str = "auto", asks: Person | None = None, **how: Any
) -> Any:
    """The same, with a server of its own that is given back."""
    with closing(opened(folder)) as request, threads() as pool:
        return asyncio.run(talked(server(request, pool, advised, **how), talk, era, asks))


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gives."""
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    structured: dict[str, Any] = found.structured_content
    return structured


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The line of a tool's error."""
    found = await client.call_tool(tool, arguments)
    assert found.is_error, found.structured_content
    (content,) = found.content
    assert isinstance(content, types.TextContent)
    assert "\n" not in content.text
    return content.text
