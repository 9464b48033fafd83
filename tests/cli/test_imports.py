"""A folder full of modules that mean harm: the program imports none of them.

The default way, SQLite and no model, imports none of the heavy libraries.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

import pytest

from tests.cli.program import BIN, Project
from tests.each import each
from tests.markdown import ROOT

OURS: Final = {"preflights_es", "preflights_cli", "alembic"}
AT_START: Final = {"sitecustomize", "usercustomize"}
HARM: Final = 'import io\nio.open({marker!r}, "w").close()\n'

READING: Final = (
    *("--help", "--version", "sessions", "sessions --all --json", "show last", "log last"),
    *("prompt last", "note list", "today --from 09:00", "replay last", "replay --all"),
    *("admin export last", "admin render --check", "admin renumber --check", "decisions"),
    *("why Strategy", "usage", "artifacts --all"),
    *("audit verify --all", "audit trail", "audit checkpoint", "admin projections status"),
    *("admin projections rebuild", "regress --jobs 2", "admin db status", "admin db upgrade"),
    "admin completion bash",
    *("replay last --drift", "replay last --simulate", "replay last --provider anthropic --live"),
    *("resume last --no-input", "start Login --provider anthropic --no-input"),
    *("sessions --db postgresql://ada@127.0.0.1:1/x", "no-such-command"),
)


def hostile(folder: Path, home: Path, template: Path, names: Collection[str]) -> Project:
    """A repository in which every one of some names is a module that leaves a mark."""
    shutil.copytree(template, folder / "house")
    made = Project(folder / "house", home)
    for _ in range(2):
        made.decided()
    marks = folder / "marks"
    marks.mkdir()
    for name in names:
        (made.folder / f"{name}.py").write_text(HARM.format(marker=str(marks / name)))
    for name in ("alembic", "migrations"):  # folders of the program's own, by name
        (made.folder / name).mkdir()
        (made.folder / name / "env.py").write_text(HARM.format(marker=str(marks / name)))
    return made


def _names() -> frozenset[str]:
    """Every name that can be imported but ours; it takes a third of a second to read them."""
    installed = {name.partition(".")[0] for name in packages_distributions()}
    return (sys.stdlib_module_names | installed | AT_START | {"uvloop"}) - OURS


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory, home: Path, template: Path) -> Project:
    """A repository in which every name that can be imported is taken."""
    return hostile(tmp_path_factory.mktemp("clone"), home, template, _names())


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory, home: Path, template: Path) -> Project:
    """One that leaves Python what it imports before the program can change its search path."""
    begins = "import preflights_cli.main, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", begins], cwd=ROOT, capture_output=True, text=True, check=True
    )
    begun = {name.partition(".")[0] for name in done.stdout.split()}
    names = _names() - begun - AT_START
    assert len(names) > 200
    return hostile(tmp_path_factory.mktemp("late"), home, template, names)


def harmed(clone: Project) -> list[str]:
    """Names of the modules that were run, which starts anew."""
    found = sorted((clone.folder.parent / "marks").iterdir())
    for path in found:
        path.unlink()
    return [path.name for path in found]


@pytest.mark.slow("hostile clones")
def test_no_command_imports_from_the_current_folder(clone: Project) -> None:
    for command in READING:
        done = clone.run(*command.split(), starts=True)
        assert done.code != 70, (command, done.err)
        assert harmed(clone) == [], command


STARTS: Final = {
    "the module": (("python", "-m", "preflights_cli"), {}),
    "the module without the environment": (("python", "-E", "-m", "preflights_cli"), {}),
    "a script": (("python", str(BIN / "preflights")), {}),
    "an empty entry first": (("preflights",), {"PYTHONPATH": f"{os.pathsep}/nowhere"}),
    "an empty entry last": (("preflights",), {"PYTHONPATH": f"/nowhere{os.pathsep}"}),
    "the folder by a dot": (("preflights",), {"PYTHONPATH": "."}),
    "the folder by a detour": (("preflights",), {"PYTHONPATH": "alembic/.."}),
    "the module and a dot": (("python", "-m", "preflights_cli"), {"PYTHONPATH": "."}),
}


QUICK: Final = ("the module", "a script")
"""One start of each clone; the others are slow."""


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(one, marks=() if one in QUICK else pytest.mark.slow("hostile clones"))
        for one in STARTS
    ],
)
def test_however_it_is_started_it_imports_nothing_from_the_current_folder(
    clone: Project, late: Project, start: str
) -> None:
    program, env = STARTS[start]
    house = late if env or "-m" in program else clone
    # Its helper is a process of its own.
    done = house.run(*["regress", "--jobs", "2"], program=program, env=env)
    assert done.code == 0, done.err
    assert harmed(house) == []


def test_an_absolute_folder_of_pythonpath_is_searched(house: Project, tmp_path: Path) -> None:
    for _ in range(2):
        house.decided()
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.stderr.write('here ')\n")
    env = {"PYTHONPATH": f".{os.pathsep}{tmp_path}"}
    done = house.run("regress", "--jobs", "2", env=env, starts=True)
    assert done.code == 0, done.err
    assert done.err.count("here ") >= 2, "the helper searches it too"


# What a start loads --------------------------------------------------------------------------


HEAVY: Final = {
    *("sqlalchemy", "alembic", "pydantic", "asyncio", "ssl", "rich", "typing_extensions"),
    *("distributed", "multiprocessing", "mcp", "mcp_types"),
    *("starlette", "uvicorn", "jinja2"),
}

WATCHED: Final = """
import json, sys
from preflights_cli.main import run_command_line
for words in json.loads(sys.argv[1]):
    code = run_command_line(words)
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


@each("event", ["SessionStart", "PreToolUse"])
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
