"""`regress --scheduler`: the workers of Dask say what one process says."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from preflights_es.features.regress.regression import Job, dask, scheduled
from tests.cli.program import Project
from tests.cli.test_regress import lines, regress
from tests.features.regress.test_workers import batches, mortal, told


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a Dask scheduler with two workers."""
    library: Any = import_module("dask")
    distributed: Any = import_module("distributed")
    with (
        library.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as made,
    ):
        yield made.scheduler_address


@pytest.mark.slow("crowds")
def test_one_report_from_dask_and_from_one_process(
    house: Project, postgres: str, cluster: str
) -> None:
    (house.named().folder / "all.jsonl").write_bytes(lines(40))
    served = ("--db", postgres)
    for where in ((), served):
        assert house.call("admin", "import", "all.jsonl", *where).code == 0
    for words in ((), served, ("all.jsonl",)):
        sent = house.run("regress", "--json", "--scheduler", cluster, *words, starts=True)
        assert sent.code == 0, sent.err
        assert {**sent.json, "seconds": None} == regress(house, "--jobs", "1", *words)


@pytest.mark.slow("kills")
def test_dask_loses_no_more_than_the_batch_of_a_lost_worker(tmp_path: Path, cluster: str) -> None:
    names = ("1.jsonl", "2-deadly.jsonl", "3.jsonl")
    work = batches(tmp_path, *names)
    found = told(scheduled(work, Job(), dask(cluster), 8, judged=mortal))
    assert found == dict.fromkeys(names, "same") | {"2-deadly.jsonl": "lost"}


@pytest.mark.slow("crowds")
def test_a_scheduler_that_is_not_there_is_an_environment_failure(house: Project) -> None:
    house.decided()
    done = house.call("regress", "--scheduler", "tcp://127.0.0.1:1")
    assert (done.code, "cannot be reached" in done.err) == (5, True), done
