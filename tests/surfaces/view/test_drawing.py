"""Days as bars, and decisions as a graph: numbers alone."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from preflights_es.surfaces.view.pictures import (
    BARS_MAX,
    NODE,
    NODES_MAX,
    WIDTH,
    SessionTimeline,
    bars,
    graph,
)
from preflights_es.use.results import DecisionRow
from preflights_es.words.decisions import EXCEPTION, KeptDecision, Related
from tests.projections.recording import golden
from tests.projections.test_decisions import read


def row(number: int, supersedes: int | None = None, **more: Any) -> DecisionRow:
    """A decision with a number for a day and a uid."""
    return DecisionRow(
        **{
            **dict.fromkeys(DecisionRow.__struct_fields__),
            "uid": f"{number:012}",
            "number": number,
            "title": f"Decision {number}",
            "accepted_at": f"2026-01-{number % 28 + 1:02}T00:00:00Z",
            "also_supersedes": (),
            "kept": (),
            "supersedes": None if supersedes is None else other(supersedes),
            **more,
        }
    )


def other(number: int) -> Related:
    return Related(f"{number:012}", f"Decision {number}", number)


def test_what_no_model_wrote_stands_in_the_lane_of_its_writer() -> None:
    for name, workflow, who in (
        ("an_agent_writes_the_question", "clarification", "agent"),
        ("the_rules_stand_in", "recall", "model"),
        ("a_person_rejects_a_plan", "compiler", "rules"),
    ):
        part = SessionTimeline.of(read(golden(name, workflow)[0])).part(1)
        lanes = {mark.lane for mark in part.marks if mark.name.endswith((" asked", " answered"))}
        assert who in lanes, name
        assert ("model" in lanes) == (who == "model"), name


def test_the_bars_stand_where_their_days_are_and_say_what_is_before() -> None:
    found = bars([("2026-01-01", 1), ("2026-01-06", 4), ("2026-01-11", 2)], "")
    assert [one.day for one in found.bars] == ["2026-01-01", "2026-01-06", "2026-01-11"]
    assert [one.height for one in found.bars] == [0.25, 1.0, 0.5]
    assert found.bars[0].x == 0
    assert found.bars[2].x + found.width < WIDTH
    assert (found.span, found.at, all(one.is_before for one in found.bars)) == (11, 11, True)
    days = [("2026-01-01", 1), ("2026-01-06", 4), ("2026-01-11", 2)]
    found = bars(days, "2026-01-06")
    assert ([one.is_before for one in found.bars], found.at) == ([True, True, False], 5)
    assert bars(days, "2001-01-01").at == 0
    assert bars(days, "2031-01-01").at == 11


@given(st.sets(st.dates(), min_size=1, max_size=40))
def test_any_time_has_few_bars_within_the_picture(days: Any) -> None:
    found = bars([(one.isoformat(), 1) for one in sorted(days)], "")
    assert 1 <= len(found.bars) <= min(len(days), BARS_MAX + 1)
    assert all(0 <= one.x <= WIDTH - found.width for one in found.bars)
    assert max(one.height for one in found.bars) == 1


def test_a_graph_is_of_a_few_related_decisions_and_tells_edges_apart() -> None:
    assert graph([row(1), row(2)]) is None
    assert graph([row(1, supersedes=None, kept=())]) is None
    found = graph([row(n, n - 1) for n in range(1, 300)])
    assert found is not None
    assert (len(found.nodes), found.more) == (NODES_MAX, 300 - NODES_MAX)
    kept = (KeptDecision(other(1), EXCEPTION), KeptDecision(other(2), "both are used"))
    found = graph([row(1), row(2), row(3, kept=kept)])
    assert found is not None
    assert [edge.kind for edge in found.edges] == ["exception", "beside"]
    both = [KeptDecision(other(n), "both are used") for n in (1, 2)]
    found = graph([row(1, kept=(both[1],)), row(2, kept=(both[0],))])
    assert found is not None
    assert len(found.edges) == 1, "they name each other"


def test_a_newer_decision_stands_right_of_what_it_replaced() -> None:
    found = graph([row(1), row(2, 1), row(3, 2), row(4)])
    assert found is not None
    places = {node.name: (node.x, node.y) for node in found.nodes}
    assert set(places) == {"ADR-0001", "ADR-0002", "ADR-0003"}
    assert places["ADR-0001"][0] < places["ADR-0002"][0] < places["ADR-0003"][0]
    assert len({y for _, y in places.values()}) == 1
    assert [edge.label for edge in found.edges] == [
        "ADR-0002 replaces ADR-0001",
        "ADR-0003 replaces ADR-0002",
    ]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=90))
def test_no_two_nodes_stand_on_each_other(pairs: list[tuple[int, int]]) -> None:
    """Also where a damaged log says that decisions superseded each other."""
    rows = {new: row(new, old) for new, old in pairs}
    found = graph(rows.values())
    if found is None:
        return
    places = [(node.x, node.y) for node in found.nodes]
    assert len(set(places)) == len(places) <= NODES_MAX
    assert all(x + NODE[0] < found.width and y + NODE[1] < found.height for x, y in places)
