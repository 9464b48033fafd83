"""The plugin of pytest: recorded sessions as tests, and nothing where no folder is named."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from preflights_es.store import jsonl
from tests.features.regress.sessions import chained, many

GOLDENS = Path(__file__).parents[3] / "replays"
ONE = GOLDENS / "clarification" / "a_model_leads.jsonl"
OTHER = GOLDENS / "extraction" / "a_task_has_a_life.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with two recorded sessions, one of them in a folder below."""
    (tmp_path / "replays" / "notes").mkdir(parents=True)
    shutil.copy(ONE, tmp_path / "replays")
    shutil.copy(OTHER, tmp_path / "replays" / "notes")
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")
    return tmp_path


def _tested(
    project: Path, settings: str = "preflights_sessions = replays", *, alone: bool = True
) -> tuple[int, str]:
    """Runs pytest in a folder.

    Args:
        alone: without the plugins of other packages, which take a second to import.
    """
    (project / "pytest.ini").write_text(f"[pytest]\n{settings}\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA"]
    env = dict(os.environ)
    if alone:
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command += ["-p", "preflights_es.features.regress.pytest_plugin"]
    done = subprocess.run(
        command, cwd=project, env=env, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.slow("whole runs")
def test_each_session_is_a_test(project: Path) -> None:
    code, said = _tested(project, alone=False)
    assert code == 0
    assert "3 passed" in said


@pytest.mark.slow("whole runs")
def test_it_is_inert_where_no_folder_is_named(project: Path) -> None:
    code, said = _tested(project, "", alone=False)
    assert code == 0
    assert "1 passed" in said


@pytest.mark.slow("whole runs")
def test_files_elsewhere_are_not_sessions(project: Path) -> None:
    (project / "data.jsonl").write_text('{"no": "session"}\n')
    code, said = _tested(project)
    assert (code, "3 passed" in said) == (0, True)


@pytest.mark.slow("whole runs")
def test_what_a_regression_run_of_the_folder_finds_is_tested_wherever_it_lies(
    project: Path,
) -> None:
    (project / "tests").mkdir()
    (project / "test_own.py").rename(project / "tests" / "test_own.py")
    hidden = project / "replays" / ".sessions"
    hidden.mkdir()
    with gzip.open(hidden / "packed.jsonl.gz", "wb") as packed:
        packed.write((project / "replays" / ONE.name).read_bytes())
    (project / "replays" / "link.jsonl").symlink_to(ONE)
    code, said = _tested(project, "preflights_sessions = replays\ntestpaths = tests")
    assert (code, "4 passed" in said) == (0, True), said
    outside = f"preflights_sessions = ../{project.name}/replays/.sessions\ntestpaths = tests"
    code, said = _tested(project, outside)
    assert (code, "2 passed" in said) == (0, True), said
    code, said = _tested(project, "preflights_sessions = replays\naddopts = --ignore=replays")
    assert (code, "1 passed" in said) == (0, True), said


@pytest.mark.slow("whole runs")
def test_a_folder_without_sessions_is_no_success(project: Path) -> None:
    code, said = _tested(project, "preflights_sessions = replays replay")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "passed" not in said


@pytest.mark.slow("whole runs")
def test_a_damaged_session_fails_and_the_others_go_on(project: Path) -> None:
    file = project / "replays" / ONE.name
    file.write_bytes(file.read_bytes().replace(b"e", b"a", 1))
    (project / "replays" / "text.jsonl").write_text("not a session\n")
    code, said = _tested(project)
    assert code == 1
    assert "2 failed, 2 passed" in said
    assert "text.jsonl is not a session file" in said
    assert "Traceback" not in said


@pytest.mark.slow("whole runs")
def test_a_difference_names_the_command_that_repeats_it(project: Path) -> None:
    # A prompt of ours that changes: the recorded request is another one then.
    (project / "conftest.py").write_text(
        "from preflights_es.features.clarification.domain import WORKFLOW\n"
        "import preflights_es.features.clarification.domain as room\n"
        "from msgspec.structs import replace\n"
        "from preflights_es.runtime.features import WORKFLOWS\n"
        "def decide(state, new):\n"
        "    return WORKFLOW.decider.decide(state, new)[:1]\n"
        "WORKFLOWS['clarification'] = replace(\n"
        "    WORKFLOW, decider=replace(WORKFLOW.decider, decide=decide)\n"
        ")\n"
    )
    code, said = _tested(project)
    assert code == 1
    assert "expected" in said
    assert f"preflights regress {project / 'replays' / ONE.name} --only " in said


@pytest.mark.slow("whole runs")
def test_sessions_of_one_file_are_tests_of_their_own(project: Path) -> None:
    file = project / "replays" / "all.jsonl"
    damaged, cut = many(2)
    lines = jsonl.encode_event_file(damaged).replace(b'"data":{', b'"data":{"more":1,', 1)
    file.write_bytes(lines + jsonl.encode_event_file(cut[:1]))  # its last Input has no Decision
    (project / "replays" / ONE.name).unlink()
    code, said = _tested(project)
    assert (code, "2 failed, 2 passed" in said) == (1, True), said
    assert "its last Input is not decided" in said
    foreign = [replace(one, workflow="elsewhere") for one in cut]
    file.write_bytes(jsonl.encode_event_file(chained(foreign)))
    code, said = _tested(project)
    assert (code, "1 failed, 2 passed" in said) == (1, True), said
    assert "not judged: the workflow elsewhere (install the package that has it)" in said
