"""`ask`: questions about data, as people and scripts meet them."""

from __future__ import annotations

import csv
import hashlib
import io
import signal
import sqlite3
import threading
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from preflights_es.core.errors import Refused
from preflights_es.services.metrics import log_views
from preflights_es.services.metrics.catalogue_files import own_catalogue
from preflights_es.store.guarded_query import Limits, QueryFailed, rows
from preflights_es.store.urls import SqliteFile, parsed
from tests.cli.program import Project
from tests.postgres import Server, connected
from tests.workflows.metrics.statements import HOSTILE, INNOCENT

FAILING = ("--provider", "sim", "--faults", "malformed=1")


@pytest.fixture
def asked(house: Project) -> Project:
    """A log with two decisions in progress."""
    house.call("start", "Add caching", "--no-input")
    house.call("start", "Add login", "--no-input")
    return house


def answer(house: Project, *args: str, code: int = 0) -> Any:
    done = house.call("ask", *args, "--json")
    assert done.code == code, done.err
    return done.json


# 1. Asking -----------------------------------------------------------------------------------


def test_a_question_is_answered_by_a_query_and_its_rows(asked: Project) -> None:
    done = asked.call("ask", "sessions that fell back today?", "--run")
    assert done.code == 0, done.err
    assert done.is_safe()
    assert "fell_back <> ''" in done.out
    assert "\nfallbacks\n─────────\n0\n" in done.out
    done = asked.call("ask", "sessions by workflow in 2020", "--run")
    assert "No rows." in done.out


def test_the_answer_as_json_has_the_names_of_the_seed(asked: Project) -> None:
    found = answer(asked, "how many sessions today?", "--run")
    assert list(found) == [
        *("format", "session_id", "workflow", "project", "version", "status", "questions"),
        *("intention", "type", "sql", "candidates", "text", "calls", "result"),
        *("refused", "warnings"),
    ]
    assert (found["format"], found["type"], found["calls"]) == ("answer/1", "sql", 1)
    assert found["result"] == {"columns": ["sessions"], "rows": [[3]], "more": False}


def test_rows_are_of_this_project_unless_all_are_wanted(asked: Project) -> None:
    other = {"PREFLIGHTS_PROJECT": "elsewhere"}
    asked.call("start", "Add search", "--no-input", env=other)
    found = answer(asked, "how many sessions today?", "--run")
    wide = answer(asked, "how many sessions today?", "--run", "--any-project")
    assert found["result"]["rows"] == [[3]]
    assert wide["result"]["rows"] == [[5]]


def test_a_query_is_run_later_as_it_stands(asked: Project) -> None:
    found = answer(asked, "how many sessions today?")
    asked.call("start", "Add search", "--no-input")
    later = answer(asked, "--session", found["session_id"], "--run")
    assert later["result"]["rows"] == [[4]]
    assert (later["version"], later["sql"]) == (found["version"], found["sql"])
    done = asked.call("ask", "--session", "last", "--run")
    assert "this command is for questions about data" in done.err
    found = answer(asked, "sessions and tokens", code=3)
    assert asked.call("ask", "--session", "last", "--run", "--json").code == 3


def test_words_are_no_csv(asked: Project) -> None:
    done = asked.call("ask", "sessions and tokens", "--run", "--csv")
    assert (done.code, done.out) == (3, "")
    assert "2. tokens" in done.err


@pytest.mark.parametrize(("zone", "ahead"), [("XXX-14", 14), ("XXX+12", -12)])
def test_days_are_those_of_the_clock_that_asks(asked: Project, zone: str, ahead: int) -> None:
    local = {"TZ": zone}
    day = (datetime.now(UTC) + timedelta(hours=ahead)).date().isoformat()
    done = asked.run("ask", "sessions by day, today", "--run", "--json", env=local)
    assert done.json["result"]["rows"] == [[day, 3]]


