"""Takes decisions until it is killed: `python -m tests.store.decider` reads FOLDER and DATABASE.

Each line that it prints names a session and what was acknowledged of it: `started`, `answered`,
`accepted`, `finished`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from preflights_es.bootstrap import App
from preflights_es.core.events import Actor
from preflights_es.settings import load
from preflights_es.workflows.clarification import WORKFLOW
from tests.store.mortal import acknowledge, serve

PROJECT = "crashing"


def app(root: Path, database: str = "log.db") -> App:
    """The program in a folder, by a person named Ada; a file of the log lies in the folder."""
    found = load.load_settings(
        root,
        {"PREFLIGHTS_PROJECT": PROJECT, "PREFLIGHTS_ACTOR": "user:Ada"},
        database=database if "://" in database else str(root / database),
    )
    return App(found, Actor("user", "Ada"))


def run(program: App) -> None:
    """Decide for ever: records and tasks in turn."""
    turn = 0
    while True:
        turn += 1
        intention, key, value = (
            ("Add a login to the shop", "auth_strategy", "OAuth")
            if turn % 2
            else ("Improve the ui of the shop", "frontend_framework", "Vue")
        )
        sessions = program.clarifications
        step = sessions.open(
            f"{intention}, take {turn}", program.setup(WORKFLOW), program.settings.heuristics
        )
        session_id = step.handle.session_id
        acknowledge("started", session_id)
        sessions.answer(step.handle, [(key, [value])])
        acknowledge("answered", session_id)
        accepted = sessions.accept(session_id)
        acknowledge("accepted", session_id)
        program.documents.finish(accepted.handle)
        acknowledge("finished", session_id)


if __name__ == "__main__":
    import_module("preflights_es.store.postgres")  # before the fork, not in every child
    serve(lambda words: run(app(Path(words[0]), words[1])))
