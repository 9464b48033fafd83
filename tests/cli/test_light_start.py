"""The default way, SQLite and no model, imports none of the heavy libraries."""

from __future__ import annotations

import json
from typing import Final

import pytest

from tests.cli.program import Project

HEAVY: Final = {
    *("sqlalchemy", "alembic", "pydantic", "asyncio", "ssl", "rich", "typing_extensions"),
    *("scipy", "distributed", "multiprocessing", "mcp", "mcp_types"),
    *("starlette", "uvicorn", "jinja2"),
}

WATCHED: Final = """
import json, sys
from preflights_cli.main import run
for words in json.loads(sys.argv[1]):
    code = run(words)
    imported = sorted({name.partition(".")[0] for name in sys.modules})
    print("\\n" + json.dumps([code, imported]), file=sys.stderr)
"""
"""Runs commands, and says after each its exit code and what was imported, on a line of stderr."""

START: Final = ("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", "--accept")

COMMANDS: Final[dict[str, tuple[tuple[str, ...], int]]] = {
    "start, in a new log": ((*START, "--by", "Ada", "--db", "new.db"), 0),
    "start": ((*START, "--by", "Ada"), 0),
    "start, and wait": (("start", "Add OAuth login", "--no-input"), 3),
    "answer": (("answer", "last", "auth_strategy=OAuth"), 3),
    "show": (("show", "last"), 0),
    "show as JSON": (("show", "last", "--json"), 0),
    "prompt": (("prompt",), 0),
    "prompt of a session": (("prompt", "last"), 0),
    "prompt of a task": (("prompt", "--for", "Add SSO to the login"), 0),
    "decisions": (("decisions",), 0),
    "decisions as JSON": (("decisions", "--json"), 0),
    "artifacts": (("artifacts",), 0),
    "artifacts as JSON": (("artifacts", "--json"), 0),
    "log": (("log", "last"), 0),
    "log as JSON": (("log", "last", "--json"), 0),
    "sessions": (("sessions",), 0),
    "why": (("why", "Strategy"), 0),
    "note": (("note", "buy milk ~5m"), 0),
    "items": (("note", "list"), 0),
    "today": (("today", "--from", "09:00", "--until", "18:00"), 0),
    "replay": (("replay", "last"), 0),
    "regress": (("regress",), 0),
}


def test_no_command_of_the_default_way_imports_anything_heavy(house: Project) -> None:
    house.decided()
    assert house.call("note", "add", "task", "Write", "--minutes", "60").code == 0
    said = watched(house, *(words for words, _ in COMMANDS.values()))
    for (name, (_, expected)), (code, imported) in zip(COMMANDS.items(), said, strict=True):
        assert code == expected, name
        assert HEAVY & imported == set(), name


@pytest.mark.parametrize("event", ["SessionStart", "PreToolUse"])
def test_a_hook_imports_nothing_heavy(house: Project, event: str) -> None:
    house.decided()
    said = {"tool_name": "Write", "tool_input": {"file_path": "a.py", "content": "import jwt"}}
    ((code, imported),) = watched(house, ("hook", event), stdin=json.dumps(said).encode())
    assert code == 0
    assert HEAVY & imported == set()


def test_what_is_heavy_is_noticed(house: Project) -> None:
    # Keeps the test above from looking at nothing.
    ((_, imported),) = watched(house, ("sessions", "--db", "postgresql://ada@127.0.0.1:1/x"))
    assert "sqlalchemy" in imported


def watched(
    house: Project, *commands: tuple[str, ...], stdin: bytes = b""
) -> list[tuple[int, set[str]]]:
    """The exit codes of commands, and the packages that were imported so far."""
    program = ("python", "-c", WATCHED, json.dumps(commands))
    done = house.run(program=program, stdin=stdin)
    lines = [json.loads(line) for line in done.err.splitlines() if line.startswith("[")]
    assert lines, done.err
    return [(code, {*imported}) for code, imported in lines]
