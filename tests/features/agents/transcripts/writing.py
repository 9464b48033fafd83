"""Writes transcripts in both formats: one conversation, from a table of what happens in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from preflights_es.features.agents.transcripts.claude import folder_name
from preflights_es.features.agents.transcripts.reader import Agent
from preflights_es.kernel.questions import AskOutcome

HERE: Final = "/work/shop"
AT: Final = "2026-11-23T10:00:{:02d}.000Z"
QUESTION: Final = "Which database holds the orders?"
OPTIONS: Final = ("PostgreSQL", "SQLite, in one file", "MongoDB")


class Case(NamedTuple):
    """What happens to one question, and what is to be found."""

    name: str
    agent: Agent
    outcome: AskOutcome
    answers: tuple[str, ...] = ()
    result: Any = None
    """Of Claude Code `toolUseResult`, of Codex the output."""
    text: str = ""
    """Of Claude Code, the text that the model reads."""
    line: Mapping[str, Any] = {}
    """Of the line with the question (Claude Code), or of the first line (Codex)."""
    asks: Mapping[str, Any] = {}
    """Beside the questions of the call."""
    several: bool = False
    is_error: bool = False
    between: tuple[Mapping[str, Any], ...] = ()
    """Lines between the question and its result."""
    question: Mapping[str, Any] = {}
    """More of the question."""


def text_of(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """The transcript."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in lines)


def claude_line(
    number: int, kind: str, content: Any, *, session: str = "c1", **more: Any
) -> dict[str, Any]:
    """A line of Claude Code."""
    role = kind if kind in ("user", "assistant") else None
    said = {"message": {"role": role, "content": content}} if role else {}
    return {
        "parentUuid": f"u{number - 1}" if number else None,
        "isSidechain": False,
        "cwd": HERE,
        "sessionId": session,
        "version": "2.1.300",
        "type": kind,
        "uuid": f"u{number}",
        "timestamp": AT.format(number % 60),
        **said,
        **more,
    }


def claude_asks(
    number: int, call: str, *questions: Mapping[str, Any], asks: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """The agent puts questions."""
    given = {"questions": list(questions), **asks}
    block = {"type": "tool_use", "id": call, "name": "AskUserQuestion", "input": given}
    return claude_line(number, "assistant", [{"type": "text", "text": "?"}, block], **more)


def claude_result(
    number: int, call: str, result: Any = None, text: str = "", *, is_error: bool = False, **m: Any
) -> dict[str, Any]:
    """What came back of a call."""
    block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": is_error}
    if result is not None:
        m["toolUseResult"] = result
    return claude_line(number, "user", [block], **m)


def claude_edits(number: int, call: str, path: str, tool: str = "Edit") -> list[dict[str, Any]]:
    """The agent edits a file."""
    block = {"type": "tool_use", "id": call, "name": tool, "input": {"file_path": path}}
    return [
        claude_line(number, "assistant", [block]),
        claude_result(number + 1, call, {"filePath": path}, "done"),
    ]


def question(text: str = QUESTION, *, several: bool = False, **more: Any) -> dict[str, Any]:
    """A question as both agents put it."""
    return {
        "id": "db",
        "question": text,
        "header": "Database",
        "multiSelect": several,
        "options": [{"label": label, "description": "why"} for label in OPTIONS],
        **more,
    }


def codex_line(number: int, kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """A line of Codex."""
    return {"timestamp": AT.format(number % 60), "type": kind, "payload": payload}


def codex_begins(**more: Any) -> list[dict[str, Any]]:
    """The first lines of a rollout."""
    meta = {"id": "x1", "cwd": HERE, "cli_version": "0.150.0", "source": "cli", **more}
    return [
        codex_line(0, "session_meta", meta),
        codex_line(1, "turn_context", {"cwd": meta["cwd"], "model": "m"}),
    ]


def codex_asks(number: int, call: str, *questions: Mapping[str, Any]) -> dict[str, Any]:
    """The agent puts questions."""
    said = json.dumps({"questions": list(questions)})
    item = {"type": "function_call", "name": "request_user_input", "call_id": call}
    return codex_line(number, "response_item", {**item, "arguments": said})


def codex_output(number: int, call: str, output: Any) -> dict[str, Any]:
    """What came back of a call."""
    said = output if isinstance(output, str | list) else json.dumps(output)
    item = {"type": "function_call_output", "call_id": call, "output": said}
    return codex_line(number, "response_item", item)


def codex_edits(number: int, call: str, path: str, output: str = "done") -> list[dict[str, Any]]:
    """The agent applies a patch."""
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch\n"
    item = {"type": "custom_tool_call", "name": "apply_patch", "call_id": call, "input": patch}
    out = {"type": "custom_tool_call_output", "call_id": call, "output": output}
    return [
        codex_line(number, "response_item", item),
        codex_line(number + 1, "response_item", out),
    ]


def laid(home: Path, folder: Path) -> Path:
    """An old conversation of a project, where Claude Code keeps it: two answers and a silence."""
    where = question("Where do sessions live?", options=[{"label": "Redis"}, {"label": "Memory"}])
    away = {"answers": {}, "afkTimeoutMs": 60_000}
    lines = [
        claude_asks(1, "toolu_1", question(), asks={}),
        claude_result(2, "toolu_1", {"answers": {QUESTION: "PostgreSQL"}}),
        *claude_edits(3, "toolu_2", f"{HERE}/orders.py"),
        claude_asks(5, "toolu_3", {**where, "header": "Session store"}, asks={}),
        claude_result(6, "toolu_3", {"answers": {"Where do sessions live?": "Redis"}}),
        claude_asks(7, "toolu_4", question("Delete the old table now?"), asks={}),
        claude_result(8, "toolu_4", away, "No response after 60s"),
    ]
    path = home / ".claude" / "projects" / folder_name(str(folder)) / "c1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(text_of(lines).replace(HERE.encode(), str(folder).encode()))
    return path


def transcript(case: Case) -> list[Mapping[str, Any]]:
    """A conversation in which one question is put, settled as the case says, and a file edited."""
    asked = question(several=case.several, **case.question)
    if case.agent == "claude":
        return [
            claude_line(0, "user", "Store the orders."),
            claude_asks(1, "toolu_1", asked, asks=case.asks, **case.line),
            *case.between,
            claude_result(2, "toolu_1", case.result, case.text, is_error=case.is_error),
            *claude_edits(3, "toolu_2", f"{HERE}/orders.py"),
        ]
    return [
        *codex_begins(**case.line),
        codex_asks(2, "call_1", asked),
        *case.between,
        codex_output(3, "call_1", case.result),
        *codex_edits(4, "call_2", "orders.py"),
    ]
