"""How tests run: what a machine lacks is left out, slow ones say why, a table is one test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest

from tests.conftest import NEEDS, SLOW, SLOW_MAX, SLOW_TESTS, ended_after, slow_tests
from tests.each import each
from tests.markdown import ROOT

PAGE = "tests/features/regress/test_report_page.py::test_the_page_filters_by_keyboard"
VOICE = "tests/cli/test_voice.py::test_control_c_without_a_terminal_ends_with_130"
FORGED = "tests/signing/test_forgeries.py"
WATCH = "tests/clones/test_tracing.py"
NODE = "tests/cli/test_record_network.py::test_a_program_of_node_is_recorded_and_replayed"


def ran(path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The tests that need something, on a machine that has these programs alone."""
    words = ("-m", "pytest", "-p", "no:cacheprovider", "--no-header", PAGE, FORGED, WATCH, NODE)
    known = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**known, "PATH": str(path), **env},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder of programs, without those that tests need."""
    for name in ("git", "chown", "sh", "env", "setpriv"):
        if found := shutil.which(name):
            (tmp_path / name).symlink_to(found)
    return tmp_path


@pytest.mark.slow("whole runs")
def test_what_a_machine_lacks_is_left_out_with_one_line_each(bare: Path) -> None:
    done = ran(bare)
    assert done.returncode == 0, done.stdout
    lines = [line for line in done.stdout.splitlines() if "were left out" in line]
    assert len(lines) == len(NEEDS)
    for what, (_, install) in NEEDS.items():
        (line,) = (line for line in lines if f"no {what} " in line)
        assert install in line
    assert " passed" not in done.stdout


@pytest.mark.slow("whole runs")
def test_what_a_build_lacks_is_an_error_and_not_left_out(bare: Path) -> None:
    done = ran(bare, CI="true")
    assert done.returncode == 1
    assert "this machine has no chromium" in done.stdout
    assert "this machine has no ssh-keygen" in done.stdout
    assert "this machine has no strace" in done.stdout
    assert " skipped" not in done.stdout
    assert "were left out" not in done.stdout


@pytest.mark.slow("kills")
def test_tests_that_run_in_the_background_are_told_of_control_c() -> None:
    # As a shell starts what stands before an `&`.
    words = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", "[1]", VOICE)
    done = subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


# Slow tests ----------------------------------------------------------------------------------


def test_few_tests_are_slow(pytestconfig: pytest.Config) -> None:
    # Of the files that were collected: of all of them, where all run.
    assert len(pytestconfig.stash[SLOW_TESTS]) <= SLOW_MAX


@pytest.mark.parametrize("why", [(), ("it takes long",), (*SLOW,)])
def test_a_slow_test_says_why(request: pytest.FixtureRequest, why: tuple[str, ...]) -> None:
    request.node.add_marker(pytest.mark.slow(*why))
    with pytest.raises(pytest.UsageError, match=r"slow\(\) takes one of"):
        slow_tests([request.node])


def test_a_test_that_hangs_ends_at_its_limit() -> None:
    asleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    for hang in (Event().wait, lambda: time.sleep(60), lambda: subprocess.run(asleep)):
        began = time.monotonic()
        with (
            pytest.raises(pytest.fail.Exception, match=r"more than 0\.2 seconds"),
            ended_after(0.2),
        ):
            hang()
        assert time.monotonic() - began < 20


# Tables of one test --------------------------------------------------------------------------


def test_a_row_that_fails_is_named_and_fixtures_are_given() -> None:
    seen = []

    @each(("one", "two"), [(1, 1), (2, 3), (4, 4)])
    def equal(given: str, one: int, two: int) -> None:
        seen.append((given, one))
        assert one == two

    with pytest.raises(AssertionError) as error:
        equal(given="x")
    assert seen == [("x", 1), ("x", 2)]
    assert error.value.__notes__ == ["in the row {'one': 2, 'two': 3}"]


def test_a_table_has_rows() -> None:
    with pytest.raises(AssertionError, match="checks nothing"):
        each("one", ())(lambda one: None)
