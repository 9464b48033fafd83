"""What a command costs as a whole, held against the least that a program of click costs."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from itertools import cycle
from pathlib import Path
from subprocess import run

from tests.benchmarks.measure import Figure, process_seconds, quickest

PREFLIGHTS = [str(Path(sys.executable).with_name("preflights"))]
NOTHING = "import click\n@click.command()\ndef main(): pass\nmain()\n"
OPENED = ["start", "Add OAuth login", "--no-input", "--json"]
START = [
    *("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", "--accept"),
    *("--by", "Ada"),
]
LOOKS = (["show", "last"], ["prompt"], ["prompt", "last"], ["decisions"], ["log", "last"])
LOOK, LOOK_STRETCH = 2.2, 1.8
RECORD, RECORD_STRETCH = 3.0, 2.3
ROUNDS = 15
WAITS = 3  # the exit code of a session that waits for a person


def figures() -> list[Figure]:
    """`--version`, `--help`, commands that look, and commands that record."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "nothing.py").write_text(NOTHING)
        db = ["--db", str(Path(folder) / "log.db")]
        process_seconds([*PREFLIGHTS, *db, *START], folder)
        figure = partial(_figure, folder)
        return [
            figure("--version", [["--version"]], 1.2, None),
            figure("--help", [["--help"]], 1.2, None),
            *(figure(" ".join(words), [[*db, *words]], LOOK, LOOK_STRETCH) for words in LOOKS),
            figure("start --answer --accept", [[*db, *START]], RECORD, RECORD_STRETCH),
            figure("answer", _answers(folder, db), RECORD, RECORD_STRETCH, WAITS),
        ]


def _answers(folder: str, db: list[str]) -> list[list[str]]:
    """An answer to each of many sessions that wait for one."""
    made = []
    for _ in range(ROUNDS + 1):  # one of them warms up
        done = run([*PREFLIGHTS, *db, *OPENED], cwd=folder, capture_output=True, check=False)
        assert done.returncode == WAITS, done.stderr
        session = json.loads(done.stdout)["session_id"]
        made.append([*db, "answer", session, "auth_strategy=OAuth"])
    return made


def _figure(
    folder: str,
    what: str,
    commands: list[list[str]],
    limit: float,
    stretch: float | None,
    code: int = 0,
) -> Figure:
    each = cycle(commands)
    pair = quickest(
        lambda: process_seconds([*PREFLIGHTS, *next(each)], folder, code),
        lambda: process_seconds([sys.executable, "nothing.py"], folder),
        ROUNDS,
    )
    return Figure(
        f"preflights {what}",
        pair.ratio,
        limit,
        stretch,
        f"{pair.ours * 1000:.0f} ms CPU",
        f"{pair.floor * 1000:.0f} ms CPU",
    )
