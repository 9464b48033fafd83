"""A question to ten thousand decisions, against a look at one of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import preflights_es
from preflights_es import bootstrap
from preflights_es.core.ports import Stored
from preflights_es.services.clarification.clarifications import clarifications_of
from preflights_es.services.clarification.sessions import start
from preflights_es.services.process import Process
from tests.benchmarks import large
from tests.benchmarks.measure import Figure, quickest
from tests.benchmarks.startup import PREFLIGHTS, process_seconds
from tests.workflows.recall.recalls import DECISIONS

COUNT: Final = 10_000
LIMIT: Final = 1.5
ROUNDS: Final = 15
QUESTION: Final = "what do we use for login?"
FIELDS: Final = (
    ("Authentication", "auth_strategy"),
    ("Database", "db_type"),
    ("Frontend", "frontend_framework"),
    ("Backend", "api_style"),
    ("Infra", "hosting"),
)


def figures() -> list[Figure]:
    """`recall` where a word of the question is in a few hundred decisions."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Path(folder) / "bench"
        bench.mkdir()
        with preflights_es.open(bench, database=str(bench / "log.db")) as log:
            project = log.process.project
        large.write(bench / "log.db", _decisions(Path(folder), project))
        with preflights_es.open(bench, database=str(bench / "log.db")) as log:
            assert len(log.decisions().decisions) == COUNT
        program = [*PREFLIGHTS, "--db", "log.db"]
        look = ["show", large.session_id(COUNT // 2)]
        pair = quickest(
            lambda: process_seconds([*program, "recall", QUESTION], str(bench)),
            lambda: process_seconds([*program, *look], str(bench)),
            ROUNDS,
        )
    name = f"preflights recall over {COUNT:,} decisions, against show"
    ours, floor = f"{pair.ours * 1000:.0f} ms CPU", f"{pair.floor * 1000:.0f} ms CPU"
    return [Figure(name, pair.ratio, LIMIT, None, ours, floor)]


def _decisions(folder: Path, project: str) -> Iterator[list[Stored]]:
    """Copies of 200 accepted decisions, in turn."""
    opened = bootstrap.opened_process(folder, database=str(folder / "patterns.db"))
    patterns: list[list[Stored]] = []
    for number, case in enumerate(DECISIONS):
        category, field = FIELDS[number % len(FIELDS)]
        answers = {"change_category": category, field: f"{case.value} {number}"}
        begun = start(opened.request(), case.intention, answers)
        clarifications_of(opened.request()).accept(begun.session_id, by="Ada")
        patterns.append(_events(opened.process, begun.session_id))
    opened.process.close()
    for number in range(COUNT):
        yield large.copied(patterns[number % len(patterns)], large.session_id(number), project)


def _events(process: Process, session_id: str) -> list[Stored]:
    return list(process.store.read(session_id))
