"""`init --plans`: the documents that plans are made from, begun and never written over."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.cli.program import Project

NAMES = tuple(f".preflights/{name}.md" for name in ("requirements", "constraints", "glossary"))


def begun(project: Project, *options: str) -> tuple[int, Any]:
    """The exit code, and the files by path."""
    done = project.call("init", "--plans", *options, "--json")
    return done.code, {one["path"]: one for one in done.json["files"]}


def test_the_three_documents_are_begun_once(empty: Project) -> None:
    code, files = begun(empty)
    assert (code, tuple(files)) == (0, NAMES)
    assert all(one["written"] for one in files.values())
    for path, one in files.items():
        assert (empty.folder / path).read_text() == one["content"]
    code, files = begun(empty)
    assert (code, {one["state"] for one in files.values()}) == (0, {"present"})
    assert not (empty.folder / ".git" / "preflights").exists()


def test_whatever_lies_there_stays(empty: Project, tmp_path: Path) -> None:
    folder = empty.folder / ".preflights"
    folder.mkdir()
    (folder / "requirements.md").write_bytes(b"\xff mine")
    (folder / "constraints.md").symlink_to(tmp_path / "nowhere.md")
    os.mkfifo(folder / "glossary.md")
    code, files = begun(empty)
    assert (code, [one["written"] for one in files.values()]) == (0, [False] * 3)
    assert (folder / "requirements.md").read_bytes() == b"\xff mine"
    assert not (tmp_path / "nowhere.md").exists()


def test_no_link_to_another_folder_is_followed(empty: Project, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (empty.folder / ".preflights").symlink_to(tmp_path / "away")
    done = empty.call("init", "--plans")
    assert (done.code, done.err.count("\n")) == (5, 1)
    assert ".preflights/requirements.md cannot be written: " in done.err
    assert list((tmp_path / "away").iterdir()) == []


def test_they_lie_where_the_settings_say(empty: Project) -> None:
    (empty.folder / "preflights.toml").write_text('[plans]\nglossary = "docs/words.md"\n')
    code, files = begun(empty)
    assert (code, tuple(files)) == (0, (*NAMES[:2], "docs/words.md"))
    assert (empty.folder / "docs" / "words.md").exists()


def test_both_kinds_of_files_are_written_by_one_call_and_one_of_them_is_needed(
    empty: Project,
) -> None:
    assert len(begun(empty, "--ci", "github")[1]) == 6, "also the id of the repository"
    empty.call("init").refused(2, "name one (--agent claude), or say --ci github, or --plans")
