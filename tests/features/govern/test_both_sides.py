"""A change is judged by its base: by what that decided, wherever the change leaves it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import run
from typing import Any, Final

import pytest

import preflights_es
from preflights_es.features.govern.base_side import base_side
from preflights_es.features.govern.changes import read_change_set
from preflights_es.kernel.text import escaped_text
from preflights_es.records.record_places import FOLDERS_MAX
from tests.cli.clones import SESSIONS, cloned, committed, session_file
from tests.cli.program import House, Project, environment
from tests.features.govern.test_check import decide, write

RECORD: Final = "docs/decisions/0009-use-kafka.md"
KAFKA: Final = "---\nstatus: {}\napplies-to: [src/**]\n---\n\n# Use Kafka\n"


def judged(team: Project, tmp_path: Path, *words: str) -> tuple[int, list[Any]]:
    """The exit code, and what is found of a change in a clone, without the rule `holds`."""
    committed(team)
    clone = cloned(team, tmp_path / f"clone{len([*tmp_path.glob('clone*')])}")
    done = clone.call("check", "--base", "origin/base", *words, "--json")
    found = [one for one in done.json["findings"] if one["rule"] != "holds"]
    return done.code, found


def rules(found: list[Any]) -> list[tuple[str, str]]:
    return sorted((one["rule"], one["level"]) for one in found)


@pytest.fixture
def team(house: House) -> Project:
    """A base with a decision, a record of another tool, and source files."""
    house.made(_base)
    return house


def _base(house: Project) -> None:
    write(house, "src/a.py", "x = 1\n")
    write(house, "lib/b.py", "x = 1\n")
    decide(house, "--path", "src/**", "--hold", "deny", "--by", "Ada")
    write(house, RECORD, KAFKA.format("accepted"))
    committed(house)
    house.git("branch", "base")
    house.git("checkout", "--quiet", "-b", "change")


def aside(team: Project) -> None:
    (team.folder / "tests").mkdir()
    (team.folder / "docs/decisions").rename(team.folder / "tests/lost")


def moved(team: Project) -> None:
    write(team, "preflights.toml", 'decisions = "docs/other"\n')
    aside(team)


def linked(team: Project) -> None:
    aside(team)
    (team.folder / "docs/decisions").symlink_to("../tests/lost")


def emptied(team: Project) -> None:
    for file in (team.folder / SESSIONS).glob("*.jsonl"):
        file.write_text("")
    (team.folder / RECORD).write_text("")


def deleted(team: Project) -> None:
    for file in (team.folder / SESSIONS).glob("*.jsonl"):
        file.unlink()
    (team.folder / RECORD).unlink()


def renamed_project(team: Project) -> None:
    write(team, "preflights.toml", 'project = "other"\n')
    (team.folder / RECORD).write_text("# A page\n")


@pytest.mark.parametrize("hides", [moved, linked, emptied, deleted, renamed_project])
def test_what_a_change_hides_is_an_error_and_holds_all_the_same(
    team: Project, tmp_path: Path, hides: Callable[[Project], None]
) -> None:
    hides(team)
    write(team, "src/a.py", "x = 2\n")
    code, found = judged(team, tmp_path)
    assert code == 4
    assert {("unverified-session", "error"), ("denied", "error")} <= {*rules(found)}, found
    assert ("record-lost", "error") in rules(found), found


def test_a_branch_that_merges_both_ways_takes_nothing_back(team: Project, tmp_path: Path) -> None:
    """Of two commits in common, the younger one has not what the base decided in the other."""
    newer = "docs/decisions/0010-x.md"
    write(team, "lib/b.py", "x = 2\n")
    team.git("add", "--all")
    later = {**environment(team.home), "GIT_COMMITTER_DATE": "2090-01-01T00:00:00Z"}
    run(["git", "commit", "--quiet", "-m", "x"], cwd=team.folder, env=later, check=True)
    team.git("checkout", "--quiet", "base")
    write(team, newer, KAFKA.format("accepted").replace("Kafka", "Redis"))
    committed(team)
    team.git("tag", "decided")
    team.git("merge", "--quiet", "--no-ff", "--message", "One way", "change")
    team.git("checkout", "--quiet", "change")
    team.git("merge", "--quiet", "--no-ff", "--message", "Other way", "decided")
    assert judged(team, tmp_path) == (0, []), "what the base did is no change"
    (team.folder / newer).unlink()
    code, found = judged(team, tmp_path)
    assert (code, rules(found)) == (1, [("record-lost", "error")]), found


def test_a_clone_without_all_objects_is_refused(team: Project, tmp_path: Path) -> None:
    """What the base has of a file is not known there: nothing may pass for that."""
    deleted(team)
    committed(team)
    team.git("config", "uploadpack.allowFilter", "true")
    clone = Project(tmp_path / "clone", team.home)
    team.git("clone", "--quiet", "--filter=blob:none", f"file://{team.folder}", str(clone.folder))
    done = clone.call("check", "--base", "origin/base")
    assert (done.code, "without `--filter`" in done.err) == (5, True), done


def test_records_that_move_with_their_sessions_are_not_lost(team: Project, tmp_path: Path) -> None:
    (team.folder / "docs/decisions").rename(team.folder / "docs/adr")
    code, found = judged(team, tmp_path)
    assert (code, rules(found)) == (0, []), found


def test_a_branch_is_judged_by_what_its_base_decided_since(team: Project, tmp_path: Path) -> None:
    write(team, "lib/b.py", "x = 2\n")
    committed(team)
    team.git("checkout", "--quiet", "base")
    decide(team, "--path", "lib/**", "--hold", "deny", intention="Store files in a database")
    write(
        team,
        "docs/decisions/0010-x.md",
        "---\nstatus: accepted\n---\n\n# Use Redis instead of Memcached\n",
    )
    committed(team)
    team.git("checkout", "--quiet", "change")
    write(team, "lib/c.py", "import pymemcache\n")
    code, found = judged(team, tmp_path)
    assert code == 1
    assert ("denied", "error") in rules(found)
    assert not {"unverified-session", "record-lost"} & {one["rule"] for one in found}, found


def test_a_branch_moves_no_folder_its_base_decided_in(team: Project, tmp_path: Path) -> None:
    write(team, "preflights.toml", 'decisions = "records"\n')
    committed(team)
    team.git("branch", "--force", "base")
    (team.folder / "preflights.toml").unlink()
    committed(team)
    team.git("checkout", "--quiet", "base")
    decide(team, "--path", "lib/**", intention="Store files in a database")
    write(team, "records/0010-x.md", "---\nstatus: accepted\n---\n\n# Use Redis\n")
    committed(team)
    team.git("checkout", "--quiet", "change")
    code, found = judged(team, tmp_path)
    assert code == 4
    assert ("unverified-session", "error") in rules(found)
    assert ("record-lost", "error") in rules(found)


def test_a_record_that_is_only_wrapped_anew_says_the_same(team: Project, tmp_path: Path) -> None:
    write(team, RECORD, KAFKA.format("accepted").replace("\n", "\r\n").replace("Use ", "Use  "))
    assert judged(team, tmp_path) == (0, [])


WORKFLOW: Final = ".github/workflows/ci.yml"
RUNS: Final = "steps:\n- run: preflights check --base origin/main\n"


GATES: Final[tuple[dict[str, tuple[str | None, str | None, bool]], ...]] = (
    # By path: what the base has, what the change makes of it, and whether it is told.
    {
        WORKFLOW: (RUNS, "steps: []\n", True),
        "Makefile": ("check:\n\tpreflights check\n", "check:\n\ttrue\n", True),
        "scripts/ci": ("#!/bin/sh\npreflights-es check\n", "#!/bin/sh\n", True),
        "package.json": ('{"scripts": {"a": "preflights check"}}\n', "{}\n", True),
        ".claude/settings.json": ('{"command": "preflights hook Stop"}\n', "{}\n", True),
        ".github/CODEOWNERS": ("* @ada\n", "* @eve\n", True),
        "docs/a.md": ("`preflights check`\n", "Text\n", False),
        "lib/run.py": ('run("preflights check")\n', "x = 1\n", True),
        "preflights.toml": (None, "[records]\nsessions = false\n", True),
        "lib/preflights.toml": (None, 'project = "other"\n', True),
    },
    {
        WORKFLOW: (RUNS, None, True),
        "pyproject.toml": (None, "[tool.preflights.records]\nsessions = false\n", True),
        "lib/pyproject.toml": (None, '[tool.preflights]\nproject = "other"\n', True),
    },
    {
        WORKFLOW: ("steps: []\n", "steps:\n- run: make\n", False),
        "preflights.toml": ('redact = ["email"]\n', 'tasks = "todo"\n', True),
        "lib/pyproject.toml": ('[tool.preflights]\nproject = "other"\n', None, True),
    },
    {
        WORKFLOW: (None, RUNS, False),
        "pyproject.toml": (None, "[project]\nname = 'x'\n", False),
        "lib/pyproject.toml": (None, "[project]\nname = 'x'\n", False),
    },
    {
        "ci/tools.txt": ("ruff\npreflights-es\n", "ruff\npreflights-es @ git+https://x\n", True),
        "lib/x.py": ('run("preflights", "check")\n', 'run("preflights", "check")\nx = 1\n', False),
    },
    {"preflights.toml": (None, "seed = 1\n", False)},
)


@pytest.mark.parametrize("gates", GATES)
def test_a_change_of_what_runs_the_check_or_of_what_is_kept_is_told(
    team: Project, tmp_path: Path, gates: dict[str, tuple[str | None, str | None, bool]]
) -> None:
    for path, (before, _, _) in gates.items():
        if before is not None:
            write(team, path, before)
    committed(team)
    team.git("branch", "--force", "base")
    for path, (_, after, _) in gates.items():
        (team.folder / path).unlink() if after is None else write(team, path, after)
    code, found = judged(team, tmp_path)
    told = [one for one in found if one["rule"] == "gate-changed"]
    assert code == 0
    assert {one["level"] for one in told} <= {"warning"}
    wanted = sorted(path for path, (_, _, is_told) in gates.items() if is_told)
    assert sorted(path for one in told for path in one["files"]) == wanted


def test_a_file_that_make_reads_first_is_told(team: Project, tmp_path: Path) -> None:
    write(team, "Makefile", "check:\n\tpreflights check\n")
    committed(team)
    team.git("branch", "--force", "base")
    write(team, "GNUmakefile", "check:\n\ttrue\n")
    write(team, "lib/GNUmakefile", "all:\n\ttrue\n")
    _, found = judged(team, tmp_path)
    assert [one["files"] for one in found] == [["GNUmakefile"]]


def test_a_name_of_other_case_or_unseen_letters_is_told(team: Project, tmp_path: Path) -> None:
    """Patterns do not match it; on some systems it lies where they say."""
    alike = ("SRC/c.py", "src/A.py", "docs/Decisions/x.txt", "sr\u200bc/c.py")
    for path in (*alike, "s\u0131c/c.py", "src/c.py", "other/SRC/a.py"):
        write(team, path, "x = 2\n")
    told = [one for one in judged(team, tmp_path)[1] if one["rule"] == "unread-file"]
    assert {path for one in told for path in one["files"]} == {*map(escaped_text, alike)}


@pytest.mark.parametrize("status", ["rejected", "superseded", "proposed"])
def test_a_record_that_ends_is_listed(team: Project, tmp_path: Path, status: str) -> None:
    write(team, RECORD, KAFKA.format(status))
    code, found = judged(team, tmp_path)
    assert (code, rules(found)) == (0, [("decision-changed", "warning")])
    stands = "replaced" if status == "superseded" else status
    assert f"{RECORD} (Use Kafka) is {stands}" in found[0]["message"]


def test_a_record_that_says_otherwise_is_listed(team: Project, tmp_path: Path) -> None:
    write(team, RECORD, KAFKA.format("accepted").replace("src/**", "lib/**"))
    code, found = judged(team, tmp_path)
    assert (code, rules(found)) == (0, [("decision-changed", "warning")])
    assert "says otherwise: patterns" in found[0]["message"]


def test_what_becomes_of_a_decision_is_listed(team: Project, tmp_path: Path) -> None:
    decide(team, "--supersedes", "ADR-0001", value="MySQL")
    code, found = judged(team, tmp_path)
    assert (code, rules(found)) == (0, [("decision-changed", x) for x in ("note", "warning")])
    assert "is replaced by ADR-0010" in found[0]["message"]
    assert "is decided in this change, and replaces ADR-0001" in found[1]["message"]
    id_ = next((team.folder / SESSIONS).glob("*.jsonl")).stem
    assert team.call("admin", "erase", id_, "--yes", "--force").code in (0, 2)
    assert session_file(team, id_).exists()


def test_an_erasure_is_listed_in_a_folder_of_any_usual_name(house: Project, tmp_path: Path) -> None:
    write(house, "docs/adr/0001-use-kafka.md", KAFKA.format("accepted"))
    write(house, "src/a.py", "x = 1\n")
    decide(house, "--by", "Ada")
    committed(house)
    house.git("branch", "base")
    house.git("checkout", "--quiet", "-b", "change")
    (id_,) = (path.stem for path in (house.folder / "docs/adr/.sessions").glob("*.jsonl"))
    assert house.call("admin", "erase", id_, "--yes").code == 0
    code, found = judged(house, tmp_path)
    assert (code, rules(found)) == (0, [("decision-changed", "warning")])
    assert "is erased" in found[0]["message"]


def page(title: str, status: str = "accepted", more: str = "") -> str:
    return f"---\nstatus: {status}\n{more}---\n\n# {title}\n"


FISH: Final = "ideas/0001-use-fish.md"
GULP: Final = page("Use Gulp", more="applies-to: [lib/**]\n")
CELERY: Final = {f"notes/000{n}-use.md": page(f"Use {n}") for n in (1, 2)}
REDUX: Final = page("Use Redux", "superseded by ADR-0011")
Files = dict[str, str | None]
ELSEWHERE: Final[dict[str, tuple[Files, Files, str]]] = {
    "another successor": (
        {"adr/0010-a.md": REDUX},
        {"adr/0010-a.md": page("Use Redux", "superseded by ADR-0099")},
        "adr/0010-a.md (Use Redux) is replaced by ADR-0099 now",
    ),
    "another successor, by a move": (
        {"adr/0010-a.md": REDUX, "adr/0011-b.md": page("Use B"), "c/adr/0011-c.md": page("Use C")},
        {"adr/0010-a.md": None, "c/adr/0010-a.md": REDUX},
        "adr/0010-a.md (Use Redux) is replaced by c/adr/0011-c.md now",
    ),
    "an entry that becomes a path": (
        {"adr/0010-a.md": page("Use Luxon", more="applies-to: [payments]\n")},
        {"payments/x.py": "x = 1\n"},
        "adr/0010-a.md (Use Luxon) says otherwise: patterns",
    ),
    "a second page that makes a folder one of records": (
        {FISH: page("Use Fish")},
        {"ideas/0002-use-bash.md": page("Use Bash", "rejected")},
        f"{FISH} (Use Fish) is in force with this change",
    ),
    "what was chosen": (
        {"adr/0010-a.md": page("Use a broker") + "\n## Decision Outcome\n\nKafka\n"},
        {"adr/0010-a.md": page("Use a broker") + "\n## Decision Outcome\n\nRabbitMQ\n"},
        "adr/0010-a.md (Use a broker) says otherwise: what was chosen",
    ),
    "what was decided, in AsciiDoc": (
        {"adr/0010-a.adoc": "= Use a broker\n:status: accepted\n\n== Decision\n\nKafka\n"},
        {"adr/0010-a.adoc": "= Use a broker\n:status: accepted\n\n== Decision\n\nRabbitMQ\n"},
        "adr/0010-a.adoc (Use a broker) says otherwise: what was chosen",
    ),
    "what was decided, below no heading": (
        {"adr/0010-a.md": page("Use a broker") + "\nWe take Kafka.\n"},
        {"adr/0010-a.md": page("Use a broker") + "\nWe take RabbitMQ.\n"},
        "adr/0010-a.md (Use a broker) says otherwise: its text",
    ),
    "a part that does not hold any more": (
        {"adr/0010-a.md": page("Use Redux")},
        {"adr/0010-a.md": page("Use Redux", "partially superseded")},
        "adr/0010-a.md (Use Redux) is partly replaced",
    ),
    "what was rejected is open again": (
        {"adr/0010-a.md": page("Use Redux", "rejected")},
        {"adr/0010-a.md": page("Use Redux", "proposed")},
        "adr/0010-a.md (Use Redux) is proposed now",
    ),
    "what is deprecated goes": (
        {"adr/0010-a.md": page("Use Redux", "deprecated")},
        {"adr/0010-a.md": None},
        "adr/0010-a.md (Use Redux) is no record here any more",
    ),
    "a folder that .adr-dir names": (
        {"tests/data/0001-a.md": page("Use Fish")},
        {".adr-dir": "tests/data\n"},
        "tests/data/0001-a.md (Use Fish) is in force with this change",
    ),
    "a newer record in another folder": (
        {},
        {"adr/0001-a.md": page("Use X", "deprecated", f"supersedes: '[k](../{RECORD})'\n")},
        f"{RECORD} (Use Kafka) is replaced by adr/0001-a.md",
    ),
    "one of two records that are called alike": (
        {"a/adr/0001-use-gulp.md": GULP, "b/adr/0001-use-gulp.md": GULP},
        {"b/adr/0001-use-gulp.md": None},
        "b/adr/0001-use-gulp.md is no record here any more",
    ),
    "more folders than are read": (
        {**CELERY},
        {f"a/{n}/adr/0001-a.md": page("Use X", "rejected") for n in range(FOLDERS_MAX)},
        "notes/0001-use.md is no record here any more",
    ),
}
"""Files of the base, files of the change, and what is said of a record that it does not touch."""


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_other_files_do_to_records_is_listed(team: Project, tmp_path: Path, name: str) -> None:
    before, after, said = ELSEWHERE[name]
    for files in (before, after):
        for path, text in files.items():
            (team.folder / path).unlink() if text is None else write(team, path, text)
        if files is before:
            committed(team)
            team.git("branch", "--force", "base")
    found = judged(team, tmp_path)[1]
    assert [one for one in found if said in one["message"]], found
    assert not [one for one in found if one["file"] == RECORD and one["rule"] == "unclear-record"]


def test_another_folders_number_lets_in_nothing_turned_down(team: Project, tmp_path: Path) -> None:
    write(team, "docs/adr/0020-a.md", page("Use Redux", "superseded by ADR-0021"))
    write(team, "docs/adr/0021-b.md", page("Use Zustand"))
    committed(team)
    team.git("branch", "--force", "base")
    write(team, "notes/adr/0021-c.md", page("Use Pino"))
    write(team, "web/a.js", "import 'redux'\n")
    code, found = judged(team, tmp_path)
    assert (code, ("turned-down", "error") in rules(found)) == (1, True), found


def test_pages_of_the_base_are_read_where_the_change_can_matter_to_them(team: Project) -> None:
    """Where an entry becomes a path; what our own records hold for their sessions say."""
    decide(team, "--path", "later", intention="Store files in a database")
    write(team, "docs/adr/0001-a.md", page("Use X", more="applies-to: [payments]\n"))
    committed(team)
    team.git("branch", "--force", "base")
    for path, is_looked in (("src/c.py", False), ("later/x.py", False), ("payments/x.py", True)):
        write(team, path, "x = 1\n")
        committed(team)
        with preflights_es.open(team.folder) as log:
            request = log.request(actor="Ada", kind="user")
            found = base_side(request, read_change_set(team.folder, "base"), ()).looked
        assert ("docs/adr/0001-a.md" in found) is is_looked, path
