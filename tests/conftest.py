"""What every test is run with: how many examples hypothesis tries, and a clock that is set."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from preflights_es.providers.capabilities import KEY_VARIABLES, NO_LIVE
from preflights_es.runtime.runner import Runner
from preflights_es.settings.agents import signs
from tests.fixed import Clock, Ids, memory_runner
from tests.postgres import empty_database, postgres, server

# What a command touches is watched by strace, which is Linux's.
collect_ignore = [] if sys.platform == "linux" else ["clones"]

__all__ = ["empty_database", "postgres", "server"]

# A busy machine makes every deadline and every verdict on speed a matter of luck; a build has no
# use for other examples each time.
_PATIENT = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", _PATIENT)
settings.register_profile("ci", _PATIENT, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

MEMORY: Final = Path("/dev/shm")
ROOM: Final = 2 * 1024**3  # bytes that must be free there; all tests of two workers take a tenth


def pytest_configure(config: pytest.Config) -> None:
    """No agent speaks; no provider is asked and no key is at hand, but for `-m live`."""
    for _, variable in [*signs(os.environ)]:
        os.environ.pop(variable, None)
    if "TMPDIR" not in os.environ and _holds_files(MEMORY):
        # An append waits for the disk: up to a third of the time of a test. No test cuts the power.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    if config.getoption("markexpr") == "live":
        os.environ.pop(NO_LIVE, None)
        return
    os.environ[NO_LIVE] = "1"
    for variables in KEY_VARIABLES.values():
        for variable in variables:
            os.environ.pop(variable, None)


def _holds_files(folder: Path) -> bool:
    """Whether there is room, and what is written there can be run: some tests write programs."""
    return (
        os.access(folder, os.W_OK)
        and shutil.disk_usage(folder).free >= ROOM
        and not os.statvfs(folder).f_flag & os.ST_NOEXEC
    )


@pytest.fixture
def clock() -> Clock:
    """A clock that moves by a second at every look."""
    return Clock()


@pytest.fixture
def new_id() -> Ids:
    """A factory of ids that counts."""
    return Ids()


@pytest.fixture
def runner() -> Runner:
    """Every workflow over an empty store."""
    return memory_runner()
