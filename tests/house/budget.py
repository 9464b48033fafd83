"""The size of each room and feature; as a program, it writes `budget.toml` as they stand,
and the picture of the rooms, which names the lines.

python -m tests.house.budget
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

from tests.markdown import ROOT

FILE: Final = Path(__file__).with_name("budget.toml")
HEAD: Final = """\
# Lines after `ruff format`, modules, and KB of data files. A number rises only in a commit of its
# own that says why. The aim: 56,000 lines in 260 modules, and 72,000 lines of tests.
"""
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


def written() -> str:
    """The budget of what stands."""
    paths = [path for room in rooms() for path in sources(room)]
    text = f"{HEAD}\n[source]\nlines = {lines(paths)}\nmodules = {len(paths)}\n\n[tests]\n"
    text += f"lines = {lines(modules_of_tests())}\n\n[rooms]\n"
    for room in rooms():
        own = sources(room)
        kb = math.ceil(data(room))
        more = f", data_kb = {kb}" if kb else ""
        text += f'"{room}" = {{ lines = {lines(own)}, modules = {len(own)}{more} }}\n'
    return text


def modules_of_tests() -> list[Path]:
    """The modules of the tests."""
    return sorted((ROOT / "tests").rglob("*.py"))


if __name__ == "__main__":
    from tests.house import picture  # which reads the budget

    FILE.write_text(written())
    picture.main()
