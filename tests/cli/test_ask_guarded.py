"""`ask --run` behind the check: what a database does with statements that pass it, and others."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from preflights_es.features.metrics import catalogue
from preflights_es.features.metrics.catalogue import own_catalogue
from preflights_es.kernel.errors import Refused
from preflights_es.store.guarded_query import Limits, QueryFailed, rows_here, run_guarded_query
from preflights_es.store.urls import SqliteFile, parse_log_address
from tests.cli.asking import answer, shop
from tests.cli.program import Project
from tests.features.metrics.statements import HOSTILE, INNOCENT
from tests.postgres import Server, connected

SLOW_SQLITE = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
)
LIMITS = Limits(rows=5, seconds=0.5)
PATIENT = Limits(rows=5, seconds=30)  # where the time is not the point


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.slow("whole runs")
def test_without_the_check_no_statement_writes_or_takes_long_in_sqlite(
    asked: Project, tmp_path: Path
) -> None:
    asked.call("ask", "sessions", "--run")
    address, before = SqliteFile(str(asked.log)), digest(asked.log)
    began = time.monotonic()
    for dialect, sql in HOSTILE:
        if dialect == "sqlite":
            try:
                found = rows_here(address, sql, catalogue.projected_table_names(), LIMITS)
            except QueryFailed:
                continue
            assert len(found.rows) <= LIMITS.rows, sql
    assert time.monotonic() - began < 30
    assert digest(asked.log) == before
    assert not list(tmp_path.rglob("x.db"))
    with pytest.raises(QueryFailed, match=r"not authorized|prohibited"):
        run_guarded_query(
            address, "SELECT * FROM events", catalogue.projected_table_names(), LIMITS
        )
    with pytest.raises(QueryFailed, match=r"more than 0\.5 seconds"):
        run_guarded_query(address, SLOW_SQLITE, catalogue.projected_table_names(), LIMITS)


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
            run_guarded_query(
                SqliteFile(str(orders)), f"SELECT * FROM {table}", ("months",), LIMITS
            )


@pytest.mark.slow("whole runs")
def test_what_passes_the_check_runs_in_sqlite(asked: Project) -> None:
    from preflights_es.features.metrics.domain.sql_check import bound, render_checked_query

    asked.call("ask", "sessions", "--run")
    views = catalogue.definitions("sqlite", None)
    for dialect, sql in INNOCENT:
        if dialect == "sqlite":
            text = bound(render_checked_query(sql, "sqlite"), views)
            run_guarded_query(
                SqliteFile(str(asked.log)), text, catalogue.projected_table_names(), LIMITS
            )


def test_ctrl_c_ends_a_query(orders: Path) -> None:
    began = time.monotonic()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run_guarded_query(SqliteFile(str(orders)), SLOW_SQLITE, (), Limits(seconds=20))
    timer.join()
    assert time.monotonic() - began < 10


@pytest.mark.slow("sizes")
@pytest.mark.parametrize(
    "call",
    [
        "trim({a}, {b})",
        "ltrim({a}, {b})",
        "rtrim({a}, {b})",
        "replace({a}, {b}, 'x')",
        "instr({a}, {b})",
        "trim({b}, {a})",
        "replace({b}, {a}, {b})",
        "instr({b}, {a})",
    ],
)
def test_a_function_on_long_texts_ends_at_the_limit(tmp_path: Path, call: str) -> None:
    """SQLite looks at no clock within a function: both arguments are columns or made of them."""
    database = tmp_path / "long.db"
    with closing(sqlite3.connect(database)) as made:
        made.execute("CREATE TABLE many (name TEXT, other TEXT)")
        row = ("ab" * 90_000 + "c", "ba" * 90_000)
        made.executemany("INSERT INTO many VALUES (?, ?)", [row] * 5)
        made.commit()
    whole = "(SELECT group_concat({}, '') FROM many)"
    sql = "SELECT " + ", ".join(
        f"length({call.format(a=a, b=b)})" for a, b in (("name", "other"), ("other", "name"))
    )
    grouped = call.format(a=whole.format("name"), b=whole.format("other"))
    sql = f"{sql}, {grouped} FROM many, many AS n, many AS m, many AS o"
    process = subprocess.Popen(
        [sys.executable, "-c", ASKING, str(database), sql], stdout=subprocess.PIPE, text=True
    )
    out, _ = process.communicate(timeout=20)  # without an end of its own it would be minutes
    assert process.returncode == 0, out


ASKING = """
import sys
from preflights_es.store.guarded_query import Limits, QueryFailed
from preflights_es.store.guarded_query import run_guarded_query
from preflights_es.store.urls import SqliteFile
try:
    run_guarded_query(SqliteFile(sys.argv[1]), sys.argv[2], (), Limits(seconds=1.0))
