"""The tables of docs/specs/memory.md against the code: neither changes alone."""

from __future__ import annotations

from functools import cache
from typing import get_args

from preflights_es.features.recall.domain import WORKFLOW, events, ranking
from preflights_es.features.recall.domain.contracts import CONTRACTS
from preflights_es.features.recall.use import comparing, variants
from preflights_es.kernel import words
from preflights_es.kernel.decisions import Evolution
from preflights_es.kernel.events import Decision, Input
from preflights_es.kernel.session import STATUSES
from preflights_es.projections import memory
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
    places = (events, memory, words, comparing, ranking, variants)
    found = [getattr(place, name) for place in places if hasattr(place, name)]
    if "." in name:
        found = [CONTRACTS["rewrite_query.v1"].policy.calls_max]
    assert set(found) == {float(row["Value"])}


@each("row", rows("2.1 Weights"))
def test_a_weight_is_that_of_the_code(row: Row) -> None:
    place = getattr(memory, row["Constant"].strip("`"))
    assert ranking.WEIGHTS[place] == float(row["Weight"])
    assert ranking.QUALITY[place] == float(row["Sureness"])


def test_the_events_are_those_of_the_workflow() -> None:
    kinds = {"Input": Input, "Decision": Decision}
    own = [cls for cls in events.EVENTS if cls.tag.startswith("recall.")]
    table = rows("5.1 Events")
    assert [(row["Event"], ticked(row["Tag"])[0]) for row in table] == [
        (cls.__name__, cls.tag) for cls in own
    ]
    for row, cls in zip(table, own, strict=True):
        assert issubclass(cls, kinds[row["Kind"]])


def test_the_statuses_are_those_of_the_workflow() -> None:
    found = {ticked(row["Status"])[0] for row in rows("5.2 Status")}
    assert found <= {*STATUSES, *WORKFLOW.statuses}
    assert found >= set(WORKFLOW.statuses)


def test_the_evolutions_are_those_of_the_code() -> None:
    found = tuple(ticked(row["Evolution"])[0] for row in rows("6. Evolution"))
    assert found == get_args(Evolution)
