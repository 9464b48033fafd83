"""`make bench`: measures, prints, and writes docs/performance.md."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from tests.benchmarks import (
    appending,
    finding,
    growing,
    importing,
    judging,
    listing,
    planning,
    reading,
    rebuilding,
    recalling,
    regressing,
    replaying,
    simulating,
    startup,
    suite,
    today,
    writing,
)
from tests.benchmarks.measure import Figure

PAGE = Path(__file__).parent.parent.parent / "docs" / "performance.md"
INTRODUCTION = """\
# Performance

Each figure is a ratio to a floor measured in the same run, ours and the floor in turn; the median
of the paired ratios is shown, or for the CPU time of commands, of regression cases and of finding
what an intention says the ratio of the two least. Smaller is faster. For memory, and for what an
intention says, the floor is the limit itself. `make bench` measures again and rewrites this page;
it fails when a limit is missed.

The floors: for commands a click program that does nothing, but for `prompt` also `show`, and for
`decisions` over records of another tool `decisions` without them; for the append the same
statements, tables, triggers and pragmas through the standard library's sqlite3, or psycopg where it
is PostgreSQL (by processes of their own, on the clock of the wall); for four writers against one
the single writer, where every flush takes 2 ms (`commit_delay`), and where it takes no time the
gain of the bare driver on the same processors; for reading the same query
with `json.loads` of every payload, in a log of 800,000 events; for an import the insertion of the
very rows that come of it, from memory, in transactions of the same size; for projections a scan
of these events that decodes their JSON; for lists the same rows by the standard library's
sqlite3, with `json.loads` of each decision, and for a day the query alone; for replay a
hand-written program that parses, chains and re-drives the same lines with the standard library
alone (`tests/benchmarks/floor.py`); for a regression run a strict replay of the same sessions from
memory, with the results kept the same run without them, and on Dask as many processes, both net of
their start and of what a cluster takes when it is idle; for an event of a session of 30,000 one of
a session of 3,000; for a day plan a decision in the same log; for a recall a look at one session of
the same log; for a list of plans as many
decisions, and for the replay of a pass
`json.loads` and SHA-256 of each of its lines; for a simulated completion `json.loads` and a
`jsonschema` Draft 2020-12 validator, made before, that judge one valid response of 2 KB.
For a judgement the same two, given the JSON that is judged; for one of 5 MB `json.loads` of a
valid one of that size.
"""


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
        "plan": planning,
        "today": today,
        "recall": recalling,
        "replay": replaying,
        "regress": regressing,
        "suite": suite,
        "grow": growing,
        "simulate": simulating,
        "judge": judging,
        "find": finding,
    }
    found: list[Figure] = []
    for name, room in rooms.items():
        if not wanted or name in wanted:
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
    return "\n".join((INTRODUCTION, f"Measured with {machine}.\n", header, *map(row, found), ""))


if __name__ == "__main__":
    sys.exit(main())
