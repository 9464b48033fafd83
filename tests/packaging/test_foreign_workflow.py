"""The packages of docs/writing-a-workflow.md, installed beside the program, and one taken away."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from preflights_es.runtime.features import GROUP
from tests.packaging.environments import ROOT, TIMEOUT_S, run

pytestmark = pytest.mark.slow("whole runs")

SMALLEST, _, PAGE = (
    (ROOT / "docs/writing-a-workflow.md").read_text("utf-8").partition("\n## A larger one\n")
)
FILE: Final = re.compile(r"^```\w+\n# ([\w/.]+\.\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MISSING: Final = "the workflow 'retro' is not known here: install the package that has it"


SERVER: Final = """
import json, os, sys
from pathlib import Path
from tests.cli.program import Project

house, env, answers = Project(Path.cwd(), Path.cwd()), dict(os.environ), sys.stdout
for line in sys.stdin:
    print(json.dumps(house.call(*json.loads(line), env=env)), file=answers, flush=True)
"""
"""Runs commands one after another in one process of the environment: most need no other."""


class House:
    """A folder, and the program of an environment of its own."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.folder = folder
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        self.env |= {"PREFLIGHTS_ACTOR": "Ada", "PREFLIGHTS_PROJECT": "house"}
        self.server: subprocess.Popen[str] | None = None

    def call(self, *words: str, code: int = 0) -> tuple[str, str]:
        """What a command prints on stdout and stderr."""
        if self.server is None:
            self.server = subprocess.Popen(
                [str(self.programs / "python"), "-c", SERVER],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(f"{json.dumps(words)}\n")
        self.server.stdin.flush()
        found, out, err = json.loads(self.server.stdout.readline())
        assert found == code, (words, out, err)
        assert "Traceback" not in err
        return out, err

    def run(self, *words: str, code: int) -> None:
        """A command as a process of its own."""
        done = subprocess.run(
            [str(self.programs / "preflights"), *words],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == code, (words, done.stdout, done.stderr)

    def stop(self) -> None:
        """End the process, which knows the packages that were there when it began."""
        if self.server is not None:
            self.server.communicate(timeout=TIMEOUT_S)
            self.server = None

    def out(self, *words: str, code: int = 0) -> str:
        return self.call(*words, code=code)[0]

    def pip(self, *words: str | Path) -> None:
        """What an installer does, offline."""
        self.stop()
        python = self.programs / "python"
        run(sys.executable, "-m", "pip", "--python", python, *words, folder=self.folder)


def built(folder: Path, page: str, files: int) -> Path:
    """The wheel of every file that a page shows, and no other."""
    for name, text in FILE.findall(page):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    assert len(list(folder.rglob("*.*"))) == files
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", folder=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The larger one."""
    return built(tmp_path_factory.mktemp("preflights-retro"), PAGE, files=12)


@pytest.fixture(scope="module")
def smallest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest one."""
    return built(tmp_path_factory.mktemp("preflights-blocker"), SMALLEST, files=2)


@pytest.fixture(scope="module")
def house(
    package: Path, smallest: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """An environment with this checkout and the package; dependencies are borrowed."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, symlinks=True)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(folder / "bin" / "python", "-c", where, folder=folder).strip())
    paths = (ROOT, ROOT / "cli", sysconfig.get_path("purelib"))
    (site / "borrowed.pth").write_text("".join(f"{path}\n" for path in paths))
    program = folder / "bin" / "preflights"
    program.write_text(
        f"#!{folder}/bin/python\nfrom preflights_cli.main import main\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    program.chmod(0o755)
    made = House(folder / "bin", tmp_path_factory.mktemp("house"))
    offline = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    made.pip("install", *offline, package, smallest)
    yield made
    made.stop()


def test_the_page_names_the_group() -> None:
    assert f'[project.entry-points."{GROUP}"]' in PAGE


def test_the_smallest_one_is_recorded_answered_shown_replayed_and_exported(
    house: House, tmp_path: Path
) -> None:
    begun = house.out("start", "--workflow", "blocker", "The build is red", code=3)
    assert "What is the next step?" in begun
    assert "needs answers" in begun
    _, refused = house.call("answer", "last", "TBD", code=1)
    assert refused == "Not taken: 'step' was refused: placeholder\n"
    answered = house.out("answer", "last", "Pin the compiler")
    assert ", done\n  Pin the compiler\n" in answered
    _, ended = house.call("answer", "last", "step=Again", code=1)
    assert ended.endswith("is done: start a new one\n")
    told = json.loads(house.out("show", "--json"))
    assert (told["status"], told["result"]) == ("done", "Pin the compiler")
    assert "identical: 6 events" in house.out("replay", "last")
    assert "identical" in house.out("replay", "last", "--drift")
    assert house.out("blockers") == "done: The build is red\n"
    assert "done" in house.out("sessions", "--workflow", "blocker", "--status", "done")
    file = str(tmp_path / "blocker.jsonl")
    house.call("admin", "export", "last", "-o", file)
    assert "identical: 6 events" in house.out("replay", file)
    for words, code in commands(SMALLEST, 5):
        house.run(*words, code=code)


def test_it_is_recorded_answered_shown_replayed_exported_and_erased(
    house: House, tmp_path: Path
) -> None:
    begun = house.out("start", "--workflow", "retro", "The release was late", code=3)
    assert "What do you do about it?" in begun
    assert "no action yet" in begun, "its own display"
    _, refused = house.call("answer", "last", "TBD", code=1)
    assert refused == "Not taken: 'action' was refused: placeholder\n"
    assert ": Freeze on Thursday" in house.out("answer", "last", "Freeze on Thursday")
    shown = json.loads(house.out("show", "--json"))
    assert (shown["workflow"], shown["status"]) == ("retro", "ready")
    assert "ready" in house.out("sessions", "--status", "ready")
    _, refused = house.call("accept", "last", "--as-task", code=2)
    assert "--as-task is about a clarification: leave it out" in refused
    _, refused = house.call("accept", "last", code=1)
    assert "cannot accept a retro session, only a person can" in refused
    accept = ("accept", "last", "--by", "Ada", "--key", "k0", "--json")
    accepted, again = (json.loads(house.out(*accept)) for _ in range(2))
    assert accepted["status"] == again["status"] == "accepted"
    (task,) = (house.folder / "docs" / "tasks").glob("*.md")
    assert "* Action: **Freeze on Thursday** (answered by a script, in" in task.read_text()
    assert "is as it should be" in house.out("admin", "render", "last", "--check")
    assert "identical: 11 events" in house.out("replay", "last")
    assert "identical" in house.out("replay", "last", "--drift")
    _, ended = house.call("answer", "last", "action=Again", code=1)
    assert ended.endswith("has its action accepted: start a new one\n")
    file = str(tmp_path / "retro.jsonl")
    house.call("admin", "export", "last", "-o", file)
    assert "identical: 11 events" in house.out("replay", file)
    elsewhere = ("--db", str(tmp_path / "other.db"))
    house.call("admin", "import", file, *elsewhere)
    assert ": Freeze on Thursday" in house.out("show", "last", *elsewhere)
    house.call("admin", "erase", "last", "--yes")
    assert "was erased" in house.out("show", shown["session_id"])


def test_the_commands_of_the_page_do_what_it_says(house: House) -> None:
    for words, code in commands(PAGE, 7):
        house.run(*words, code=code)


def test_the_test_of_the_page_passes_for_its_author(house: House, package: Path) -> None:
    code = package.parent.parent
    shutil.copy(Path(__file__).with_name("retro_before.jsonl"), code / "before.jsonl")
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", code / "test_retro.py")
    told = run(house.programs / "python", *words, folder=code, env=house.env)
    assert "3 passed" in told
    assert "identical: 7 events" in house.out("replay", str(code / "before.jsonl"))


def commands(page: str, number: int) -> list[tuple[list[str], int]]:
    """The words and the exit code of each command that a page shows."""
    lines = re.findall(r"^\$ preflights (.*?)(?: # exit (\d))?$", page, re.MULTILINE)
    assert len(lines) == number
    return [(shlex.split(words), int(code or 0)) for words, code in lines]


def test_the_simulator_leads_it(house: House) -> None:
    words = ("start", "--workflow", "retro", "--provider", "sim", "--seed", "7")
    begun = json.loads(house.out(*words, "The build is red", "--json", code=3))
    question = begun["questions"][0]["question"]
    assert question != "What do you do about it?"
    id_ = begun["session_id"]
    house.call("answer", id_, "action=Fix it first")
    assert "identical" in house.out("replay", id_)
    assert "identical" in house.out("replay", id_, "--simulate")
    assert "question 1: " in house.out("replay", id_, "--simulate", "--seed", "8")
    (replayed,) = json.loads(house.out("replay", id_, "--json"))["sessions"]
    assert replayed["reasked"] == 1
    failing = ("--faults", "malformed=1.0")
    fallen = json.loads(house.out(*words, *failing, "The build is red", "--json", code=3))
    assert fallen["questions"][0]["question"] == "What do you do about it?"
    assert "identical" in house.out("replay", fallen["session_id"])
    assert "sim" in house.out("usage")


def test_the_same_key_begins_it_once(house: House) -> None:
    words = ("start", "--workflow", "retro", "--key", "k1", "--json")
    once, again = (json.loads(house.out(*words, "Once", code=3)) for _ in range(2))
    assert once == again
    _, refused = house.call(*words, "Twice", code=1)
    assert "the key 'k1' was used for something else: Ada (script) began session" in refused


def test_a_secret_is_taken_out_before_it_begins(house: House) -> None:
    text = "The key was AKIAIOSFODNN7EXAMPLE"
    begun = house.out("start", "--workflow", "retro", text, "--json", code=3)
    assert json.loads(begun)["intention"] == "The key was [redacted:key]"


def test_without_its_package_it_is_listed_verified_exported_and_erased(
    house: House, package: Path, tmp_path: Path
) -> None:
    begun = json.loads(house.out("start", "--workflow", "retro", "Kept", "--json", code=3))
    led = ("start", "--workflow", "retro", "--provider", "sim", "--json", "Led")
    others = [json.loads(house.out(*led, code=3))["session_id"] for _ in range(2)]
    id_ = begun["session_id"]
    house.pip("uninstall", "--quiet", "--yes", "preflights-retro")
    try:
        listed = json.loads(house.out("sessions", "--json"))["sessions"]
        (row,) = (one for one in listed if one["session_id"] == id_)
        assert (row["workflow"], row["status"]) == ("retro", "unknown")
        assert row["intention"] == MISSING
        assert id_[-8:] in house.out("sessions", "--status", "unknown")
        assert "The action was asked." in house.out("log", id_)
        assert "script" in house.out("audit", "trail", "--session", id_)
        assert "of a workflow that is not known here" in house.out("audit", "verify")
        file = tmp_path / "kept.jsonl"
        house.call("admin", "export", id_, "-o", str(file))
        for words in (
            *(
                ("show", id_),
                ("answer", id_, "x"),
                ("answer", id_, "action=x"),
                ("revise", id_, "action=x"),
            ),
            *(("resume", id_), ("abandon", id_), ("abandon", id_, "--force"), ("replay", id_)),
            *(("replay", id_, "--drift"), ("replay", id_, "--simulate"), ("why", id_)),
            *(("prompt", id_), ("admin", "render", id_), ("resume", id_, "--provider", "sim")),
            *(("audit", "trail", "--decision", id_), ("start", "--workflow", "retro", "x")),
            ("replay", str(file)),
        ):
            assert house.call(*words, code=5) == ("", f"preflights: {MISSING}\n"), words
        _, said = house.call("admin", "import", str(file), "--db", str(tmp_path / "o"), code=5)
        assert said == f"preflights: {MISSING}; nothing was imported\n"
        house.call("admin", "import", str(file), code=5)
        for command in ("usage", "decisions", "admin projections rebuild"):
            house.call(*command.split())
        erase = ("admin", "erase", others[0], "--yes")
        _, refused = house.call(*erase, "--as", "agent:bot", code=1)
        assert "whose workflow is not known here, only a person can" in refused
        house.call(*erase)
        assert "erased" in house.out("log", others[0])
        house.call("audit", "verify")
    finally:
        house.pip("install", "--quiet", "--no-deps", "--no-index", package)
    house.call("answer", id_, "action=Go on")
    assert "identical" in house.out("replay", id_)
    assert json.loads(house.out("show", others[1], "--json"))["status"] == "needs_answers"
