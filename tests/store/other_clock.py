"""The program by another clock: `python -m tests.store.other_clock FOLDER HOME`.

Each line of stdin is a JSON object: `at` (microseconds since 1970 UTC), `step` (by how many the
clock moves at every look) and `words`, a command. Each line of stdout is its code and what it said.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from preflights_es.kernel import ids
from preflights_es.system import clock_ids
from tests.cli.program import Project


class Told:
    """A clock that says what it was told."""

    at = step = 0

    def now(self) -> int:
        """Microseconds since 1970 UTC."""
        self.at += self.step
        return self.at

    def new_id(self) -> str:
        """By the same clock."""
        return ids.uuid7(self.now() // 1_000, os.urandom(10))


def main(project: Project) -> None:
    """One command after the other, in one process."""
    clock = Told()
    clock_ids.now, clock_ids.new_id = clock.now, clock.new_id
    for line in sys.stdin:
        told = json.loads(line)
        clock.at, clock.step = told["at"], told["step"]
        print(json.dumps(project.call(*told["words"])), flush=True)


if __name__ == "__main__":
    main(Project(Path(sys.argv[1]), Path(sys.argv[2])))
