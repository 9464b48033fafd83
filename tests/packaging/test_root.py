"""The repository's root holds what belongs there, and README names what can be installed."""

from __future__ import annotations

import re
import subprocess
import tomllib
from typing import Final

import yaml

from tests.markdown import ROOT

FOLDERS: Final = {".ci", ".github", "alembic", "cli", "docs", "preflights_es", "replays", "tests"}
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


def test_readme_names_every_extra_and_no_other() -> None:
    said = (
        (ROOT / "README.md").read_text("utf-8").partition("\nExtras: ")[2].partition("Name all")[0]
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {*re.findall(r"`(\w+)`", said)} == {*project["optional-dependencies"]} - {"dev"}


def test_each_python_that_is_promised_is_one_that_a_host_tests() -> None:
    host = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    promised = [one.rpartition(" ")[2] for one in project["classifiers"] if ":: 3." in one]
    assert host["jobs"]["tests"]["strategy"]["matrix"]["python"] == promised
    assert project["requires-python"] == f">={promised[0]}"
