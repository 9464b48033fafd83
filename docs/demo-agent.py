"""A coding agent that this script plays, for docs/demo-agent.sh.

It knows of Preflights only what `preflights init --agent claude` wrote: it starts the server of
`.mcp.json`, runs the hooks of `.claude/settings.json`, and shows its person the forms.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

ANSWER: Final = "PostgreSQL"  # what the person says
QUESTION: Final = {
    "intention": "Choose a database",
    "question": "Which database keeps the orders?",
    "options": ["SQLite", "PostgreSQL"],
    "recommendation": "PostgreSQL",
    "reason": "Several services write at once.",
    "topic": "Database",
}
EDIT: Final = {"file_path": "settings.py", "content": "import sqlite3\n"}


def says(text: str) -> None:
    """What the agent's window shows."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def hooked(event: str, matched: str, **said: Any) -> dict[str, Any]:
    """What the hooks of an event say, run as the settings have them."""
    settings = json.loads(Path(".claude/settings.json").read_text())
    given = json.dumps({"session_id": "demo", "hook_event_name": event, **said}).encode()
    told: dict[str, Any] = {}
    for group in settings["hooks"][event]:
        for one in group["hooks"] if re.fullmatch(group["matcher"], matched) else ():
            command = ["sh", "-c", one["command"]]
            done = subprocess.run(command, input=given, capture_output=True, check=True)  # noqa: S603
            told |= json.loads(done.stdout).get("hookSpecificOutput", {})
    return told


def begins(source: str) -> None:
    """A session begins, or goes on after a compaction."""
    brief = hooked("SessionStart", source, source=source).get("additionalContext", "")
    says(f"agent: a session begins ({source}); the hook tells me:")
    found = re.findall(r"^## (.*)\n\n(.*)", brief, re.MULTILINE)
    says("\n".join(f"  {head}: {line}" for head, line in found) or "  nothing yet")


async def decides() -> None:
    """It asks its person through the server, and proposes what came of it."""
    from mcp import Client, StdioServerParameters
    from mcp_types import Implementation

    server = json.loads(Path(".mcp.json").read_text())["mcpServers"]["preflights"]
    me = Implementation(name="demo-agent", version="1.0")
    async with Client(
        StdioServerParameters(**server), client_info=me, elicitation_callback=elicited
    ) as client:
        says("agent: I call start_decision, and a form opens:")
        begun = (await client.call_tool("start_decision", QUESTION)).structured_content or {}
        came = await client.call_tool("accept", {"session": begun["session"]})
        says(f"agent: I call accept; the decision is {(came.structured_content or {})['status']}")


async def elicited(context: Any, params: Any) -> Any:  # noqa: ARG001
    """The person reads the form, and chooses."""
    from mcp_types import ElicitResult

    options = params.requested_schema["properties"]["choice"]["enum"]
    says(f"  {params.message}\n  {' | '.join(options)}\nperson: {ANSWER}")
    return ElicitResult(action="accept", content={"choice": ANSWER})


def edits() -> None:
    """It is about to write a line that a decision excludes."""
    says(f"agent: I write {EDIT['content'].strip()!r}; the hook says:")
    said = hooked("PreToolUse", "Write", tool_name="Write", tool_input=EDIT, tool_use_id="1")
    says(f"  {said['permissionDecision']}: {said['permissionDecisionReason']}")


match sys.argv[1]:
    case "decides":
        asyncio.run(decides())
    case "edits":
        edits()
    case source:
        begins(source)
