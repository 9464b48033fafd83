"""Where a decision holds: said with it, recorded, shown, and asked for by a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import UNSET

from preflights_cli import EXIT_WAITING
from preflights_es.features.clarification.reasons_text import (
    Unparsable,
    format_reasons_text,
    parse_reasons_text,
)
from preflights_es.words.decisions import StatedReasons
from tests.cli.program import Project
from tests.cli.terminal import terminal

START: Final = ("start", "Store orders in a database", "--answer", "db_type=PostgreSQL")
WHERE: Final = ("--path", "src/db/**", "--path", "*.sql", "--hold", "ask")


def reach(shape: dict[str, Any]) -> tuple[list[str], str, str]:
    return shape["paths"], shape["paths_by"], shape["hold"]


@pytest.mark.parametrize("command", ["start", "answer", "revise", "accept"])
def test_every_command_that_decides_says_where_it_holds(house: Project, command: str) -> None:
    house.call(*START, "--no-input", *(WHERE if command == "start" else ()))
    if command != "start":
        given = ("db_type=PostgreSQL",) if command == "revise" else ()
        assert house.call(command, "last", *given, *WHERE).code in (0, EXIT_WAITING)
    assert reach(house.show()) == (["src/db/**", "*.sql"], "script", "ask")
    assert "holds for src/db/**, *.sql  (by a script)" in house.call("show", "last").out
    assert house.call("accept", "last", "--by", "Ada").code == 0
    assert reach(house.show()) == (["src/db/**", "*.sql"], "user", "ask")
    text = (house.folder / house.show()["artifacts"][0]).read_text()
    assert 'applies-to: ["src/db/**","*.sql"]' in text
    assert "* Holds for `src/db/**`, `*.sql`" in text
    assert "* An agent asks a person before it edits what this holds for" in text
    (row,) = house.call("decisions", "--json").json["decisions"]
    assert (row["paths"], row["hold"]) == (["src/db/**", "*.sql"], "ask")
    assert house.call("replay", "last").code == 0
    assert house.call("audit", "verify").code == 0


@pytest.mark.parametrize(
    ("intention", "said"),
    [
        (
            "Use PostgreSQL",
            "and names no files; `--path`, or e at a terminal, names them, such as orders/.",
        ),
        (
            "Wir nehmen PostgreSQL",
            "und nennt keine Dateien; `--path`, am Terminal e, nennt sie, etwa orders/.",
        ),
    ],
)
def test_a_scope_without_files_says_how_to_name_them(
    house: Project, intention: str, said: str
) -> None:
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    (house.folder / "orders").mkdir()
    (house.folder / "orders/a.py").write_text("")
    words = ("--scope", "orders", "--alternative", "MongoDB: no joins", "--because", "It joins")
    with terminal(house, "start", intention, *words) as t:
        assert said in " ".join(t.expect(r"\[l\](eave|assen)\? ").split())
        t.press("l")
        t.rest()


def test_what_is_no_pattern_records_nothing_and_paths_are_said_anew(house: Project) -> None:
    house.call(*START, "--no-input", "--path", "!src").refused(1, "the path '!src' begins with !")
    hidden = house.call(*START, "--no-input", "--path", "AKIAIOSFODNN7EXAMPLE/**")
    assert (hidden.code, hidden.out) == (1, "")
    assert "a path holds what looks like a secret" in hidden.err
    many = [word for n in range(21) for word in ("--path", f"src/{n}")]
    assert "expected at most 20" in house.call(*START, "--no-input", *many).err
    assert house.call(*START, "--no-input", "--hold", "never").code == 2
    assert house.call("sessions", "--json").json["sessions"] == []
    house.call(*START, "--no-input", *WHERE)
    house.call("revise", "last", "--path", "lib/**")
    assert reach(house.show()) == (["lib/**"], "script", "ask")
    house.call("revise", "last", "--hold", "deny")
    assert reach(house.show()) == (["lib/**"], "script", "deny")


def accepted(house: Project, intention: str, value: str, *where: str) -> None:
    options = ("--option", value, "--option", "Another")
    house.call("start", intention, "--question", f"Which for {intention}?", *options, "--no-input")
    house.call("answer", "last", value, *where)
    assert house.call("accept", "last", "--by", "Ada").code == 0


def test_a_file_is_asked_for_what_holds(house: Project) -> None:
    accepted(house, "Queue", "RabbitMQ", "--path", "src/**")
    accepted(house, "Ids", "UUIDv7", "--path", "src/db/**", "--because", "They sort")
    accepted(house, "Colour", "Blue")
    found = house.call("why", "src/db/orders.py", "--json").json
    assert found["format"] == "holds/1"
    said = [(one["pattern"], one["fields"][0][1]) for one in found["decisions"]]
    assert said == [("src/db/**", "UUIDv7"), ("src/**", "RabbitMQ")]
    assert (found["everywhere"], found["decisions"][0]["accepted_by"]["name"]) == (1, "Ada")
    out = house.call("why", "src/db/orders.py").out
    assert "because     They sort" in out
    assert "Another" not in out  # it was merely offered
    assert "1 more decision names no files: preflights decisions" in out
    assert "No decision in force says that it holds for docs/x." in house.call("why", "docs/x").out
    listed = house.call("decisions", "--path", "src/api.py", "--json").json
    assert [one["fields"][0][1] for one in listed["decisions"]] == ["RabbitMQ"]
    assert (listed["path"], listed["everywhere"]) == ("src/api.py", 1)
    assert house.call("decisions", "--path", "src/x").out.endswith("\n1 decision names no files.\n")
    none = house.call("decisions", "--path", "docs/x").out
    assert "No decision says that it holds for docs/x." in none


def test_a_path_is_taken_from_where_one_stands(house: Project, home: Path) -> None:
    accepted(house, "Ids", "UUIDv7", "--path", "src/db/**")
    (house.folder / "src" / "db").mkdir(parents=True)
    (house.folder / "src" / "db" / "a.py").write_text("")
    inside = Project(house.folder / "src", home)
    for typed in ("db/a.py", "db/new.py", "src/db/a.py", str(house.folder / "src" / "db" / "a.py")):
        (one,) = inside.call("why", typed, "--json").json["decisions"]
        assert one["pattern"] == "src/db/**", typed
    outside = house.call("why", "../elsewhere.py")
    assert (outside.code, "expected a file of the project" in outside.err) == (1, True)


def test_a_superseded_decision_of_a_file_is_shown_with_all(house: Project) -> None:
    accepted(house, "Ids", "UUIDv4", "--path", "src/**")
    first = house.show()["uid"]
    house.call(
        *("start", "Ids again", "--question", "Which for Ids?", "--option", "UUIDv7"),
        *("--option", "UUIDv4", "--no-input", "--supersedes", first, "--path", "src/**"),
    )
    house.call("answer", "last", "UUIDv7")
    assert house.call("accept", "last", "--by", "Ada").code == 0
    now = house.call("why", "src/a.py", "--json").json
    assert [one["fields"][0][1] for one in now["decisions"]] == ["UUIDv7"]
    assert now["superseded"] == []
    (former,) = house.call("why", "src/a.py", "--all", "--json").json["superseded"]
    assert (former["fields"][0][1], former["superseded_by"]) == ("UUIDv4", "ADR-0002")
    assert house.call("why", "last", "--all").code == 2


def test_patterns_without_a_file_are_listed(house: Project) -> None:
    accepted(house, "Ids", "UUIDv7", "--path", "src/db/**", "--path", "*.sql")
    (house.folder / "x.sql").write_text("")
    found = house.call("decisions", "--unused", "--json").json
    assert [one["pattern"] for one in found["patterns"]] == ["src/db/**"]
    (house.folder / "src" / "db").mkdir(parents=True)
    (house.folder / "src" / "db" / "a.py").write_text("")
    assert "Every pattern matches a file." in house.call("decisions", "--unused").out
    assert house.call("decisions", "--unused", "--all").code == 2


RECORD: Final = """\
---
status: accepted
date: 2026-01-02
{list}
---
# Use React