def test_a_follow_up_on_another_day_says_from_which_day_it_counts(asked: Project) -> None:
    found = answer(asked, "sessions today")
    there = {"TZ": "XXX-14" if datetime.now(UTC).hour >= 10 else "XXX+12"}
    done = asked.run("ask", "--follow-up", "by workflow", "--json", env=there)
    day = found["sql"].split("'")[1]
    assert f"the days of this session count from {day}; a new" in done.err
    assert asked.call("ask", "--follow-up", "by day").err == ""


def test_a_question_goes_on_by_number_and_by_words(asked: Project) -> None:
    found = answer(asked, "sessions and tokens", code=3)
    assert (found["type"], found["candidates"]) == ("ambiguous", ["sessions", "tokens"])
    found = answer(asked, "--follow-up", "2.")
    assert "input_tokens" in found["sql"]
    found = answer(asked, "--follow-up", "in November 2026")
    assert "2026-11-01" in found["sql"]
    shown = asked.call("show", found["session_id"])
    assert "2026-11-01" in shown.out
    assert asked.call("replay", found["session_id"]).code == 0


@pytest.mark.parametrize("last", [b"quit", b"EXIT", b" q "])
def test_a_pipe_is_a_conversation(asked: Project, last: bytes) -> None:
    lines = b"rev?\n\nsessions and tokens\n1\n" + last + b"\ntokens today\n"
    done = asked.call("ask", "-", stdin=lines)
    assert "output_tokens" not in done.out
    assert done.code == 0, done.err
    assert done.out.count("Which metric do you mean?") == 1
    assert "COUNT(*) AS sessions" in done.out
    assert len(asked.call("sessions", "--all").out.splitlines()) >= 4


def test_a_model_that_fails_leaves_the_session_open(asked: Project) -> None:
    found = answer(asked, "sessions today", *FAILING, code=1)
    assert (found["status"], found["type"], found["sql"]) == ("stopped", "", "")
    assert asked.call("ask", "--follow-up", "sessions today", "--json").code == 1
    found = answer(asked, "--follow-up", "sessions today", "--provider", "mock")
    assert found["status"] == "done"
    assert answer(asked, "--follow-up", "tokens", "--provider", "mock")["status"] == "done"


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("a", "--follow-up", "b"),
        ("a", "--session", "last"),
        ("--session", "last"),
        ("--follow-up", "a", "--catalog", "."),
        ("--follow-up", "a", "--strict"),
        ("a", "--csv"),
        ("a", "--any-project"),
        ("a", "--run", "--any-project", "--on", "x.db"),
        ("a", "--run", "--limit", "0"),
        ("a", "--catalog", "nowhere"),
        ("a", "--catalog", ".", "--run"),
        ("--follow-up", ""),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(house: Project, args: tuple[str, ...]) -> None:
    done = house.call("ask", *args)
    assert done.code == 2
    assert done.is_safe()


@pytest.mark.parametrize("args", [("",), ("  ",), ("x" * 2_001,), ("--follow-up", "more")])
def test_what_cannot_be_asked_is_one_line(house: Project, args: tuple[str, ...]) -> None:
    done = house.call("ask", *args)
    assert (done.code, done.err.count("\n")) == (1, 1), done.err


# 2. Catalogues -------------------------------------------------------------------------------


def shop(folder: Path, **files: str) -> Path:
    (folder / "metrics").mkdir(parents=True)
    (folder / "snippets").mkdir()
    for name, text in files.items():
        base, _, kind = name.rpartition("_")
        room = "snippets" if kind == "sql" else "metrics"
        (folder / room / f"{base}.{kind}").write_text(text)
    return folder


REVENUE = "name: revenue\naliases: [umsatz]\nsnippet: revenue.sql\ndate: day\n"
SNIPPET = "SELECT sum(amount) AS revenue FROM orders WHERE day >= :first_day AND day < :end_day"


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE orders (day TEXT, amount INTEGER, note TEXT)")
        made.execute("CREATE TABLE secrets (word TEXT)")
        values = (
            ("2026-10-03", 5, "=1+1"),
            ("2026-10-04", 7, "\x1b[31mred"),
            ("2026-11-01", 9, ""),
        )
        made.executemany("INSERT INTO orders VALUES (?, ?, ?)", values)
    made.close()
    return path


