"""Repositories, decisions and edits of authors who had seen neither the rules nor the code.

Each edit is tried alone. An author knew the purpose: what a person turned down is stopped, and
nothing else is. Regression tests since the sets were run once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Project
from tests.each import each
from tests.features.govern.test_check import checked, commit, standard, write

SETS = {"repositories_1": 56, "repositories_2": 29}
"""By set, how many of the edits that bring in what was turned down are noticed."""


@pytest.mark.slow("whole runs")
@each(("set_", "at_least"), SETS.items())
def test_only_what_was_turned_down_is_stopped(set_: str, at_least: int, tmp_path: Path) -> None:
    stopped, missed = 0, 0
    for case in json.loads((Path(__file__).parent / f"unseen/{set_}.json").read_text("utf-8")):
        house = built(tmp_path / f"{set_}-{case['id']}", case)
        for edit in case["edits"]:
            path = house.folder / edit["path"]
            before = path.read_bytes() if path.exists() else None
            write(house, edit["path"], edit["content"])
            _, found, _ = checked(house)
            is_stopped = "turned-down" in found
            assert not is_stopped or edit["expected"] == "stopped", edit
            stopped += is_stopped
            missed += not is_stopped and edit["expected"] == "stopped"
            path.unlink()
            if before is not None:
                path.write_bytes(before)
    assert (stopped >= at_least, stopped + missed >= 32) == (True, True), (stopped, missed)


def built(folder: Path, case: dict[str, Any]) -> Project:
    """A repository with its decisions, committed."""
    folder.mkdir()
    house = Project(folder / "house", folder / "home")
    house.folder.mkdir()
    house.home.mkdir()
    house.git("init", "--quiet", "--initial-branch", "main")
    house.git("config", "user.name", "Ada")
    house.git("config", "user.email", "ada@example.com")
    for path, text in {**case["files"], **case.get("records", {})}.items():
        write(house, path, text)
    standard(house)
    commit(house)
    for one in case["decisions"]:
        decide(house, one)
    commit(house)
    return house


def decide(house: Project, one: dict[str, Any]) -> None:
    """A decision as a person comes to it."""
    said = ["--because", one["because"]] if one.get("because") else []
    for other in one.get("instead_of", ()):
        said += ["--alternative", f"{other['name']}: {other['why_not']}"]
    for path in one.get("paths", ()):
        said += ["--path", path]
    said += ["--scope", one["scope"]] if one.get("scope") else []
    begun = house.call("start", one["intention"], "--no-input", "--json", *said).json
    if begun["questions"]:
        key = begun["questions"][0]["id"]
        house.call("answer", begun["session_id"], f"{key}={one['decision']}")
    done = house.call("accept", begun["session_id"], "--by", "Ada")
    assert done.code == 0, done
