"""An agent's day: what it is told before each of ten tasks is the text that stands in a file.

The files are written by `python -m tests.record_day`, to be read by people before a commit.
"""

from __future__ import annotations

import pytest

from tests.agents_day.repository import DECISIONS, RECORDS
from tests.agents_day.tasks import TASKS, Task
from tests.agents_day.telling import FOLDER, day
from tests.cli.program import Project


@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_an_agent_is_told_what_the_file_says(parcelwise: Project, task: Task) -> None:
    assert day(parcelwise, task) == (FOLDER / f"{task.name}.txt").read_text()


def test_every_file_is_of_a_task() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == [task.name for task in TASKS]
    assert (len(DECISIONS), len(RECORDS)) == (20, 5)
