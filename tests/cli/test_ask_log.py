"""`ask` about the log: what each column says, and that every metric of its catalogue runs."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from preflights_es.features.metrics.catalogue import (
    BUILT_IN,
    check_for,
    definitions,
    metrics_of,
    projected_table_names,
    queryable_log_tables,
)
from preflights_es.features.metrics.domain.events import Dialect, Metric
from preflights_es.features.metrics.domain.reference import answer_conversation
from preflights_es.features.metrics.domain.sql_check import bound, render_checked_query
from preflights_es.store.guarded_query import Limits, rows_here
from preflights_es.store.urls import parse_log_address
from preflights_es.system import clock_ids
from tests.cli.asking import shop
from tests.cli.program import Project
from tests.postgres import SECOND_ENGINE

METRICS = metrics_of(BUILT_IN, check_for("sqlite", queryable_log_tables()))
DAY = 86_400_000_000  # microseconds
Row = dict[str, Any]


class Log:
    """A log of decisions, whose tables are asked for."""

    def __init__(self, house: Project, url: str, catalogue: Path) -> None:
        self.house, self.url = house, url
        files = {
            f"{one.name}_yaml": f"name: all {one.name}\n"
            f"sql: SELECT {', '.join(one.columns)} FROM {one.name}\n"
            for one in queryable_log_tables()
        }
        self.catalogue = shop(catalogue, **files)

    def call(self, *words: str, actor: str = "Ada") -> Any:
        """What a command prints; it may wait for a person."""
        env = {"PREFLIGHTS_ACTOR": actor, "PREFLIGHTS_PROJECT": "house"}
        done = self.house.call(*words, "--json", "--db", self.url, env=env)
        assert done.code in (0, 3), (words, done.err, done.out)
        return done.json

    def table(self, name: str) -> list[Row]:
        where = ("--catalog", str(self.catalogue), "--on", self.url, "--run")
        found = self.call("ask", f"all {name}", *where)["result"]
        return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]

    def rows_of(self, metric: Metric) -> tuple[tuple[Any, ...], ...]:
        """What the query of a metric brings, as `ask` runs it, without its session."""
        dialect: Dialect = "sqlite" if self.url.startswith("sqlite") else "postgres"
        reply = answer_conversation(
            (metric.name,), METRICS, date.fromisoformat(today()), "en", dialect=dialect
        )
        assert isinstance(reply, dict), reply
        views = definitions(dialect, None, today=today())
        query = bound(render_checked_query(reply["sql"], dialect), views)
        return rows_here(parse_log_address(self.url), query, projected_table_names(), Limits()).rows

    def decision(self) -> Row:
        (row,) = self.table("decisions")
        return row


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def log(request: pytest.FixtureRequest, house: Project, tmp_path: Path) -> Log:
    """Empty, in every engine."""
    is_file = request.param == "sqlite"
    url = f"sqlite:///{house.log}" if is_file else request.getfixturevalue("postgres")
    return Log(house, url, tmp_path / "catalogue")


def today() -> str:
    return clock_ids.local(clock_ids.now())[0][:10]


# 1. Decisions --------------------------------------------------------------------------------


def test_a_decision_says_who_asked_decided_and_accepted_and_what(log: Log) -> None:
    begun = log.call("start", "Add login", "--scope", "the shop", actor="agent:claude")
    session = begun["session_id"]
    because = ("--because", "Staff's “one” account")
    log.call("answer", session, "OAuth", "auth_library=Authlib", *because, actor="Ben")
    waiting = log.decision()
    assert (waiting["standing"], waiting["accepted_by"], waiting["age_days"]) == (
        *("ready", None),
        None,
    )
    log.call("accept", session, "--by", "Dana")
    row = log.decision()
    assert row == {
        "uid": session[-12:],
        "session_id": session,
        "standing": "accepted",
        "kind": "adr",
        "record": 1,
        "title": row["title"],
        "value": "OAuth, Authlib",
        "scope": "the shop",
        "category": "Authentication",
        "topic": "Authentication",
        "reason": "Staff's “one” account",
        "asked_by": "claude",
        "asked_by_kind": "agent",
        "decided_by_kind": "script",
        "decided_by": "Ben",
        "accepted_by": "Dana",
        "proposed_on": today(),
        "accepted_on": today(),
        "age_days": 0,
        "superseded_on": None,
        "superseded_by": None,
    }
    assert "OAuth" in row["title"]


def test_a_decision_that_was_superseded_says_by_which(log: Log) -> None:
    words = ("start", "Add login", "--accept", "--by", "Ada", "--answer")
    former = log.call(*words, "auth_strategy=OAuth")["session_id"]
    log.call(*words, "auth_strategy=Magic Link", "--supersedes", former)
    old, new = sorted(log.table("decisions"), key=lambda row: int(row["record"]))
    assert (old["standing"], new["standing"]) == ("superseded", "accepted")
    assert (old["superseded_on"], old["superseded_by"]) == (today(), new["title"])
    assert (new["superseded_on"], new["superseded_by"], new["scope"]) == (None, None, None)


def test_what_is_not_said_is_null_and_an_actor_without_a_name_has_a_kind(log: Log) -> None:
    words = ("start", "Add login", "--answer", "auth_strategy=OAuth")
    log.call(*words, "--accept", actor="script:")
    row = log.decision()
    assert (row["asked_by"], row["decided_by"]) == ("a script", "a script")
    nothing = ("scope", "reason", "accepted_by", "accepted_on", "age_days", "superseded_by")
    assert row["standing"] == "proposed"
    assert {name: row[name] for name in nothing} == dict.fromkeys(nothing)


@pytest.mark.slow("whole runs")
def test_the_age_counts_days_to_the_question(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = ("--accept", "--by", "Ada", "--answer")
    log.call("start", "Add login", *accepted, "auth_strategy=OAuth")
    log.call("start", "Store invoices in a database", *accepted, "db_type=MySQL")
    now = clock_ids.now
    monkeypatch.setattr(clock_ids, "now", lambda: now() + 10 * DAY)
    assert [row["age_days"] for row in log.table("decisions")] == [10, 10]
    log.call("start", "Build the frontend", *accepted, "frontend_framework=Vue")
    found = log.call("ask", "average age of decisions in force", "--run")["result"]
    assert found["columns"] == ["age_days"]
    assert float(found["rows"][0][0]) == pytest.approx(20 / 3)


@pytest.mark.slow("whole runs")
def test_no_name_of_a_query_takes_the_place_of_a_function_of_ours(log: Log) -> None:
    log.call("start", "Add login", "--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada")
    for name in ("json_each", "json_array_elements"):
        text = f"WITH {name} AS (SELECT 1 AS value) SELECT d.value FROM decisions AS d, {name}"
        (log.catalogue / "metrics" / "own.yaml").write_text(f"name: taken\nsql: {text}\n")
        where = ("--catalog", str(log.catalogue), "--on", log.url, "--run")
        assert log.call("ask", "taken", *where)["result"]["rows"] == [["OAuth"]], name


def test_no_query_reads_json_as_a_table(house: Project, tmp_path: Path) -> None:
    text = "SELECT value FROM json_each('[1]')"
    folder = shop(tmp_path / "own", own_yaml=f"name: taken\nsql: {text}\n")
    done = house.call("ask", "taken", "--catalog", str(folder), "--on", str(house.log), "--run")
    assert (done.code, "own.yaml, line 2, key 'sql'" in done.err) == (1, True), done


# 2. Tasks ------------------------------------------------------------------------------------


@pytest.mark.slow("whole runs")
def test_a_task_says_how_it_was_filed_and_has_a_day(log: Log) -> None:
    more = ("--importance", "high", "--due", "2027-01-31")
    log.call("note", "add", "task", "Renew the domain", *more)
    log.call("note", "buy milk !high")
    rows = {row["title"]: row for row in log.table("items")}
    by_hand, noted = rows["Renew the domain"], rows["buy milk"]
    assert (by_hand["filed"], noted["filed"]) == ("by hand", "from a note")
    assert {by_hand["noted_on"], noted["noted_on"]} == {today()}
    assert (by_hand["importance"], by_hand["due"]) == ("high", "2027-01-31")
    for text, found in (
        ("open tasks today", [[2]]),
        ("due tasks January 2027", [[1]]),
        ("due tasks February 2027", [[0]]),
        (
            "list of open tasks",
            [["Renew the domain", "high", "2027-01-31"], ["buy milk", "high", None]],
        ),
        ("tasks by filed", [["by hand", 1], ["from a note", 1]]),
    ):
        assert log.call("ask", text, "--run")["result"]["rows"] == found, text


# 3. Metrics ----------------------------------------------------------------------------------


@pytest.mark.slow("whole runs")
def test_every_metric_runs_on_a_log_of_real_sessions(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("start", "Add login", "--accept", "--by", "Ada", "--answer")
    former = log.call(*words, "auth_strategy=OAuth")["session_id"]
    log.call(*words, "auth_strategy=Magic Link", "--supersedes", former)
    ready = log.call("start", "Store invoices in a database", "--answer", "db_type=MySQL")[
        "session_id"
    ]
    log.call("abandon", log.call("start", "Add search")["session_id"])
    log.call("start", "Print labels", "--provider", "sim", "--faults", "malformed=1")
    log.call("note", "add", "task", "Renew the domain", "--due", "2027-01-31")
    log.call("note", "add", "task", "Pay the host", "--due", "2020-01-31")
    now = clock_ids.now
    monkeypatch.setattr(clock_ids, "now", lambda: now() + DAY)
    # It brings the rows of the log up to date.
    assert log.call("ask", "proposed decisions", "--run")["result"]["rows"] == [[1]]
    found = {metric.name: log.rows_of(metric) for metric in METRICS}
    assert found.pop("latency")[0][0] >= 0  # a simulated call may take no millisecond
    empty = {name: rows for name, rows in found.items() if not rows or rows[0][0] in (0, None)}
    assert not empty, empty
    log.call("accept", ready, "--by", "Ada")
    assert log.call("ask", "proposed decisions", "--run")["result"]["rows"] == [[0]]


@pytest.mark.slow("whole runs")
def test_a_question_about_decisions(log: Log) -> None:
    words = ("start", "Add login", "--answer", "auth_strategy=OAuth")
    session = log.call(*words, actor="agent:claude")["session_id"]
    log.call("accept", session, "--by", "Ada")
    listed = {"title", "reason", "accepted_on"}
    for text, rows in (
        ("list of decisions", [["OAuth", None, "Ada"]]),
        ("Liste der geltenden Entscheidungen", [["OAuth", None, "Ada"]]),
        ("decisions by category", [["Authentication", 1]]),
        ("Entscheidungen nach standing", [["accepted", 1]]),
    ):
        found = log.call("ask", text, "--run")["result"]
        wanted = [n for n, name in enumerate(found["columns"]) if name not in listed]
        assert [[row[n] for n in wanted] for row in found["rows"]] == rows, text
