"""What is in force, by which name, over rows of any shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_es.features.compiler.artifacts import (
    artifacts,
    plan_rows,
    plans_in_force,
    row_named,
)
from preflights_es.kernel.errors import Refused
from preflights_es.projections.artifacts import PlanRow
from preflights_es.words.items import Planned
from tests.features.compiler.use.shop import Shop


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Shop(tmp_path / "shop", f"sqlite:///{tmp_path}/log.db")


def row(id_: str) -> PlanRow:
    """A plan in force."""
    planned = Planned(
        version=3, id=id_, type="ProjectPlan", standing="approved", created_at=0, created_by="llm"
    )
    return PlanRow(id_, "shop", planned)


# 1. Names ------------------------------------------------------------------------------------


def test_a_beginning_that_several_share_names_them_all() -> None:
    rows = (row("abcd1"), row("abcd2"))
    with pytest.raises(Refused) as found:
        row_named(rows, "ABCD")
    assert str(found.value) == (
        "'abcd' matches 2 artifacts: abcd1 (ProjectPlan), abcd2 (ProjectPlan)"
    )
    assert row_named(rows, "abcd2") == rows[1]


# 2. Many -------------------------------------------------------------------------------------


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
        assert [one.planned.id for one in plans_in_force(plan_rows(request))] == ids[1:]
