"""`check`: what it finds in a change, with which exit code, in real repositories."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import preflights_es
from preflights_es.features.govern.brought_in import NAMES_MAX
from preflights_es.features.govern.check import _of_places, check_change
from preflights_es.use.holding import list_holding_decisions
from preflights_es.use.work_tree import WorkTree
from tests.cli.program import House, Project, Result
from tests.cli.test_docs import check as documented
from tests.each import each

STORE: Final = "Store orders in a database"
ORDERS: Final = "src/db/orders.py"


def write(house: Project, path: str, text: str | bytes = "x = 1\n") -> Path:
    file = house.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def commit(house: Project, *add: str) -> None:
    house.git("add", *(add or ("--all",)))
    house.git("commit", "--quiet", "--allow-empty", "--message", "Go on")


def decide(house: Project, *words: str, value: str = "PostgreSQL", intention: str = STORE) -> str:
    """An accepted decision for a database, instead of others; its record's path."""
    known = ["--answer", f"db_type={value}", "--accept", "--again", "--by", "Ada", "--json"]
    for other in ("MySQL", "MongoDB"):
        known += ["--alternative", other]
    done = house.call("start", intention, *known, *words)
    assert done.code == 0, done.err
    return str(done.json["artifacts"][0])


def checked(house: Project, *words: str) -> tuple[int, dict[str, list[Any]], Any]:
    """The exit code, the findings by rule, and the whole; `decision-changed` of new ones apart."""
    done = house.call("check", *words, "--json")
    assert done.is_safe(), done
    found: dict[str, list[Any]] = {}
    for one in done.json["findings"]:
        if (one["rule"], one["level"]) != ("decision-changed", "note"):
            found.setdefault(one["rule"], []).append(one)
    assert done.code == (done.json["codes"] or [0])[0]
    return done.code, found, done.json


@pytest.fixture
def shop(house: House) -> Project:
    """A committed repository, without a decision."""
    house.made(_two_sources)
    return house


def _two_sources(house: Project) -> None:
    write(house, ORDERS, "import os\n")
    write(house, "src/web.py", "import os\n")
    commit(house)


@pytest.fixture
def chosen(house: House) -> Project:
    """It has a decision that holds everywhere; rows of a test find it as it was."""
    house.made(_chosen)
    return house


def _chosen(house: Project) -> None:
    _two_sources(house)
    decide(house)
    commit(house)
    house.git("tag", "start")


@pytest.fixture
def guarded(house: House) -> Project:
    """It has a decision for a folder; rows of a test find it as it was."""
    house.made(_guarded)
    return house


def _guarded(house: Project) -> None:
    _two_sources(house)
    decide(house, "--path", "src/db/**", "--because", "We know it", "--scope", "orders")
    commit(house)
    house.git("tag", "start")


def as_it_was(house: Project) -> None:
    """Undo a change: what is committed, staged or only lies there."""
    house.git("reset", "--quiet", "--hard", "start")
    house.git("clean", "--quiet", "-ffdx")


# 1. What it says ------------------------------------------------------------------------------


def test_nothing_is_said_of_a_change_without_decisions(shop: Project) -> None:
    write(shop, ORDERS)
    done = shop.call("check")
    assert (done.code, done.out, done.err) == (0, "1 changed file: nothing to say.\n", "")


def test_a_decision_holds_for_changed_files_and_that_is_no_error(shop: Project) -> None:
    record = decide(shop, "--path", "src/db/**", "--because", "We know it")
    commit(shop)
    assert checked(shop)[1] == {}
    write(shop, ORDERS)
    write(shop, "src/db/new.py")
    code, found, shape = checked(shop)
    documented("check/1", shape)
    assert (code, list(found)) == (0, ["holds"])
    (one,) = found["holds"]
    assert (one["level"], one["decision"], one["file"]) == ("note", "ADR-0001", "src/db/new.py")
    assert one["files"] == ["src/db/new.py", ORDERS]
    assert "Type: PostgreSQL, because We know it; not MySQL, MongoDB" in one["message"]
    assert "replaces ADR-0001" in one["message"]
    assert (shop.folder / record).exists()


def test_an_edit_that_a_person_is_asked_for_is_a_warning(shop: Project) -> None:
    decide(shop, "--path", "src/db/**", "--hold", "ask")
    write(shop, ORDERS)
    code, found, _ = checked(shop)
    assert (code, found["holds"][0]["level"]) == (0, "warning")


def test_a_change_that_a_decision_denies_is_an_error_until_it_is_replaced(shop: Project) -> None:
    decide(shop, "--path", "src/db/**", "--hold", "deny")
    commit(shop)
    write(shop, ORDERS)
    code, found, _ = checked(shop)
    assert (code, list(found), found["denied"][0]["file"]) == (1, ["denied"], ORDERS)
    decide(shop, "--supersedes", "ADR-0001", value="MySQL")
    code, found, _ = checked(shop)
    assert code == 0, found


def test_a_decision_is_recorded_in_a_package_that_is_closed(shop: Project) -> None:
    """Its record and session are no change of the package, unless their folder is closed."""
    write(shop, "web/docs/adr/0001-use-vue.md", "# Use Vue\n\nStatus: accepted\n")
    decide(shop, "--path", "web/**", "--hold", "deny")
    commit(shop)
    accepted = ("--accept", "--by", "Ada", "--json")
    login = ("start", "Add login", "--answer", "auth_strategy=OAuth", *accepted)
    record = Project(shop.folder / "web", shop.home).call(*login).json["artifacts"][0]
    assert record.startswith("web/docs/adr/")
    assert "denied" not in checked(shop)[1]
    write(shop, "web/docs/adr/notes.md")
    assert checked(shop)[1]["denied"][0]["files"] == ["web/docs/adr/notes.md"]
    (shop.folder / "web/docs/adr/notes.md").unlink()
    commit(shop)
    closed = ("--path", "web/docs/adr/**", "--hold", "deny", *accepted)
    assert shop.call("start", "Close them", *OPEN, "description=No more records", *closed).code == 0
    commit(shop)
    write(shop, record, (shop.folder / record).read_text() + "More.\n")
    assert checked(shop)[1]["denied"][0]["files"] == [record]


def test_a_new_decision_replaces_one_whose_session_does_not_say_so_yet(
    shop: Project, tmp_path: Path
) -> None:
    decide(shop, "--path", "src/db/**", "--hold", "deny")
    commit(shop)
    decide(shop, "--supersedes", "ADR-0001", value="MySQL")
    write(shop, ORDERS)
    shop.git("restore", *[one for one in shop.git("ls-files", "-m").split() if "docs/" in one])
    commit(shop)
    code, found, _ = checked(clone(shop, tmp_path), "--base", "HEAD~1")
    assert (code, "denied" in found) == (0, False), found
    (one,) = found["decision-changed"]
    assert (one["level"], "replaces ADR-0001" in one["message"]) == ("warning", True)


