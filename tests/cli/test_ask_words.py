"""`ask` where words are left over, values come from a database, and questions are kept."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.features.metrics.catalogue import SECONDS, known_values
from preflights_es.features.metrics.domain.events import Catalogue, Matched, Metric, Table
from preflights_es.store.guarded_query import Limits, QueryFailed, Rows
from tests.cli.asking import answer, shop
from tests.cli.program import Project
from tests.cli.terminal import terminal
from tests.providers import server
from tests.providers.server import FakeAPI

pytestmark = pytest.mark.slow("whole runs")

KEYS = {"PREFLIGHTS_OPENAI_API_KEY": "sk-no-key"}
REVENUE = """name: revenue
aliases: [umsatz]
sql: SELECT sum(amount) AS revenue FROM orders WHERE day >= :first_day AND day < :end_day
dimensions: [market, channel]
date: day
unit: [euro]
words:
  market: [country, Land]
values:
  market:
    DK: [Denmark, Dänemark]
numbers:
  amount: [euro]
"""
ROWS = [
    ("2026-10-05", "DK", "Web Shop", 100),
    ("2026-10-06", "SE", "Web Shop", 20),
    ("2026-11-03", "DK", "Phone", 3),
]


@pytest.fixture
def sales(tmp_path: Path) -> tuple[Path, str]:
    """A catalogue, and the address of its database."""
    with closing(sqlite3.connect(tmp_path / "sales.db")) as connection:
        connection.execute("CREATE TABLE orders (day, market, channel, amount)")
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ROWS)
        connection.commit()
    folder = shop(tmp_path / "catalogue", revenue_yaml=REVENUE)
    return folder, f"sqlite:///{tmp_path / 'sales.db'}"


def test_a_word_that_is_left_over_is_named_and_nothing_is_run(asked: Project) -> None:
    found = answer(asked, "sessions during the trade fair", "--run", code=3)
    assert found["text"].startswith("I do not know *trade fair*. For sessions I know: a range of")
    assert (found["sql"], found["result"]) == ("", None)
    german = answer(asked, "Sitzungen auf der Messe", "--language", "de", code=3)
    assert german["text"].startswith("*Messe* kenne ich nicht. Zu sessions kenne ich: Tage von bis")


def test_values_of_the_database_are_words_and_only_those_of_the_question_are_kept(
    house: Project, sales: tuple[Path, str]
) -> None:
    folder, url = sales
    about = ("--catalog", str(folder), "--on", url)
    found = answer(house, "revenue in the web shop in Denmark", *about, "--run")
    assert found["result"]["rows"] == [[100]]
    assert found["sentence"] == "Adds up revenue, all days, channel Web Shop, market DK."
    found = answer(house, "--follow-up", "in the kiosk", "--on", url, code=3)
    assert "*kiosk*" in found["text"]
    found = answer(house, "--follow-up", "only phone", "--on", url, "--run")
    assert found["result"]["rows"] == [[3]]
    text = house.call("admin", "export", found["session_id"]).out
    assert '{"column":"channel","value":"Web Shop"}' in text
    assert '"value":"SE"' not in text
    without = answer(house, "revenue in the web shop", "--catalog", str(folder), code=3)
    assert "*web shop*" in without["text"], "without a database its values are not known"


def test_words_of_dimensions_may_stand_once_for_all_metrics(
    house: Project, sales: tuple[Path, str]
) -> None:
    folder, url = sales
    shared = folder / "metrics" / "dimensions.yaml"
    shared.write_text(
        "words:\n  market: [region]\n  channel: [way]\n"
        "values:\n  channel: {Phone: [call]}\n  size: {S: [small]}\n"
    )
    about = ("--catalog", str(folder), "--on", url, "--run")
    assert answer(house, "revenue by way", *about)["result"]["rows"] == [
        ["Phone", 3],
        ["Web Shop", 120],
    ]
    assert answer(house, "revenue of calls", *about)["result"]["rows"] == [[3]]
    assert "*region*" in answer(house, "revenue by region", *about, code=3)["text"], "its own count"
    assert "*small*" in answer(house, "small revenue", *about, code=3)["text"]
    for wrong, why in (
        ("dimensions: [market]\n", "line 1, key 'dimensions': is no key here: words, values"),
        ("words: [market]\n", "line 1, key 'words': expected names with lists of texts"),
        ("words:\n  market: [[x]]\n", "line 2, key 'words': expected a text"),
        ("", "dimensions.yaml, line 1"),
    ):
        shared.write_text(wrong)
        done = house.call("ask", "revenue", *about)
        assert (done.code, why in done.err) == (1, True), done.err


def test_values_are_kept_for_an_hour_in_the_cache_of_the_user(
    house: Project, sales: tuple[Path, str], tmp_path: Path
) -> None:
    folder, url = sales
    about = ("--catalog", str(folder), "--on", url)
    cache = tmp_path / "cache"
    env = {"XDG_CACHE_HOME": str(cache)}
    assert house.call("ask", "revenue by phone shop", *about, env=env).code == 3
    (kept,) = (cache / "preflights" / "values").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    said = json.loads(kept.read_text())
    assert {"column": "channel", "value": "Phone"} in said["values"]
    assert house.call("ask", "revenue in the kiosk", *about, env=env).code == 3
    said["values"].append({"column": "channel", "value": "Kiosk"})
    kept.write_text(json.dumps(said))
    assert house.call("ask", "revenue in the kiosk", *about, env=env).code == 0, "not read anew"
    kept.write_text(json.dumps(said | {"at": said["at"] - 3_700}))
    assert house.call("ask", "revenue in the kiosk", *about, env=env).code == 3, "too old"
    for damaged in (b"no JSON", b'{"at":1,"values":[{"column":"\xff"}]}'):
        kept.write_bytes(damaged)
        assert house.call("ask", "revenue in the web shop", *about, env=env).code == 0
        assert json.loads(kept.read_bytes())["values"], "it is written anew"


def test_a_database_that_cannot_be_read_gives_no_values(
    house: Project, sales: tuple[Path, str], tmp_path: Path
) -> None:
    folder, _ = sales
    gone = ("--catalog", str(folder), "--on", f"sqlite:///{tmp_path / 'gone.db'}")
    assert "*web shop*" in answer(house, "revenue in the web shop", *gone, code=3)["text"]
    assert answer(house, "revenue in Denmark", *gone)["type"] == "sql"


def test_words_that_a_models_query_lacks_are_named_and_a_script_waits(house: Project) -> None:
    sql = "SELECT count(*) AS n FROM decisions WHERE accepted_by = 'Ada'"
    with FakeAPI() as api:
        api.script(*[server.text(json.dumps({"type": "sql", "sql": sql}))] * 2)
        led = ("--provider", "openai", "--base-url", api.openai)
        done = house.call("ask", "decisions of Ada in March 2026", "--run", *led, env=KEYS)
        found = house.call("ask", "decisions of Ada", "--json", *led, env=KEYS)
    assert done.code == 3, done.out
    assert "the query has nothing for *March 2026*" in done.err
    assert found.code == 0, found.out
    assert found.json["not_in_query"] == []


def test_a_question_is_kept_by_a_person_who_saw_its_rows(house: Project) -> None:
    with terminal(house, "ask", "how many sessions?", "--run", "--save", "all-sessions") as t:
        assert "sessions" in t.expect(r"Keep it as all-sessions\? \[y/N\]: ")
        t.type("y")
        assert "Run it with: preflights ask all-sessions --run" in t.rest()
        assert t.code() == 0
    kept = house.folder / ".preflights" / "snippets" / "all-sessions.sql"
    assert kept.read_text().startswith("-- question: how many sessions?\nSELECT")
    found = answer(house, "all-sessions", "--run")
    assert found["result"]["rows"] == [[2]]
    assert house.call("replay", found["session_id"]).code == 0
    with terminal(house, "ask", "sessions", "--run", "--save", "all-sessions") as t:
        t.expect(r"\[y/N\]: ")
        t.type("y")
        assert "exists: choose another name" in t.rest()
        assert t.code() == 1


@pytest.mark.parametrize(
    ("args", "code", "why"),
    [
        (("sessions", "--save", "x"), 2, "--save goes with --run"),
        (("sessions", "--run", "--save", "x"), 2, "--save needs a person at a terminal"),
    ],
)
def test_a_question_is_not_kept_unseen(
    house: Project, args: tuple[str, ...], code: int, why: str
) -> None:
    done = house.call("ask", *args)
    assert (done.code, why in done.err) == (code, True), done.err


def test_a_kept_query_is_checked_as_any_other(house: Project) -> None:
    snippets = house.folder / ".preflights" / "snippets"
    snippets.mkdir(parents=True)
    (snippets / "steal.sql").write_text("-- question: all\nSELECT data FROM events\n")
    done = house.call("ask", "steal", "--run")
    assert (done.code, "SELECT data" in done.out) == (1, False)


def test_a_folder_of_snippets_that_leads_outside_is_not_read(
    house: Project, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.sql").write_text("-- question: mine\nSELECT count(*) AS n FROM sessions\n")
    (house.folder / ".preflights").mkdir(exist_ok=True)
    (house.folder / ".preflights" / "snippets").symlink_to(outside)
    done = house.call("ask", "mine")
    assert done.code != 0
    assert "leads outside the project" in done.err


def test_values_of_all_dimensions_are_read_within_a_second() -> None:
    columns = tuple(f"c{n}" for n in range(100))
    metric = Metric(name="m", sql="SELECT count(*) AS n FROM t", dimensions=columns)
    catalogue = Catalogue(dialect="sqlite", metrics=(metric,), tables=(Table("t"),))
    limits: list[Limits] = []

    def read(sql: str, within: Limits) -> Rows:
        assert sql.count("LIMIT 51") <= 40
        limits.append(within)
        return Rows(("k", "v"), (("c1", "Kiosk"), ("c1", None), ("c2", "x" * 300)), more=False)

    assert known_values(catalogue, read) == (Matched("c1", "Kiosk"),)
    assert len(limits) == 3
    assert SECONDS >= limits[0].seconds >= limits[1].seconds >= limits[2].seconds

    def late(sql: str, within: Limits) -> Rows:
        raise QueryFailed(f"{sql} took more than {within.seconds}", code="query_timeout")

    assert known_values(catalogue, late) == ()