## Context

We need one.

## Decision

React
"""


@pytest.mark.parametrize(
    ("list_", "paths"),
    [
        ("applies-to: ['src/web/**', \"*.tsx\"]", ["src/web/**", "*.tsx"]),
        ("paths:\n  - src/web/**\n  - *.tsx", ["src/web/**", "*.tsx"]),
        ("affects: src/web/**, *.tsx", ["src/web/**", "*.tsx"]),
        ("scope: web", ["web"]),
        ("scope: the web team", []),
        ("scope: read/write access of users", []),
        ("affects: [Payments, src/web/**]", ["src/web/**"]),
        (
            'affects: ["@acme/forms", github.com/acme/forms, "@types/react/*", src/x.ts]',
            ["src/x.ts"],
        ),
        ("paths: ['!src', '../etc/passwd', 'src/**']", ["src/**"]),
    ],
)
def test_a_record_of_another_tool_says_where_it_holds(
    house: Project, list_: str, paths: list[str]
) -> None:
    (house.folder / "web").mkdir()
    folder = house.folder / "docs" / "decisions"
    folder.mkdir(parents=True)
    (folder / "0001-use-react.md").write_text(RECORD.format(list=list_))
    (row,) = house.call("decisions", "--json").json["foreign"]
    assert row["paths"] == paths
    if paths == ["src/web/**", "*.tsx"]:
        (one,) = house.call("why", "src/web/app.ts", "--json").json["decisions"]
        assert (one["name"], one["pattern"]) == ("docs/decisions/0001-use-react.md", "src/web/**")
        assert "dated       2026-01-02" in house.call("why", "src/web/app.ts").out


def test_the_editor_takes_paths_and_hold() -> None:
    before = StatedReasons("It is fast", replaces=True, paths=("src/**",), hold="tell")
    text = format_reasons_text(before)
    same, _ = parse_reasons_text(text, before)
    assert (same.because, same.paths, same.hold) == ("It is fast", UNSET, UNSET)
    changed, scope = parse_reasons_text(
        text.replace("- src/**", "- lib/**\n- *.sql")
        .replace("Agents: tell\n", "Agents: deny\n")
        .replace("For:", "For: the till"),
        before,
    )
    assert (changed.paths, changed.hold, scope) == (("lib/**", "*.sql"), "deny", "the till")
    for wrong, why in (("- src/**", "- !src"), ("Agents: tell", "Agents: never")):
        with pytest.raises(Unparsable):
            parse_reasons_text(text.replace(wrong, why), before)
