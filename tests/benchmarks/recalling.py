"""A question to ten thousand decisions, among records of other tools, and what it finds."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import preflights_es
from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.use import start_clarification
from preflights_es.features.recall.decision_search import RecordRows
from preflights_es.kernel.ports import Stored
from preflights_es.use import bootstrap
from preflights_es.use.process import Process
from preflights_es.use.use_cases import NewSession
from tests.benchmarks import large
from tests.benchmarks.measure import Figure, quickest
from tests.benchmarks.startup import NOTHING, PREFLIGHTS, process_seconds
from tests.cli.test_foreign_records import NYGARD
from tests.features.recall.recalls import DECISIONS
from tests.features.recall.unseen import FIRST, Asked, Find, asked, by_fts5, by_tf_idf
from tests.features.recall.unseen import ours as memory_of

COUNT: Final = 10_000
LIMIT: Final = 1.5
RECORDS: Final = 500
A_QUARTER: Final = 0.25
MORE: Final = 4  # questions that ours must find beyond the better of the others
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
    """What a `recall` costs, and how much it finds beside other searches."""
    return [_among_many(), _among_records(), *_finding()]


def _among_many() -> Figure:
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
        pair = quickest(
            lambda: process_seconds([*program, "recall", QUESTION], str(bench)),
            lambda: process_seconds([*program, "start", "Add a page", "--no-input"], str(bench), 3),
            ROUNDS,
        )
    name = f"preflights recall over {COUNT:,} decisions, against start --no-input"
    ours, floor = f"{pair.ours * 1000:.0f} ms CPU", f"{pair.floor * 1000:.0f} ms CPU"
    return Figure(name, pair.ratio, LIMIT, None, ours, floor)


def _among_records() -> Figure:
    """What records of another tool add to a search, against a program that does nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nothing.py").write_text(NOTHING)
        records = folder / "docs" / "decisions"
        records.mkdir(parents=True)
        for number in range(2, RECORDS + 2):
            text = NYGARD.format(n=number, title=f"Choose way {number}", status="Accepted")
            (records / f"{number:04d}-choose-way-{number}.md").write_text(text)
        with preflights_es.open(folder, database=str(folder / "log.db")) as log:
            log.start("Keep orders in a database")
            time.sleep(3)  # a record is kept as read when it is seconds old

            def ours() -> float:
                began = time.process_time()
                found = RecordRows(log.process)
                near = found.words("way", "way\U0010ffff")
                assert len(list(found.rows(near))) == RECORDS
                return time.process_time() - began

            pair = quickest(
                ours, lambda: process_seconds([sys.executable, "nothing.py"], name), ROUNDS
            )
    what = f"{RECORDS} records of another tool in a search, against a click program with no work"
    taken, floor = f"{pair.ours * 1000:.1f} ms CPU", f"{pair.floor * 1000:.0f} ms CPU"
    return Figure(what, pair.ratio, A_QUARTER, None, taken, floor)


def _finding() -> Iterator[Figure]:
    """The better of two other searches over the same texts, and four more, against ours."""
    found: Counter[str] = Counter()
    for set_ in ("three_projects", "one_project", "plain"):
        for one in asked(set_):
            finds: dict[str, Find] = {
                "ours": partial(_ours, one),
                "FTS5": by_fts5(one.among),
                "TF-IDF": by_tf_idf(one.among),
            }
            for name, find in finds.items():
                found[name] += not one.right.isdisjoint(find(one.text))
            found["all"] += 1
    best = max(found["FTS5"], found["TF-IDF"])
    told = f"{found['ours']} of {found['all']}"
    others = f"FTS5 {found['FTS5']}, TF-IDF {found['TF-IDF']}"
    what = "right decisions among the first three: the better of two searches and 4 more"
    yield Figure(what, (best + MORE) / found["ours"], 1.0, None, told, others)


def _ours(one: Asked, question: str) -> list[str]:
    return [match.uid for match in memory_of(one.among).recalled(question)][:FIRST]


def _decisions(folder: Path, project: str) -> Iterator[list[Stored]]:
    """Copies of 200 accepted decisions, in turn."""
    opened = bootstrap.opened_process(folder, database=str(folder / "patterns.db"))
    patterns: list[list[Stored]] = []
    for number, case in enumerate(DECISIONS):
        category, field = FIELDS[number % len(FIELDS)]
        answers = {"change_category": category, field: f"{case.value} {number}"}
        begun = start_clarification(opened.request(), NewSession(case.intention, answers=answers))
        clarifications_of(opened.request()).accept(begun.session_id, by="Ada")
        patterns.append(_events(opened.process, begun.session_id))
    opened.process.close()
    for number in range(COUNT):
        yield large.copied(patterns[number % len(patterns)], large.session_id(number), project)


def _events(process: Process, session_id: str) -> list[Stored]:
    return list(process.store.read(session_id))
