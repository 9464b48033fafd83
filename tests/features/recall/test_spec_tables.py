"""The tables of docs/specs/memory.md against the code: neither changes alone."""

from __future__ import annotations

from functools import cache
from typing import get_args

from preflights_es.features.recall.domain import events, ranking
from preflights_es.features.recall.domain.contracts import REWRITE
from preflights_es.features.recall.use import comparing, subjects, variants
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
    places = (events, memory, language, comparing, ranking, subjects, variants)
    found = [getattr(place, name) for place in places if hasattr(place, name)]
    if "." in name:
        found = [REWRITE.policy.calls_max]
    assert set(found) == {float(row["Value"])}


@each("row", rows("2.1 Weights"))
def test_a_weight_is_that_of_the_code(row: Row) -> None:
    place = getattr(memory, row["Constant"].strip("`"))
    assert ranking.WEIGHTS[place] == float(row["Weight"])
    assert ranking.QUALITY[place] == float(row["Sureness"])


def test_the_evolutions_are_those_of_the_code() -> None:
    found = tuple(ticked(row["Evolution"])[0] for row in rows("6. Evolution"))
    assert found == get_args(Evolution)
