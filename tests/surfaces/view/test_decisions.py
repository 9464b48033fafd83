"""The list of decisions, and one of them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Final
from weakref import WeakSet

import pytest

from preflights_es.surfaces.view import project_pages
from tests.cli.program import Project
from tests.cli.test_long_lists import multiplied
from tests.each import each
from tests.surfaces.view.conftest import Open, Pages, words
from tests.surfaces.view.test_inbox import ready, shown

PAGE_MAX: Final = 2_000_000  # bytes


def decided(shop: Project, intention: str, *args: str) -> str:
    """A session that a person accepted."""
    session = ready(shop, intention)
    done = shop.call("accept", session, "--by", "Ada", *args)
    assert done.code == 0, done
    return session


def titles(page: str) -> list[str]:
    """Of the decisions that a page lists, in their order."""
    return re.findall(r'class="title" href="/decisions/[^>]*><bdi>([^<]*)<', page)


def test_an_empty_project_says_so_and_lists_foreign_records(pages: Pages, shop: Project) -> None:
    assert "Nothing is in force here." in words(pages.text("/"))
    folder = shop.folder / "docs" / "decisions"
    folder.mkdir(parents=True)
    (folder / "0009-use-kafka.md").write_text("# 9. Use Kafka\n\n## Status\n\nAccepted\n")
    (folder / "0008-use-mysql.md").write_text(
        "# 8. Use MySQL for orders\n\nDate: 2020-03-04\n\n## Status\n\nAccepted\n\n"
        "## Context\n\nOrders <b>grow</b>.\n"
    )
    said = words(page := pages.text("/"))
    assert "2 in force." in said
    assert "Records of other tools Use MySQL for orders" in said
    assert "Use Kafka" not in words(pages.text("/?topic=Database"))
    assert "1 in force at the end of 2020-03-04." in words(pages.text("/?as-of=2020-03-04"))
    assert "1 decision matches" in words(pages.text("/?q=kafka"))
    link = re.search(r'href="(/records/[^"]*0008[^"]*)"', page)
    assert link
    assert "Orders &lt;b&gt;grow&lt;/b&gt;." in pages.text(link[1])
    assert pages.get("/records/README.md").status_code == 404


def test_what_is_in_conflict_is_said_above_the_decisions(shop: Project, pages: Pages) -> None:
    folder = shop.folder / "docs" / "decisions"
    folder.mkdir(parents=True)
    (folder / "0008-x.md").write_text("# 8. Use MySQL for orders\n\n## Status\n\nAccepted\n")
    decided(shop, "Use PostgreSQL for orders")
    clash = "PostgreSQL (ADR-0009) and MySQL (docs/decisions/0008-x.md)"
    assert f"In conflict: Database, Type for orders: {clash}" in words(pages.text("/"))


def test_decisions_in_force_stand_under_their_topics(shop: Project, pages: Pages) -> None:
    decided(shop, "Use Stripe for payments", "--because", "It has an API for refunds")
    decided(shop, "Use Redis for caching")
    page = pages.text("/")
    assert re.findall(r"<h2>(\w+)", page) == ["Caching", "Payments"]
    assert titles(page) == ["Use Redis for caching", "Use Stripe for payments"]
    said = words(page)
    assert "2 in force." in said
    for part in ("ADR-0001", "Stripe", "It has an API for refunds", "Ada"):
        assert part in said
    assert titles(pages.text("/?topic=payments")) == ["Use Stripe for payments"]


def test_a_search_finds_what_the_command_finds(shop: Project, pages: Pages) -> None:
    decided(shop, "Use Stripe for payments")
    decided(shop, "Use Redis for caching")
    page = pages.text("/?q=payments")
    assert titles(page) == ["Use Stripe for payments"]
    command = re.search(r"The same in a terminal: <code>([^<]*)<", page)
    assert command
    found = shop.call(*shlex.split(command[1])[1:], "--json").json["decisions"]
    assert [one["title"] for one in found] == titles(page)
    assert "No decision matches." in words(pages.text("/?q=helicopters"))
    multiplied(shop, found[0]["session_id"], 1, 60)
    assert "The best 50 of 61 that match “payments”" in words(pages.text("/?q=payments"))


@each(
    ("query", "command"),
    [
        ("", "preflights decisions"),
        ("?all=1", "preflights decisions --all"),
        ("?as-of=2026-01-02&all=1", "preflights decisions --at 2026-01-02"),
        ("?q=it%27s+fast&topic=A%20B", "preflights decisions --category 'A B' --query"),
    ],
)
def test_every_list_says_the_same_as_a_command(pages: Pages, query: str, command: str) -> None:
    assert f"<code>{escape(command)}" in pages.text(f"/{query}")


def test_what_was_superseded_is_listed_and_drawn(shop: Project, pages: Pages) -> None:
    old = decided(shop, "Use SQLite for the orders")
    uid = shown(shop, old)["uid"]
    new = decided(shop, "Use PostgreSQL for the orders", "--supersedes", uid)
    page = pages.text("/")
    assert titles(page) == ["Use PostgreSQL for the orders"]
    assert page.count('class="e-supersedes" d="M221') == 1
    assert page.count('class="node"') == 2
    ready(shop, "Use MySQL for the invoices")
    every = pages.text("/?all=1")
    assert set(titles(every)) == {"Use PostgreSQL for the orders", "Use SQLite for the orders"}
    assert "superseded" in words(every)
    one = words(pages.text(f"/decisions/{old}"))
    assert f"replaced by ADR-{shown(shop, new)['number']:04}" in one
    assert "Replaced ADR-0001 Use SQLite for the orders" in words(pages.text(f"/decisions/{new}"))


def test_differing_decisions_and_exceptions_are_drawn_apart(shop: Project, pages: Pages) -> None:
    first = decided(shop, "Use Redis for caching")
    uid = shown(shop, first)["uid"]
    decided(shop, "Use Memcached for caching", "--keep", f"{uid}=The old app stays on it")
    page = pages.text("/")
    assert page.count('class="e-beside" d="M221') == 1
    assert "Beside ADR-0001" in words(pages.text(f"/decisions/{_second(shop)}"))


def _second(shop: Project) -> str:
    return str(shop.call("decisions", "--json").json["decisions"][1]["session_id"])


def test_a_day_shows_what_was_in_force_at_its_end(shop: Project, pages: Pages) -> None:
    decided(shop, "Use Redis for caching")
    today = shop.call("decisions", "--json").json["decisions"][0]["accepted_at"][:10]
    page = pages.text(f"/?as-of={today}")
    assert titles(page) == ["Use Redis for caching"]
    assert f"1 in force at the end of {today}." in words(page)
    assert "Nothing was in force on that day." in words(pages.text("/?as-of=2001-02-03"))
    typed = pages.text("/?as-of=2099-1-5")
    assert "in force at the end of 2099-01-05." in words(typed)
    assert "preflights decisions --at 2099-01-05" in typed
    refused = pages.get("/?as-of=tomorrow")
    assert (refused.status_code, "is no day" in words(refused.text)) == (400, True)


def test_a_decision_says_where_it_came_from(shop: Project, pages: Pages) -> None:
    reasons = ("--because", "Every page waits", "--path", "src/cache/**", "--hold", "ask")
    session = str(
        shop.call(
            "start", "Which cache for the pages?", *reasons, "--json", "--as", "user:Ada"
        ).json["session_id"]
    )
    key = shown(shop, session)["questions"][0]["id"]
    shop.call("answer", session, f"{key}=Redis", "--as", "user:Ada")
    shop.call("accept", session, "--by", "Ada")
    said = words(pages.text(f"/decisions/{session}"))
    for part in (
        *("Which cache for the pages?", "Every page waits", "src/cache/**"),
        *("Question", "Redis", "In-process memory", "# Use Redis for the pages", "event 1"),
        *("ask the person before they edit these files", f"preflights why {session[-8:]}"),
    ):
        assert part in said
    assert f'href="/sessions/{session}?at=1"' in pages.text(f"/decisions/{session}")
    assert pages.get(f"/decisions/{shown(shop, session)['uid']}").status_code == 200
    assert pages.get("/decisions/ADR-0001").status_code == 200


def test_a_session_without_a_decision_is_no_page_of_decisions(shop: Project, pages: Pages) -> None:
    session = str(shop.call("start", "Choose a wiki", "--json").json["session_id"])
    found = pages.get(f"/decisions/{session}")
    assert (found.status_code, "has no decision" in words(found.text)) == (404, True)


@pytest.mark.slow("sizes")
def test_ten_thousand_decisions_come_in_parts(shop: Project, opened: Open) -> None:
    session = decided(shop, "Use Redis for caching", "--because", "It is fast, " * 150)
    shop.call("decisions")
    multiplied(shop, session, 1, 9_999)
    pages = opened()
    page = pages.text("/")
    assert len(page) < PAGE_MAX
    assert (len(titles(page)), "10000 in force." in words(page)) == (100, True)
    assert 'rel="next" href="/?page=2"' in page
    last = pages.text("/?page=100")
    assert (len(titles(last)), 'rel="next"' in last) == (100, False)
    for typed in ("0", "-1", "101", "9" * 30, "x", "\u0661"):
        assert len(titles(pages.text(f"/?page={typed}"))) == 100


def test_a_page_offers_the_topics_with_the_most_decisions_and_counts_more(
    shop: Project, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counter({f"topic {n}": n % 500 for n in range(10_000)})
    found = project_pages.most_common_topics(counts)
    assert len(found) == project_pages.TOPICS_MAX
    assert min(number for _, number in found) == 490
    assert found == sorted(found)
    monkeypatch.setattr(project_pages, "TOPICS_MAX", 1)
    decided(shop, "Use Redis for caching")
    shop.decided("Keep orders safe")
    assert "and 1 more, which the search finds" in words(pages.text("/"))


class Row:
    """What a list has, by a number."""

    def __init__(self, number: int) -> None:
        self.number = number


def test_a_part_has_its_rows_in_order_and_few_are_held() -> None:
    numbers = [n * 7_919 % 5_000 for n in range(5_000)]
    alive, most = WeakSet[Row](), 0

    def rows() -> Iterator[Row]:
        nonlocal most
        for number in numbers:
            row = Row(number)
            alive.add(row)
            most = max(most, len(alive))
            yield row

    for typed, first in (("1", 0), ("10", 900), ("11", 1_000), ("49", 4_800), ("51", 4_900)):
        found, number, last = project_pages.part(rows(), typed, lambda row: row.number, rows)
        assert [row.number for row in found] == list(range(first, first + 100))
        assert (number, last) == (first // 100 + 1, 50)
        del found
    assert most < project_pages.HELD * project_pages.ROWS_MAX + 10
