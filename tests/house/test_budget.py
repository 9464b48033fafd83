"""The size of each room and feature stays within its budget."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from tests.markdown import ROOT

BUDGET: Final[dict[str, Any]] = tomllib.loads((Path(__file__).with_name("budget.toml")).read_text())
PLACES: Final = ("preflights_es", "preflights_es/features", "cli/preflights_cli")
SUFFIXES: Final = frozenset((".py", ".pyc"))


def rooms() -> list[str]:
    """Every room and feature: a folder, or what lies in the folder of rooms itself."""
    found = {
        one.relative_to(ROOT).as_posix()
        for place in PLACES[:2]
        for one in (ROOT / place).iterdir()
        if one.name != "features" and any(one.rglob("*.py"))
    }
    return sorted({*found, "alembic", "cli/preflights_cli", "preflights_es"})


def sources(room: str) -> list[Path]:
    """The modules of a room; of the folder of rooms those alone that lie in no room."""
    folder = ROOT / room
    if room == "preflights_es":
        return sorted((*folder.glob("*.py"), *(folder / "features").glob("*.py")))
    return sorted(folder.rglob("*.py"))


def lines(paths: list[Path]) -> int:
    return sum(path.read_text("utf-8").count("\n") for path in paths)


def data(room: str) -> float:
    """What a room holds beside modules, in KB."""
    files = (ROOT / room).rglob("*") if room != "preflights_es" else ()
    return (
        sum(one.stat().st_size for one in files if one.is_file() and one.suffix not in SUFFIXES)
        / 1024
    )


@pytest.mark.parametrize("room", rooms())
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
    assert lines(sorted((ROOT / "tests").rglob("*.py"))) <= BUDGET["tests"]["lines"]
