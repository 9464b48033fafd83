"""`ask`: questions about data, as people and scripts meet them."""

from __future__ import annotations

import csv
import io
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.asking import answer, shop
from tests.cli.program import Project
from tests.each import each
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

# 1. Asking -----------------------------------------------------------------------------------


def test_a_question_is_answered_by_a_query_and_words_are_no_csv(asked: Project) -> None:
    done = asked.call("ask", "fallbacks today?", "--run")
    assert done.code == 0, done.err
    assert done.is_safe()
    assert "fell_back <> ''" in done.out
    assert "\nfallbacks\n─────────\n0\n" in done.out
    done = asked.call("ask", "sessions by workflow 2020", "--run")
    assert "No rows." in done.out
    done = asked.call("ask", "sessions tokens", "--run", "--csv")
    assert (done.code, done.out) == (3, "")
    assert "2. tokens" in done.err


def test_the_answer_as_json_has_the_names_of_the_seed(asked: Project) -> None:
    found = answer(asked, "sessions today?", "--run")
    assert list(found) == [
        *("format", "session_id", "workflow", "project", "version", "status", "questions"),
        *("intention", "type", "sql", "candidates", "text", "calls", "read_as", "options"),
        "result",
        *("refused", "warnings"),
    ]
    assert (found["format"], found["type"], found["calls"]) == ("answer/1", "sql", 1)
    assert found["result"] == {"columns": ["sessions"], "rows": [[3]], "more": False}


def test_rows_are_of_this_project_unless_all_are_wanted(asked: Project) -> None:
    other = {"PREFLIGHTS_PROJECT": "elsewhere"}
    asked.call("start", "Add search", "--no-input", env=other)
    found = answer(asked, "sessions today?", "--run")
    wide = answer(asked, "sessions today?", "--run", "--any-project")
    assert found["result"]["rows"] == [[3]]
    assert wide["result"]["rows"] == [[5]]


@pytest.mark.slow("whole runs")
def test_a_query_is_run_later_as_it_stands(asked: Project) -> None:
    found = answer(asked, "sessions today?")
    asked.call("start", "Add search", "--no-input")
    begun = asked.call("show", asked.newest(), "--json").json["session_id"]
    for typed in (found["session_id"], "last"):
        later = answer(asked, "--session", typed, "--run")
        assert later["result"]["rows"] == [[4]]
        assert (later["version"], later["sql"]) == (found["version"], found["sql"])
    done = asked.call("ask", "--session", begun, "--run")
    assert "this command is for questions about data" in done.err
    found = answer(asked, "sessions tokens", code=3)
    assert asked.call("ask", "--session", "last", "--run", "--json").code == 3


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(("zone", "ahead"), [("XXX-14", 14), ("XXX+12", -12)])
def test_days_are_those_of_the_clock_that_asks(asked: Project, zone: str, ahead: int) -> None:
    local = {"TZ": zone}
    day = (datetime.now(UTC) + timedelta(hours=ahead)).date().isoformat()
    done = asked.run("ask", "sessions by day, today", "--run", "--json", env=local)
    assert done.json["result"]["rows"] == [[day, 3]]


@pytest.mark.slow("whole runs")
def test_a_follow_up_on_another_day_says_from_which_day_it_counts(asked: Project) -> None:
    found = answer(asked, "sessions today")
    there = {"TZ": "XXX-14" if datetime.now(UTC).hour >= 10 else "XXX+12"}
    done = asked.run("ask", "--follow-up", "by workflow", "--json", env=there)
    day = found["sql"].split("'")[1]
    assert f"the days of this session count from {day}; a new" in done.err
    assert asked.call("ask", "--follow-up", "by day").err == ""


@each("args", FILED["what_does_not_go_together_is_a_usage_error"])
def test_what_does_not_go_together_is_a_usage_error(house: Project, args: tuple[str, ...]) -> None:
    done = house.call("ask", *args)
    assert done.code == 2
    assert done.is_safe()


@each("args", [("",), ("  ",), ("x" * 2_001,), ("--follow-up", "more")])
def test_what_cannot_be_asked_is_one_line(house: Project, args: tuple[str, ...]) -> None:
    done = house.call("ask", *args)
    assert (done.code, done.err.count("\n")) == (1, 1), done.err


# 2. Catalogues -------------------------------------------------------------------------------


REVENUE = "name: revenue\naliases: [umsatz]\nsnippet: revenue.sql\ndate: day\n"
SNIPPET = "SELECT sum(amount) AS revenue FROM orders WHERE day >= :first_day AND day < :end_day"


