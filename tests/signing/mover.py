"""Another program that works on a log while a person looks for a key."""

from __future__ import annotations

import sys
from pathlib import Path

import preflights_es
from preflights_es.features.clarification.domain.events import DecisionRenumbered
from preflights_es.kernel.events import Actor


def main(folder: str, database: str, session: str) -> None:
    """Let a session move by an event."""
    with preflights_es.open(Path(folder), database=database or None) as log:
        runner = log.request(actor="Bob", kind="user").process.runner
        new = DecisionRenumbered(at=runner.now(), actor=Actor("user", "Bob"), number=77)
        runner.submit(runner.load(session), new, runner.new_id())


if __name__ == "__main__":
    main(*sys.argv[1:])
