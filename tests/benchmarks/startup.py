"""What a command costs before and around its work."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measure import Figure, paired, process_seconds

PREFLIGHTS = [str(Path(sys.executable).with_name("preflights"))]
NOTHING = "import click\n@click.command()\ndef main(): pass\nmain()\n"
IMPORTS = "import sqlalchemy, click\nfrom pydantic import BaseModel\n"
START = [
    *("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", "--accept"),
    *("--by", "Ada"),
]


def figures() -> list[Figure]:
    """`--version`, `--help`, and a session from start to decision."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "nothing.py").write_text(NOTHING)
        (Path(folder) / "imports.py").write_text(IMPORTS)
        db = ["--db", str(Path(folder) / "log.db")]
        process_seconds([*PREFLIGHTS, *db, *START], folder)
        return [
            _figure("preflights --version", folder, ["--version"], "nothing.py", 1.2, None, 15),
            _figure("preflights --help", folder, ["--help"], "nothing.py", 1.2, None, 15),
            _figure(
                "preflights start --answer --accept",
                folder,
                [*db, *START],
                "imports.py",
                1.25,
                1.15,
                11,
            ),
        ]


def _figure(
    what: str,
    folder: str,
    words: list[str],
    floor: str,
    limit: float,
    stretch: float | None,
    rounds: int,
) -> Figure:
    pair = paired(
        lambda: process_seconds([*PREFLIGHTS, *words], folder),
        lambda: process_seconds([sys.executable, floor], folder),
        rounds,
    )
    return Figure(
        what,
        pair.ratio,
        limit,
        stretch,
        f"{pair.ours * 1000:.0f} ms CPU",
        f"{pair.floor * 1000:.0f} ms CPU",
    )
