"""The brief of a project: short as a tokenizer counts, and its texts are only texts."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.records.project_brief import (
    TOKENS_MAX,
    BriefDecision,
    BriefText,
    Open,
    UnclearRecord,
    compose_project_brief,
)
from preflights_es.words.decisions import DecisionConflict
from tests.filed_cases import filed_cases
from tests.records.reading import body, headings, section

FILED = filed_cases(__file__)

LETTERS: Final = {
    "random words": "bcd fgh jkl mnpqr stv wxz",
    "mixed": "aBcD eFgHiJ kLmN oPqRs1 tU2v",
    "signs": "*_[]<>|`~\\#!{}",
    "scripts": "数据 库决 قاعدة हिन्दी база ᚠᚢᚦ 데이터 ñö",
    "emoji": "🛫🧨🇩🇪👩\u200d💻 ",
    "hidden": "\u202e\u2066\U000e0041a",
}


@cache
def encoding() -> Any:
    """The vocabulary; every worker would load it for a second if the module did."""
    import bpe_openai  # type: ignore[import-untyped]  # it ships no types

    return bpe_openai.get_encoding("o200k_base")


def tokens(text: str) -> int:
    return len(encoding().encode(text))


def decided(text: str, number: int = 1, path: str = "docs/decisions/0001-x.md") -> BriefDecision:
    return BriefDecision(
        name=f"ADR-{number}",
        title=text,
        category=text,
        scope=text,
        fields=((text, text), (text, text)),
        because=text,
        excludes=(text,) * 4,
        date="2026-11-22",
        path=path,
    )


def placed(scope: str, value: str, number: int, because: str = "") -> BriefDecision:
    return BriefDecision(
        name=f"ADR-{number}",
        title=f"Use {value} for {scope}",
        category="Database",
        scope=scope,
        fields=(("Type", value),),
        because=because,
        date="2026-11-22",
        path="",
    )


def full(text: str) -> BriefText:
    """A brief in which every list is long, and says the text everywhere."""
    conflict = DecisionConflict(text, text, text, ((text, "ADR-1"), (text, "ADR-2")))
    many = [decided(text, number) for number in range(1, 30)]
    foreign = BriefDecision(name=text, title=text, category="", date="", path=text, tool="nygard")
    asked = [Open("3f9a12c4", text, text)] * 9
    unclear = [UnclearRecord(text, text, text)] * 9
    return compose_project_brief(
        *([*many, *[foreign] * 9], [conflict] * 9, many, asked), 38, 3, near=9, unclear=unclear
    )


ODD_MAX: Final = 650
"""Tokens of a brief in which every text is one that no language has: it is estimated too low."""


@pytest.mark.slow("sizes")
@given(st.text(min_size=1, max_size=200))
def test_a_brief_is_short_whatever_its_records_say(text: str) -> None:
    assert tokens(full(text).text) < ODD_MAX


@pytest.mark.parametrize("letters", LETTERS.values(), ids=LETTERS)
@given(data=st.data())
def test_a_brief_is_short_in_any_script(letters: str, data: st.DataObject) -> None:
    text = data.draw(st.text(st.sampled_from(letters), min_size=1, max_size=400))
    assert tokens(full(text).text) < ODD_MAX


@given(st.text(min_size=1, max_size=100))
def test_no_text_makes_a_section(text: str) -> None:
    found = full(text)
    assert headings(body(found.text)) == [
        ("h1", "Decisions of this project"),
        ("h2", "In force, do not reconsider"),
        ("h2", "In conflict, ask which one holds"),
        ("h2", "Status not understood, ask"),
        ("h2", "Proposed, not in force"),
        ("h2", "Open questions"),
    ]


def lines(found: BriefText, title: str = "In force, do not reconsider") -> list[str]:
    return section(found.text, title)[0].split("\n")


def test_a_decision_is_one_line_with_scope_or_topic_value_and_name() -> None:
    pair = BriefDecision(
        name="ADR-4",
        title="Use PostgreSQL for the database",
        category="Database",
        fields=(("Type", "PostgreSQL"), ("ORM", "SQLAlchemy")),
        date="2026-11-22",
        path="docs/decisions/0004-use-it.md",
    )
    found = compose_project_brief(
        [placed("orders", "PostgreSQL", 2), placed("iOS app", "SQLite", 3), pair], [], [], [], 3
    )
    assert lines(found) == [
        "Orders: PostgreSQL (ADR-2)",
        "iOS app: SQLite (ADR-3)",
        "Database: PostgreSQL, ORM: SQLAlchemy (ADR-4)",
    ]


def test_what_concerns_the_task_has_its_reasons() -> None:
    orders = placed("orders", "PostgreSQL", 2, "joins matter")
    other = placed("carts", "Redis", 3, "fast")
    found = compose_project_brief(
        [replace(orders, excludes=("MySQL", "MongoDB")), other], [], [], [], 2, near=1
    )
    assert lines(found) == [
        "Orders: PostgreSQL (ADR-2). Because: joins matter. Not: MySQL, MongoDB",
        "Carts: Redis (ADR-3)",
    ]


def test_a_record_of_another_tool_is_its_title_and_path_where_no_value_is_known() -> None:
    path = "docs/decisions/0007-move.md"
    title = "Move the orders to PostgreSQL"
    one = BriefDecision(name=path, title=title, category="", date="", path=path, tool="nygard")
    known = replace(one, name="ADR-7", scope="orders", fields=(("", "PostgreSQL"),))
    assert lines(compose_project_brief([one, known], [], [], [], 2)) == [
        f"{title} ({path})",
        "Orders: PostgreSQL (ADR-7)",
    ]


def test_forty_decisions_fit_and_the_others_are_counted() -> None:
    many = [placed(scope, value, n) for n, (scope, value) in enumerate(MANY, 1)]
    assert len(many) == 97
    found = compose_project_brief(many[:60], [], [], [], 97)
    assert found.decisions >= 40
    assert lines(found)[-1] == f"and {97 - found.decisions} more: preflights decisions"
    assert len(lines(found)) == found.decisions + 1
    assert tokens(found.text) < TOKENS_MAX


def test_the_other_lists_have_the_room_that_decisions_leave_and_are_counted_at_least() -> None:
    many = [placed(scope, value, n) for n, (scope, value) in enumerate(MANY, 1)]
    asked = [Open("3f9a12c4", "Add a cache", "Which cache?")] * 9
    conflict = DecisionConflict(
        "Database", "orders", "Type", (("MySQL", "ADR-1"), ("Oracle", "ADR-2"))
    )
    crowded = compose_project_brief(many, [conflict], many[:2], asked, 97, 3)
    assert (crowded.conflicts, crowded.proposed, crowded.open) == (0, 0, 0)
    assert lines(crowded, "Open questions") == ["and 12 more: preflights inbox"]
    assert lines(crowded, "In conflict, ask which one holds") == [
        "and 1 more: preflights decisions"
    ]
    roomy = compose_project_brief(many[:3], [conflict], many[:2], asked, 3, 3)
    assert lines(roomy, "In conflict, ask which one holds") == [
        "Orders: Type is MySQL (ADR-1), Oracle (ADR-2)"
    ]
    assert lines(roomy, "Proposed, not in force")[0].endswith("(proposed, ADR-1, 2026-11-22)")
    assert lines(roomy, "Open questions")[-1] == "and 3 more: preflights inbox"


def test_a_brief_of_no_decision_says_so() -> None:
    assert lines(compose_project_brief([], [], [], [], 0)) == [
        "Nothing: ask before you choose a technology."
    ]


SCOPES: Final = (
    """
orders|carts|user sessions|domain events|background jobs of the importer|product search
the shop frontend|the admin pages|infrastructure|builds|error reports|metrics|dashboards
payments|single sign-on|the public API|calls between services|invoices|test fixtures
nightly reports|browser tests|local development|production|releases|secrets|newsletters
text messages|traces|logs|ad hoc analysis|the warehouse|transformations|schedules
dependencies|linting|type checks|components|styling|bundling|static files
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
VALUES: Final = FILED["VALUES"]
MANY: Final = [(SCOPES[n % len(SCOPES)], VALUES[n % len(VALUES)]) for n in range(97)]
