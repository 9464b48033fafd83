"""A check of a thousand changed files against five hundred decisions, and what git takes for it."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from subprocess import run
from typing import Final

import preflights_es
from tests.benchmarks.measure import Figure, quickest
from tests.benchmarks.startup import PREFLIGHTS, VALUES, process_seconds

DECISIONS: Final = 500
FILES: Final = 1_000
ROUNDS: Final = 5
LIMIT: Final = 110.0
"""About 3 s of a core that takes 27 ms for the floor."""


def figures() -> list[Figure]:
    """With a log, and in a fresh clone, where session files alone say what is decided."""
    with tempfile.TemporaryDirectory() as folder:
        shop = Path(folder) / "shop"
        made(shop)
        clone = Path(folder) / "clone"
        run(["git", "clone", "--quiet", shop, clone], check=True)
        change(shop)
        change(clone)
        return [_figure("with a log", shop), _figure("in a fresh clone", clone)]


def _figure(where: str, folder: Path) -> Figure:
    check = partial(process_seconds, [*PREFLIGHTS, "check"], str(folder))
    names = partial(process_seconds, ["git", "diff", "--name-only"], str(folder))
    pair = quickest(check, names, ROUNDS)
    return Figure(
        f"check of {FILES:,} changed files, {DECISIONS} decisions, {where}",
        pair.ratio,
        LIMIT,
        None,
        f"{pair.ours:.2f} s CPU",
        f"{pair.floor * 1_000:.1f} ms CPU",
    )


def made(folder: Path) -> None:
    """A repository with so many decisions, each of some files."""
    git = partial(run, cwd=folder, check=True, capture_output=True)
    folder.mkdir()
    git(["git", "init", "--quiet", "--template="])
    with preflights_es.open(folder) as log:
        for n in range(DECISIONS):
            value = VALUES[n % len(VALUES)]
            paths = (f"src/area{n}/**", f"*.kind{n}")
            begun = log.start(f"Use {value} for module{n} of area{n}", paths=paths)
            log.accept(begun.session_id, by="Ada")
    for n in range(FILES):
        file = folder / f"src/area{n % DECISIONS}/module{n}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("import os\n")
    git(["git", "add", "--all"])
    person = ("-c", "user.name=Ada", "-c", "user.email=ada@preflights.test")
    git(["git", *person, "commit", "--quiet", "--message", "Begin"])


def change(folder: Path) -> None:
    """Edit every file."""
    for n in range(FILES):
        file = folder / f"src/area{n % DECISIONS}/module{n}.py"
        file.write_text(f"import os\nimport package{n}\n" + "x = compute(1)\n" * 100)
