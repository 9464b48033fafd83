"""Clones of one repository, each with a log of its own, that exchange records through git."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import Project

SESSIONS = Path("docs", "decisions", ".sessions")
FIRST = (
    "Sessions are kept beside the records, for your team: docs/decisions/.sessions. "
    "`[records] sessions = false` turns it off.\n"
)
"""What the first session file of a folder says."""

WENT = "Records go to docs/decisions; `decisions` in preflights.toml changes that\n"
"""What the first record says."""

ERASED = (
    "warning: {} erased: commit this. Git's history keeps the text: `git filter-repo "
    "--invert-paths --path FILE` purges it, if every clone is made anew\n"
)
"""What an erasure says of session files."""


def committed(project: Project, message: str = "Decide") -> None:
    """All of the work tree, in a commit."""
    project.git("add", "--all")
    project.git("commit", "--quiet", "--allow-empty", "--message", message)


def cloned(project: Project, folder: Path) -> Project:
    """A clone in which the program never ran."""
    made = Project(folder, project.home)
    project.git("clone", "--quiet", ".", str(folder))
    return made


def pulled(into: Project, other: Project) -> None:
    """What another clone has committed, merged."""
    into.git("pull", "--quiet", "--no-rebase", "--no-edit", str(other.folder), "main")


def session_file(project: Project, session_id: str) -> Path:
    """Where a session lies beside the records."""
    return project.folder / SESSIONS / f"{session_id[-12:]}.jsonl"