except QueryFailed as error:
    print(error)
"""


@pytest.mark.slow("kills")
def test_a_query_ends_with_the_program_that_asked(orders: Path) -> None:
    asking = ASKING.replace("seconds=1.0", "seconds=60.0")
    words = [sys.executable, "-c", asking, str(orders), SLOW_SQLITE]
    with subprocess.Popen(words) as process:
        while not (children := children_of(process.pid)):
            time.sleep(0.01)
        process.kill()
    until = time.monotonic() + 20
    while any(os.path.exists(f"/proc/{child}") for child in children):
        assert time.monotonic() < until, "it goes on"
        time.sleep(0.05)


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.mark.parametrize("table", ["pg_authid", "pg_catalog.pg_user", "information_schema.tables"])
def test_a_catalogue_reads_no_table_of_the_database_itself(tmp_path: Path, table: str) -> None:
    folder = shop(tmp_path / "c", own_yaml=f"name: a\nsql: SELECT * FROM {table}\n")
    with pytest.raises(Refused, match="is not in the catalogue"):
        own_catalogue((folder / "metrics", folder / "snippets"), "postgres")


@pytest.mark.slow("whole runs")
def test_both_hold_in_postgresql(house: Project, postgres: str) -> None:
    from preflights_es.features.metrics.domain.sql_check import bound, render_checked_query

    at = ("--db", postgres)
    house.named().call("start", "Add caching", "--no-input", *at)
    found = house.call("ask", "sessions today", "--run", "--json", *at)
    assert found.code == 0, found.err
    assert found.json["result"]["rows"] == [[2]]
    address, views = parse_log_address(postgres), catalogue.definitions("postgres", None)
    for dialect, sql in INNOCENT:
        if dialect == "postgres":
            rows_here(
                address,
                bound(render_checked_query(sql, "postgres"), views),
                catalogue.projected_table_names(),
                LIMITS,
            )
    before, began = everything(postgres), time.monotonic()
    for dialect, sql in HOSTILE:
        if dialect == "postgres":
            try:
                rows_here(address, sql, catalogue.projected_table_names(), LIMITS)
            except QueryFailed:
                continue
    assert time.monotonic() - began < 30
    assert everything(postgres) == before


LEAKS = (
    "SELECT orders.leak FROM orders",
    "SELECT o.leak FROM orders AS o",
    "SELECT market FROM orders AS o ORDER BY o.leak",
    "SELECT x.leak FROM (SELECT * FROM orders) AS x",
    "SELECT o.xmin, o.id FROM orders AS o",
    "SELECT orders FROM orders",
    "SELECT gone FROM orders",
)
READS = "reads_orders"
DEFINER = "RETURNS text SECURITY DEFINER LANGUAGE"
PLPGSQL = "BEGIN RETURN (SELECT word FROM secret); END"


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("by_reader", [False, True])
def test_no_function_is_called_in_the_notation_of_a_column(
    house: Project, tmp_path: Path, server: Server, by_reader: bool
) -> None:
    url = server.url(server.database())
    env = {}
    if by_reader:
        database = parse_log_address(url).database  # type: ignore[union-attr]
        env["PREFLIGHTS_READER_URL"] = server.url(database, READS)  # type: ignore[arg-type]

    def asked(name: str, sql: str, *more: str) -> Any:
        files = {"a_yaml": "name: values\nsnippet: a.sql\n", "a_sql": f"{sql}\n"}
        folder = tmp_path / name
        at = ("values", "--catalog", str(folder if folder.exists() else shop(folder, **files)))
        return house.call("ask", *at, "--on", url, *more, env=env)

    with closing(connected(url)) as owner:
        for one in (
            "CREATE TABLE secret AS SELECT 'hunter2' AS word",
            "CREATE TABLE orders (id int, market text, gone text)",
            "ALTER TABLE orders DROP gone",
            "INSERT INTO orders VALUES (1, 'DK')",
            f"CREATE FUNCTION leak(orders) {DEFINER} sql AS 'SELECT word FROM secret'",
            f"CREATE FUNCTION leak(record) {DEFINER} plpgsql AS '{PLPGSQL}'",
            f"CREATE ROLE {READS} LOGIN",
            f"GRANT SELECT ON orders TO {READS}",
        ):
            owner.execute(one.encode())
        try:
            for place, sql in enumerate(LEAKS):
                assert asked(str(place), sql).code == 0  # shown, and not run
                done = asked(str(place), sql, "--run")
                assert (done.code, "hunter2" in done.out) == (1, False), sql
                assert "one of its columns is unknown to its tables" in done.err, sql
            fine = "SELECT o.market, count(*) AS n FROM orders AS o GROUP BY market ORDER BY n"
            done = asked("fine", fine, "--run", "--csv")
            assert (done.code, done.out) == (0, "market,n\r\nDK,1\r\n"), done.err
        finally:
            owner.execute(f"DROP OWNED BY {READS}".encode())
            owner.execute(f"DROP ROLE {READS}".encode())


def test_a_column_that_sqlite_does_not_list_is_refused(
    house: Project, tmp_path: Path, orders: Path
) -> None:
    for sql, found in (
        ("SELECT rowid FROM orders", "unknown to its tables: “rowid”"),
        ("SELECT nothing FROM orders", "unknown to its tables: “nothing”"),
        ("SELECT a FROM absent", "lists no columns of the table 'absent'"),
    ):
        folder = shop(tmp_path / found[-8:-1], a_yaml=f"name: values\nsql: {sql}\n")
        done = house.call("ask", "values", "--catalog", str(folder), "--on", str(orders), "--run")
        assert (done.code, found in done.err) == (1, True), done.err


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


PLACED = """name: placed
sql: SELECT count(*) AS placed FROM placed WHERE at >= :first_day AND at < :end_day
dimensions: [due]
date: at
"""


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    ("zone", "days"),
    [
        ("Europe/Berlin", ["2026-03-28", "2026-03-29", "2026-03-29", "2026-03-30"]),
        ("UTC", ["2026-03-28", "2026-03-28", "2026-03-29", "2026-03-29"]),
        ("XXX-14", ["2026-03-29", "2026-03-29", "2026-03-30", "2026-03-30"]),
    ],
)
def test_a_day_in_postgresql_is_that_of_the_person(
    house: Project, tmp_path: Path, server: Server, zone: str, days: list[str]
) -> None:
    url = server.url(server.database())
    times = ("28T22:30Z", "28T23:30Z", "29T21:30Z", "29T22:30Z")
    with closing(connected(url)) as owner:
        owner.execute("CREATE TABLE placed (at timestamptz, due date)")
        for time in times:
            owner.execute("INSERT INTO placed VALUES (%s, '2026-01-01')", (f"2026-03-{time}",))
    folder = shop(tmp_path / "c", placed_yaml=PLACED)
    args = ("--catalog", str(folder), "--on", url, "--run", "--json")
    where = {"TZ": zone}
    longer = (
        ("week", None),
        ("month", [["2026-03", 4]]),
        ("quarter", [["2026-Q1", 4]]),
        ("year", [["2026", 4]]),
    )
    by_day = ("day", [[day, days.count(day)] for day in sorted(set(days))])
    for step, expected in (by_day, *(longer if "/" in zone else ())):
        found = house.run("ask", f"placed by {step}", *args, env=where)
        assert found.code == 0, found.err
        assert expected is None or found.json["result"]["rows"] == expected
    one = house.run("ask", f"placed {days[0]}", *args, env=where).json
    assert one["result"]["rows"] == [[days.count(days[0])]]
    assert house.run("ask", "placed due=2026-01-01", *args, env=where).json["result"]["rows"] == [
        [4]
    ]


@pytest.mark.slow("whole runs")
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


@pytest.mark.slow("whole runs")
def test_a_query_in_postgresql_takes_the_readers_role(
    house: Project, postgres: str, server: Server
) -> None:
    at, address = ("--db", postgres), parse_log_address(postgres)
    house.named().call("start", "Add caching", "--no-input", *at)
    server.said("CREATE ROLE preflights_reader NOLOGIN")
    with closing(connected(postgres)) as owner:
        try:
            done = house.call("ask", "sessions", "--run", *at)
            assert (done.code, done.err.endswith(", as the role preflights_reader\n")) == (1, True)
            owner.execute("GRANT USAGE ON SCHEMA public TO preflights_reader")
            owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO preflights_reader")
            assert house.call("ask", "sessions", "--run", "--json", *at).json["result"]["rows"]
            who = "SELECT current_user::text, current_setting('transaction_read_only')"
            assert run_guarded_query(address, who, (), PATIENT).rows == (
                ("preflights_reader", "on"),
            )
            endless = "SELECT 1 FROM generate_series(1, 1000000000) ORDER BY 1"
            for sql, limits, why in (
                ("SELECT pg_read_file('/etc/passwd')", PATIENT, "permission denied"),
                ("SELECT lo_import('/etc/passwd')", PATIENT, "read-only|permission denied"),
                ("SELECT pg_sleep(30)", LIMITS, r"more than 0\.5 seconds"),
                (endless, LIMITS, r"more than 0\.5"),
            ):
                with pytest.raises(QueryFailed, match=why):
                    run_guarded_query(address, sql, (), limits)
            run_guarded_query(address, "SELECT set_config('role', 'none', false)", (), PATIENT)
            assert run_guarded_query(address, who, (), PATIENT).rows == (
                ("preflights_reader", "on"),
            )
        finally:
            owner.execute("DROP OWNED BY preflights_reader")
            owner.execute("DROP ROLE preflights_reader")


@pytest.mark.slow("whole runs")
def test_a_query_in_postgresql_takes_the_login_for_readers(
    house: Project, postgres: str, server: Server
) -> None:
    at = ("--db", postgres)
    house.named().call("start", "Add caching", "--no-input", *at)
    first = house.call("ask", "sessions", "--run", "--json", *at)
    assert first.json["result"]["rows"]
    assert "a login that may do more" in first.err
    assert "PREFLIGHTS_READER_URL" in first.err
    with closing(connected(postgres)) as owner:
        owner.execute("CREATE ROLE asker LOGIN PASSWORD 'read-1234'")
        try:
            url = parse_log_address(postgres).set(username="asker", password="read-1234")  # type: ignore[union-attr]
            env = {"PREFLIGHTS_READER_URL": url.render_as_string(hide_password=False)}
            refused = house.call("ask", "sessions", "--run", *at, env=env)
            assert refused.code == 1
            assert "permission denied" in refused.err
            assert "read-1234" not in refused.err
            tables = ", ".join(sorted(catalogue.projected_table_names()))
            owner.execute(b"GRANT USAGE ON SCHEMA public TO asker")
            owner.execute(f"GRANT SELECT ON {tables} TO asker".encode())
            done = house.call("ask", "sessions", "--run", "--json", *at, env=env)
            assert done.json["result"]["rows"]
            assert "login" not in done.err
            with pytest.raises(QueryFailed, match="permission denied"):
                run_guarded_query(url, "SELECT * FROM events", (), PATIENT)
            other = {"PREFLIGHTS_READER_URL": "postgresql://asker@elsewhere.example/x"}
            told = house.call("ask", "sessions", "--run", *at, env=other)
            assert (told.code, "is of another database" in told.err) == (0, True)
        finally:
            owner.execute("DROP OWNED BY asker")
            owner.execute("DROP ROLE asker")


def test_no_repository_names_the_login_for_readers(house: Project) -> None:
    text = '[metrics]\nreader_url = "postgresql://asker@evil.example/x"\n'
    (house.folder / "preflights.toml").write_text(text)
    done = house.call("ask", "sessions", "--run")
    assert done.code == 2
    assert "preflights.toml, line 1: metrics: no repository says this" in done.err
