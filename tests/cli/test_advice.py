"""Errors say what happened; the command line alone says which command helps."""

from __future__ import annotations

import json
import re
from string import Formatter
from typing import Final

import pytest

import preflights_es
from preflights_cli.advice import ADVICE, error_with_advice
from preflights_cli.commands import commands
from preflights_es.kernel import errors
from tests.cli.program import Project
from tests.each import each
from tests.markdown import ROOT, tables, ticked

ERRORS: Final = [
    one
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, errors.PreflightsError)
]
COMMAND: Final = re.compile(r"`preflights [a-z-]")
SURFACES: Final = (
    "preflights_es/surfaces/mcp_",
    "preflights_es/surfaces/view/",
    "preflights_es/features/agents/hook_",
)
"""What coding agents and people read: it says what to do, as the command line does."""
FRAME: Final = "from preflights_cli"
"""Of what belongs to the command line, also in a feature."""
STATUSES: Final = ("session_", "stray_")
"""Beginnings of codes that end in a status, or in the name of a table."""


def sources(folder: str) -> dict[str, str]:
    """The text of every module of a package."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


def is_said(code: str) -> bool:
    """Whether an error, a warning or a finding can have a code."""
    if any(code == errors.code_of(one) for one in ERRORS):
        return True
    said = (text for folder in ("preflights_es", "cli") for text in sources(folder).items())
    return code.startswith(STATUSES) or any(
        f'"{code}"' in text for name, text in said if not name.endswith("advice.py")
    )


def test_no_message_below_the_surfaces_names_a_command_and_each_that_is_named_is_there() -> None:
    below = {
        name: text
        for name, text in sources("preflights_es").items()
        if FRAME not in text and "/commands/" not in name
    }
    naming = {name for name, text in below.items() if COMMAND.search(text)}
    assert {name for name in naming if not name.startswith(SURFACES)} == set()
    assert any(COMMAND.search(text) for text in sources("cli").values()), "the pattern finds one"
    known = {name.partition(" ")[0] for name in commands()}
    named = {word for said in ADVICE.values() for word in re.findall(r"`preflights ([a-z]+)", said)}
    assert named
    assert named <= known


@pytest.mark.slow("whole runs")
def test_every_advice_is_for_something_that_is_said() -> None:
    assert [code for code in ADVICE if not is_said(code)] == []


def test_an_error_has_a_code_and_fields_and_no_command_for_a_program(house: Project) -> None:
    error = errors.SessionMoved("0000-3f9a12c4", 6, 7)
    assert (error.code, error.fields["found"]) == ("session_moved", 7)
    assert "`" not in str(error)
    assert error_with_advice(error).endswith(": look at it again with `preflights show 3f9a12c4`")
    for code, said in ADVICE.items():
        needed = {name for _, name, _, _ in Formatter().parse(said) if name}
        assert needed <= {"session", "name", "own", "flag", "path", "package"}, code
    log = preflights_es.open(house.folder, database=str(house.folder / "own.db"))
    with log, pytest.raises(errors.UnknownSession) as raised:
        log.show("last")
    assert raised.value.code == "unknown_session"
    assert str(raised.value) == "this project has no such session yet"


def test_an_error_is_json_on_the_last_line_of_stderr(house: Project) -> None:
    done = house.call("show", "ffffffff", "--json")
    words, shape = done.err.splitlines()
    assert (done.code, done.out) == (1, "")
    listed = "`preflights sessions --all-workflows` lists those of this project"
    message = f"no session matches 'ffffffff': {listed}"
    assert words == f"preflights: {message}"
    assert json.loads(shape) == {
        "format": "error/1",
        "code": "unknown_session",
        "message": message,
        "fields": {"typed": "ffffffff"},
    }
    fields = {ticked(row["field"])[0] for row in tables("docs/api.md")["error/1"]}
    assert fields == set(json.loads(shape))
    assert len(house.call("show", "ffffffff").err.splitlines()) == 1


@each("typed", ["\x1b[31m\x7f\u202e", "\udcff"])
def test_whatever_was_typed_the_error_is_json_and_safe(house: Project, typed: str) -> None:
    done = house.call("show", typed, "--json")
    assert done.code == 1
    assert done.is_safe()
    assert json.loads(done.err.splitlines()[-1])["fields"] == {"typed": typed}


@pytest.mark.slow("whole runs")
def test_the_documented_codes_are_those_of_the_program() -> None:
    documented = {code for row in tables("docs/api.md")["Codes"] for code in ticked(row["code"])}
    assert documented
    assert [code for code in documented if not is_said(code)] == []
