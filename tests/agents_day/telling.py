"""What an agent is told before a task, as one text: by the server, and by the command line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mcp import Client
from mcp_types import TextContent

from tests.agents_day.tasks import Task
from tests.cli.program import Project
from tests.surfaces.mcp.clients import talk

FOLDER: Final = Path(__file__).parent / "told"
_IDS: Final = re.compile(
    r"\b(?:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}|[0-9a-f]{64}|[0-9a-f]{12}|[0-9a-f]{8})\b"
)
_DATES: Final = re.compile(r"\b20(?:2[5-9]|[3-9]\d)-\d\d-\d\d(?:T[\d:.]+Z)?")
"""Of the program's clock: records of the other tool are of 2024."""
SAID: Final = ("status", "known", "questions", "related")
"""What is compared of the command's JSON."""


def day(project: Project, task: Task) -> str:
    """All that it is told of a task, each part from a copy of the repository."""
    asked = [("brief", {"task": task.words}), ("decisions", {"query": task.query})]
    if task.why:
        asked.append(("why", {"what": task.why}))
    brief, *found = _called(project, *asked)
    parts = {"brief": str(brief["brief"]).rstrip()}
    for (tool, given), said in zip(asked[1:], found, strict=True):
        parts[f"{tool} ({next(iter(given.values()))})"] = lines(said)
    parts["start_decision"] = _begun(project, task, {})
    if task.question:
        parts["start_decision with a question of its own"] = _begun(project, task, task.question)
    parts[f'preflights start "{task.words}" --no-input --json'] = _command(project, task)
    text = "\n".join(f"## {title}\n\n{part}\n" for title, part in parts.items())
    return fixed(f"# {task.words}\n\n{text}")


def _begun(project: Project, task: Task, question: Mapping[str, Any]) -> str:
    made = copied(project)
    (said,) = _called(made, ("start_decision", {"intention": task.words, **question}))
    return lines(said)


def _command(project: Project, task: Task) -> str:
    done = copied(project).call("start", task.words, "--no-input", "--json")
    found = {name: done.json[name] for name in SAID if done.json.get(name)}
    said = f"\n{done.err.rstrip()}" if done.err else ""
    return f"exit code {done.code}\n{lines(found)}{said}"


def _called(project: Project, *asked: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What tools answer to one client, each named with its arguments."""

    async def flow(client: Client) -> list[Any]:
        said: list[Any] = []
        for tool, given in asked:
            found = await client.call_tool(tool, given)
            (text,) = found.content
            assert isinstance(text, TextContent)
            said.append({"error": text.text} if found.is_error else found.structured_content)
        return said

    found: list[dict[str, Any]] = talk(project.folder, flow)
    return found


def copied(project: Project) -> Project:
    """The repository as it was before any task."""
    folder = project.folder.parent / "copy" / project.folder.name
    shutil.rmtree(folder.parent, ignore_errors=True)
    shutil.copytree(project.folder, folder)
    return Project(folder, project.home)


def lines(value: Any) -> str:
    """JSON, a line a value."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def fixed(text: str) -> str:
    """The text with ids numbered in the order in which they come, and without today."""
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        id_ = match[0]
        return numbers.setdefault(id_[-8:], f"<id {len(numbers) + 1}>")

    return _IDS.sub(numbered, _DATES.sub("<today>", text))
