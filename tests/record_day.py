"""Writes what an agent is told before each task anew: `python -m tests.record_day`.

Read the difference before you commit it: it is what agents will work by.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tests.agents_day.repository import made
from tests.agents_day.tasks import TASKS
from tests.agents_day.telling import FOLDER, day
from tests.cli.conftest import GIT_CONFIG
from tests.cli.program import environment


def main() -> None:
    with tempfile.TemporaryDirectory() as top:
        home = Path(top) / "home"
        home.mkdir()
        (home / ".gitconfig").write_text(GIT_CONFIG)
        os.environ.update(environment(home))
        project = made(Path(top) / "parcelwise", home)
        FOLDER.mkdir(exist_ok=True)
        for task in TASKS:
            (FOLDER / f"{task.name}.txt").write_text(day(project, task))


if __name__ == "__main__":
    main()