@pytest.mark.parametrize(
    ("where", "code"), [((), 1), (("--path", "src/db/**"), 1), (("--path", "lib/**"), 0)]
)
def test_what_was_turned_down_stays_out(shop: Project, where: tuple[str, ...], code: int) -> None:
    decide(shop, *where, "--because", "We know it")
    commit(shop)
    write(shop, ORDERS, "import os\n\nimport pymongo\n")
    got, found, _ = checked(shop)
    assert got == code
    if code:
        (one,) = found["turned-down"]
        assert (one["file"], one["line"], one["decision"]) == (ORDERS, 3, "ADR-0001")
        assert "Ada turned down MongoDB for PostgreSQL: We know it" in one["message"]
        assert "src/db/orders.py now uses it (pymongo)" in one["message"]
        write(shop, "src/db/carts.py", "import pymongo\n")
        (one,) = checked(shop)[1]["turned-down"]
        assert "src/db/carts.py, src/db/orders.py now use it (pymongo)" in one["message"]
    commit(shop)
    write(shop, ORDERS, "import os\n\nimport pymongo\n\nx = 1\n")
    assert "turned-down" not in checked(shop)[1]  # it was there before
    assert ("turned-down" in checked(shop, ORDERS)[1]) is bool(code)


OPEN: Final = ("--answer", "change_category=Other", "--answer")
SMALLER: Final = ("Replace moment.js with something smaller", *OPEN, "description=date-fns")
READINGS: Final = ("Keep the sensor readings in a database", "--answer", "db_type=MongoDB")
SOAP: Final = ("Remove the old SOAP endpoint", *OPEN, "description=We switch it off in May")
ZUSTAND: Final = ("Replace Redux with Zustand in the web", "--alternative", "Redux")
TOOLKIT: Final = ("Use Redux Toolkit in all of the web", "--alternative", "Redux")
CACHE: Final = ("Add a cache for the item search", "--answer", "caching=In-process memory")
CACHES: Final = ("Which cache do we need?", *CACHE[1:])
STATE: Final = ("Use Zustand instead of Redux", "--again")
TILL: Final = ("--scope", "till", "--alternative", "Redux: too much code", "--again")
JS, PY, TS = "web/a.js", "app/a.py", "src/till/a.ts"

GATE: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, str], str]]] = {
    # Titles of records of another tool in force; the decision; the edit; what is said of it.
    "a menu only offers": ((), SMALLER, (JS, "import React from 'react'"), ""),
    "A of no value": ((), SMALLER, (JS, "import moment from 'moment'"), ""),
    "an alternative": (
        *((), (*SMALLER, "--alternative", "moment: too big")),
        *((JS, "import moment from 'moment'"), "Ada turned down moment for date-fns: too big"),
    ),
    "A of a form": (
        *((), ("Replace moment.js with date-fns",), (JS, "import moment from 'moment'")),
        "Ada turned down Moment.js for date-fns",
    ),
    "a value of another tool": (("Use PostgreSQL",), READINGS, (PY, "import psycopg2"), ""),
    "in force elsewhere": (
        *(("Use PostgreSQL",), (*READINGS, "--alternative", "PostgreSQL")),
        *((PY, "import psycopg2"), ""),
    ),
    "in force elsewhere, below a path": (
        *(("Use PostgreSQL",), (*READINGS, "--alternative", "PostgreSQL", "--path", "app/**")),
        *((PY, "import psycopg2"), "Ada turned down PostgreSQL for MongoDB"),
    ),
    "a part of a title": (
        *(("Celery with Redis",), (*CACHES, "--alternative", "Redis"), (PY, "import redis"), ""),
    ),
    "what takes it back": (
        *(("No Redis for sessions",), (*CACHES, "--alternative", "Redis"), (PY, "import redis")),
        "Ada turned down Redis for In-process memory",
    ),
    "a menu's other value": ((), CACHE, (PY, "import redis"), ""),
    "own words": ((), SOAP, (PY, "from fastapi import APIRouter"), ""),
    "own words, and an alternative": (
        *((), (*SOAP, "--alternative", "spyne: SOAP goes"), (PY, "import spyne")),
        "Ada turned down spyne for We switch it off in May: SOAP goes",
    ),
    "own words that replace": (
        *((), ("How do we read settings?", "--answer", "description=Replace Viper with envconfig")),
        *(("cmd/main.go", 'package main\nimport "github.com/spf13/viper"'),),
        "Ada turned down Viper for envconfig",
    ),
    "a sentence that names both": (
        *((), (*ZUSTAND, *OPEN, "description=Zustand")),
        *((JS, "import { createStore } from 'redux'"), "Ada turned down Redux for Replace Redux"),
    ),
    "a sentence with a longer name": (
        *((), (*TOOLKIT, *OPEN, "description=Redux Toolkit")),
        *((JS, "import { createSlice } from '@reduxjs/toolkit'"), ""),
    ),
    "own words that the intention rules out": (
        *((), ("Stop using Moment.js", "--answer", "description=moment.js")),
        *(
            (JS, "import moment from 'moment'"),
            "Ada turned down moment.js for Stop using Moment.js",
        ),
    ),
    "a record that stops it": (
        *(("Stop using Redis",), (*CACHES, "--alternative", "Redis"), (PY, "import redis")),
        "Ada turned down Redis for In-process memory",
    ),
    "a scope and no path": ((), (*STATE, *TILL), (TS, "import 'react-redux'"), ""),
    "a scope and a path": (
        *((), (*STATE, *TILL, "--path", "src/till/**"), (TS, "import 'react-redux'")),
        "Ada turned down Redux for Zustand: too much code",
    ),
    "a scope and another path": (
        *((), (*STATE, *TILL, "--path", "src/shop/**"), (TS, "import 'react-redux'"), ""),
    ),
    "an option within the chosen value": (
        *((), ("Use Redux Toolkit", "--alternative", "Redux")),
        *((TS, "import '@reduxjs/toolkit'"), ""),
    ),
    "a record of another tool that is replaced": (
        *(("Use Redux",), ("Use Zustand", "--supersedes", "1-record.md"), (TS, "import 'redux'")),
        "Ada replaced Redux (ADR-0001) for Zustand",
    ),
}


def standard(house: Project) -> None:
    """The topics of a project as people begin it."""
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')


@pytest.mark.parametrize("name", GATE)
def test_turned_down_is_what_a_person_turned_down(name: str, house: Project) -> None:
    titles, decision, (path, text), says = GATE[name]
    standard(house)
    for number, title in enumerate(titles, 1):
        write(house, f"docs/decisions/{number}-record.md", f"# {title}\n\nStatus: accepted\n")
    done = house.call("start", *decision, "--accept", "--by", "Ada")
    assert (done.code, "accepted" in done.out) == (0, True), done
    commit(house)
    write(house, path, f"{text}\n")
    found = checked(house)[1].get("turned-down", [])
    assert [says in one["message"] for one in found] == [True] * bool(says), found
    edit = {"tool_name": "Write", "tool_input": {"file_path": path, "content": text}}
    (house.folder / path).unlink()
    said = house.call("hook", "PreToolUse", "--agent", "claude", stdin=json.dumps(edit).encode())
    assert says in said.out if says else said.json == {}, said.out
    assert ('"ask"' in said.out) is (bool(says) and "--path" not in decision), said.out


