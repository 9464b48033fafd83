"""The groups of commands, their old names, and the session that is meant without a name."""

from __future__ import annotations

import re
import subprocess
import sys

import click

from preflights_cli.commands import MEANT, SECTIONS, commands, rows_of
from preflights_cli.main import preflights
from preflights_es.runtime.features import FEATURES
from tests.cli.program import Project
from tests.each import each
from tests.markdown import ROOT


def test_help_has_the_sections_in_order_fits_a_screen_and_names_every_command(
    house: Project,
) -> None:
    lines = house.call("--help").out.splitlines()
    found = [line.removesuffix(":") for line in lines if line.removesuffix(":") in SECTIONS]
    assert found == [*SECTIONS]
    assert all(len(line) <= 80 for line in lines)
    assert len(lines) <= 48
    rows = [re.split("  +", line.strip())[0] for line in lines if re.match("  [a-z]+[, ]", line)]
    assert ", ".join(rows).split(", ") == [name for names in SECTIONS.values() for name in names]


def test_commands_stand_in_sections_and_their_table_imports_none() -> None:
    top = [name for name in commands() if " " not in name]
    listed = preflights.list_commands(click.Context(preflights))
    assert sorted(listed) == sorted(top)
    assert listed == [name for names in SECTIONS.values() for name in names]
    table = {"weather": ("x", "What the weather is."), "start": ("y", "Begin.")}
    assert preflights.sections(table)["More"] == ["weather"]
    names = ["show", "log"]
    table = {name: ("x", f"Line of {name}.") for name in names}
    assert [*rows_of(names, table)] == ["show, log"]
    assert rows_of(["log"], {"log": table["log"]}) == {"log": "Line of log."}
    code = (
        "import sys; from preflights_cli.commands import commands; commands();"
        "rooms = ('preflights_cli', 'preflights_es.f');"
        "print(*sorted(m for m in sys.modules if m.startswith(rooms)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "preflights_cli",
        "preflights_cli.commands",
        "preflights_es.features",
        *(f"preflights_es.features.{name}" for name in FEATURES),
    ]


def test_a_task_takes_no_empty_note_and_accept_no_session_that_proposes_nothing(
    house: Project,
) -> None:
    done = house.call("task", stdin=b"buy milk")
    assert (done.code, done.out) == (2, "")
    assert house.call("sessions", "--json").json["sessions"] == []
    house.started_session()
    before = house.show()
    house.call("accept").refused(1, "no proposal waits to be accepted")
    assert house.show() == before


def test_the_last_session_is_meant_where_a_command_only_reads_one(house: Project) -> None:
    house.decided()
    house.decided("Add SSO")
    for command in ("show", "log", "why", "replay", "admin export", "admin render --check"):
        one, *options = command.replace("admin ", "admin_").split()
        named = house.call(*one.split("_"), "last", *options)
        assert named.code == 0, command
        assert house.call(*command.split()) == named


@each("command", ["abandon", "answer", "revise", "admin erase", "note done"])
def test_a_command_that_changes_a_session_wants_its_name(waiting: Project, command: str) -> None:
    before = waiting.show()
    assert waiting.call(*command.split()).code == 2
    assert waiting.show() == before


def test_nothing_else_names_a_workflow_and_help_names_every_projection(house: Project) -> None:
    folder = ROOT / "cli" / "preflights_cli"
    ours = (name for name, one in FEATURES.items() if one.workflow)
    others = [name for name in ours if name not in commands()]  # one is called like a command
    named = re.compile("|".join(rf"\b{name}s?\b" for name in others))
    for path in folder.rglob("*.py"):
        found = [line for line in path.read_text().splitlines() if named.search(line)]
        assert found == [], path
    names = [
        one["name"]
        for one in house.call("admin", "projections", "status", "--json").json["projections"]
    ]
    assert f"(derived tables): {', '.join(names)}." in " ".join(
        house.call("admin", "projections", "--help").out.split()
    )


@each("word", MEANT)
def test_a_word_that_people_try_names_the_command_that_is_meant(house: Project, word: str) -> None:
    done = house.call(word, "login", "--json")
    assert (done.code, done.out) == (2, "")
    assert f"there is no command {word!r}: `preflights " in done.err
    named = re.findall(r"`preflights ((?:admin )?[a-z]+|--help)", done.err)
    assert named
    assert set(named) <= {*commands(), "--help"}, "each names a command that is there"
