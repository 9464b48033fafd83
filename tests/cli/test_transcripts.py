"""`transcripts`: old conversations of agents, and `inbox` where a person confirms them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.program import Project
from tests.cli.terminal import terminal
from tests.features.agents.transcripts.writing import laid
from tests.trusting import git_repository


@pytest.fixture
def shop(tmp_path: Path, house: Project) -> Project:
    """A repository with an old conversation, and a person whose home is new."""
    made = Project(house.folder, tmp_path / "home")
    shutil.copytree(house.home, made.home)
    shutil.rmtree(made.home / ".claude", ignore_errors=True)
    laid(made.home, made.folder)
    return made


def test_a_dry_run_records_nothing(shop: Project) -> None:
    before = shop.recorded()
    done = shop.call("transcripts", "claude", "--dry-run")
    assert done.code == 0
    assert "2 decisions to propose." in done.out
    assert "timed out" in done.out
    assert shop.recorded() == before
    assert shop.call("inbox").out == "Nothing waits.\n"


def test_a_dry_run_makes_no_log(shop: Project) -> None:
    shutil.rmtree(shop.log.parent)
    assert shop.call("transcripts", "claude", "--dry-run").code == 0
    assert not shop.log.exists()


def test_what_was_decided_is_proposed_once_and_confirmed(shop: Project) -> None:
    done = shop.call("transcripts", "claude")
    assert (done.code, done.out.splitlines()[0]) == (0, "2 decisions proposed.")
    again = shop.call("transcripts", "claude").out
    assert again.splitlines()[0] == "0 decisions proposed, 2 decisions proposed before."
    assert shop.call("decisions").out == "Nothing is in force here.\n"
    assert shop.call("inbox", "--all").code == 2
    assert shop.call("inbox", "--by", "Ada").code == 2
    done = shop.call("inbox", "--all", "--by", "Ada")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Confirmed 2 of 2 proposals.")
    assert "Type      PostgreSQL  (" in done.out
    records = sorted(path.name for path in (shop.folder / "docs" / "decisions").glob("*.md"))
    assert [name[:4] for name in records] == ["0001", "0002"]
    assert "postgresql" in records[0], "the older one has the smaller number"
    assert shop.call("inbox", "--all", "--by", "Ada").out == "No proposal waits.\n"


def test_what_another_clone_has_confirmed_is_known_by_its_files(shop: Project) -> None:
    shop.call("transcripts", "claude")
    assert shop.call("inbox", "--all", "--by", "Ada").code == 0
    shop.log.unlink()
    said = "0 decisions to propose, 2 decisions proposed before."
    assert shop.call("transcripts", "claude", "--dry-run").out.startswith(said)
    assert shop.call("sync").code == 0
    assert shop.call("transcripts", "claude", "--dry-run").out.startswith(said)


def test_the_inbox_as_json_is_what_still_waits(shop: Project) -> None:
    shop.call("transcripts", "claude")
    assert len(shop.call("inbox", "--json").json["waiting"]) == 2
    done = shop.call("inbox", "--all", "--by", "Ada", "--json")
    assert (done.code, done.json["format"], done.json["waiting"]) == (0, "inbox/1", [])


def test_a_proposal_that_contradicts_a_decision_waits_for_a_choice(shop: Project) -> None:
    file = next((shop.home / ".claude").rglob("*.jsonl"))
    other = file.read_text().replace("toolu_", "later_").replace('"PostgreSQL"}}', '"MongoDB"}}')
    file.with_name("c2.jsonl").write_text(other.replace("2026-", "2027-"))
    assert shop.call("transcripts", "claude").out.startswith("4 decisions proposed.")
    done = shop.call("inbox", "--all", "--by", "Ada")
    assert (done.code, done.out.splitlines()[-1]) == (3, "Confirmed 3 of 4 proposals.")
    (waiting,) = shop.call("inbox", "--json").json["waiting"]
    assert done.err.count("is not confirmed") == 1
    assert "'Use PostgreSQL for the database'" in done.err
    assert f"preflights accept {waiting['session_id'][-8:]}" in done.err


def test_an_agent_confirms_nothing(shop: Project) -> None:
    env = {"CLAUDECODE": "1"}
    assert shop.call("transcripts", "claude", env=env).code == 0
    done = shop.call("inbox", "--all", "--by", "Ada", env=env)
    assert done.code == 1
    assert "an agent (claude-code; CLAUDECODE is set) cannot confirm a proposal" in done.err
    assert shop.call("decisions").out == "Nothing is in force here.\n"


def test_a_person_confirms_them_one_by_one(shop: Project) -> None:
    shop.call("transcripts", "claude")
    with terminal(shop, "inbox") as t:
        t.expect("Look at 2 proposals now, one by one")
        t.type("y")
        seen = t.proposal()
        before = seen.partition("For what?")[0]
        assert "1 of 2:\nWhich database holds the orders?" in before
        assert "proposed by " in before
        assert "PostgreSQL  (chosen" in before
        t.press("a")
        t.expect("2 of 2:")
        t.proposal()
        t.press("l")
        assert t.code() == 0
    assert "PostgreSQL" in shop.call("decisions").out
    (waiting,) = shop.call("inbox", "--json").json["waiting"]
    assert waiting["intention"] == "Where do sessions live?"
    with terminal(shop, "inbox", "--all") as t:
        assert "Redis" in t.expect("Confirm 1 proposal")
        t.end()
        assert t.code() == 3


def test_conversations_in_every_work_tree_of_the_repository_count(shop: Project) -> None:
    shop.git("-c", "user.email=a@b.c", "commit", "--quiet", "--allow-empty", "-m", "Begin")
    tree = shop.folder.parent / "tree"
    shop.git("worktree", "add", "--quiet", str(tree))
    linked = Project(tree, shop.home)
    assert linked.call("transcripts", "claude", "--dry-run").out.startswith("2 decisions")
    file = next((shop.home / ".claude").rglob("*.jsonl"))
    moved = file.read_text().replace(f'"{shop.folder}', f'"{tree}').replace("toolu_", "t_")
    laid(shop.home, tree).write_text(moved)
    found = shop.call("transcripts", "claude", "--json").json
    assert [one["came"] for one in found["questions"]].count("new") == 4
    assert found["questions"][1]["files"] == ["orders.py"]


def test_a_folder_that_git_alone_calls_ours_is_not(shop: Project) -> None:
    file = next((shop.home / ".claude").rglob("*.jsonl"))
    other = git_repository(shop.folder.parent / "other")
    file.write_text(file.read_text().replace(f'"{shop.folder}', f'"{other}'))
    named = shop.folder / ".git" / "worktrees" / "x"
    named.mkdir(parents=True)
    for claim in (other / ".git", Path("/.git")):
        (named / "gitdir").write_text(f"{claim}\n")
        found = shop.call("transcripts", "claude", "--dry-run", "--json").json
        assert (found["questions"], found["read"]["elsewhere"]) == ([], 3)


def test_a_transcript_of_another_agent_is_told(shop: Project) -> None:
    done = shop.call("transcripts", "codex", str(shop.home / ".claude"))
    assert done.code == 0
    assert "no line is one of codex" in done.err


def test_without_transcripts_it_says_where_it_looked(shop: Project) -> None:
    done = shop.call("transcripts", "codex")
    assert done.code == 1
    assert "no transcripts of this project" in done.err
    assert shop.call("transcripts", "gemini").code == 2


def test_what_a_transcript_says_moves_no_terminal(shop: Project) -> None:
    file = next((shop.home / ".claude").rglob("*.jsonl"))
    text = file.read_text()
    text = text.replace("Which database", "\\u001b[2J\\u202eWhich\\u009b database")
    file.write_text(text.replace('"PostgreSQL"', '"Postgre\\u001b[31mSQL\\u0007"'))
    for words in (("--dry-run",), (), ("--json",)):
        done = shop.call("transcripts", "claude", *words)
        assert done.code == 0
        assert done.is_safe()
    assert shop.call("inbox").is_safe()
