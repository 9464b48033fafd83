"""Artifacts of a small project, made by the reference and approved by a person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import preflights_es
from preflights_es.services.request import Request
from tests.cli.program import Project

PLANS: Final = Path(".preflights", "artifacts")
SESSIONS: Final = PLANS / ".sessions"
DOCUMENTS: Final = {
    "requirements.md": "# Shop\n\n## Users\nA user registers.\n\n## Orders\nA user orders.\n",
    "constraints.md": "# Constraints\n\nPython, in a clean architecture.\n",
    "glossary.md": "# Glossary\n\nUser: a person who buys.\n",
}


def documented(project: Project) -> Project:
    """The project with the documents that passes read."""
    (project.folder / ".preflights").mkdir(exist_ok=True)
    for name, text in DOCUMENTS.items():
        (project.folder / ".preflights" / name).write_text(text)
    return project


def drafted(project: Project, *words: str) -> Any:
    """A new draft as JSON: of the project, or of the pass that the words name."""
    done = project.call("plan", *(words or ("project",)), "--provider", "mock", "--json")
    assert done.code == 3, done.err
    return done.json


def approved(project: Project, *words: str) -> Any:
    """The same, approved by Ada."""
    session_id = drafted(project, *words)["session_id"]
    done = project.call("accept", session_id, "--by", "Ada", "--json")
    assert done.code == 0, done.err
    return done.json


def plan_file(project: Project, plan: Any) -> Path:
    """Where the file of an artifact lies."""
    artifact = plan["artifact"]
    return project.folder / PLANS / f"{artifact['type']}-{artifact['id']}.json"


def session_file(project: Project, plan: Any) -> Path:
    """Where its session lies beside it."""
    return project.folder / SESSIONS / f"{plan['session_id'][-12:]}.jsonl"


@contextmanager
def requested(project: Project) -> Iterator[Request]:
    """A person's request in the project."""
    with project._surroundings({}), preflights_es.open(project.folder) as log:
        yield log.request(actor="Ada", kind="user")
