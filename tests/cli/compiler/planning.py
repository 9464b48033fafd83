"""Documents and passes for the tests of the command line."""

from __future__ import annotations

from typing import Any, Final

from tests.cli.program import Project

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
    """A pass, as JSON."""
    done = project.call("plan", *words, "--json")
    assert done.code == 3, (done.out, done.err)
    return done.json


def approved(project: Project, *passes: str) -> dict[str, str]:
    """Ids of the artifacts of passes, by pass; each is approved by a person before the next."""
    ids = {}
    for name in passes:
        ids[name] = planned(project, *name.split())["artifact"]["id"]
        done = project.call("accept", "last", "--by", "Ada", "--json")
        assert (done.code, done.json["status"]) == (0, "accepted"), (done.out, done.err)
    return ids
