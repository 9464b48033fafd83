"""The tables of docs/specs/memory.md against the code: neither changes alone."""

from __future__ import annotations

from functools import cache
from typing import get_args

from preflights_es.features.recall import decision_comparison, decision_search, word_variants
from preflights_es.features.recall.domain import events, rules
from preflights_es.features.recall.domain.contracts import REWRITE
from preflights_es.projections import memory
from preflights_es.words import language
from preflights_es.words.decisions import Evolution
from tests import markdown
from tests.each import each
from tests.markdown import Row, ticked


@cache
def spec() -> dict[str, list[Row]]:
    return markdown.tables("docs/specs/memory.md")


def rows(heading: str) -> list[Row]:
    return spec()[heading]


@each("row", rows("1.1 Limits"))
def test_a_limit_is_that_of_the_code(row: Row) -> None:
    name = row["Constant"].strip("`")
    places = (events, memory, language, decision_comparison, rules, decision_search, word_variants)
    # The search has another limit of that name: terms of one query of the projection.
    own = [one for one in places if name != "TERMS_MAX" or one is not decision_search]
    found = [getattr(place, name) for place in own if hasattr(place, name)]
    if "." in name:
        found = [REWRITE.policy.calls_max]
    assert set(found) == {float(row["Value"])}


@each("row", rows("2.1 Weights"))
def test_a_weight_is_that_of_the_code(row: Row) -> None:
    place = getattr(memory, row["Constant"].strip("`"))
    assert rules.WEIGHTS[place] == float(row["Weight"])
    assert rules.QUALITY[place] == float(row["Sureness"])


def test_the_evolutions_are_those_of_the_code() -> None:
    found = tuple(ticked(row["Evolution"])[0] for row in rows("6. Evolution"))
    assert found == get_args(Evolution)