def test_what_was_superseded_is_turned_down(shop: Project) -> None:
    """Ours through two steps, and a record of another tool that only its file says is replaced."""
    standard(shop)
    for number, value in enumerate(("MySQL", "MariaDB", "PostgreSQL")):
        replaced = ("--supersedes", f"ADR-{number:04}") if number else ()
        done = shop.call("start", f"Use {value}", *replaced, "--accept", "--by", "Ada")
        assert done.code == 0, done
    folder = "docs/decisions"
    write(shop, f"{folder}/0010-use-vue.md", "# Use Vue\n\nStatus: superseded by ADR-0011\n")
    write(shop, f"{folder}/0011-use-react.md", "# Use React\n\nStatus: accepted\n")
    commit(shop)
    write(shop, ORDERS, "import mariadb\nimport MySQLdb\n")
    write(shop, "web/app.js", "import { createApp } from 'vue'\n")
    said = [one["message"] for one in checked(shop)[1]["turned-down"]]
    assert any("Ada replaced MariaDB (ADR-0002) for PostgreSQL" in one for one in said), said
    assert any("Ada replaced MySQL (ADR-0001) for PostgreSQL" in one for one in said), said
    took = f"{folder}/0011-use-react.md took the place of {folder}/0010-use-vue.md, which chose Vue"
    assert any(took in one for one in said), said
    assert len(said) == 3


def test_what_a_change_moves_is_not_new(shop: Project) -> None:
    write(shop, ORDERS, "import pymongo\n\nx = 1\n")
    decide(shop)
    commit(shop)
    shop.git("mv", ORDERS, "src/moved.py")
    write(shop, "src/moved.py", "import pymongo\n\nx = 2\n")
    assert checked(shop)[:2] == (0, {})


def test_a_file_that_goes_lets_in_no_other_one(shop: Project) -> None:
    write(shop, "legacy/old.py", "import pymongo\n\nx = 1\ny = 2\n")
    decide(shop)
    commit(shop)
    (shop.folder / "legacy/old.py").unlink()
    write(shop, "src/new.py", "from pymongo import MongoClient\n\nz = 3\n")
    code, found, _ = checked(shop)
    assert (code, found["turned-down"][0]["files"]) == (1, ["src/new.py"])


def test_more_files_than_a_change_moves_are_told(shop: Project) -> None:
    """One source may have become two, or a new one uses what another does that was renamed."""
    write(shop, ORDERS, "import pymongo\n")
    decide(shop)
    commit(shop)
    shop.git("mv", ORDERS, "src/moved.py")
    write(shop, "src/more.py", "import pymongo\n")
    code, found, _ = checked(shop)
    (one,) = found["turned-down"]
    assert (code, one["level"], one["files"]) == (0, "warning", ["src/more.py", "src/moved.py"])


def test_what_a_change_moves_to_where_it_was_turned_down_is_new(shop: Project) -> None:
    write(shop, "tools/old.py", "import pymongo\n")
    decide(shop, "--path", "src/**")
    commit(shop)
    (shop.folder / "tools/old.py").unlink()
    write(shop, ORDERS, "import pymongo\n")
    code, found, _ = checked(shop)
    assert (code, found["turned-down"][0]["files"]) == (1, [ORDERS])


def test_what_moves_away_from_where_it_was_turned_down_brings_it_in(shop: Project) -> None:
    write(shop, ORDERS, "import os\n\nx = os.name\n")
    decide(shop, "--path", "src/db/**")
    commit(shop)
    shop.git("mv", ORDERS, "src/orders.py")
    write(shop, "src/orders.py", "import os\nimport pymongo\n\nx = os.name\n")
    write(shop, "src/free.py", "import pymongo\n")
    code, found, _ = checked(shop)
    assert (code, found["turned-down"][0]["files"]) == (1, ["src/orders.py"])


def test_no_file_that_was_there_takes_the_place_of_one_that_goes(shop: Project) -> None:
    write(shop, "legacy/old.py", "import pymongo\n")
    decide(shop)
    commit(shop)
    (shop.folder / "legacy/old.py").unlink()
    write(shop, ORDERS, "import os\nimport pymongo\n")
    code, found, _ = checked(shop)
    assert (code, found["turned-down"][0]["files"]) == (1, [ORDERS])


def edits() -> dict[str, tuple[Callable[[str], str], str]]:
    """Edits of a record, and what is then said of it; nothing of those that change only prose."""
    return {
        "title": (lambda text: text.replace("# Use PostgreSQL", "# Take PostgreSQL"), "title"),
        "status": (lambda text: text.replace('status: "accepted"', "status: rejected"), "status"),
        "value": (lambda text: text.replace("**PostgreSQL**", "**MongoDB**"), "Type"),
        "chosen": (lambda text: text.replace('option: "Post', 'option: "NoPost'), "chosen value"),
        "scope": (lambda text: text.replace("* For: orders", "* For: mail"), "scope"),
        "paths": (lambda text: text.replace('["src/db/**"]', '["docs/**"]'), "applies-to"),
        "prose": (lambda text: text.replace("we know it", "we have known it for years"), ""),
        "form": (lambda text: text.replace("\n* ", "\n- ").replace('"accepted"', "accepted"), ""),
        "more": (lambda text: text + "\n## Notes\n\nPostgreSQL 18 is fine.\n", ""),
    }


@each("name", edits())
def test_a_record_says_what_its_session_says(guarded: Project, name: str) -> None:
    (file,) = (guarded.folder / "docs/decisions").glob("0001-*.md")
    edit, what = edits()[name]
    text = file.read_text()
    file.write_text(edit(text))
    assert file.read_text() != text
    code, found, _ = checked(guarded)
    said = [one["message"] for one in found.get("record-differs", [])]
    assert (code, len(said)) == ((1, 1) if what else (0, 0)), said
    warned = guarded.call("sync").err
    assert bool(what) == ("says something else than its session" in warned), warned
    if what:
        assert f"its {what} is " in said[0]
        assert found["record-differs"][0]["file"] == str(file.relative_to(guarded.folder))
        assert found["record-differs"][0]["line"]
    as_it_was(guarded)


def test_a_record_that_is_deleted_is_said_and_one_of_another_branch_is_not(shop: Project) -> None:
    record = decide(shop)
    commit(shop)
    (shop.folder / record).unlink()
    code, found, _ = checked(shop)
    assert (code, "it was deleted" in found["record-differs"][0]["message"]) == (1, True)
    shop.git("checkout", "--quiet", "--orphan", "other")
    shop.git("rm", "-rqf", "docs")
    commit(shop)
    assert checked(shop)[0] == 0