def test_a_catalogue_of_ones_own_is_about_a_database_of_ones_own(
    house: Project, tmp_path: Path, orders: Path
) -> None:
    notes = "name: notes\nsql: SELECT note FROM orders ORDER BY day\n"
    folder = shop(tmp_path / "c", revenue_yaml=REVENUE, revenue_sql=SNIPPET, notes_yaml=notes)
    args = ("--catalog", str(folder), "--on", str(orders), "--run")
    done = house.call("ask", "Umsatz im Oktober 2026", *args, "--csv")
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
        made.execute("INSERT INTO orders VALUES ('', -5, x'00ff')")
    made.close()
    values = 'name: values\nsql: SELECT amount, note AS "=\u202e1" FROM orders\n'
    folder = shop(tmp_path / "c", values_yaml=values)
    done = house.call(
        "ask", "values", "--catalog", str(folder), "--on", str(orders), "--run", *form
    )
    assert (done.code, done.is_safe()) == (0, True), done
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
        ("name: a\nsql: DELETE FROM sessions\n", 2, "sql"),
        ("name: a\nsql: SELECT * FROM events\n", 2, "sql"),
        ("name: a\nsqll: SELECT 1\n", 2, "sqll"),
        ("name: a\nsql: SELECT 1\nname: b\n", 3, "name"),
        ("sql: SELECT 1\n", 1, "name"),
        ("name: a\n", 1, "sql"),
        ("name: a\nsnippet: ../x.sql\n", 2, "snippet"),
        ("name: a\nsnippet: nowhere.sql\n", 2, "snippet"),
        ("name: a\nsql: SELECT 1\naliases: b\n", 3, "aliases"),
        ("name: [a]\nsql: SELECT 1\n", 1, "name"),
        ("name: '{a}'\nsql: SELECT 1\n", 1, "name"),
        ("name: &a b\nsql: *a\n", 2, ""),
        ("name: &a [x]\naliases: [*a, *a]\nsql: SELECT 1\n", 2, ""),
        ("name: a\nsql: " + "[" * 5_000, 2, ""),
        ("name: a\nsql: !!python/object/apply:os.system [ls]\n", 2, "sql"),
        ("name: a\nsql: SELECT 1\n---\nname: b\n", 3, ""),
        ("name: a\nsql: SELECT pg_read_file('x')\n", 2, "sql"),
        ("name: a\nsql: SELECT 1; DROP TABLE sessions\n", 2, "sql"),
        ("name: a\nsql: SELECT sql FROM sqlite_master\n", 2, "sql"),
        ("name: a\nsql: 'x\n", 3, ""),
        ("- a\n", 1, ""),
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
    text = "name: ada\nsql: SELECT day FROM orders WHERE note = 'ada@example.org'\n"
    folder = shop(tmp_path / "c", ada_yaml=text)
    args = ("ada", "--catalog", str(folder), "--on", str(orders))
    assert "[redacted:email]" in house.call("ask", *args).out
    done = house.call("ask", *args, "--run")
    assert (done.code, done.out) == (1, "")
    assert "lacks a secret that was taken out (email)" in done.err


def test_a_statement_that_the_parser_does_not_know_is_one_line(
    house: Project, tmp_path: Path
) -> None:
    folder = shop(tmp_path / "c", bad_yaml="name: a\nsql: EXPLAIN SELECT 1\n")
    done = house.run("ask", "a", "--catalog", str(folder))
    assert (done.code, done.err.count("\n")) == (1, 1), done.err


def test_a_catalogue_is_read_within_its_limit(house: Project, tmp_path: Path) -> None:
    folder = shop(tmp_path / "c", big_yaml="name: a\nsql: SELECT 1\n#" + "x" * 500_000)
    done = house.call("ask", "a", "--catalog", str(folder))
    assert done.code == 1
    assert "500,000 bytes" in done.err


