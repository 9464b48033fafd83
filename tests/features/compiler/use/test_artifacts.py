"""What is in force, and why an artifact is stale, over rows of any shape."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from preflights_es.features.compiler.use.artifacts import Standings, artifacts, row_named
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Source
from preflights_es.kernel.items import Planned, PlanStanding, ReadFile, ReadRecord, path_of
from preflights_es.projections.artifacts import PlanRow
from preflights_es.use.request import Request
from tests.features.compiler.use.shop import Shop

GONE = "gone.md"
LONG = 3_000  # plans that read each other in a row: deeper than Python's own recursion


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Shop(tmp_path / "shop", f"sqlite:///{tmp_path}/log.db")


@pytest.fixture
def request_(shop: Shop) -> Iterator[Request]:
    with shop.request() as made:
        yield made


def row(
    id_: str, *reads: str, files: tuple[str, ...] = (), standing: PlanStanding = "approved"
) -> PlanRow:
    """A plan that read others, and files that are gone."""
    planned = Planned(
        version=3,
        id=id_,
        type="ProjectPlan",
        standing=standing,
        created_at=0,
        created_by="llm",
        files=tuple(ReadFile(path, "0" * 64) for path in files),
        records=tuple(ReadRecord("plan", one, Source(one, 3, "")) for one in reads),
    )
    return PlanRow(id_, "shop", planned)


def paths(request: Request, *rows: PlanRow) -> dict[str, list[tuple[str, ...]]]:
    """By id: the way of each cause."""
    found = Standings(request, rows)
    return {one.planned.id: [cause.path for cause in found.causes(one)] for one in rows}


# 1. Causes -----------------------------------------------------------------------------------


def test_a_cause_comes_by_its_shortest_way_once(request_: Request) -> None:
    rows = (row("a", files=(GONE,)), row("b", "a"), row("c", "a", "b"), row("d", "b", "c"))
    assert paths(request_, *rows) == {
        "a": [(GONE,)],
        "b": [(GONE, "a")],
        "c": [(GONE, "a")],
        "d": [(GONE, "a", "b")],
    }


def test_behind_what_was_replaced_only_that_is_told(request_: Request) -> None:
    rows = (
        row("a", files=(GONE,), standing="superseded"),
        row("b", "a"),
        row("c", "b"),
    )
    assert paths(request_, *rows) == {"a": [(GONE,)], "b": [("a",)], "c": [("a", "b")]}


def test_what_no_log_has_is_gone(request_: Request) -> None:
    found = Standings(request_, (one := row("b", "a"),))
    (cause,) = found.causes(one)
    assert (cause.kind, cause.what, path_of(cause)) == ("plan", "gone", "a (gone)")


def test_a_ring_that_a_forged_log_closes_ends(request_: Request) -> None:
    rows = (row("a", "c"), row("b", "a", files=(GONE,)), row("c", "b"))
    assert paths(request_, *rows) == {
        "a": [(GONE, "b", "c")],
        "b": [(GONE,)],
        "c": [(GONE, "b")],
    }


def test_a_long_chain_is_followed_to_its_end(request_: Request) -> None:
    ids = [f"p{n}" for n in range(LONG)]
    rows = [row(ids[0], files=(GONE,)), *(row(b, a) for a, b in pairwise(ids))]
    found = Standings(request_, rows)
    (cause,) = found.causes(rows[-1])
    assert cause.path == (GONE, *ids[:-1])


def test_a_file_that_many_read_is_read_once(request_: Request, shop: Shop) -> None:
    path = shop.folder / "read.md"
    path.write_text("text")
    rows = [row(f"p{n}", files=("read.md",)) for n in range(50)]
    found = Standings(request_, rows)
    assert [cause.what for cause in found.causes(rows[0])] == ["changed"]
    path.unlink()
    assert [cause.what for cause in found.causes(rows[49])] == ["changed"], "one look at it"


# 2. Names ------------------------------------------------------------------------------------


def test_a_beginning_that_several_share_names_them_all() -> None:
    rows = (row("abcd1"), row("abcd2"))
    with pytest.raises(Refused) as found:
        row_named(rows, "ABCD")
    assert str(found.value) == (
        "'abcd' matches 2 artifacts: abcd1 (ProjectPlan), abcd2 (ProjectPlan)"
    )
    assert row_named(rows, "abcd2") == rows[1]


# 3. Many -------------------------------------------------------------------------------------


def test_standings_are_read_by_one_query_however_many_there_are(shop: Shop) -> None:
    for _ in range(5):
        shop.drafted()
    with shop.request() as request:
        process = request.process
        process.projector.catch_up()
        said: list[str] = []
        connection = process.store.database.looked(lambda cursor: cursor.connection)
        connection.set_trace_callback(said.append)
        assert len([*artifacts(request).rows]) == 5
        connection.set_trace_callback(None)
    asked = [one for one in said if "projected_artifacts" in one]
    assert len(asked) == 1, asked


def test_what_is_in_force_is_listed_the_latest_approval_last(shop: Shop) -> None:
    ids = shop.approved("project", "architecture", "project")
    with shop.request() as request:
        assert [one.planned.id for one in Standings(request).in_force] == ids[1:]
