"""Which decisions are told first of unseen intentions; a regression test since it was run once.

The author of six projects wrote what is in force, new intentions, and which decisions are right to
tell of them. The first run told of none; of 25 lines of an earlier rule 16 were right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import preflights_es
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.topics import find
from preflights_es.features.clarification.known_decisions import (
    find_known_decisions,
    read_title_statement,
)
from preflights_es.features.recall.decision_search import RecordRows, Subject, Titled
from tests.features.recall.unseen import FOLDER

PROJECTS: Final[list[dict[str, Any]]] = json.loads((FOLDER / "related.json").read_text("utf-8"))
FOUND_IN_FILES, FOUND_IN_OURS = 9, 12
"""Intentions of 36 with a related decision of which one is told."""
RIGHT: Final = 0.9  # of the lines that are told
RECORD: Final = """# {title}

* Status: accepted

## Context

{body}

## Decision

{value}, because {because}
"""


class Told(NamedTuple):
    """What was told of an intention, by the titles of the decisions, and what is right."""

    intention: str
    titles: list[str]
    right: list[str]


def judge(every: list[Told], found_min: int) -> None:
    """Nine of ten lines are right, and so many intentions get one that is."""
    lines = [(one.intention, title, title in one.right) for one in every for title in one.titles]
    found = [one.intention for one in every if {*one.titles} & {*one.right}]
    assert sum(is_right for *_, is_right in lines) >= RIGHT * len(lines), lines
    assert len(found) >= found_min, lines


@pytest.mark.slow("whole runs")
def test_records_of_another_tool_are_told_by_title_and_by_what_they_chose(tmp_path: Path) -> None:
    every = []
    for number, project in enumerate(PROJECTS):
        root = tmp_path / str(number)
        folder = root / "docs" / "decisions"
        folder.mkdir(parents=True)
        titles = {one["id"]: one["title"] for one in project["decisions"]}
        paths = {}
        for at, one in enumerate(project["decisions"], 1):
            paths[f"docs/decisions/{at:04}-record.md"] = one["title"]
            (folder / f"{at:04}-record.md").write_text(RECORD.format(**one), "utf-8")
        with preflights_es.open(root, database=str(root / "log.db")) as log:
            request = log.request()
            tables = request.process.settings.of(WORKFLOW)
            for one in project["intentions"]:
                lines = find_known_decisions(
                    request, RecordRows(request.process), one["intention"], tables
                )
                told = [paths[line.path] for line in lines]
                every.append(Told(one["intention"], told, [titles[id_] for id_ in one["related"]]))
    judge(every, FOUND_IN_FILES)


def test_decisions_of_ours_are_told_by_title_value_and_scope() -> None:
    every = []
    for project in PROJECTS:
        ours = [
            Titled(
                one["title"],
                (one["value"],),
                one["scope"],
                read_title_statement(one["title"]).category,
            )
            for one in project["decisions"]
        ]
        titles = {one["id"]: one["title"] for one in project["decisions"]}
        for one in project["intentions"]:
            found = find(one["intention"])
            subject = Subject(one["intention"], found, found.scope)
            told = [other.title for other in ours if subject.is_of(other)]
            every.append(Told(one["intention"], told, [titles[id_] for id_ in one["related"]]))
    judge(every, FOUND_IN_OURS)
