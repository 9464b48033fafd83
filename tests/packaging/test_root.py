"""The repository's root holds what belongs there, and no file that was left behind."""

from __future__ import annotations

import subprocess
from typing import Final

from tests.markdown import ROOT

FOLDERS: Final = {".ci", "alembic", "cli", "docs", "preflights_es", "replays", "tests"}
FILES: Final = {
    *(".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"),
    *("constraints.txt", "pyproject.toml"),
}


def test_the_root_of_the_repository_holds_its_layout_alone() -> None:
    listed = subprocess.run(
        ("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, check=True, text=True
    )
    tracked = listed.stdout.rstrip("\0").split("\0")
    assert {path.split("/")[0] for path in tracked if "/" in path} == FOLDERS
    assert {path for path in tracked if "/" not in path} == FILES
