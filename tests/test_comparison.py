"""The script of docs/compared.md runs; no test installs the other tools."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.markdown import ROOT


def compared(folder: Path, group: str, *words: str) -> list[str]:
    """The lines that the script prints with Preflights alone."""
    script = (sys.executable, ROOT / "docs/compare/run.py", folder, "--dry-run", "--only", group)
    done = subprocess.run([*script, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow("whole runs")
def test_each_planted_difference_is_found(tmp_path: Path) -> None:
    sizes = ("--sessions", "11", "--each", "1", "--rounds", "1")
    lines = compared(tmp_path, "regressions", *sizes)
    assert "| another model | 1 | 1 | model |" in lines
    assert "| an edited file, hashes left | 1 | 1 | data |" in lines
    assert sum(line.endswith("| 1 | 1 | code or data |") for line in lines) == 7


@pytest.mark.needs("ssh-keygen")
@pytest.mark.slow("whole runs")
def test_the_commands_answer_as_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs/compared.md").read_text("utf-8")
    rows = [line for line in compared(tmp_path, "decisions") if line.startswith("| ")][2:]
    assert len(rows) > 10
    assert [row for row in rows if row.removesuffix("|") not in page] == []
