"""The plan of a day over a thousand notes, against a decision in the same log."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

from preflights_es.features.extraction.use import add
from preflights_es.use import bootstrap
from tests.benchmarks.measure import Figure, quickest
from tests.benchmarks.startup import PREFLIGHTS, START, process_seconds

NOTES: Final = 1_000
LIMIT: Final = 1.3
ROUNDS: Final = 15
TODAY: Final = ("today", "--from", "09:00", "--until", "18:00")


def figures() -> list[Figure]:
    """`today` of a day that has no plan yet, against `start --accept`."""
    with tempfile.TemporaryDirectory() as folder:
        shop, whole = Path(folder) / "shop", Path(folder) / "whole.db"
        shop.mkdir()
        _take_notes(shop / "log.db")
        shutil.copy(shop / "log.db", whole)

        def seconds(*words: str) -> float:
            """With the log as it was: a day is planned once."""
            shutil.rmtree(shop)
            shop.mkdir()
            shutil.copy(whole, shop / "log.db")
            return process_seconds([*PREFLIGHTS, "--db", "log.db", *words], str(shop))

        pair = quickest(lambda: seconds(*TODAY), lambda: seconds(*START), ROUNDS)
    name = f"preflights today over {NOTES:,} notes, against start --accept"
    ours, floor = f"{pair.ours * 1000:.0f} ms CPU", f"{pair.floor * 1000:.0f} ms CPU"
    return [Figure(name, pair.ratio, LIMIT, None, ours, floor)]


def _take_notes(log: Path) -> None:
    """Each with a task; the projections know them all."""
    process = bootstrap.opened_process(log.parent, database=str(log))
    try:
        for number in range(NOTES):
            minutes = [("duration_min", str(5 + number % 100))]
            add(process.request(), "task", f"Task {number}", minutes)
        list(process.process.projector.rows("items", None))
    finally:
        process.process.close()
