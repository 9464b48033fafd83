"""The estimate of tokens: 1.00 to 1.15 times what the tokenizer counts, for 25 varied briefs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from preflights_es.records import project_brief as token_estimate
from preflights_es.records.project_brief import (
    BriefDecision,
    Open,
    compose_project_brief,
    estimate_tokens,
)
from preflights_es.words.decisions import DecisionConflict
from tests.each import each
from tests.filed_cases import filed_cases
from tests.records.test_project_brief import encoding, tokens

FILED: Final = filed_cases(__file__)

LEAST: Final = 1.00
MOST: Final = 1.15
UNSEEN: Final = Path(__file__).parents[1] / "features"
Line = tuple[str, str, str, tuple[str, ...]]
"""Scope, value, reason and what it was chosen over."""


def read(name: str) -> list[dict[str, Any]]:
    """Texts by authors who had not seen the program."""
    found: list[dict[str, Any]] = json.loads((UNSEEN / name).read_text("utf-8"))
    return found


def recalled(name: str, first: int, last: int) -> list[Line]:
    """Decisions with reasons and options, English and German."""
    return [
        (one["title"], one["value"], one["reasons"][0], tuple(o["name"] for o in one["options"]))
        for one in read(f"recall/unseen/{name}.decisions.json")[first:last]
    ]


def stated(name: str, language: str) -> list[Line]:
    """Values with scopes, as short as most are."""
    return [
        (one["scope"] or "the whole project", one["value"], one["reason"] or "", ())
        for one in read(f"clarification/unseen/{name}.json")
        if one["lang"] == language
    ]


def coined(table: str) -> list[Line]:
    """Pairs of a scope and a value, as the table has them."""
    return [(scope, value, "", ()) for scope, value in FILED[table]]


CODE: Final = coined("CODE")
NUMBERS: Final = coined("NUMBERS")
GERMAN: Final = coined("GERMAN")
LONG: Final[list[Line]] = [
    (
        f"the {part} that the {team} team runs for customers in {place}, nights and weekends",
        v,
        "",
        (),
    )
    for part, team, place, v in zip(
        ["checkout", "importer", "scheduler", "ledger", "archive", "catalogue"],
        ["platform", "billing", "data", "mobile", "operations", "search"],
        ["Europe", "Canada", "Brazil", "Japan", "Kenya", "Austria"],
        ["Temporal", "Dagster", "Nomad", "Postgres", "Glacier", "Algolia"],
        strict=True,
    )
]
BRIEFS: Final[dict[str, list[Line]]] = {
    **{f"one project {n}": recalled("one_project", n, n + 15) for n in (0, 15, 30, 45)},
    **{f"plain {n}": recalled("plain", n, n + 20) for n in (0, 20)},
    "second": recalled("second", 0, 25),
    **{f"three projects {n}": recalled("three_projects", n, n + 16) for n in (0, 16, 32)},
    **{f"{file} {n}": stated(file, n) for file in ("forms", "forms2") for n in ("en", "de")},
    "scopes": [
        (one["first"], one["second"], "", ())
        for one in read("clarification/unseen/scopes.json")[:40]
    ],
    "code": CODE,
    "numbers": NUMBERS,
    "compounds": GERMAN,
    "long": LONG,
    "code and numbers": [*CODE, *NUMBERS],
    "both languages": [*LONG, *GERMAN],
    "all": [*CODE[:8], *NUMBERS[:8], *GERMAN[:8], *LONG[:2]],
    "few": CODE[:3],
    "one": GERMAN[:1],
    "none": [],
}


def brief(lines: list[Line]) -> str:
    """The text of one; the first decisions concern the task, and some lists follow."""
    decisions = [
        BriefDecision(
            name=f"ADR-{number}",
            title=f"{scope}: {value}",
            category="",
            scope=scope,
            fields=(("", value),),
            because=because,
            excludes=excludes,
            date="2026-11-22",
            path="",
        )
        for number, (scope, value, because, excludes) in enumerate(lines, 1)
    ]
    asked = [Open("3f9a12c4", one.title, f"Which way for {one.scope}?") for one in decisions[:2]]
    clash = [
        DecisionConflict("", one.scope, "Type", ((one.name, "ADR-7"),)) for one in decisions[:1]
    ]
    return compose_project_brief(
        decisions, clash, decisions[:2], asked, len(lines), near=len(decisions) // 3
    ).text


@each("name", BRIEFS)
def test_the_estimate_is_close_above_the_count(name: str) -> None:
    text = brief(BRIEFS[name])
    ratio = estimate_tokens(text) / tokens(text)
    assert LEAST <= ratio <= MOST


def test_there_are_25_briefs_and_most_of_them_are_full() -> None:
    counts = [tokens(brief(one)) for one in BRIEFS.values()]
    assert len(counts) == 25
    assert sum(count > 400 for count in counts) >= 15
    assert min(counts) < 60


def test_the_pieces_are_the_first_of_the_vocabulary_in_its_order() -> None:
    file = Path(token_estimate.__file__).with_name("token_pieces.txt")
    pieces = file.read_text("utf-8").splitlines()
    found = [encoding().encode(piece) for piece in pieces]
    assert all(len(one) == 1 for one in found)
    ranks = [one[0] for one in found]
    assert ranks == sorted(ranks)
    assert ranks[-1] < 8_000


def test_a_word_that_no_language_has_counts_by_its_letters() -> None:
    assert tokens("xqzvkjwp") <= estimate_tokens("xqzvkjwp")
    assert tokens("zxcvbnm qwrtpsdf") <= estimate_tokens("zxcvbnm qwrtpsdf")
