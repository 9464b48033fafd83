"""What every test is run with: how many examples hypothesis tries, and a clock that is set."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from preflights_es.providers.capabilities import KEY_VARIABLES, NO_LIVE
from preflights_es.runtime.runner import Runner
from preflights_es.settings.agents import signs
from tests.fixed import Clock, Ids, memory_runner
from tests.postgres import empty_database, postgres, server

__all__ = ["empty_database", "postgres", "server"]

# A busy machine makes every deadline and every verdict on speed a matter of luck; a build has no
# use for other examples each time.
_PATIENT = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", _PATIENT)
settings.register_profile("ci", _PATIENT, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

NEEDS: Final = {
    "chromium": (("chromium", "chromedriver"), "apt-get install chromium chromium-driver"),
    "strace": (("strace",), "on Linux: apt-get install strace"),
}
"""Programs that some tests need, by the word of `needs`, and how they are installed."""
MISSING: Final = "this machine has no "

MEMORY: Final = Path("/dev/shm")
ROOM: Final = 2 * 1024**3  # bytes that must be free there; all tests of two workers take a tenth


def pytest_configure(config: pytest.Config) -> None:
    """No agent speaks; no provider is asked and no key is at hand, but for `-m live`."""
    # A shell starts what runs in the background deaf to Ctrl-C, and all that tests start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
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


@pytest.hookimpl(tryfirst=True)  # before the fixtures of the test
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what this machine has no program for; a build has to have it."""
    for mark in item.iter_markers("needs"):
        programs, install = NEEDS[mark.args[0]]
        if not all(map(shutil.which, programs)):
            message = f"{MISSING}{mark.args[0]} ({install})"
            pytest.fail(message, pytrace=False) if os.environ.get("CI") else pytest.skip(message)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each program that was missing."""
    skipped = (one.longrepr for one in terminalreporter.getreports("skipped"))
    reasons = [why[2].removeprefix("Skipped: ") for why in skipped if isinstance(why, tuple)]
    for reason in dict.fromkeys(filter(lambda reason: reason.startswith(MISSING), reasons)):
        count = reasons.count(reason)
        terminalreporter.line(f"{count} tests were left out: {reason}")


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
