"""Approvals at the same moment: one artifact of a type is in force afterwards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from preflights_es.features.compiler.artifacts import Approvals, approve, plan_named, plan_rows
from preflights_es.features.compiler.domain.events import PlanApproved
from preflights_es.kernel.errors import Refused
from preflights_es.runtime.runner import Handle, ProposedInput
from tests.features.compiler.use.shop import Shop
from tests.postgres import SECOND_ENGINE

AT_ONCE = 4


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def shop(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("HOME", str(tmp_path))
    is_file = request.param == "sqlite"
    url = f"sqlite:///{tmp_path}/log.db" if is_file else request.getfixturevalue("postgres")
    return Shop(tmp_path / "shop", url)


def standings(shop: Shop) -> dict[str, str]:
    """By id."""
    with shop.request() as request:
        return {row.planned.id: row.planned.standing for row in plan_rows(request)}


def all_at_once(shop: Shop, ids: list[str]) -> list[str]:
    """What each of several processes is told that approve these; empty where it did."""
    barrier = Barrier(len(ids))

    def approving(id_: str) -> str:
        with shop.request() as request:
            _ = request.process.store
            barrier.wait()
            try:
                approve(request, id_)
            except Refused as refused:
                return str(refused)
            return ""

    with ThreadPoolExecutor(len(ids)) as threads:
        return [*threads.map(approving, ids)]


class Meanwhile(Approvals):
    """Another process approves another draft between this one's look and its append."""

    def __init__(self, shop: Shop, other: str, request: object) -> None:
        super().__init__(request)  # type: ignore[arg-type]  # a Request
        self._shop = shop
        self._other = other
        self.tries = 0

    def _unmoved(self, first: ProposedInput) -> list[Handle]:
        self.tries += 1
        if self.tries == 1:
            with self._shop.request() as request:
                approve(request, self._other)
        return super()._unmoved(first)


@pytest.mark.parametrize("has_former", [True, False])
def test_a_draft_approved_meanwhile_gives_way_at_second_try(shop: Shop, has_former: bool) -> None:
    former = shop.approved("project") if has_former else []
    one, other = shop.drafted(), shop.drafted()
    with shop.request() as request:
        own = Meanwhile(shop, other, request)
        session_id = plan_named(request, one)
        own.acknowledged(session_id, PlanApproved, {}, by=None, expect=None)
    assert own.tries == 2
    expected = dict.fromkeys(former, "superseded") | {one: "approved", other: "superseded"}
    assert standings(shop) == expected


def test_what_several_approve_at_once_leaves_one_in_force_approved_once(shop: Shop) -> None:
    ids = [shop.drafted() for _ in range(AT_ONCE)]
    assert all_at_once(shop, ids) == [""] * AT_ONCE
    assert sorted(standings(shop).values()) == ["approved", *["superseded"] * (AT_ONCE - 1)]
    one = shop.drafted()
    told = all_at_once(shop, [one] * AT_ONCE)
    assert told.count("") == 1
    assert all("is at version" in why or "is approved already" in why for why in filter(None, told))
    assert [id_ for id_, standing in standings(shop).items() if standing == "approved"] == [one]
