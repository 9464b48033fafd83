"""`projections rebuild --jobs`: what becomes of those who help."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import psycopg
import pytest

from tests.cli.following import until
from tests.cli.program import TIMEOUT_S, Project
from tests.postgres import opened_log
from tests.projections.given import recorded
from tests.projections.recording import goldens
from tests.store.given import at

SLOW = """
CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN PERFORM pg_sleep(2); RETURN NEW; END';
CREATE TRIGGER slowly BEFORE INSERT ON marks FOR EACH ROW EXECUTE FUNCTION slowly()
"""
ASLEEP = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event = 'PgSleep'"
)


@pytest.mark.slow("kills")
@pytest.mark.parametrize("at_work", [1, 2], ids=["who helps still begins", "all are at it"])
def test_control_c_ends_all_who_rebuild_in_one_word(
    house: Project, postgres: str, at_work: int
) -> None:
    with closing(at(postgres)) as store:
        for n in range(3):
            recorded(store, goldens(), first=1 + n * 1_000)
    with opened_log(postgres) as log, slow(log):
        process = house.started(
            *("admin", "projections", "rebuild", "--jobs", "3", "--db", postgres), leads=True
        )
        until(lambda: log.execute(ASLEEP).fetchall() >= [(at_work,)])
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=TIMEOUT_S)
        assert (process.returncode, err) == (130, b"\ninterrupted\n")
        until(lambda: not _is_there(process.pid))


@contextmanager
def slow(log: psycopg.Connection[Any]) -> Iterator[None]:
    """Each mark takes its time meanwhile; never afterwards, since other tests get the same log."""
    log.execute(SLOW)
    try:
        yield
    finally:
        log.execute(ASLEEP.replace("count(*)", "pg_terminate_backend(pid)"))
        log.execute("DROP FUNCTION slowly CASCADE")


def _is_there(group: int) -> bool:
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        return True
    return False
