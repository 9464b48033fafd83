"""A client of the SDK's former major version; run by an interpreter's path that leads to it.

    python former_client.py PROGRAM FOLDER

Prints the version it speaks, what the tool gave, and what it asked.
"""

import asyncio
import json
import sys
from typing import Any

import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ElicitResult


async def talk(program: str, folder: str) -> None:
    forms = []

    async def elicited(_context, params):  # type: ignore[no-untyped-def]
        forms.append(params.message)
        return ElicitResult(action="accept", content={"choice": "OAuth"})

    server = StdioServerParameters(command=program, args=["mcp"], cwd=folder, env=None)
    async with (
        stdio_client(server) as streams,
        ClientSession(*streams, elicitation_callback=elicited) as session,
    ):
        begun: Any = await session.initialize()
        tools = [one.name for one in (await session.list_tools()).tools]
        found: Any = await session.call_tool("start_decision", {"intention": "Add login"})
        told = {"spoken": begun.protocolVersion, "tools": tools, "forms": forms}
        print(json.dumps({**told, "found": found.structuredContent}))


assert not hasattr(mcp, "Client"), "the former major version"
asyncio.run(talk(*sys.argv[1:]))
