"""The default way, SQLite and no model, imports none of the heavy libraries."""

from __future__ import annotations

import json
from typing import Final

import pytest

from tests.cli.program import Project

HEAVY: Final = {
    *("sqlalchemy", "alembic", "pydantic", "asyncio", "ssl", "rich", "typing_extensions"),
    *("scipy", "distributed", "multiprocessing", "mcp", "mcp_types"),
}

WATCHED: Final = """
import json, sys
from preflights_cli.main import run
code = run(json.loads(sys.argv[1]))
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""
"""Runs a command, then says its exit code and what it imported on the last line of stderr."""

START: Final = ("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", "--accept")

COMMANDS: Final[dict[str, tuple[tuple[str, ...], int]]] = {
    "start, in a new log": ((*START, "--by", "Ada", "--db", "new.db"), 0),
    "start": ((*START, "--by", "Ada"), 0),
    "start, and wait": (("start", "Add a search page", "--no-input"), 3),
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
    "lock verify": (("lock", "verify"), 1),
    "log": (("log", "last"), 0),
    "log as JSON": (("log", "last", "--json"), 0),
    "sessions": (("sessions",), 0),
    "why": (("why", "Strategy"), 0),
    "tasks": (("tasks",), 0),
    "today": (("today", "--from", "09:00", "--until", "18:00"), 0),
    "replay": (("replay", "last"), 0),
    "regress": (("regress", "--fresh"), 0),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_of_the_default_way_imports_nothing_heavy(house: Project, name: str) -> None:
    words, expected = COMMANDS[name]
    house.decided()
    if name == "answer":
        assert house.call("start", "Add OAuth login", "--no-input").code == 3
    if name == "today":
        assert house.call("note", "add", "task", "Write", "--minutes", "60").code == 0
    code, imported = watched(house, words)
    assert code == expected
    assert HEAVY & imported == set()


@pytest.mark.parametrize("event", ["SessionStart", "PreToolUse"])
def test_a_hook_imports_nothing_heavy(house: Project, event: str) -> None:
    house.decided()
    said = {"tool_name": "Write", "tool_input": {"file_path": "a.py", "content": "import jwt"}}
    code, imported = watched(house, ("hook", event), json.dumps(said).encode())
    assert code == 0
    assert HEAVY & imported == set()


def test_what_is_heavy_is_noticed(house: Project) -> None:
    # Keeps the test above from looking at nothing.
    _, imported = watched(house, ("sessions", "--db", "postgresql://ada@127.0.0.1:1/x"))
    assert "sqlalchemy" in imported


def watched(house: Project, words: tuple[str, ...], stdin: bytes = b"") -> tuple[int, set[str]]:
    """A command's exit code, and the packages that it imported."""
    program = ("python", "-c", WATCHED, json.dumps(words))
    done = house.run(program=program, stdin=stdin)
    code, imported = json.loads(done.err.splitlines()[-1])
    assert "preflights_es" in imported, done.err
    return code, set(imported)
