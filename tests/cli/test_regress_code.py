"""`regress --code` and `--against`: another revision of this program decides."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from preflights_es.features.regress.revisions import dependencies
from preflights_es.store import jsonl
from tests.cli.program import Project
from tests.cli.test_regress import regress, sessions
from tests.features.regress.sessions import chained, edited, place
from tests.markdown import ROOT

pytestmark = pytest.mark.slow("whole runs")

RULES = "preflights_es/features/clarification/domain/decide.py"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of this program with two commits: today's, tagged `today`, and an `other`.

    Made here, since a build may have cloned no history.
    """
    folder = tmp_path_factory.mktemp("checkout") / "preflights"
    for name in ("preflights_es", "cli"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    git(folder, "init", "--quiet", "--template=", "-b", "main")
    git(folder, "add", ".")
    commit(folder, "today")
    changed = folder / RULES
    changed.write_text(changed.read_text() + OTHERWISE)
    git(folder, "add", ".")
    commit(folder, "other")
    return folder


OTHERWISE = '''

_decide = decide


def decide(state, new):
    """As before, but that every question ends with two marks."""
    from msgspec.structs import replace

    def marked(one):
        question = getattr(one, "question", None)
        if not hasattr(question, "question"):
            return one
        return replace(one, question=replace(question, question=question.question + "?"))

    return tuple(map(marked, _decide(state, new)))
'''


def git(folder: Path, *words: str) -> None:
    """Run git without anything of the machine's settings."""
    settings = ("-c", "user.name=Ada", "-c", "user.email=ada@preflights.test")
    subprocess.run(("git", *settings, *words), cwd=folder, check=True, capture_output=True)


def commit(folder: Path, tag: str) -> None:
    """Everything that is staged, under a tag."""
    git(folder, "commit", "--quiet", "-m", tag)
    git(folder, "tag", tag)


@pytest.fixture
def house(house: Project, checkout: Path) -> Project:
    """The checkout as the folder in which the command runs, with three sessions in a file."""
    made = Project(checkout, house.home)
    (checkout / "all.jsonl").write_bytes(b"".join(map(jsonl.lines, sessions(3))))
    return made


def test_another_revision_decides(house: Project) -> None:
    same = regress(house, "all.jsonl", "--code", "today")
    assert (same["counts"]["same"], same["changes"]) == (3, ["code of today"])
    found = regress(house, "all.jsonl", "--code", "other", code=1)
    assert found["counts"]["changed"] == 3
    pointers = {one["pointer"] for case in found["cases"] for one in case["differences"]}
    assert "/question/question" in pointers
    # What is kept under one code says nothing of another, and a second run says the same.
    assert regress(house, "all.jsonl", "--code", "today") == same
    assert regress(house, "all.jsonl")["counts"]["same"] == 3
    folder = regress(house, "all.jsonl", "--code", ".", code=1)
    assert folder["counts"] == found["counts"]


def test_the_code_that_recorded_tells_code_from_data(house: Project) -> None:
    plain, other, _ = sessions(3)

    def marked(payload: Any) -> None:
        payload["question"]["question"] += "?"

    def lost(payload: Any) -> None:
        payload["question"]["question"] = "no code asks this"

    asked = "clarification.question_asked.v1"
    written: dict[str, Callable[[Any], None]] = {"code": marked, "data": lost}
    for cause, edit in written.items():
        whole = [edited(one, place(one, asked), edit) for one in (plain, other)]
        (house.folder / "all.jsonl").write_bytes(b"".join(map(jsonl.lines, whole)))
        unknown = regress(house, "all.jsonl", code=1)
        assert unknown["cause_counts"] == {"code or data": 2}
        found = regress(house, "all.jsonl", "--against", "other", code=1)
        assert found["cause_counts"] == {cause: 2}, cause


def test_a_log_whose_last_decision_is_gone_is_the_data_s(house: Project) -> None:
    cut = []
    for whole in sessions(3):
        inputs = [at for at, one in enumerate(whole) if one.actor_kind is not None]
        last = inputs[-1] + 1
        assert last < len(whole), "Decisions followed it"
        cut.append(chained(whole[:last]))
    (house.folder / "all.jsonl").write_bytes(b"".join(map(jsonl.lines, cut)))
    found = regress(house, "all.jsonl", "--against", "today", code=1)
    assert {case["outcome"] for case in found["cases"]} == {"open"}
    assert found["cause_counts"] == {"data": 3}


def test_what_is_no_revision_is_refused(house: Project, tmp_path: Path) -> None:
    for typed, said in (
        ("nowhere", "neither a folder nor a revision of preflights"),
        ("--output=x", "is no revision"),
        (str(tmp_path), "is no checkout of preflights"),
    ):
        done = house.call("regress", "all.jsonl", f"--code={typed}")
        assert (done.code, said in done.err) == (1, True), done
    both = house.call("regress", "all.jsonl", "--code", ".", "--seed", "3")
    assert (both.code, "name one of them" in both.err) == (1, True)


def test_a_checkout_says_what_it_depends_on(checkout: Path, tmp_path: Path) -> None:
    assert "msgspec>=0.20" in dependencies(checkout)
    assert dependencies(tmp_path) == ()


def test_code_that_does_not_run_is_125_for_a_bisection(house: Project) -> None:
    broken = house.folder / "cli" / "preflights_cli" / "main.py"
    before = broken.read_text()
    broken.write_text("import nothing_of_that_name\n")
    try:
        words = ("regress", "all.jsonl", "--code", ".", "--fresh")
        failed = house.call(*words)
        assert (failed.code, "nothing_of_that_name" in failed.err) == (5, True), failed
        assert house.call(*words, "--bisect").code == 125
    finally:
        broken.write_text(before)
