"""Makes new logs until it is killed: `python -m tests.store.opener` reads FOLDER from stdin."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from preflights_es.store import migrate
from preflights_es.store.sql import SqlStore
from tests.store.mortal import acknowledge, serve


def run(folder: Path) -> None:
    """Make logs for ever."""
    assert migrate.script_location().is_dir(), "imported before the fork"
    for n in count():
        SqlStore(str(folder / f"{n}.db"), int, bytes).close()
        acknowledge(n)


if __name__ == "__main__":
    serve(lambda words: run(Path(words[0])))
