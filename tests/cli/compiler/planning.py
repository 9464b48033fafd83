"""Documents, passes and artifacts for the tests of the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import preflights_es
from preflights_es.use.request import Request
from tests.cli.program import Project
from tests.providers import server
from tests.providers.server import FakeAPI

PLANS: Final = Path(".preflights", "artifacts")
SESSIONS: Final = PLANS / ".sessions"
DOCUMENTS: Final = {
    "requirements": "# Shop\n\n## Billing\n\nA customer pays an invoice.\n\n## Catalogue\n\nA "
    "customer searches books.\n",
    "constraints": "# Constraints\n\nPython, in a hexagonal architecture.\n",
    "glossary": "# Glossary\n\nInvoice: what a customer owes.\n",
}


def documented(project: Project, **changed: str) -> Project:
    """With the three documents.

    Args:
        changed: another text of one of them.
    """
    folder = project.folder / ".preflights"
    folder.mkdir(exist_ok=True)
    for name, text in {**DOCUMENTS, **changed}.items():
        (folder / f"{name}.md").write_text(text)
    return project


def planned(project: Project, *words: str) -> Any:
    """A pass, as JSON: of the project, or the one that the words name."""
    done = project.call("plan", *(words or ("project",)), "--json")
    assert done.code == 3, (done.out, done.err)
    return done.json


def approved(project: Project, *passes: str) -> dict[str, str]:
    """Ids of the artifacts of passes, by pass; each is approved by a person before the next."""
    ids = {}
    for name in passes:
        ids[name] = planned(project, *name.split())["artifact"]["id"]
        done = project.call("accept", project.newest(), "--by", "Ada", "--json")
        assert (done.code, done.json["status"]) == (0, "accepted"), (done.out, done.err)
    return ids


def accepted(project: Project, *words: str) -> Any:
    """One pass as JSON, approved by Ada."""
    session_id = planned(project, *words)["session_id"]
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


def begun(project: Project) -> Any:
    """The first event of the last session."""
    return project.events()[0]["data"]


def sessions(project: Project) -> Any:
    """All that the log has."""
    return project.call("sessions", "--all", "--workflow", "compiler", "--json").json["sessions"]


LACKS: Final = {"error": "missing_information", "details": "Which domains are there?"}


def asked(project: Project, api: FakeAPI, *then: Any) -> dict[str, str]:
    """A pass whose model lacks information.

    Args:
        then: payloads that the model answers next.

    Returns:
        The environment in which the session goes on.
    """
    api.script(*(server.text(json.dumps(one)) for one in (LACKS, *then)))
    env = {
        "OPENAI_API_KEY": "sk-test-0123456789",
        "PREFLIGHTS_BASE_URL": api.openai,
        "PREFLIGHTS_PROVIDER": "openai",
        "PREFLIGHTS_MODEL": "gpt-5.1-mini",
    }
    done = documented(project).call("plan", "project", "--json", env=env)
    assert (done.code, done.json["status"]) == (3, "needs_answers"), done.err
    return env
