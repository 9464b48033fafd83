"""A feature is one folder: the rest of the program names none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from preflights_es.runtime.features import FEATURES
from tests.markdown import ROOT

ROOMS: Final = (ROOT / "preflights_es", ROOT / "cli" / "preflights_cli")
OWN: Final = "features"
"""The folder that holds a folder of each."""
WORDS: Final = ("calls",)
"""Workflows that are called like what the whole program speaks of."""
OURS: Final = "|".join(name for name, one in FEATURES.items() if one.workflow and name not in WORDS)
NAMED: Final = re.compile(rf"(?<![a-z])(?:{OURS})s?(?![a-z])", re.IGNORECASE)
ALLOWED: Final = {
    "cli/preflights_cli/commands.py": "the place of a command that is called like its workflow",
    "preflights_es/__init__.py": "the public names of three specifications",
    "preflights_es/settings/file.py": "a table of the user's own file, `[metrics] reader_url`",
    "preflights_es/settings/load.py": "the same table",
    "preflights_es/surfaces/async_api.py": "a public name: the coroutine of `recall`",
    "preflights_es/surfaces/api.py": "a public name: the workflow of `start`, where none is given",
    "preflights_es/use/use_cases.py": "the same workflow",
}
OTHERS: Final = re.compile(
    r"preflights_es\.judging\.extraction|Judging a response: extraction|jinja2\.compiler"
)
"""Taking the one JSON value out of a response is called extraction, too; a library compiles."""


def of_a_workflow(path: Path) -> bool:
    """Whether a file lies in a workflow's own folder, or is the one that a room has for it."""
    parts = path.parts
    return any(parts[n] == OWN and parts[n + 1] in FEATURES for n in range(len(parts) - 1))


def naming(path: Path) -> list[str]:
    """Lines of a file that name a workflow."""
    lines = path.read_text("utf-8").splitlines()
    return [line for line in lines if NAMED.search(OTHERS.sub("", line))]


def test_nothing_outside_the_folders_of_a_workflow_names_one() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for room in ROOMS
        for path in sorted(room.rglob("*.py"))
        if not of_a_workflow(path.relative_to(ROOT)) and (lines := naming(path))
    }
    assert {name: lines for name, lines in found.items() if name not in ALLOWED} == {}
    assert set(ALLOWED) == set(found), "an exception that is none any more goes"


def test_a_name_is_found_wherever_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    for line in (
        "from preflights_es.features.clarification.domain import WORKFLOW",
        "name = 'extraction'",
        '"""Clarifications."""',
        "import preflights_es.features.extraction.domain.events",
    ):
        file.write_text(line)
        assert naming(file) == [line]
    file.write_text("from preflights_es.judging.extraction import extracted\nextractions_max")
    assert naming(file) == ["extractions_max"]
