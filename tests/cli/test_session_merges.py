"""Session files after branches were merged, and after kills: trouble with one holds up no other."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.clones import SESSIONS, cloned, committed, pulled, session_file
from tests.cli.program import Project


@pytest.fixture
def clone(house: Project, decided: str, tmp_path: Path) -> Project:
    """A colleague's clone of it, whose log has that session, too."""
    assert decided
    made = cloned(house, tmp_path / "clone")
    assert made.call("sync").code == 0
    return made


def brought(into: Project, other: Project, *session_ids: str) -> None:
    """Session files of another clone, as a merge brings them."""
    for session_id in session_ids:
        session_file(into, session_id).write_bytes(session_file(other, session_id).read_bytes())


# 1. Apart ------------------------------------------------------------------------------------


def test_two_that_supersede_one_decision_at_once_both_stay_in_force(
    house: Project, clone: Project, decided: str
) -> None:
    first = house.decided("Add SSO", "--supersedes", decided)["session_id"]
    second = clone.decided("Add passkeys for auth", "--supersedes", decided)["session_id"]
    third = clone.decided("Use a database", key="db_type=MySQL")["session_id"]
    brought(house, clone, decided, second, third)
    done = house.call("sync")
    assert done.code == 1  # the former decision's file is apart
    both = f"{first[-8:]} and {second[-8:]} both replace {decided[-8:]}: both are in force"
    assert both in done.err
    assert f"different events of session {decided[-8:]} from version 12 on" in done.err
    rows = house.call("decisions", "--json").json["decisions"]
    assert [row["session_id"] for row in rows] == [first, second, third]
    assert house.call("audit", "verify", "--all").code == 0


def test_a_file_that_the_log_refuses_holds_up_no_other(
    house: Project, clone: Project, decided: str
) -> None:
    alone = clone.decided("Add SSO", "--supersedes", decided)["session_id"]
    other = clone.decided("Use a database", key="db_type=MySQL")["session_id"]
    brought(house, clone, alone, other)  # and not the decision that is superseded
    done = house.call("sync", "--json")
    assert done.code == 1
    assert [one["session_id"] for one in done.json["sessions"]] == [other]
    (apart,) = done.json["apart"]
    assert (apart["session_id"], apart["compared"]) == (alone, "unread")
    assert f"{decided[-8:]} does not say so" in apart["why"]
    assert house.show(decided)["status"] == "accepted"
    brought(house, clone, decided)
    assert house.call("sync", "--yes").code == 0
    assert house.show(decided)["status"] == "superseded"


def test_the_inbox_lists_what_files_say_beyond_the_log_or_otherwise(
    house: Project, clone: Project, decided: str
) -> None:
    clone.decided("Add SSO", "--supersedes", decided)
    words = ("--answer", "db_type=MySQL", "--accept", "--again", "--json")
    proposed = clone.call("start", "Use a database", *words).json["session_id"]
    brought(house, clone, decided, proposed)
    found = house.call("inbox", "--json").json
    assert [(one["session_id"], one["compared"]) for one in found["files"]] == [(decided, "beyond")]
    (row,) = found["waiting"]
    assert (row["session_id"], row["kind"]) == (proposed, "proposal")
    assert (row["file"][-18:-6], row["command"]) == (proposed[-12:], "preflights sync")
    assert "its file goes on beyond the log" in house.call("inbox").out
    assert "no proposal waits" in house.call("accept", "--again", "--by", "Ada").err
    house.decided("Add passkeys for auth", "--supersedes", decided)
    brought(house, clone, decided)
    assert "its file and the log hold different events" in house.call("inbox").out


def test_a_record_gets_no_new_number_before_its_session_is_in_the_log(
    house: Project, clone: Project, decided: str
) -> None:
    assert decided
    house.decided("Add SSO")
    late = clone.decided("Use a database", key="db_type=MySQL")["session_id"]
    committed(house)
    committed(clone)
    pulled(house, clone)
    path = "docs/decisions/0002-use-mysql-for-the-database.md"
    for flags in ((), ("--check",)):
        done = house.call("admin", "renumber", *flags)
        assert done.code == 1
        assert f"{path} is of a session that the log does not have as its file" in done.err
        assert done.err.endswith(": run `preflights sync` first\n")
        assert (house.folder / path).exists()
    assert house.call("sync").code == 0
    assert house.call("admin", "renumber").code == 0
    assert house.show(late)["number"] == 3


def test_sync_writes_no_file_of_a_record_that_lies_in_another_work_tree(
    house: Project, decided: str, tmp_path: Path
) -> None:
    house.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "tree"))
    tree = Project(tmp_path / "tree", house.home)
    new = tree.decided("Add SSO")["session_id"]
    session_file(tree, new).unlink()
    session_file(house, decided).unlink()
    assert house.call("sync").out == "Wrote 1 session file.\n"
    assert house.git("status", "--short") == ""
    assert tree.call("sync").out == "Wrote 1 session file.\n"
    assert session_file(tree, new).exists()


def test_erasing_names_sessions_that_quote_and_lie_only_in_files(
    house: Project, decided: str, tmp_path: Path
) -> None:
    new = house.decided("Add SSO", "--supersedes", decided)["session_id"]
    committed(house)
    clone = cloned(house, tmp_path / "fresh")
    looked = clone.call("admin", "erase", decided, "--dry-run").out
    assert f"{new[-8:]}  quotes {decided[-8:]}: it replaces it" in looked
    done = clone.call("admin", "erase", decided, "--yes").out
    assert f"{new[-8:]}  quotes {decided[-8:]}: it replaces it" in done
    assert f"Not erased, though it quotes: {new[-8:]}." in done
    old = cloned(house, tmp_path / "other")
    looked_at = old.call("admin", "erase", decided, new, "--dry-run")
    assert "erasing takes over what only they have" in looked_at.err


# 2. Unfinished -------------------------------------------------------------------------------


def test_only_the_file_that_a_killed_process_wrote_is_written_again(
    house: Project, decided: str
) -> None:
    other = house.decided("Add SSO")["session_id"]
    whole = session_file(house, other).read_bytes()
    for one in (decided, other):
        session_file(house, one).write_bytes(b"".join(whole.splitlines(keepends=True)[:9]))
    (house.folder / SESSIONS / ".unfinished").write_text(other)
    assert house.call("decisions").code == 0
    assert session_file(house, other).read_bytes() == whole
    assert session_file(house, decided).read_bytes() != whole
    assert not (house.folder / SESSIONS / ".unfinished").exists()


def _linked(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _long(path: Path) -> None:
    path.write_bytes(b"x" * 10_000)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, _linked, _long])
def test_a_mark_that_a_repository_brings_does_no_harm(
    clone: Project, decided: str, make: Callable[[Path], None]
) -> None:
    make(clone.folder / SESSIONS / ".unfinished")
    for command in (("show", decided), ("decisions",), ("sync",)):
        assert clone.call(*command).err == ""
    assert clone.decided("Add SSO")["number"] == 2
