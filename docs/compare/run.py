"""Runs Preflights and its peers on the same cases, and writes the tables of docs/compared.md.

    python docs/compare/run.py FOLDER [--only regressions|recorders|decisions]

FOLDER is for the peers' environments, which are made where they are missing.
A peer that cannot be installed is left out, and the page says why.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from environments import PACKAGES, ROOT, Installed, install_peer, say

PAGE: Final = ROOT / "docs" / "compared.md"

sys.path.insert(0, str(ROOT))  # for the benchmark's sessions, and the model of the tests


def main() -> None:
    """Install the peers, run each group of cases, and write its tables."""
    import decisions
    import recorders
    import regressions

    groups: dict[str, Callable[..., dict[str, list[str]]]] = {
        "regressions": regressions.compare_regressions,
        "recorders": recorders.compare_recorders,
        "decisions": decisions.compare_decisions,
    }
    asked = _arguments(tuple(groups))
    folder: Path = asked.folder.resolve()
    for name, compare in groups.items():
        if asked.only not in (None, name):
            continue
        packages = [one for one in PACKAGES if one.group == name and not asked.dry_run]
        peers = [install_peer(one, folder) for one in packages]
        there = {one.package.name: one for one in peers if one.programs}
        with tempfile.TemporaryDirectory() as work:  # in no repository, as FOLDER may be
            tables = compare(asked, there, Path(work))
        tables[f"run-{name}"] = _circumstances(peers)
        for part, lines in tables.items():
            say(f"table {part}")
            sys.stdout.write("\n".join((*lines, ""))) if asked.dry_run else _write(part, lines)


def _arguments(groups: tuple[str, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=groups)
    parser.add_argument("--sessions", type=int, default=300, help="of the recorded regressions")
    parser.add_argument("--each", type=int, default=10, help="sessions of each of eleven kinds")
    parser.add_argument("--rounds", type=int, default=3, help="of which the least counts")
    parser.add_argument("--calls", type=int, default=1_000, help="of the longest recording")
    parser.add_argument(
        "--dry-run", action="store_true", help="Preflights alone; print the tables, write no page"
    )
    return parser.parse_args()


def _circumstances(peers: list[Installed]) -> list[str]:
    """Of a group of cases: with what, when and where it ran."""
    load = os.getloadavg()[2]
    return [
        *(f"{one.package.name} {one.package.version} ({one.how()})," for one in peers),
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()},",
        f"{os.cpu_count()} processors with a load of {load:.0f}; {time.strftime('%Y-%m-%d')}.",
    ]


def _write(part: str, lines: list[str]) -> None:
    """Put lines between the marks of a part of the page."""
    text = PAGE.read_text("utf-8")
    marked = re.compile(rf"(<!-- {part} -->\n).*?(<!-- end -->)", re.DOTALL)
    inner = "".join(f"{line}\n" for line in lines)
    made, count = marked.subn(lambda found: f"{found[1]}{inner}{found[2]}", text)
    assert count == 1, f"the page has no place for {part}"
    PAGE.write_text(made, "utf-8")


if __name__ == "__main__":
    main()
