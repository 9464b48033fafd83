"""What becomes of a worker that is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from preflights_es.features.regress.batches import Piece, SessionBatch
from preflights_es.features.regress.regression import (
    Done,
    Job,
    judged_elsewhere,
    processes,
    scheduled,
)
from preflights_es.features.regress.results import Case
from preflights_es.store import jsonl
from tests.features.regress.sessions import many

DEADLY = "deadly"
"""In the name of a file: a worker that reads it is gone."""


def batches(folder: Path, *names: str) -> list[SessionBatch]:
    """One a file, each with a session."""
    made = []
    for name, events in zip(names, many(len(names)), strict=True):
        (folder / name).write_bytes(jsonl.encode_event_file(events))
        made.append(SessionBatch(pieces=(Piece(str(folder / name)),)))
    return made


def told(done: Iterator[Done]) -> dict[str, str]:
    """What came of each file's session; `lost` where nothing did."""
    found: dict[str, str] = {}
    for batch, judged in done:
        case = judged[0] if judged else None
        outcome = case.outcome if isinstance(case, Case) else "lost"
        found[Path(batch.pieces[0].path).name] = outcome
    return found


def mortal(job: bytes, batch: SessionBatch) -> bytes:
    """As a worker judges, but for batches with a deadly file, and such as are deadly once."""
    for path in [piece.path for piece in batch.pieces]:
        name = Path(path)
        if DEADLY in name.name and not name.with_suffix(".died").exists():
            if "once" in name.name:
                name.with_suffix(".died").touch()
            os._exit(9)
    return judged_elsewhere(job, batch)


@pytest.mark.slow("kills")
@pytest.mark.parametrize(("deadly", "outcome"), [("deadly", "lost"), ("deadly-once", "same")])
def test_a_lost_process_costs_its_batch_which_is_tried_twice(
    tmp_path: Path, deadly: str, outcome: str
) -> None:
    names = ("1.jsonl", f"2-{deadly}.jsonl", "3.jsonl", "4.jsonl")
    work = batches(tmp_path, *names)
    found = told(scheduled(work, Job(), processes(2), 4, judged=mortal))
    assert found == dict.fromkeys(names, "same") | {names[1]: outcome}
