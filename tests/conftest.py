"""What every test is run with: a clock that is set, examples of hypothesis, one of two speeds."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from preflights_es.providers.capabilities import BASE_URL_VARIABLES, KEY_VARIABLES, NO_LIVE
from preflights_es.runtime.runner import Runner
from preflights_es.settings.places import signs
from tests.fixed import Clock, Ids, memory_runner
from tests.postgres import empty_database, postgres, server

__all__ = ["empty_database", "postgres", "server"]

# A busy machine makes every deadline and every verdict on speed a matter of luck; a build has no
# use for other examples each time.
_PATIENT = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", _PATIENT)
settings.register_profile("ci", _PATIENT, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
# `make test` tries a few examples of each property, `make test-slow` all of them.
settings.register_profile("few", _PATIENT, max_examples=8, derandomize=bool(os.environ.get("CI")))

SLOW: Final = {
    "kills": "programs are killed or interrupted, again and again",
    "crowds": "many processes or threads work on one log at once",
    "clocks": "every command runs while the clock is wrong",
    "full disk": "a disk fills up",
    "sizes": "files of megabytes, thousands of sessions, memory that is measured",
    "hostile clones": "every command runs in a clone that was made to mislead it",
    "fuzzing": "thousands of generated inputs",
    "second engine": "the same once more in PostgreSQL, where the statements are the same",
    "whole runs": "programs, servers or a browser work through a whole example",
}
"""Why a test may be slow: the words of `slow`."""
SLOW_MAX: Final = 650  # tests, of all that are parametrized; a quarter are a second engine
TEST_S: Final = 60  # seconds of one test, with its fixtures: what hangs ends with its stack
SLOW_TEST_S: Final = 300
SLOW_TESTS: Final = pytest.StashKey[list[str]]()
"""The slow tests that were collected, also where they are left out."""

NEEDS: Final = {
    "chromium": (("chromium", "chromedriver"), "apt-get install chromium chromium-driver"),
    "node": (("node",), "apt-get install nodejs"),
    "ssh-keygen": (("ssh-keygen", "ssh-agent", "ssh-add"), "apt-get install openssh-client"),
    "strace": (("strace",), "on Linux: apt-get install strace"),
}
"""Programs that some tests need, by the word of `needs`, and how they are installed."""
MISSING: Final = "this machine has no "

GARBAGE: Final = 10_000  # objects that a worker makes before cycles are looked for among them
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
        tempfile.tempdir = str(MEMORY)
    if config.getoption("markexpr") == "live":
        os.environ.pop(NO_LIVE, None)
        return
    os.environ[NO_LIVE] = "1"
    for provider, variables in KEY_VARIABLES.items():
        for variable in (*variables, BASE_URL_VARIABLES[provider]):
            os.environ.pop(variable, None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected lives to the end: no collection of garbage goes through it again."""
    gc.set_threshold(GARBAGE)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before `-m` leaves some out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note which tests are slow."""
    config.stash[SLOW_TESTS] = slow_tests(items)


def slow_tests(items: list[pytest.Item]) -> list[str]:
    """The ids of those that are slow; each says why by a word of `SLOW`."""
    found = [(one.nodeid, mark) for one in items for mark in one.iter_markers("slow")]
    for name, mark in found:
        if len(mark.args) != 1 or mark.args[0] not in SLOW or mark.kwargs:
            raise pytest.UsageError(f"{name}: slow() takes one of {', '.join(SLOW)}")
    return [*dict.fromkeys(name for name, _ in found)]


@pytest.hookimpl(tryfirst=True)  # before the fixtures of the test
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what this machine has no program for; a build has to have it."""
    for mark in item.iter_markers("needs"):
        programs, install = NEEDS[mark.args[0]]
        if not all(map(shutil.which, programs)):
            message = f"{MISSING}{mark.args[0]} ({install})"
            pytest.fail(message, pytrace=False) if os.environ.get("CI") else pytest.skip(message)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End a test that takes too long; its fixtures end what it started."""
    limit_s = SLOW_TEST_S if item.get_closest_marker("slow") else TEST_S
    with ended_after(limit_s):
        return (yield)


@contextmanager
def ended_after(limit_s: float) -> Iterator[None]:
    """Fail where the main thread stands at the limit; what follows has as long once more."""

    def fail(_signal: int, _frame: object) -> None:
        pytest.fail(f"it took more than {limit_s:g} seconds")

    former = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, limit_s, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


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
