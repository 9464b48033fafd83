"""A thousand decisions exported as a site, against their list as JSON."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from subprocess import run
from typing import Final

import preflights_es
from preflights_es.store import jsonl
from tests.benchmarks import large
from tests.benchmarks.measure import Figure, quickest
from tests.benchmarks.startup import PREFLIGHTS, process_seconds

DECISIONS: Final = 1_000
ROUNDS: Final = 3
LIMIT: Final = 20.0


def figures() -> list[Figure]:
    """Each decision with its page, its timeline and its proof, into an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "bench"
        made(project)
        listed = partial(process_seconds, [*PREFLIGHTS, "decisions", "--json"], str(project))
        pair = quickest(partial(_exported, project, count()), listed, ROUNDS)
        files = sum(path.is_file() for path in (project / "site0").rglob("*"))
    assert files > 3 * DECISIONS, files
    return [
        Figure(
            f"preflights view --export of {DECISIONS:,} decisions, against decisions --json",
            pair.ratio,
            LIMIT,
            None,
            f"{pair.ours:.2f} s CPU",
            f"{pair.floor * 1_000:.0f} ms CPU",
        )
    ]


def _exported(project: Path, numbers: Iterator[int]) -> float:
    """Into a new folder: ext4 looks long for an inode where many files were just removed."""
    words = ["view", "--export", f"site{next(numbers)}", "--yes"]
    return process_seconds([*PREFLIGHTS, *words], str(project))


def made(folder: Path) -> None:
    """A repository with so many decisions, all of them one that was accepted here."""
    folder.mkdir()
    run(["git", "init", "--quiet", "--template="], cwd=folder, check=True)
    with preflights_es.open(folder) as log:
        begun = log.start("Use PostgreSQL for the orders", paths=("src/orders/**",))
        log.accept(begun.session_id, by="Ada")
    (kept,) = folder.glob("docs/decisions/.sessions/*.jsonl")
    with kept.open("rb") as file:
        events = list(jsonl.stored(jsonl.lines_in(file, kept.name), kept.name))
    with (folder / "many.jsonl").open("wb") as out:
        for number in range(1, DECISIONS):
            out.write(jsonl.encode_event_file(large.copied(events, large.session_id(number))))
    for words in (("admin", "import", "many.jsonl"), ("sync",)):  # their files lie beside records
        process_seconds([*PREFLIGHTS, *words], str(folder))
