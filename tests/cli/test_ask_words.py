"""`ask` where words are left over, and words and values of dimensions."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.asking import answer, shop
from tests.cli.program import Project
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
    assert found["text"].startswith(
        "I do not know *during the trade fair*. For sessions you can say: by workflow ("
    )
    assert (found["sql"], found["result"]) == ("", None)
    german = answer(asked, "Sitzungen auf der Messe", "--language", "de", code=3)
    assert german["text"].startswith("*auf der Messe* kenne ich nicht. Zu sessions geht: nach ")


def test_words_of_dimensions_may_stand_once_for_all_metrics(
    house: Project, sales: tuple[Path, str]
) -> None:
    folder, url = sales
    shared = folder / "metrics" / "dimensions.yaml"
    shared.write_text(
        "words:\n  market: [region]\n  channel: [way]\n"
        "values:\n  channel: {Phone: [call], Web Shop: []}\n  size: {S: [small]}\n"
    )
    about = ("--catalog", str(folder), "--on", url, "--run")
    assert answer(house, "revenue by way", *about)["result"]["rows"] == [
        ["Phone", 3],
        ["Web Shop", 120],
    ]
    assert answer(house, "revenue way=call", *about)["result"]["rows"] == [[3]]
    assert "*by region*" in answer(house, "revenue by region", *about, code=3)["text"], "its own"
    for wrong, why in (
        ("dimensions: [market]\n", "line 1, key 'dimensions': is no key here: words, values"),
        ("words: [market]\n", "line 1, key 'words': expected names with lists of texts"),
        ("words:\n  market: [[x]]\n", "line 2, key 'words': expected a text"),
        ("", "dimensions.yaml, line 1"),
    ):
        shared.write_text(wrong)
        done = house.call("ask", "revenue", *about)
        assert (done.code, why in done.err) == (1, True), done.err


def test_an_answer_of_nothing_names_its_filters_and_values_stand_alone(
    house: Project, sales: tuple[Path, str]
) -> None:
    folder, url = sales
    about = ("--catalog", str(folder), "--on", url, "--run")
    done = house.call("ask", "revenue by market last week", *about)
    assert "No rows.\n" in done.out
    assert "there is nothing for: revenue by market 20" in done.err
    assert "nothing for" not in house.call("ask", "revenue last week", *about).err
    for text in ("revenue channel=web last week", "revenue by market channel=web last week"):
        done = house.call("ask", text, *about)
        assert done.code == 0, done.err
        assert "there is nothing for: revenue " in done.err
        assert "channel=web 20" in done.err
    done = house.call("ask", "revenue channel=web", *about, "--csv")
    assert "there is nothing for: revenue channel=web all days" in done.err
    assert "nothing for" not in house.call("ask", 'revenue channel="Web Shop"', *about).err
    folder, url = sales
    about = ("--catalog", str(folder), "--on", url, "--run")
    found = answer(house, "revenue market=denmark", *about)
    assert (found["result"]["rows"], found["read_as"]) == ([[103]], "revenue market=DK all days")
    found = answer(house, "revenue market=SE", *about, code=3)
    assert found["text"].startswith("market has no *SE*. There are: DK. For revenue you can say:")
    found = answer(house, "--follow-up", "market=DK")
    assert found["read_as"] == "revenue market=DK all days"


def test_a_query_of_a_model_says_nothing_of_how_it_was_read(house: Project) -> None:
    sql = "SELECT count(*) AS n FROM decisions WHERE accepted_by = 'Ada'"
    with FakeAPI() as api:
        api.script(server.text(json.dumps({"type": "sql", "sql": sql})))
        led = ("--provider", "openai", "--base-url", api.openai)
        found = house.call("ask", "decisions", "--json", *led, env=KEYS)
    assert (found.code, found.json["read_as"]) == (0, ""), found.out


def test_an_alias_that_is_the_name_of_another_metric_is_refused(
    house: Project, sales: tuple[Path, str]
) -> None:
    folder, _ = sales
    other = "name: other\naliases: [Revenue]\nsql: SELECT count(*) AS n FROM orders\n"
    (folder / "metrics" / "other.yaml").write_text(other)
    done = house.call("ask", "revenue", "--catalog", str(folder))
    assert done.code == 1
    assert "line 2, key 'aliases': 'Revenue' is the name of another metric" in done.err
