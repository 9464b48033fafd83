"""A workflow of another package that is wrong, or that changed: what every command says of it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import pytest

from preflights_es.store import jsonl
from tests.cli.archives import many
from tests.cli.program import Project, Result
from tests.house.test_smallest_workflow import BLOCKS
from tests.installed import TOY, installed
from tests.markdown import ROOT
from tests.store.given import chain_of, heard, said

MODULE: Final[str] = BLOCKS["preflights_blocker.py"]
WRONG: Final = MODULE.replace(
    "return questions.text_answers(",
    'if new.answers[0].values == ("later",):\n'
    '                return (StepRefused(key="step", reason="not a step"),)\n'
    "            return questions.text_answers(",
)
"""Its `decide` refuses an answer for a reason that is not in the closed list."""
BROKEN_INPUT: Final = MODULE.replace("text: str\n", "text: int\n", 1)
RENAMED: Final = MODULE.replace("text: str\n", "words: str\n", 1).replace(
    "case Met(text=text)", "case Met(words=text)"
)
assert WRONG != MODULE != BROKEN_INPUT
assert RENAMED != MODULE


class Blocked:
    """A project, and the package beside it in one of its versions."""

    def __init__(self, house: Project, site: Path) -> None:
        self.house = house
        self.file = site / "preflights_blocker.py"
        installed(site, "preflights-blocker", {"blocker": "preflights_blocker:FEATURE"})
        self._env = {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}

    def with_code(self, text: str) -> Blocked:
        self.file.write_text(text)
        return self

    def __call__(self, *words: str) -> Result:
        return self.house.run(*words, env=self._env)

    def start(self) -> None:
        assert self("start", "--workflow", "blocker", "The build is red").code == 3


@pytest.fixture
def blocked(house: Project, tmp_path: Path) -> Blocked:
    return Blocked(house, tmp_path / "site")


def is_said(done: Result, *parts: str) -> None:
    assert "Traceback" not in done.err
    assert "damaged" not in done.err + done.out, done
    for part in parts:
        assert part in done.err, done


# 1. What its code decides cannot be read back ------------------------------------------------


def test_a_decision_that_cannot_be_read_back_faults_the_session_until_the_code_is_mended(
    blocked: Blocked,
) -> None:
    blocked.with_code(WRONG).start()
    done = blocked("answer", "last", "later")
    assert done.code == 70
    line = MODULE[: MODULE.index("def decide")].count("\n") + 1
    is_said(
        done,
        "a bug of the package preflights-blocker: UnwritableEvent: blocker.step_refused.v1 cannot "
        "be read back: Invalid enum value 'not a step' at `reason`",
        f"preflights_blocker.py, line {line})",
        "The Input is recorded; see it again with: preflights replay",
    )
    assert "a bug of ours" not in done.err
    shown = blocked("show", "last")
    assert (shown.code, "faulted" in shown.out) == (0, True), shown
    replayed = blocked("replay", "last")
    assert (replayed.code, "UnwritableEvent" in replayed.out) == (1, True), replayed
    assert f"preflights_blocker.py, line {line}" in replayed.out
    assert blocked("resume", "last").code == 70
    assert blocked("audit", "verify").code == 0
    blocked.with_code(MODULE)
    assert blocked("resume", "last").code == 0
    assert "later" in blocked("show", "last").out
    assert blocked("replay", "last").code == 0


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("None", "NoneType, expected a tuple of Decisions"),
        ("()", "nothing, expected a tuple of Decisions"),
        ("iter(())", "tuple_iterator, expected a tuple of Decisions"),
        ("('later',)", "str, expected a tuple of Decisions"),
        ("(new,)", "StepGiven, expected a tuple of Decisions"),
        ("(StepRefused(key=object(), reason='closed'),)", "Encoding objects of type object"),
        ("(StepRefused(key=chr(0xD800), reason='closed'),)", "surrogates not allowed"),
        ("(questions.AnswerRefusal(key='', reason='closed'),)", "AnswerRefusal cannot be read"),
    ],
)
def test_whatever_decide_gives_that_is_no_decision_is_the_package_s_bug(
    blocked: Blocked, given: str, said: str
) -> None:
    blocked.with_code(WRONG.replace('(StepRefused(key="step", reason="not a step"),)', given))
    blocked.start()
    done = blocked("answer", "last", "later")
    assert done.code == 70
    is_said(done, "a bug of the package preflights-blocker: ", said)
    assert blocked.with_code(MODULE)("resume", "last").code == 0


def test_a_session_that_was_stopped_can_be_ended_and_no_unreadable_input_is_recorded(
    blocked: Blocked,
) -> None:
    for command in (("abandon", "--force"), ("admin", "erase", "--yes")):
        blocked.with_code(WRONG).start()
        assert blocked("answer", "last", "later").code == 70
        done = blocked(*command[:2] if command[0] == "admin" else command[:1], "last", command[-1])
        assert done.code == 0, done
    done = blocked.with_code(BROKEN_INPUT)("start", "--workflow", "blocker", "The build is red")
    assert done.code == 70
    is_said(done, "a bug of the package preflights-blocker: UnwritableEvent: blocker.met.v1 cannot")
    assert "The Input is recorded" not in done.err
    assert "The build is red" not in blocked("sessions", "--all-workflows").out


# 2. Its code cannot read what it recorded before ---------------------------------------------

WHY: Final = "this code cannot read event 1 (blocker.met.v1: unknown field `text`); the chain holds"


@pytest.fixture
def renamed(blocked: Blocked) -> Blocked:
    blocked.with_code(MODULE).start()
    assert blocked("answer", "last", "Pin the compiler").code == 0
    return blocked.with_code(RENAMED)


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    "words",
    [
        ("show", "last"),
        ("answer", "last", "Again"),
        ("abandon", "last"),
        ("resume", "last"),
        ("replay", "last"),
        ("log", "last"),
        ("replay", "last", "--simulate", "3"),
    ],
)
def test_an_event_that_todays_code_does_not_take_is_no_damage(
    renamed: Blocked, words: tuple[str, ...]
) -> None:
    done = renamed(*words)
    assert done.code == 5, done
    is_said(done, WHY, "preflights-blocker")
    renamed.with_code(MODULE)
    assert renamed("replay", "last").code == 0, "nothing was recorded"


@pytest.mark.slow("whole runs")
def test_a_regression_run_judges_no_session_that_cannot_be_read(renamed: Blocked) -> None:
    assert renamed("admin", "export", "-o", "all.jsonl", "last").code == 0
    for words in (("regress", "--workflow", "blocker"), ("regress", "all.jsonl")):
        done = renamed(*words)
        assert done.code == 5, done
        assert "same" not in done.out
        assert "this code cannot read blocker.met.v1 (unknown field `text`)" in done.out
        assert "damaged" not in done.out


@pytest.mark.slow("whole runs")
def test_what_needs_no_workflow_goes_on(renamed: Blocked) -> None:
    done = renamed("audit", "verify")
    assert (done.code, WHY in re.sub(r"\s+", " ", done.out)) == (0, True), done
    assert "unknown" in renamed("sessions", "--all-workflows").out
    assert renamed("admin", "export", "-o", "all.jsonl", "last").code == 0
    assert renamed("audit", "checkpoint", "-o", "tips").code == 0
    assert renamed("admin", "erase", "last", "--yes").code == 0
    assert renamed("show", "last").code == 0


def replaced(old: str, new: str) -> str:
    """The module with one piece of its code changed."""
    assert MODULE.count(old) == 1, old
    return MODULE.replace(old, new)


def test_a_field_that_a_newer_version_of_the_package_requires_is_named(blocked: Blocked) -> None:
    blocked.with_code(MODULE).start()
    blocked.with_code(
        replaced("    question: Question\n", "    question: Question\n    why: str\n")
    )
    done = blocked("show", "last")
    assert done.code == 5
    is_said(done, "cannot read event 2 (blocker.step_asked.v1: no field `why`); the chain holds")


BUG: Final = "a bug of the package preflights-blocker: ZeroDivisionError: division by zero ("


def test_a_bug_in_a_package_is_said_to_be_its_own(blocked: Blocked) -> None:
    blocked.with_code(replaced("case StepGiven() if", "case StepGiven() if 1 / 0 and")).start()
    done = blocked("answer", "last", "Pin the compiler")
    assert done.code == 70
    is_said(done, BUG)
    blocked.with_code(replaced("for one in session_lists.", "for one in 1 / 0 or session_lists."))
    done = blocked("blockers")
    assert done.code == 70
    is_said(done, BUG)
    assert "resume" in blocked.with_code(MODULE)("replay", "last").out


# 3. Its own files cannot be read: it hides no other package, and ends no command -------------


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("entry_points.txt", b"[preflights.features]\ntoy = \xff\xfe:X\n"),
        ("entry_points.txt", b"no section\n"),
        ("METADATA", b"\xff\xfe\x00"),
        ("METADATA", None),
    ],
)
def test_a_broken_package_hides_no_other_and_is_named(
    site: Path, house: Project, name: str, content: bytes | None
) -> None:
    installed(site, "toys", {"toy": "toys:FEATURE"}, {"toys/__init__.py": TOY})
    broken = site / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    if content is None:
        (broken / "METADATA").unlink()
    else:
        (broken / name).write_bytes(content)
    many(house.folder / "one.jsonl", 1)
    path = {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    done = house.run("admin", "import", "one.jsonl", env=path)
    assert done.code == 0, done
    assert "Traceback" not in done.err
    assert "a bug of ours" not in done.err
    assert house.run("start", "Add login", env=path).code == 3


def test_a_broken_package_is_one_line_and_its_command_says_why(site: Path, house: Project) -> None:
    broken = site / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "entry_points.txt").write_bytes(b"[preflights.features]\ntoy = \xff\xfe:X\n")
    (house.folder / "one.jsonl").write_bytes(
        jsonl.encode_event_file(chain_of(said("Hi", "i-1"), heard("Hi")))
    )
    done = house.run("admin", "import", "one.jsonl", env={"PYTHONPATH": str(site)})
    assert done.code == 5, "its workflow is not here"
    assert done.err.count("broken-1.0.dist-info cannot be read") == 1
    assert "install it again, or remove that folder" in done.err
    installed(site, "toys", {"toy": "toys:FEATURE"}, {"toys.py": "raise OSError('no toys')"})
    path = {"PYTHONPATH": str(site)}
    done = house.run("toys", "list", env=path)
    assert done.code == 2
    why = "the package toys does not load: OSError: no toys"
    assert done.err.splitlines()[0] == f"warning: the feature toy is left out: {why}"
    assert "No such command 'toys'" in done.err.splitlines()[1]
    assert house.run("sessions", env=path).err == ""
