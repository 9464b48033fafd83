"""Tests run anywhere: what a machine lacks is left out with a line, and is an error in a build."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NEEDS
from tests.markdown import ROOT

PAGE = "tests/features/regress/test_report_page.py::test_the_page_filters_by_keyboard"
VOICE = "tests/cli/test_voice.py::test_control_c_without_a_terminal_ends_with_130"
FORGED = "tests/signing/test_forgeries.py"
WATCH = "tests/clones/test_tracing.py"


def ran(path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The tests that need something, on a machine that has these programs alone."""
    words = ("-m", "pytest", "-p", "no:cacheprovider", "--no-header", PAGE, FORGED, WATCH)
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
