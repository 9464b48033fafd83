"""The brief of a project: short as a tokenizer counts, and its texts are only texts."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.artifacts.project_brief import (
    TOKENS_MAX,
    Conflict,
    InForce,
    Open,
    Quoted,
    Told,
    cost,
    told,
)
from tests.artifacts.reading import body, headings, section

LETTERS = {
    "random words": "bcd fgh jkl mnpqr stv wxz",
    "mixed": "aBcD eFgHiJ kLmN oPqRs1 tU2v",
    "signs": "*_[]<>|`~\\#!{}",
    "scripts": "数据 库决 قاعدة हिन्दी база ᚠᚢᚦ 데이터 ñö",
    "emoji": "🛫🧨🇩🇪👩\u200d💻 ",
    "hidden": "\u202e\u2066\U000e0041a",
}


@cache
def encodings() -> list[Any]:
    """The vocabularies; every worker would load them for a second if the module did."""
    import bpe_openai  # type: ignore[import-untyped]  # it ships no types

    return [*map(bpe_openai.get_encoding, ("o200k_base", "cl100k_base"))]


def tokens(text: str) -> int:
    """By the vocabulary that needs more of them."""
    return max(len(encoding.encode(text)) for encoding in encodings())


def decided(text: str, number: int = 1, path: str = "docs/decisions/0001-x.md") -> InForce:
    return InForce(
        name=f"ADR-{number:04}",
        category=text,
        fields=((text, text), (text, text)),
        because=text,
        excludes=(text,) * 4,
        date="2026-11-22",
        path=path,
    )


def full(text: str) -> Told:
    """A brief in which every list is long, and says the text everywhere."""
    conflict = Conflict(text, text, ((text, "ADR-0001"), (text, "ADR-0002")))
    many = [decided(text, number) for number in range(1, 30)]
    asked = [Open("3f9a12c4", text, text)] * 9
    return told(many, [conflict] * 9, many, asked, 3, [Quoted(text, text, "2026-11-22", text)] * 9)


@given(st.text(min_size=1, max_size=200))
def test_a_brief_is_short_whatever_its_records_say(text: str) -> None:
    assert tokens(full(text).text) < TOKENS_MAX


@pytest.mark.parametrize("letters", LETTERS.values(), ids=LETTERS)
@given(data=st.data())
def test_a_brief_is_short_in_any_script(letters: str, data: st.DataObject) -> None:
    text = data.draw(st.text(st.sampled_from(letters), min_size=1, max_size=400))
    assert tokens(full(text).text) < TOKENS_MAX


@given(st.text(min_size=1, max_size=100))
def test_no_text_makes_a_section(text: str) -> None:
    found = full(text)
    assert headings(body(found.text)) == [
        ("h1", "Decisions of this project"),
        ("h2", "In force, do not reconsider"),
        ("h2", "Records of other tools"),
        ("h2", "In conflict, ask which one holds"),
        ("h2", "Proposed, not in force"),
        ("h2", "Open questions"),
    ]


def test_a_brief_says_what_is_decided_why_when_where_and_instead_of_what() -> None:
    one = InForce(
        name="ADR-0003",
        category="Database",
        fields=(("Type", "PostgreSQL"), ("ORM", "SQLAlchemy")),
        because="we know it",
        excludes=("MySQL",),
        date="2026-11-22",
        path="docs/decisions/0003-use-it.md",
    )
    (line,) = section(told([one], [], [], []).text, "In force, do not reconsider")
    assert line == (
        "Database: Type: PostgreSQL, ORM: SQLAlchemy. Because: we know it. Not: MySQL "
        "(2026-11-22, docs/decisions/0003-use-it.md)"
    )


def test_what_does_not_fit_is_counted() -> None:
    found = full("Use PostgreSQL for the orders of the shop")
    assert 0 < found.decisions < 29
    lines = section(found.text, "In force, do not reconsider")
    assert len(lines) == found.decisions + 1
    assert lines[-1] == f"and {29 - found.decisions} more: preflights decisions"
    assert section(found.text, "Open questions")[-1].startswith(f"and {12 - found.open} more")


def test_a_brief_of_no_decision_says_so() -> None:
    (line,) = section(told([], [], [], []).text, "In force, do not reconsider")
    assert line == "Nothing: ask before you choose a technology."


@pytest.mark.parametrize("text", ["Use PostgreSQL for orders.", "docs/decisions/0001-a-b.md"])
def test_the_estimate_is_above_the_count(text: str) -> None:
    assert tokens(text) <= cost(text)
