"""A repository's settings file that says what is its user's is refused by each command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.program import Project
from tests.each import each

READING = (
    ("sessions",),
    ("show",),
    ("decisions",),
    ("usage",),
    ("note", "list"),
    ("audit", "verify"),
    ("admin", "db", "status"),
    ("admin", "export", "--all"),
    ("admin", "projections", "status"),
)


@pytest.fixture
def clone(house: Project, tmp_path: Path) -> Project:
    """A repository whose settings file names an actor and a log; its person has a home alone."""
    (tmp_path / "home").mkdir()
    (house.folder / "preflights.toml").write_text('actor = "Eve"\ndatabase = "evil.db"\n')
    return Project(house.folder, tmp_path / "home")


@each("words", READING)
def test_a_clones_settings_are_refused_in_one_line_by_what_reads(
    clone: Project, words: tuple[str, ...]
) -> None:
    done = clone.call(*words)
    assert (done.code, done.out) == (2, "")
    own = clone.home / ".config" / "preflights" / "settings.toml"
    assert done.err == (
        "preflights: preflights.toml, line 1: actor: no repository says this: take it out, or "
        f"move it to {own}\n"
    )
    assert not list(clone.folder.glob("evil.db*"))
    assert not (clone.home / ".config").exists()


@pytest.mark.parametrize("words", READING, ids=" ".join)
@pytest.mark.parametrize("target", ["/dev/zero", "fifo", "../outside.toml", "docs"])
def test_a_clones_odd_settings_are_one_line_of_what_reads(
    clone: Project, words: tuple[str, ...], target: str
) -> None:
    os.mkfifo(clone.folder / "fifo")
    (clone.folder / "docs").mkdir()
    (clone.folder.parent / "outside.toml").write_text("")
    (clone.folder / "preflights.toml").unlink()
    (clone.folder / "preflights.toml").symlink_to(target)
    done = clone.call(*words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done
    assert done.err.startswith("preflights: preflights.toml ")