# 3. The guard behind the check ---------------------------------------------------------------

SLOW_SQLITE = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
)
LIMITS = Limits(rows=5, seconds=0.5)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_without_the_check_no_statement_writes_or_takes_long_in_sqlite(
    asked: Project, tmp_path: Path
) -> None:
    asked.call("ask", "sessions", "--run")
    address, before = SqliteFile(str(asked.log)), digest(asked.log)
    began = time.monotonic()
    for dialect, sql in HOSTILE:
        if dialect == "sqlite":
            try:
                found = rows(address, sql, log_views.read(), LIMITS)
            except QueryFailed:
                continue
            assert len(found.rows) <= LIMITS.rows, sql
    assert time.monotonic() - began < 30
    assert digest(asked.log) == before
    assert not list(tmp_path.rglob("x.db"))
    with pytest.raises(QueryFailed, match=r"not authorized|prohibited"):
        rows(address, "SELECT * FROM events", log_views.read(), LIMITS)
    with pytest.raises(QueryFailed, match=r"more than 0\.5 seconds"):
        rows(address, SLOW_SQLITE, log_views.read(), LIMITS)


def test_a_catalogue_may_read_a_view_and_names_in_any_case(
    house: Project, tmp_path: Path, orders: Path
) -> None:
    with sqlite3.connect(orders) as made:
        made.execute("CREATE VIEW Months AS SELECT substr(day, 1, 7) AS m, amount FROM orders")
        made.execute("CREATE VIEW leak AS SELECT word FROM secrets")
    made.close()
    months = "name: months\nsql: SELECT m, sum(amount) AS a FROM months GROUP BY m ORDER BY m\n"
    folder = shop(tmp_path / "c", months_yaml=months)
    args = ("--catalog", str(folder), "--on", str(orders), "--run", "--csv")
    done = house.call("ask", "months", *args)
    assert (done.code, done.out) == (0, "m,a\r\n2026-10,12\r\n2026-11,9\r\n"), done.err
    for table in ("leak", "secrets"):
        with pytest.raises(QueryFailed, match=r"not authorized|prohibited"):
            rows(SqliteFile(str(orders)), f"SELECT * FROM {table}", ("months",), LIMITS)


def test_what_passes_the_check_runs_in_sqlite(asked: Project) -> None:
    from preflights_es.workflows.metrics.sql_check import bound

    asked.call("ask", "sessions", "--run")
    views = log_views.definitions("sqlite", None)
    for dialect, sql in INNOCENT:
        if dialect == "sqlite":
            rows(SqliteFile(str(asked.log)), bound(sql, "sqlite", views), log_views.read(), LIMITS)


def test_ctrl_c_ends_a_query(orders: Path) -> None:
    began = time.monotonic()
    timer = threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        rows(SqliteFile(str(orders)), SLOW_SQLITE, (), Limits(seconds=20))
    timer.join()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("table", ["pg_authid", "pg_catalog.pg_user", "information_schema.tables"])
def test_a_catalogue_reads_no_table_of_the_database_itself(tmp_path: Path, table: str) -> None:
    folder = shop(tmp_path / "c", own_yaml=f"name: a\nsql: SELECT * FROM {table}\n")
    with pytest.raises(Refused, match="is not in the catalogue"):
        own_catalogue((folder / "metrics", folder / "snippets"), "postgres")


def test_both_hold_in_postgresql(house: Project, postgres: str) -> None:
    from preflights_es.workflows.metrics.sql_check import bound

    at = ("--db", postgres)
    house.call("start", "Add caching", "--no-input", *at)
    found = house.call("ask", "sessions today", "--run", "--json", *at)
    assert found.code == 0, found.err
    assert found.json["result"]["rows"] == [[2]]
    address, views = parsed(postgres), log_views.definitions("postgres", None)
    for dialect, sql in INNOCENT:
        if dialect == "postgres":
            rows(address, bound(sql, "postgres", views), log_views.read(), LIMITS)
    before, began = everything(postgres), time.monotonic()
    for dialect, sql in HOSTILE:
        if dialect == "postgres":
            try:
                rows(address, sql, log_views.read(), LIMITS)
            except QueryFailed:
                continue
    assert time.monotonic() - began < 30
    assert everything(postgres) == before