def test_a_record_of_a_branch_that_parted_before_its_end_is_not_edited(shop: Project) -> None:
    record = decide(shop)
    commit(shop)
    shop.git("branch", "older")
    decide(shop, "--supersedes", record, value="SQLite")
    commit(shop)
    shop.git("checkout", "--quiet", "older")
    file = shop.folder / record
    text = file.read_text()
    for words in ("", "\nMore words.\n"):
        file.write_text(text + words)
        assert checked(shop)[:2] == (0, {})
    file.write_text(text.replace('"accepted"', '"rejected"'))
    assert [*checked(shop)[1]] == ["record-differs"]


def test_a_record_committed_without_its_session_ends_what_it_replaces(shop: Project) -> None:
    record = decide(shop)
    commit(shop)
    newer = decide(shop, "--supersedes", record, value="SQLite")
    commit(shop, newer)
    shop.git("checkout", "--", ".")
    for _ in range(2):  # the file of the session that is new lies here untracked, and nowhere
        code, found, _ = checked(shop, "--base", "HEAD~1")
        assert (code, [one["level"] for one in found["decision-changed"]]) == (0, ["warning"])
        assert "is replaced by ADR-0002" in found["decision-changed"][0]["message"]
        shop.git("clean", "--force", "-d")


def test_a_record_without_a_session_file_may_be_of_a_branch_that_parted(shop: Project) -> None:
    write(shop, "preflights.toml", "[records]\nsessions = false\n")
    record = decide(shop)
    former = (shop.folder / record).read_text()
    commit(shop)
    shop.git("branch", "older")
    decide(shop, "--supersedes", record, value="SQLite")
    commit(shop)
    shop.git("checkout", "--quiet", "older")
    assert checked(shop)[:2] == (0, {})
    shop.git("checkout", "--quiet", "-")
    (shop.folder / record).write_text(former)
    assert [*checked(shop)[1]] == ["record-differs"]


def test_another_record_that_names_a_session_says_what_that_says(shop: Project) -> None:
    text = (shop.folder / decide(shop)).read_text()
    commit(shop)
    for n in (7, 8):
        write(shop, f"docs/decisions/000{n}-copy.md", text)
    assert checked(shop)[:2] == (0, {})
    for n in (7, 8):
        write(shop, f"docs/decisions/000{n}-copy.md", text.replace("PostgreSQL", "Kafka"))
    code, found, _ = checked(shop)
    assert (code, [*found]) == (1, ["record-differs"])
    assert len(found["record-differs"]) == 2


def test_a_page_that_is_no_record_that_can_be_read_stops_no_check(shop: Project) -> None:
    write(shop, "docs/decisions/0008-large.md", "# Use Kafka\n" + "words\n" * 200_000)
    write(shop, "docs/decisions/0009-odd.md", "")
    (shop.folder / "docs/decisions/0009-odd.md").write_bytes(b"\xff\xfe#\x00\x00\xd8a")
    code, found, _ = checked(shop)
    assert (code, [*found], len(found["unread-record"])) == (0, ["unread-record"], 2)


def test_a_record_of_a_proposal_is_not_edited_into_a_decision(shop: Project) -> None:
    words = ("--answer", "db_type=PostgreSQL", "--accept", "--json")
    done = shop.call("start", STORE, *words, env={"CLAUDECODE": "1"})
    assert done.json["status"] == "proposed", done.err
    commit(shop)
    (record,) = done.json["artifacts"]
    text = (shop.folder / record).read_text()
    write(shop, record, f"{text}\nMore words.\n")
    assert checked(shop)[:2] == (0, {})
    write(shop, record, text.replace('status: "proposed"', 'status: "accepted"'))
    code, found, _ = checked(shop)
    assert (code, [*found]) == (1, ["record-differs"])


def test_decisions_that_contradict_each_other_are_an_error(shop: Project) -> None:
    decide(shop)
    shop.decided_apart("Store mail in a database", "db_type=MySQL")
    code, found, _ = checked(shop)
    assert (code, list(found)) == (1, ["contradiction"])
    said = found["contradiction"][0]["message"]
    assert "Database, Type: " in said
    assert "MySQL (ADR-0002) and PostgreSQL (ADR-0001) are both in force" in said
    assert "--supersedes DECISION` begins what" in shop.call("check").out
    shop.decided_apart("Store files in a database", "db_type=SQLite")
    said = checked(shop)[1]["contradiction"][0]["message"]
    assert " and PostgreSQL (ADR-0001) are all in force. Undo one: " in said


def test_a_list_for_a_file_says_what_a_check_stops_there(shop: Project) -> None:
    stops = ("--answer", "db_type=PostgreSQL", "--alternative", "MongoDB: joins", "--path", "db/*")
    shop.call("start", STORE, *stops, "--accept", "--by", "Ada")
    login = ("--answer", "auth_strategy=OAuth", "--alternative", "Clerk")
    shop.call("start", "Add OAuth login", *login, "--accept", "--by", "Ada")
    said = shop.call("decisions", "--path", "web/store.ts")
    assert "Turned down in web/store.ts:" in said.out
    assert "Ada turned down Clerk for OAuth" in said.out
    assert ("MongoDB" in said.out, "No decision says" in said.out) == (False, False)
    write(shop, "web/store.ts", "import x from '@clerk/nextjs'\n")
    assert "turned-down" in shop.call("check", "web/store.ts").out
    (one, other) = shop.call("decisions", "--path", "db/x.py", "--json").json["turned_down"]
    assert (one["name"], one["decision"], other["name"]) == ("MongoDB", "ADR-0001", "Clerk")


def test_a_new_decision_needs_no_word_of_what_replaces_one(shop: Project) -> None:
    decide(shop)
    said = shop.call("check").out
    assert ("[decision-changed]" in said, "--supersedes" in said) == (True, False)


def test_a_pattern_that_matches_nothing_is_told(shop: Project) -> None:
    record = decide(shop, "--path", "lib/**")
    code, found, _ = checked(shop)
    assert (code, list(found)) == (0, ["unused-pattern"])
    assert (found["unused-pattern"][0]["file"], found["unused-pattern"][0]["level"]) == (
        record,
        "note",
    )
    decide(shop, "--path", "src/db/**")
    commit(shop)
    shop.git("rm", "--quiet", ORDERS)
    levels = [one["level"] for one in checked(shop)[1]["unused-pattern"]]
    assert levels == ["warning", "note"], "the change took the last file"


# 2. Sessions ----------------------------------------------------------------------------------


def session_file(house: Project) -> Path:
    (file,) = (house.folder / "docs/decisions/.sessions").glob("*.jsonl")
    return file


def test_a_session_file_that_does_not_verify_wins(shop: Project) -> None:
    record = decide(shop)
    commit(shop)
    file = session_file(shop)
    file.write_bytes(file.read_bytes().replace(b"PostgreSQL", b"PostgresQL"))
    (shop.folder / record).write_text((shop.folder / record).read_text().replace("Type", "Kind"))
    code, found, shape = checked(shop, "--base", "nowhere")
    assert (code, shape["codes"]) == (4, [4, 1, 6])
    assert found["unverified-session"][0]["file"].endswith(file.name)


