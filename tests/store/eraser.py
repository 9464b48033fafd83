"""Erases until it is killed: `python -m tests.store.eraser` reads FOLDER and DATABASE.

Each line that it prints names a session whose erasure has returned.
"""

from __future__ import annotations

import signal
from importlib import import_module
from pathlib import Path

from preflights_es.kernel.errors import ErasedSession
from preflights_es.kernel.events import Actor
from preflights_es.settings import load
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from tests.fixed import PROJECT
from tests.store.mortal import acknowledge, serve


def app(root: Path, database: str) -> Request:
    """The program in a folder, by a person named Ada."""
    found = load.load_settings(root, {"PREFLIGHTS_PROJECT": PROJECT}, database=database)
    return Request(Process(found), lambda: Actor("user", "Ada"))


def left(program: Request) -> list[str]:
    """The sessions that are not erased, the oldest first."""
    found = []
    for head in reversed(program.process.store.heads(PROJECT)):
        try:
            found.append(program.erasure.doomed(head.session_id).session_id)
        except ErasedSession:
            continue
    return found


def run(program: Request) -> None:
    """Erase all there are, and wait for the end."""
    for session_id in left(program):
        program.erasure.erase(session_id, "asked for")
        acknowledge(session_id)
        program.process.store.scrubbed()
    acknowledge("nothing-left")
    signal.pause()


if __name__ == "__main__":
    for name in ("preflights_es.store.postgres", "preflights_es.history.erasure"):
        import_module(name)  # before the fork, not in every child
    serve(lambda words: run(app(Path(words[0]), words[1])))