def everything(url: str) -> list[object]:
    """What a database holds: relations, functions, roles, large objects, and rows of tables."""
    with closing(connected(url)) as there:
        found: list[object] = [
            there.execute(f"SELECT {name}::text FROM pg_{kind} ORDER BY 1".encode()).fetchall()
            for kind, name in (("class", "relname"), ("proc", "proname"), ("roles", "rolname"))
        ]
        found += there.execute("SELECT count(*) FROM pg_largeobject_metadata").fetchall()
        tables = there.execute(
            "SELECT relname::text FROM pg_stat_user_tables ORDER BY 1"
        ).fetchall()
        for (table,) in tables:
            of_all = f"SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM {table} AS t"
            found += there.execute(of_all.encode()).fetchall()
        return found


def test_values_of_postgresql_are_shown_as_json_has_them(
    house: Project, tmp_path: Path, server: Server
) -> None:
    url = server.url(server.database())
    with closing(connected(url)) as owner:
        owner.execute("CREATE TABLE kinds (n numeric, j jsonb, a date[])")
        values = (
            "('-1.50', '{\"a\": true}', '{2026-11-23}'), ('7', NULL, NULL), ('NaN', '[]', '{}')"
        )
        owner.execute(f"INSERT INTO kinds VALUES {values}, ('1e20', '1', NULL)".encode())
    folder = shop(tmp_path / "c", kinds_yaml="name: kinds\nsql: SELECT n, j, a FROM kinds\n")
    args = ("kinds", "--catalog", str(folder), "--on", url, "--run")
    assert answer(house, *args)["result"]["rows"] == [
        [-1.5, '{"a":true}', '["2026-11-23"]'],
        [7, None, None],
        ["NaN", "[]", "[]"],
        ["100000000000000000000", 1, None],
    ]
    assert house.call("ask", *args, "--csv").out.splitlines()[1].startswith("-1.5,")


def test_a_query_in_postgresql_takes_the_readers_role(
    house: Project, postgres: str, server: Server
) -> None:
    at, address = ("--db", postgres), parsed(postgres)
    house.call("start", "Add caching", "--no-input", *at)
    server.said("CREATE ROLE preflights_reader NOLOGIN")
    with closing(connected(postgres)) as owner:
        try:
            done = house.call("ask", "sessions", "--run", *at)
            assert (done.code, done.err.endswith(", as the role preflights_reader\n")) == (1, True)
            owner.execute("GRANT USAGE ON SCHEMA public TO preflights_reader")
            owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO preflights_reader")
            assert house.call("ask", "sessions", "--run", "--json", *at).json["result"]["rows"]
            who = "SELECT current_user::text, current_setting('transaction_read_only')"
            assert rows(address, who, (), LIMITS).rows == (("preflights_reader", "on"),)
            for sql, why in (
                ("SELECT pg_read_file('/etc/passwd')", "permission denied"),
                ("SELECT lo_import('/etc/passwd')", "read-only|permission denied"),
                ("SELECT pg_sleep(30)", r"more than 0\.5 seconds"),
                ("SELECT 1 FROM generate_series(1, 1000000000) ORDER BY 1", r"more than 0\.5"),
            ):
                with pytest.raises(QueryFailed, match=why):
                    rows(address, sql, (), LIMITS)
            rows(address, "SELECT set_config('role', 'none', false)", (), LIMITS)
            assert rows(address, who, (), LIMITS).rows == (("preflights_reader", "on"),)
        finally:
            owner.execute("DROP OWNED BY preflights_reader")
            owner.execute("DROP ROLE preflights_reader")
