"""`init --ci github`: the files, edits of them, the published schema, the steps in a shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from ruamel.yaml import YAML

from preflights_es.settings.signing import REPOSITORY
from tests.cli.program import Project, environment
from tests.cli.test_docs import check
from tests.each import each

WORKFLOW = ".github/workflows/preflights.yml"
HOOK = ".pre-commit-config.yaml"
ROOT = Path(__file__).parents[2]
ACTION = ROOT / "docs" / "action" / "action.yml"
GOLDEN = ROOT / "replays" / "clarification" / "keyword_skips_the_generic_question.jsonl"


def _init(project: Project, *options: str) -> Any:
    done = project.call("init", "--ci", "github", *options, "--json")
    return done.code, {one["path"]: one for one in json.loads(done.out)["files"]}


# 1. The files --------------------------------------------------------------------------------


def test_what_is_written_meets_its_schemas_replays_sessions_and_keeps_edits(empty: Project) -> None:
    records = ("docs/decisions", "web/docs/adr")  # where no session lies yet
    for folder in records:
        (empty.folder / folder).mkdir(parents=True)
        file = empty.folder / folder / "0001-use-vue.md"
        file.write_text("# Use Vue\n\nStatus: accepted\n")
    _init(empty)
    assert not (empty.folder / ".git" / "preflights").exists()
    (repo,) = YAML(typ="safe").load((empty.folder / HOOK).read_text())["repos"]
    entries = {one["id"]: one["entry"] for one in repo["hooks"]}
    assert entries["preflights-check"] == "preflights-es check --staged"
    assert len(entries) == 2
    _meets("vendor.github-workflows", empty.folder / WORKFLOW)
    places = (*records, ".preflights/artifacts")
    folders = ("replays", *(f"{folder}/.sessions" for folder in places))
    assert f"for folder in {' '.join(folders)}; do" in (empty.folder / WORKFLOW).read_text()
    pattern = "|".join(map(re.escape, folders))
    assert f"files: ^({pattern})/" in (empty.folder / HOOK).read_text()
    for path in (WORKFLOW, HOOK):
        file = empty.folder / path
        file.write_text(file.read_text().replace("preflights-es==", "preflights-es>="))
    before = {path: (empty.folder / path).read_bytes() for path in (WORKFLOW, HOOK)}
    code, files = _init(empty)
    states = ["edited", "edited", "present"]
    assert (code, [one["state"] for one in files.values()]) == (0, states)
    assert {path: (empty.folder / path).read_bytes() for path in before} == before


def _meets(schema: str, file: Path) -> None:
    command = ["-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run([sys.executable, *command], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_another_shape_is_named_with_the_text_to_paste(empty: Project) -> None:
    (empty.folder / HOOK).write_text("{repos: []}\n")
    done = empty.call("init", "--ci", "github")
    assert done.code == 1
    assert f"{HOOK} has a shape that `init` does not change" in done.out
    assert "- id: preflights-regress" in done.out
    assert (empty.folder / HOOK).read_text() == "{repos: []}\n"


@each(
    ("content", "why"),
    [(b"\xff\xfe", "it is not UTF-8"), (b"#" * 1_000_001, "it has more than 1,000,000 bytes")],
)
def test_a_file_that_is_no_text_is_left(empty: Project, content: bytes, why: str) -> None:
    (empty.folder / HOOK).write_bytes(content)
    done = empty.call("init", "--ci", "github")
    assert (done.code, done.err) == (1, f"preflights: {HOOK} is left as it is: {why}\n")
    assert (empty.folder / HOOK).read_bytes() == content


def test_no_link_is_followed(empty: Project, tmp_path: Path) -> None:
    (empty.folder / ".github").symlink_to(tmp_path)
    done = empty.call("init", "--ci", "github")
    assert done.code in (1, 5)
    assert not (tmp_path / "workflows").exists()


def test_print_writes_nothing_and_each_file_is_written_once(empty: Project) -> None:
    done = empty.call("init", "--ci", "github", "--print")
    assert done.code == 0
    assert "on: pull_request\n" in done.out
    assert not (empty.folder / WORKFLOW).exists()
    code, files = _init(empty)
    assert (code, [one["written"] for one in files.values()]) == (0, [True, True, True])
    written = {path: (empty.folder / path).read_bytes() for path in (WORKFLOW, HOOK, REPOSITORY)}

    code, files = _init(empty)
    states = ["current", "current", "present"]
    assert (code, [one["state"] for one in files.values()]) == (0, states)
    assert {path: (empty.folder / path).read_bytes() for path in written} == written


# 2. What the host takes ----------------------------------------------------------------------


@pytest.fixture
def workflow(empty: Project) -> Any:
    """The workflow that is written, as the host reads it."""
    _init(empty)
    return YAML(typ="safe").load((empty.folder / WORKFLOW).read_text())


def test_it_has_no_secret_no_model_no_other_event_and_pinned_actions(workflow: Any) -> None:
    assert workflow["on"] == "pull_request"
    assert workflow["permissions"] == {"contents": "read"}
    text = json.dumps(workflow)
    assert "{{ secrets" not in text
    assert "--live" not in text
    assert "python -c" not in text, "a `secrets.py` of the change would run"
    assert "python -m" not in text
    steps = [*_steps(workflow), *_steps(workflow, "decisions")]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    for one in used:
        assert len(one.partition("@")[2]) == 40
        assert int(one.partition("@")[2], 16)


def _steps(workflow: Any, job: str = "regress") -> list[Any]:
    steps: list[Any] = workflow["jobs"][job]["steps"]
    return steps


def test_the_job_of_decisions_has_the_history_and_writes_nothing(workflow: Any) -> None:
    checkout, *_, last = _steps(workflow, "decisions")
    assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert "permissions" not in workflow["jobs"]["decisions"]
    assert last["env"] == {"BASE": "${{ github.event.pull_request.base.sha }}"}
    assert "${{" not in last["run"]


# 3. The steps in a local shell ---------------------------------------------------------------


class _Comments(BaseHTTPRequestHandler):
    """The comments of pull request 7, as a host keeps them."""

    kept: list[dict[str, Any]] = []
    pages = 100

    def do_GET(self) -> None:
        page = int(self.path.rpartition("=")[2])
        self._answer(self.kept[(page - 1) * self.pages : page * self.pages])

    def do_POST(self) -> None:
        comment = {"id": len(self.kept) + 1, "user": {"login": "github-actions[bot]"}}
        self.kept.append(comment | self._body())
        self._answer(self.kept[-1])

    def do_PATCH(self) -> None:
        comment = self.kept[int(self.path.rpartition("/")[2]) - 1]
        comment |= self._body()
        self._answer(comment)

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, value: object) -> None:
        content = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def _host() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    kept: list[dict[str, Any]] = []
    handler = type("Comments", (_Comments,), {"kept": kept})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", kept
        server.shutdown()


class _Runner:
    """Runs the steps as the host does: a shell that stops at errors, files for what they say."""

    def __init__(self, project: Project, steps: list[Any], folder: Path, api: str) -> None:
        self._project = project
        self._steps = steps
        self._folder = folder
        self._api = api
        self.summary = folder / "summary.md"

    def run(self) -> tuple[int, str]:
        """The exit code of the job, and what its log says."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        code, log = 0, ""
        for step in self._steps:
            if "run" in step and (not code or "cancelled()" in step.get("if", "")):
                done = self._step(step)
                code, log = code or done.returncode, log + done.stdout
        return code, log

    def _step(self, step: Any) -> subprocess.CompletedProcess[str]:
        given = {
            "RUNNER_TEMP": str(self._folder),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_API_URL": self._api,
            "GITHUB_REPOSITORY": "acme/shop",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "TOKEN": "of the job",
            "PULL_REQUEST": "7",
            "BASE": "HEAD~1",
            "CI": "true",
            "PIP_NO_INDEX": "1",
            "FOLDERS": "replays docs/decisions/.sessions",
            # The action builds this repository, beside what is installed here.
            "GITHUB_ACTION_PATH": str(ACTION.parent),
            "PIP_NO_BUILD_ISOLATION": "false",
            "PIP_NO_DEPS": "1",
            **({"PIP_TARGET": str(self._folder)} if "id" in step else {}),
        }
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
        return subprocess.run(
            [*([sys.executable, "-c"] if step.get("shell") == "python" else shell), step["run"]],
            cwd=self._project.folder,
            env=environment(self._project.home) | given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


@pytest.fixture
def host() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Its address, and the comments that it keeps."""
    with _host() as made:
        yield made


@pytest.mark.slow("whole runs")
def test_the_steps_replay_comment_once_and_update(
    empty: Project, workflow: Any, host: tuple[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    api, comments = host
    comments += [{"id": i + 1, "user": {"login": "ada"}, "body": "hm"} for i in range(130)]
    runner = _Runner(empty, _steps(workflow), tmp_path / "runner", api)

    assert runner.run()[0] == 0
    assert "No recorded sessions lie in this repository." in runner.summary.read_text()
    assert len(comments) == 130

    (empty.folder / "replays").mkdir()
    shutil.copy(GOLDEN, empty.folder / "replays")
    code, log = runner.run()
    assert code == 0, log
    assert len(comments) == 131
    assert comments[-1]["body"].startswith("<!-- preflights regress -->")
    assert (tmp_path / "runner" / "preflights-junit.xml").exists()

    damaged = (empty.folder / "replays" / GOLDEN.name).read_bytes().replace(b"login", b"LOGIN")
    (empty.folder / "replays" / "damaged.jsonl").write_bytes(damaged)
    code, log = runner.run()
    assert code == 4, log
    assert len(comments) == 131
    title, _, *text = comments[-1]["body"].splitlines()[1:]
    assert (title, text) == ("## Preflights regress", runner.summary.read_text().splitlines()[2:])
    assert "damaged" in "".join(text)
    assert all(line.startswith("    ") for line in text), "code: no markup, no mention"


@pytest.mark.slow("whole runs")
def test_the_steps_check_the_change(house: Project, tmp_path: Path) -> None:
    _init(house)
    workflow = YAML(typ="safe").load((house.folder / WORKFLOW).read_text())
    (house.folder / "app.py").write_text("import os\n")
    where = ("--path", "*.py", "--hold", "deny")
    house.decided("Add OAuth login", *where)
    house.git("add", "--all")
    house.git("commit", "--quiet", "--message", "Begin")
    (house.folder / "app.py").write_text("import sys\n")
    (house.folder / "secrets.py").write_text("1 / 0\n")
    house.git("add", "--all")
    house.git("commit", "--quiet", "--message", "Edit")
    runner = _Runner(house, _steps(workflow, "decisions"), tmp_path / "runner", "")
    code, log = runner.run()
    assert code == 1, log
    assert "::error file=app.py" in log.rpartition("::stop-commands::")[2]
    title, _, *text = runner.summary.read_text().splitlines()
    assert title == "## Preflights check"
    assert text
    assert all(line.startswith("    ") for line in text), "code: no markup, no mention"

    runner = _Runner(house, _action()["runs"]["steps"], tmp_path / "action", "")
    assert runner.run()[0] == 1
    assert "## Preflights check\n" in runner.summary.read_text()
    assert "No recorded sessions" not in runner.summary.read_text()
    assert list((tmp_path / "action").glob("preflights_es-*.dist-info"))


def _action() -> Any:
    return YAML(typ="safe").load(ACTION.read_text())


def test_the_action_has_the_steps_of_the_workflow(workflow: Any) -> None:
    _meets("vendor.github-actions", ACTION)
    folders = _action()["inputs"]["folders"]["default"]
    own = {one["name"]: one for job in workflow["jobs"] for one in _steps(workflow, job)}
    for step in _action()["runs"]["steps"]:
        if "run" in step:
            step["run"] = step["run"].replace("in $FOLDERS;", f"in {folders};")
        if step["name"] != "Install Preflights":
            wanted = own[step["name"]]
            assert {key: step.get(key) for key in wanted} == wanted


def test_files_lie_at_the_root_and_a_program_that_is_not_found_is_named(empty: Project) -> None:
    sub = empty.folder / "sub"
    sub.mkdir()
    _init(Project(sub, empty.home))
    assert (empty.folder / WORKFLOW).exists()
    assert not (sub / WORKFLOW).exists()
    done = empty.call("init", "--agent", "codex", env={"PATH": str(empty.folder)})
    assert done.err == "warning: `preflights-es` is not on the PATH: agents do not find it\n"
    assert empty.call("init", "--agent", "codex").err == ""


# 5. Coding agents ----------------------------------------------------------------------------


def test_agents_in_use_are_set_up(empty: Project) -> None:
    empty.call("init").refused(2, "no coding agent is found here: name one (--agent claude)")

    (empty.folder / "CLAUDE.md").write_text("Be brief.\n")
    assert empty.call("init", "--print").out.count("preflights-es hook") == 4
    assert empty.call("init").out.splitlines() == [
        "Wrote AGENTS.md.",
        "Wrote CLAUDE.md.",
        "Wrote .mcp.json.",
        "Wrote .claude/settings.json.",
        "Wrote .preflights/repository.",
        "Commit these files, and restart the agent:",
        "  git add AGENTS.md CLAUDE.md .mcp.json .claude/settings.json .preflights/repository",
    ]
    assert empty.call("init").out.count("is up to date") == 4
    written = empty.call("init", "--agent", "codex", "--json").json
    check("init/1", written)
    assert [one["written"] for one in written["files"]] == [False, True, True, False]

    (empty.folder / ".mcp.json").write_text("[]")
    done = empty.call("init")
    assert done.code == 1
    said = ".mcp.json is left as it is: it has no object where 'mcpServers' belongs; add this"
    assert said in done.out
    assert '"command": "preflights-es"' in done.out


@pytest.mark.parametrize("records", ["docs/adr", "docs/decisions"])
def test_the_line_that_init_ends_with_adds_the_folder_that_was_found(
    house: Project, records: str
) -> None:
    (house.folder / records).mkdir(parents=True)
    (house.folder / records / "0001-use-postgresql.md").write_text("# Use PostgreSQL\n")
    done = house.call("init", "--agent", "claude")
    line = done.out.splitlines()[-1].strip()
    assert line.startswith(f"git add {records} ")
    house.git(*line.split()[1:])
    added = house.run("diff", "--cached", "--name-only", program=("git",)).out.split()
    ours = ["AGENTS.md", ".mcp.json", ".claude/settings.json", REPOSITORY]
    assert added == sorted([f"{records}/0001-use-postgresql.md", *ours])
