"""`make bench`: measures, prints, and writes docs/performance.md."""

from __future__ import annotations

import gc
import platform
import sys
from pathlib import Path

from tests.benchmarks import (
    appending,
    checking,
    exporting,
    growing,
    importing,
    judging,
    listing,
    planning,
    reading,
    rebuilding,
    recalling,
    recording,
    regressing,
    replaying,
    signing,
    simulating,
    startup,
    suite,
    today,
    viewing,
    writing,
)
from tests.benchmarks.measure import Figure

PAGE = Path(__file__).parent.parent.parent / "docs" / "performance.md"
MEASURED = "Measured with "
"""The page's figures begin here; the text before it stays."""


def main() -> int:
    """1 when a limit was missed."""
    wanted = sys.argv[1:]
    rooms = {
        "startup": startup,
        "append": appending,
        "write": writing,
        "import": importing,
        "read": reading,
        "rebuild": rebuilding,
        "list": listing,
        "check": checking,
        "sign": signing,
        "export": exporting,
        "view": viewing,
        "plan": planning,
        "today": today,
        "recall": recalling,
        "record": recording,
        "replay": replaying,
        "regress": regressing,
        "suite": suite,
        "grow": growing,
        "simulate": simulating,
        "judge": judging,
    }
    found: list[Figure] = []
    for name, room in rooms.items():
        if not wanted or name in wanted:
            gc.collect()
            gc.freeze()  # what a room before left is looked through at no collection of this one
            for figure in room.figures():
                print(row(figure))
                found.append(figure)
    if not wanted:
        PAGE.write_text(page(found))
    return 1 if any(f.verdict == "MISSED" for f in found) else 0


def row(f: Figure) -> str:
    """One line of the table."""
    stretch = "" if f.stretch is None else f"{f.stretch:g}"
    ratio = f"{f.ratio:.2f}" if f.ratio >= 0.1 else f"{f.ratio:.4f}"
    return (
        f"| {f.what} | {ratio} | {f.limit:.4g} | {stretch} | {f.verdict} | {f.ours} | {f.floor} |"
    )


def page(found: list[Figure]) -> str:
    """The page of the docs."""
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    header = "| what | ratio | limit | stretch | verdict | ours | floor |\n" + "| --- " * 7 + "|"
    written = PAGE.read_text().partition(MEASURED)[0]
    return "\n".join((f"{written}{MEASURED}{machine}.\n", header, *map(row, found), ""))


if __name__ == "__main__":
    sys.exit(main())