def test_a_catalogue_of_ones_own_is_about_a_database_of_ones_own(
    house: Project, tmp_path: Path, orders: Path
) -> None:
    notes = "name: notes\nsql: SELECT note FROM orders ORDER BY day\n"
    folder = shop(tmp_path / "c", revenue_yaml=REVENUE, revenue_sql=SNIPPET, notes_yaml=notes)
    args = ("--catalog", str(folder), "--on", str(orders), "--run")
    done = house.call("ask", "Umsatz Oktober 2026", *args, "--csv")
    assert (done.code, done.out) == (0, "revenue\r\n12\r\n"), done.err
    done = house.call("ask", "notes", *args, "--limit", "2")
    assert done.is_safe()
    assert "more than 2 rows" in done.out
    done = house.call("ask", "--session", "last", "--run")
    assert (done.code, done.err.endswith("about another database: name it by --on\n")) == (1, True)
    done = house.call("ask", "notes", "--on", str(orders))
    assert (done.code, done.err.endswith("name its folder by --catalog\n")) == (1, True)
    done = house.call("ask", "notes", *args, "--csv")
    assert next(csv.reader(io.StringIO(done.out.splitlines()[1]))) == ["'=1+1"]
    assert done.is_safe()


HOSTILE_VALUES = ("\x1b[2J", "\u202e", "a\nb", "\x9b31m", "+1", "\uff1d1", "\U000e0041", "\r-1")


@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",)])
def test_what_a_database_holds_moves_no_terminal_and_is_no_formula(
    house: Project, tmp_path: Path, orders: Path, form: tuple[str, ...]
) -> None:
    with sqlite3.connect(orders) as made:
        made.executemany("INSERT INTO orders VALUES ('', 0, ?)", [(v,) for v in HOSTILE_VALUES])
        made.execute("INSERT INTO orders VALUES ('', ?, x'00ff')", (-5 if form else 1.1 + 2.2,))
    made.close()
    values = 'name: values\nsql: SELECT amount, note AS "=\u202e1" FROM orders\n'
    folder = shop(tmp_path / "c", values_yaml=values)
    done = house.call(
        "ask", "values", "--catalog", str(folder), "--on", str(orders), "--run", *form
    )
    assert (done.code, done.is_safe()) == (0, True), done
    if not form:
        assert "\n3.3  " in done.out, "as many digits as a float has"
    if form == ("--csv",):
        head, *found = csv.reader(io.StringIO(done.out))
        assert head == ["amount", "'=\\u202e1"]
        assert [row[1] for row in found[3:]] == [
            *("\\x1b[2J", "\\u202e", "a\nb", "\\x9b31m", "'+1", "'\uff1d1"),
            *("\\U000e0041", "\\x0d-1", "00ff"),
        ]
        assert found[-1][0] == "-5", "a number is no formula"


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        *FILED["what_is_wrong_with_a_catalogue_is_said_with_file_line_and_key"],
        ("name: a\nsql: " + "[" * 5_000, 2, ""),
    ],
)
def test_what_is_wrong_with_a_catalogue_is_said_with_file_line_and_key(
    house: Project, tmp_path: Path, text: str, line: int, key: str
) -> None:
    folder = shop(tmp_path / "c", bad_yaml=text)
    done = house.call("ask", "a", "--catalog", str(folder), "--on", str(house.log))
    assert (done.code, done.err.count("\n")) == (1, 1), done.err
    assert f"bad.yaml, line {line}" in done.err
    assert not key or f"key '{key}'" in done.err
    assert "no session" not in house.call("sessions", "--all").out


def test_an_unknown_parameter_is_named(house: Project, tmp_path: Path) -> None:
    text = "name: a\nsql: SELECT '10:30' AS t, day::text FROM orders WHERE day >= :start\n"
    folder = shop(tmp_path / "c", bad_yaml=text)
    done = house.call("ask", "a", "--catalog", str(folder))
    assert (done.code, "found :start, expected :first_day or :end_day" in done.err) == (1, True)


def test_a_query_that_lacks_a_secret_is_not_run(
    house: Project, tmp_path: Path, orders: Path
) -> None:
    text = "name: ada\nsql: SELECT day FROM orders WHERE note = 'AKIAIOSFODNN7EXAMPLE'\n"
    folder = shop(tmp_path / "c", ada_yaml=text)
    args = ("ada", "--catalog", str(folder), "--on", str(orders))
    assert "[redacted:key]" in house.call("ask", *args).out
    house.call("ask", *args, "--run").refused(1, "lacks a secret that was taken out (key)")


def test_a_statement_that_the_parser_does_not_know_is_one_line(
    house: Project, tmp_path: Path
) -> None:
    folder = shop(tmp_path / "c", bad_yaml="name: a\nsql: EXPLAIN SELECT 1\n")
    done = house.run("ask", "a", "--catalog", str(folder))
    assert (done.code, done.err.count("\n")) == (1, 1), done.err


def test_a_catalogue_is_read_within_its_limit(house: Project, tmp_path: Path) -> None:
    folder = shop(tmp_path / "c", big_yaml="name: a\nsql: SELECT 1\n#" + "x" * 500_000)
    house.call("ask", "a", "--catalog", str(folder)).refused(1, "500,000 bytes")