def test_what_a_session_file_decided_that_a_change_deletes_holds_all_the_same(
    shop: Project, tmp_path: Path
) -> None:
    decide(shop, "--path", "src/db/**", "--hold", "deny")
    commit(shop)
    shop.git("rm", "-q", str(session_file(shop)))
    write(shop, ORDERS)
    commit(shop)
    code, found, _ = checked(clone(shop, tmp_path), "--base", "HEAD~1")
    assert (code, list(found)) == (4, ["unverified-session", "denied"])
    assert "deleted, with other" in found["unverified-session"][0]["message"]


def test_a_session_file_that_goes_on_is_fine_and_one_with_another_past_is_not(
    chosen: Project, tmp_path: Path
) -> None:
    before = session_file(chosen).read_bytes()
    decide(chosen, "--supersedes", "ADR-0001", value="MySQL")
    commit(chosen)
    other = clone(chosen, tmp_path)
    assert checked(other, "--base", "HEAD~1")[0] == 0
    name = next(
        one
        for one in (other.folder / "docs/decisions/.sessions").glob("*.jsonl")
        if one.read_bytes().startswith(before)
    )
    name.write_bytes(before)  # as if it had never been superseded
    code, found, _ = checked(other)
    assert (code, list(found)) == (4, ["unverified-session", "record-differs"])
    assert "with other events than before" in found["unverified-session"][0]["message"]


def clone(house: Project, tmp_path: Path, *words: str) -> Project:
    """A fresh clone without a log, and without what the first one's home knows."""
    folder = tmp_path / "clone"
    house.git("clone", "--quiet", *words, f"file://{house.folder}", str(folder))
    return Project(folder, house.home)


def test_a_fresh_clone_says_the_same(shop: Project, tmp_path: Path) -> None:
    decide(shop, "--path", "src/db/**", "--hold", "deny")
    commit(shop)
    write(shop, ORDERS, "import pymongo\n")
    commit(shop)
    here = checked(shop, "--base", "HEAD~1")[1]
    other = clone(shop, tmp_path)
    there = checked(other, "--base", "HEAD~1")[1]
    assert there == here
    assert list(there) == ["denied", "turned-down"]
    assert not other.log.exists()


def test_a_clone_of_one_commit_checks_what_needs_no_base(shop: Project, tmp_path: Path) -> None:
    decide(shop, "--path", "lib/**")
    commit(shop)
    other = clone(shop, tmp_path, "--depth", "1")
    done = other.call("check", "--base", "HEAD~1")
    assert (done.code, done.err.count("\n")) == (6, 1)
    assert "fetch-depth: 0" in done.err
    assert "[unused-pattern]" in done.out
    write(shop, "src/more.py")
    commit(shop)
    other = clone(shop, tmp_path / "deeper", "--depth", "2")
    for words, code in (((), 0), (("--require-signed",), 6)):
        done = other.call("check", "--base", "HEAD~1", *words)
        assert (done.code, "this clone is shallow" in done.err) == (code, True), done


# 3. Which files -------------------------------------------------------------------------------

ODD: Final = (
    b"with space.py",
    b" first.py",
    b"a\nb.py",
    b"caf\xc3\xa9.py",
    b"\xff.py",
    b"::x,y%.py",
)


@pytest.mark.parametrize("how", ["new", "staged", "edited", "deleted", "base", "named"])
def test_any_name_of_a_file_is_found(shop: Project, how: str) -> None:
    decide(shop, "--path", "odd/**")
    files = [shop.folder / "odd" / os.fsdecode(name) for name in ODD]
    files[0].parent.mkdir()
    words: tuple[str, ...] = {"staged": ("--staged",), "base": ("--base", "HEAD~1")}.get(how, ())
    if how in ("edited", "deleted"):
        for file in files:
            file.write_text("x = 1\n")
    commit(shop)
    for file in files:
        if how == "deleted":
            file.unlink()
        else:
            file.write_text("x = 2\n")
    if how in ("staged", "base"):
        shop.git("add", "--all")
    if how == "base":
        commit(shop)
    if how == "named":
        words = tuple(f"odd/{file.name}" for file in files)
    code, found, _ = checked(shop, *words)
    assert code == 0
    shown = [f"odd/{file.name}".replace("\n", "\u23ce ") for file in files]
    assert {one.replace("\udcff", "\\xff") for one in shown} == {*found["holds"][0]["files"]}
    done = shop.call("check", *words, "--report", "annotations=-")
    assert done.is_safe(), done
    assert all(line.startswith(("::notice ", "::warning ")) for line in done.out.splitlines())


def renamed(house: Project) -> None:
    house.git("mv", ORDERS, "src/orders.py")


def link(house: Project) -> None:
    (house.folder / ORDERS).unlink()
    (house.folder / ORDERS).symlink_to("/etc/passwd")


def fifo(house: Project) -> None:
    (house.folder / ORDERS).unlink()
    os.mkfifo(house.folder / ORDERS)


def folder(house: Project) -> None:
    (house.folder / ORDERS).unlink()
    write(house, f"{ORDERS}/a.py")


def submodule(house: Project) -> None:
    other = house.folder.parent / "other"
    house.git("init", "--quiet", "--template=", str(other))
    Project(other, house.home).git("commit", "--quiet", "--allow-empty", "--message", "Begin")
    words = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    house.git(*words, str(other), "src/db/module")


CASES: Final[dict[str, tuple[Callable[[Project], object], list[str]]]] = {
    "deleted": (lambda house: (house.folder / ORDERS).unlink(), [ORDERS]),
    "deleted in the index": (lambda house: house.git("rm", "-q", ORDERS), [ORDERS]),
    "renamed": (renamed, [ORDERS]),
    "renamed into": (lambda house: house.git("mv", "src/web.py", "src/db/"), ["src/db/web.py"]),
    "binary": (lambda house: write(house, ORDERS, b"import pymongo\n\0\xff"), [ORDERS]),
    "link": (link, [ORDERS]),
    "fifo": (fifo, [ORDERS]),
    "folder": (folder, [ORDERS, f"{ORDERS}/a.py"]),
    "submodule": (submodule, ["src/db/module"]),
    "executable": (lambda house: (house.folder / ORDERS).chmod(0o755), [ORDERS]),
    "touched": (lambda house: os.utime(house.folder / ORDERS, (1, 1)), []),
    "ignored": (
        lambda house: (write(house, ".gitignore", "*.tmp\n"), write(house, "src/db/x.tmp")),
        [],
    ),
    "elsewhere": (lambda house: write(house, "src/web.py"), []),
}


@each("case", CASES)
def test_the_files_of_a_change(guarded: Project, case: str) -> None:
    change, expected = CASES[case]
    change(guarded)
    code, found, _ = checked(guarded)
    assert code == 0, found
    assert [path for one in found.get("holds", []) for path in one["files"]] == expected
    as_it_was(guarded)


