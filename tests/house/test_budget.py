"""The size of each room and feature stays within its budget."""

from __future__ import annotations

import tomllib
from typing import Any, Final

from tests.each import each
from tests.house.budget import FILE, data, lines, modules_of_tests, rooms, sources

BUDGET: Final[dict[str, Any]] = tomllib.loads(FILE.read_text())


@each("room", rooms())
def test_a_room_stays_within_its_budget(room: str) -> None:
    allowed = BUDGET["rooms"][room]
    assert lines(sources(room)) <= allowed["lines"]
    assert len(sources(room)) <= allowed["modules"]
    assert data(room) <= allowed.get("data_kb", 0)


def test_the_whole_stays_within_its_budget() -> None:
    paths = [path for room in rooms() for path in sources(room)]
    assert set(BUDGET["rooms"]) == set(rooms())
    assert lines(paths) <= BUDGET["source"]["lines"]
    assert len(paths) <= BUDGET["source"]["modules"]
    assert lines(modules_of_tests()) <= BUDGET["tests"]["lines"]
