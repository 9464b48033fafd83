"""What becomes of a worker that is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_es.features.regress.workers import Job, processes, scheduled
from tests.features.regress.use.workers import batches, mortal, told


@pytest.mark.slow("kills")
@pytest.mark.parametrize(("deadly", "outcome"), [("deadly", "lost"), ("deadly-once", "same")])
def test_a_lost_process_costs_its_batch_which_is_tried_twice(
    tmp_path: Path, deadly: str, outcome: str
) -> None:
    names = ("1.jsonl", f"2-{deadly}.jsonl", "3.jsonl", "4.jsonl")
    work = batches(tmp_path, *names)
    found = told(scheduled(work, Job(), processes(2), 4, judged=mortal))
    assert found == dict.fromkeys(names, "same") | {names[1]: outcome}