def test_no_encoding_hides_an_import(shop: Project) -> None:
    contents = (
        b"\xef\xbb\xbfimport pymongo\n",
        "import pymongo\n".encode("utf-16"),
        "import pymongo\n".encode("utf-32"),
        b"\x0cimport pymongo\n",
        b"import os\rimport pymongo\r",
        b"# coding: utf-7\n+AGkAbQBwAG8AcgB0 pymongo\n",
        b"\xff\xfe\nimport pymongo\n",
        # Where the strings of one reading end is no matter of the other.
        b'# coding: utf-7\n"""+ACIAIgAi-\nimport pymongo\n+ACIAIgAi- +ACIAIgAi-\n',
    )
    decide(shop)
    commit(shop)
    files = [f"src/db/{number}.py" for number in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        write(shop, file, content)
    code, found, _ = checked(shop)
    assert (code, [*found]) == (1, ["turned-down"])
    assert [one["files"] for one in found["turned-down"]] == [files]


def test_a_file_that_is_not_looked_at_is_named(shop: Project) -> None:
    write(shop, "src/large.py", b"import pymongo\n" + b"x = 1\n" * 400_000)
    write(shop, "src/many.py", b"".join(b"import m%d\n" % n for n in range(NAMES_MAX + 1)))
    write(shop, "src/binary.js", b"require('mongodb') // \0")
    write(shop, "src/kept.py", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    write(shop, "lib/mongo.jar", b"PK\0")
    write(shop, "docs/photo.png", b"\0")
    write(shop, "docs/plan.docx", b"PK\3\4\0")
    write(shop, "tools/app", b"#!/usr/bin/env python3\nPK\3\4\0")
    write(shop, "tools/run", b"\x7fELF\0")
    write(shop, "tools/setup", b"#!/bin/sh\npip install pymongo\nexit\n\0")
    assert checked(shop)[1] == {}, "nothing is turned down that it could hold"
    decide(shop)
    code, found, _ = checked(shop)
    assert (code, [*found]) == (1, ["turned-down", "unread-file"])
    assert found["turned-down"][0]["files"] == ["tools/setup"]
    (one,) = found["unread-file"]
    names = ["lib/mongo.jar", "src/binary.js", "src/kept.py", "src/large.py", "src/many.py"]
    assert (one["level"], one["files"]) == ("warning", [*names, "tools/app", "tools/run"])


def test_what_is_kept_as_the_work_of_others_is_named(chosen: Project) -> None:
    """The project's own sources may import it, whatever the folder is called."""
    paths = ["vendor/db.py", "web/a.min.js", "web/node_modules/x/a.js"]
    for path in paths:
        write(chosen, path, "import pymongo\n")
    write(chosen, "vendor/README.md", "Others\n")
    write(chosen, "vendor/poetry.lock", "pymongo\n")
    code, found, _ = checked(chosen)
    (one,) = found["unread-file"]
    assert (code, one["level"], one["files"]) == (0, "warning", paths)


def test_of_many_imports_in_a_file_the_first_by_name_is_told(chosen: Project) -> None:
    names = [f"import pymongo.part{n:02}\n" for n in range(40)]
    write(chosen, "src/db/many.py", "".join(reversed(names)))
    message = checked(chosen)[1]["turned-down"][0]["message"]
    assert "(pymongo.part00)" in message


def test_a_name_of_what_was_turned_down_is_told_where_no_import_is_read(shop: Project) -> None:
    decide(shop)
    write(shop, "old/kept.lua", 'require("mongodb")\n')
    commit(shop)
    write(shop, "lib/db.lua", 'x = require("mongodb")\n')
    write(shop, "src/run.py", 'exec("import pymongo")\n')
    write(shop, "docs/why.md", "`pymongo`\n")
    code, found, _ = checked(shop)
    (one,) = found["unread-file"]
    assert (code, one["level"]) == (0, "warning")
    assert one["files"] == ["lib/db.lua", "src/run.py"]
    assert "Ada turned down MongoDB for PostgreSQL" in one["message"]
    commit(shop)
    shop.git("mv", "lib/db.lua", "lib/other.lua")
    write(shop, "old/kept.lua", 'x = require("mongodb")\n')
    assert checked(shop)[:2] == (0, {}), "what was named before is no news, here or elsewhere"


def test_a_package_that_is_called_after_what_was_turned_down_is_told(shop: Project) -> None:
    decide(shop)
    write(shop, "old/requirements.txt", "pymongo-inmemory\n")
    commit(shop)
    write(shop, "old/requirements.txt", "pymongo-inmemory==2\n")
    write(shop, "requirements.txt", "django-mongodb-backend\n")
    write(shop, "build.gradle", 'implementation "org.acme:data-mongodb:1"\n')
    write(shop, "src/run.py", "from shop.mongodb import part\n")
    code, found, _ = checked(shop)
    (one,) = found["unread-file"]
    assert (code, one["level"]) == (0, "warning")
    assert one["files"] == ["build.gradle", "requirements.txt"]


def test_a_source_that_now_runs_what_it_decodes_is_named(shop: Project) -> None:
    decide(shop)
    write(shop, "old/run.py", "x = b64decode(y)\nexec(x)\n")
    write(shop, "lib/a.js", "x = /a/.exec(atob(y))\n")
    commit(shop)
    write(shop, "old/run.py", "x = b64decode(z)\nexec(x)\n")
    write(shop, "src/new.py", "x = b64decode(y)\nexec(x)\n")
    write(shop, "lib/a.js", "x = /b/.exec(atob(y))\n")
    code, found, _ = checked(shop)
    (one,) = found["unread-file"]
    assert (code, one["level"], one["files"]) == (0, "warning", ["src/new.py"])
    assert "text that it now decodes and runs" in one["message"]


def test_what_another_decision_has_may_be_named(shop: Project) -> None:
    decide(shop)
    write(shop, "docs/decisions/0009-a.md", "# Use MongoDB\n\nStatus: accepted\n")
    commit(shop)
    write(shop, "lib/db.lua", 'x = require("mongodb")\n')
    assert "unread-file" not in checked(shop)[1]


def test_a_submodule_is_named_since_nothing_in_it_is_looked_at(shop: Project) -> None:
    decide(shop, "--path", "lib/**")
    commit(shop)
    submodule(shop)
    write(shop, ".gitmodules", (shop.folder / ".gitmodules").read_text() + "\tignore = all\n")
    commit(shop)
    code, found, _ = checked(shop, "--base", "HEAD~1")
    (one,) = found["unread-file"]
    assert (code, one["level"], one["files"]) == (0, "warning", ["src/db/module"])
    assert "src/db/module: not looked at" in one["message"]


def test_a_link_is_judged_by_what_a_program_reads_behind_it(shop: Project, tmp_path: Path) -> None:
    decide(shop, "--path", "src/**")
    write(shop, "data/x.txt", "import pymongo\n")
    write(shop, "tools/old.py", "import pymongo\n")
    commit(shop)
    outside = tmp_path / "a.py"
    outside.write_text("import pymongo\n")
    links = {"a.py": "../data/x.txt", "b.py": "db/orders.py", "c.md": "../data/x.txt"}
    links |= {"d.py": "../tools/old.py", "e.py": "nowhere.py", "f": "../tools"}
    links["g.py"] = str(outside)
    for name, target in links.items():
        (shop.folder / "src" / name).symlink_to(target)
    code, found, _ = checked(shop)
    (one,), (unread,) = found["turned-down"], found["unread-file"]
    assert (code, one["files"]) == (1, ["src/a.py", "src/d.py"])
    assert unread["files"] == ["src/f", "src/g.py"]


def test_what_changes_behind_a_link_is_judged_where_the_link_lies(shop: Project) -> None:
    decide(shop, "--path", "src/**")
    write(shop, "lib/a.py")
    write(shop, "lib-x/a.py")
    for name, target in (("a.py", "../lib/a.py"), ("part", "../lib"), ("up", "..")):
        (shop.folder / "src" / name).symlink_to(target)
    commit(shop)
    write(shop, "lib/a.py", "import pymongo\n")
    write(shop, "lib/b.py", "import pymongo\n")
    write(shop, "lib-x/a.py", "x = 2\n")
    code, found, _ = checked(shop)
    (one,) = found["turned-down"]
    paths = ["src/a.py", "src/part/a.py", "src/part/b.py", "src/up/lib/a.py", "src/up/lib/b.py"]
    assert (code, one["files"]) == (1, paths)


@each(
    "path",
    [
        *("pymongo/x.py", "src/pymongo/__init__.py", "src/db/pymongo.py"),
        *("services/api/pymongo.py", "services/api/src/pymongo/x.py"),
    ],
)
def test_a_new_module_named_as_what_was_turned_down_is_told(chosen: Project, path: str) -> None:
    """An import of that name is the project's own from then on, and is not stopped."""
    write(chosen, path)
    code, found, _ = checked(chosen)
    (one,) = found["turned-down"]
    assert (code, one["level"], one["file"]) == (0, "warning", path)
    assert "MongoDB" in one["message"]
    commit(chosen)
    write(chosen, path, "x = 2\n")
    assert "turned-down" not in checked(chosen)[1]
    as_it_was(chosen)


def test_a_new_file_of_a_module_that_was_there_is_not_told(shop: Project) -> None:
    decide(shop)
    write(shop, "services/api/pymongo/__init__.py")
    commit(shop)
    write(shop, "services/api/pymongo/more.py")
    assert "turned-down" not in checked(shop)[1]


def test_a_link_to_what_becomes_a_module_of_that_name_is_told(chosen: Project) -> None:
    (chosen.folder / "pymongo").symlink_to("src")
    (one,) = checked(chosen)[1]["turned-down"]
    assert (one["level"], one["file"]) == ("warning", "pymongo")


@each(
    ("module", "file", "is_own"),
    [
        ("services/api/pymongo.py", "services/api/jobs/run.py", True),
        ("services/api/src/pymongo/__init__.py", "services/api/jobs/run.py", True),
        ("services/api/jobs/pymongo.py", "services/api/jobs/run.py", False),
        ("services/web/pymongo.py", "services/api/jobs/run.py", False),
    ],
)
def test_an_import_is_of_the_projects_own_module_at_its_import_root(
    chosen: Project, module: str, file: str, is_own: bool
) -> None:
    """The folders above a file that are no package; `jobs` is one."""
    write(chosen, "services/api/jobs/__init__.py")
    write(chosen, module)
    commit(chosen)
    write(chosen, file, "import pymongo\n")
    assert ("turned-down" in checked(chosen)[1]) is not is_own
    as_it_was(chosen)


OWN: Final[dict[str, tuple[dict[str, str], str, str]]] = {
    # Files of the change, the one that imports, and what it imports.
    "a folder called as a module's file": ({"pymongo.py/x.txt": ""}, ORDERS, "import pymongo\n"),
    "a folder that is no package": ({"lib/pymongo/x.py": ""}, "lib/a.py", "import pymongo\n"),
    "a module that go.mod requires": (
        {"m.go": 'package m\n\nimport "go.mongodb.org/mongo-driver"\n'},
        *("go.mod", "module go.mongodb.org\n\nrequire go.mongodb.org/mongo-driver v1.1.0\n"),
    ),
    "a folder called as a package of the JVM": (
        {},
        *("src/main/java/com/mongodb/A.java", "import com.mongodb.client.MongoClient;\n"),
    ),
}


@each("name", OWN)
def test_what_only_looks_like_the_projects_own_is_told(chosen: Project, name: str) -> None:
    files, path, text = OWN[name]
    for file, content in {**files, path: text}.items():
        write(chosen, file, content)
    found = checked(chosen)[1]["turned-down"]
    assert any(path in one["files"] for one in found), found
    as_it_was(chosen)


def test_no_link_to_other_modules_makes_an_import_the_projects_own(shop: Project) -> None:
    decide(shop)
    write(shop, "tests/fakes/pymongo.py")
    write(shop, "app/main.py")
    commit(shop)
    (shop.folder / "app/src").symlink_to("../tests/fakes")
    write(shop, "app/main.py", "import pymongo\n")
    code, found, _ = checked(shop)
    assert (code, found["turned-down"][0]["file"]) == (1, "app/main.py")


def test_a_base_is_where_the_branches_parted(shop: Project) -> None:
    decide(shop, "--path", "src/**")
    commit(shop)
    shop.git("checkout", "--quiet", "-b", "feature")
    write(shop, ORDERS)
    commit(shop)
    shop.git("checkout", "--quiet", "main")
    write(shop, "src/web.py", "y = 1\n")
    commit(shop)
    shop.git("checkout", "--quiet", "feature")
    found = checked(shop, "--base", "main")[1]
    assert found["holds"][0]["files"] == [ORDERS]


def test_a_tag_or_branch_does_not_stand_in_for_the_base(shop: Project, tmp_path: Path) -> None:
    first = shop.git("rev-parse", "HEAD").strip()
    write(shop, ORDERS, "import sys\n")
    commit(shop)
    second = shop.git("rev-parse", "HEAD").strip()
    made = clone(shop, tmp_path)
    made.git("tag", "v1", first), made.git("tag", "main", second)
    write(made, ORDERS, "x = 1\n")
    commit(made)
    head = made.git("rev-parse", "HEAD").strip()
    meant = {"v1": first, second: second, second[:9]: second, "HEAD~1": second}
    meant |= {"main": head, "main~1": second, "refs/heads/main": head, "refs/tags/main": second}
    meant |= dict.fromkeys(("origin", "origin/main", "origin/main^{commit}"), second)
    made.git("tag", "origin/main", first)
    for base, expected in meant.items():
        assert checked(made, "--base", base)[2]["base"] == expected, base
    for name in ("origin/main", first[:9]):
        made.git("branch", name, "HEAD")
        code, _, shape = checked(made, "--base", name)
        assert (code, f"the base {name!r} means several" in shape["left_out"][0]) == (6, True)


def test_a_repository_without_a_commit(house: Project) -> None:
    decide(house, "--path", "src/**")
    write(house, ORDERS, "from pymongo import MongoClient\n")
    for words in ((), ("--staged",)):
        assert checked(house, *words)[0] == (0 if words else 1)
        assert checked(house, *words)[2]["base"] is None
    house.git("add", "--all")
    code, found, _ = checked(house, "--staged")
    assert (code, found["turned-down"][0]["line"]) == (1, 1)
    done = house.call("check", "--base", "main")
    assert (done.code, done.out) == (6, ""), "not: nothing to say"


def test_a_folder_without_git_checks_the_files_that_are_named(tmp_path: Path, home: Path) -> None:
    bare = Project(tmp_path / "bare", home)
    bare.folder.mkdir()
    decide(bare, "--path", "src/**", "--hold", "deny")
    write(bare, ORDERS)
    done = bare.call("check")
    assert (done.code, "git finds no repository here" in done.err) == (6, True)
    code, found, _ = checked(bare, ORDERS)
    assert (code, list(found)) == (1, ["denied"])


def test_staged_content_is_read_and_not_what_lies_there(chosen: Project) -> None:
    write(chosen, ORDERS, "import pymongo\n")
    chosen.git("add", ORDERS)
    write(chosen, ORDERS, "x = 1\n")
    assert checked(chosen, "--staged")[0] == 1
    assert checked(chosen)[0] == 0


def usage(shop: Project, *words: str) -> Result:
    done = shop.call("check", *words)
    assert (done.code, done.out) == (2, "")
    return done


def test_wrong_words_are_a_matter_of_usage(shop: Project) -> None:
    assert "exclude each other" in usage(shop, "--staged", "--base", "main").err
    assert "exclude each other" in usage(shop, "--staged", ORDERS).err
    assert "it begins with -" in usage(shop, "--base", "--output=x").err
    assert "it is empty" in usage(shop, "--base", "").err
    assert "expected one of json, annotations" in usage(shop, "--report", "html=x").err
    assert shop.call("check", "../other").code == 1


# 4. A repository that means harm --------------------------------------------------------------


def test_git_runs_no_program_of_the_repository(shop: Project) -> None:
    decide(shop, "--path", "src/**")
    commit(shop)
    mark = shop.folder / "harm"
    program = write(shop, "evil", f"#!/bin/sh\necho harm >> '{mark}'\ncat\n")
    program.chmod(0o755)
    write(shop, ".gitattributes", "*.py filter=evil diff=evil\n")
    for key in ("filter.evil.clean", "diff.evil.command", "diff.evil.textconv", "diff.external"):
        shop.git("config", key, str(program))
    shop.git("config", "core.fsmonitor", str(program))
    for path in (ORDERS, "src/web.py"):
        file = shop.folder / path
        file.write_text(file.read_text().replace("import", "Import"))  # of the same size
    for words in ((), ("--staged",), ("--base", "HEAD~1")):
        shop.call("check", *words)
    shutil.rmtree(shop.folder / "evil", ignore_errors=True)
    assert not mark.exists()


def foreign(house: Project, count: int, *patterns: str) -> None:
    """Records of another tool that say where they hold."""
    folder = house.folder / "docs" / "decisions"
    folder.mkdir(parents=True)
    listed = "".join(f'  - "{one}"\n' for one in patterns)
    text = f"---\nstatus: accepted\napplies-to:\n{listed}---\n\n# Use it\n"
    for number in range(1, count + 1):
        (folder / f"{number:05}-use-it.md").write_text(text)


def test_a_pattern_of_megabytes_matches_nothing(shop: Project) -> None:
    foreign(shop, 1, "src/**")
    foreign_file = shop.folder / "docs" / "decisions" / "00002-use-it.md"
    huge = "a*" * 400_000
    foreign_file.write_text(f'---\nstatus: accepted\napplies-to: ["src/{huge}"]\n---\n\n# Use it\n')
    write(shop, "docs/decisions/00003-use-it.md", b"# Use it\n" + b"x" * 10_000_000)
    write(shop, ORDERS)
    code, found, _ = checked(shop)
    assert code == 0
    assert [one["decision"] for one in found["holds"]] == ["docs/decisions/00001-use-it.md"]


NAIVE: Final = (
    *("a*a*a*b", "**/a/**/a/**/a", "*a*/**/*a*", "[!x]*a*a*[!x]", "a*a*a*a*a*a*a*a*a*b"),
    *("**/**/**/**/**/x", "a?a?a?*a*b", "*" * 150, "(a+)+$", "a{1,99999}"),
)
"""For which a matcher that tries all ways needs minutes over a long name."""


@pytest.mark.parametrize("count", [60, pytest.param(500, marks=pytest.mark.slow("sizes"))])
def test_patterns_are_compared_so_often_and_not_more(shop: Project, count: int) -> None:
    foreign(shop, count, *NAIVE)
    for number in range(30):
        write(shop, f"src/{'a/' * 40}{'a' * 90}{number}.py")
    with preflights_es.open(shop.folder) as log:
        request = log.request(actor="Ada", kind="user")
        rows = [*list_holding_decisions(request)]
        assert len(rows) == count
        tree = WorkTree(shop.folder, [f"src/{'a/' * 300}{'a' * 200}{n}" for n in range(100)])
        few = [*_of_places(rows, tree, {}, 10_000)]
        assert len(few) < 100
        assert tree.compared <= 10_000 + len(NAIVE) * (len(tree.files) + 1)
        found = check_change(request)
    assert found.codes == ()
    assert len(found.left_out) == (count > 60)


def test_what_is_not_compared_is_said_and_is_no_decision_of_people(shop: Project) -> None:
    decide(shop, "--path", "src/**", "--hold", "deny")
    commit(shop)
    write(shop, ORDERS)
    folder = shop.folder / "docs" / "decisions"
    for number in range(100, 200):
        listed = "".join(f"  - 's*{letter}*'\n" for letter in "rdeopysb.")
        text = f"---\nstatus: accepted\napplies-to:\n{listed}---\n\n# Use it\n"
        (folder / f"{number}-use-it.md").write_text(text)
    with preflights_es.open(shop.folder) as log:
        request = log.request(actor="Ada", kind="user")
        found = check_change(request, compared_max=10)
    assert "denied" in {one.rule for one in found.findings}
    assert found.left_out == ("some patterns of records without a session: there are too many",)
    assert found.codes == (1,)


def test_a_folder_stands_for_all_files_in_it(shop: Project) -> None:
    decide(shop, "--path", "src/db/**", "--hold", "deny")
    write(shop, ORDERS)
    for named in ("src", "src/db/", "."):
        done = shop.call("check", named, "--json")
        denied = [one["file"] for one in done.json["findings"] if one["rule"] == "denied"]
        assert (done.code, denied) == (1, [ORDERS]), (named, done.err)
    (shop.folder / "empty").mkdir()
    done = shop.call("check", "empty")
    assert (done.code, done.out) == (1, "")
    assert "'empty' holds no file" in done.err
    done = shop.call("check", "src/db/ordres.py")
    assert (done.code, done.out) == (1, "")
    assert "'src/db/ordres.py' is no file here, and was none at HEAD" in done.err
    write(shop, "src/gone.py")
    commit(shop)
    shop.git("rm", "-q", "src/gone.py")
    assert shop.call("check", "src/gone.py").code == 0
