"""Takes decisions until it is killed: `python -m tests.store.decider` reads FOLDER and DATABASE.

Each line that it prints names a session and what was acknowledged of it: `started`, `answered`,
`accepted`, `finished`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.kernel.events import Actor
from preflights_es.settings import load
from preflights_es.store.core_statements import rooms
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from tests.store.mortal import acknowledge, serve

PROJECT = "crashing"


def app(root: Path, database: str = "log.db") -> Request:
    """The program in a folder, by a person named Ada; a file of the log lies in the folder."""
    found = load.load_settings(
        root,
        {"PREFLIGHTS_PROJECT": PROJECT, "PREFLIGHTS_ACTOR": "user:Ada"},
        database=database if "://" in database else str(root / database),
    )
    return Request(Process(found), lambda: Actor("user", "Ada"))


def run(
    program: Request,
    turns: Iterable[int] | None = None,
    tell: Callable[[str, str], None] = acknowledge,
) -> None:
    """Decide, records and tasks in turn; for ever, unless there are so many turns."""
    for turn in turns or count(1):
        intention, key, value = (
            ("Add a login to the shop", "auth_strategy", "OAuth")
            if turn % 2
            else ("Improve the ui of the shop", "frontend_framework", "Vue")
        )
        sessions = clarifications_of(program)
        step = sessions.open(
            NewSession(f"{intention}, take {turn}", mark="" if turn % 2 else "task"),
            program.setup(WORKFLOW),
            program.process.settings.of(WORKFLOW),
        )
        session_id = step.handle.session_id
        tell("started", session_id)
        sessions.answer(step.handle, [(key, [value])])
        tell("answered", session_id)
        accepted = sessions.accept(session_id)
        tell("accepted", session_id)
        program.process.documents.finish(accepted.handle)
        tell("finished", session_id)


def warm_up() -> None:
    """Import and compile before the fork what else every child would, and be killed at it."""
    import_module("preflights_es.store.postgres")
    rooms("postgresql")
    with TemporaryDirectory() as folder, closing(app(Path(folder))) as program:
        run(program, (1, 2), lambda *_: None)


if __name__ == "__main__":
    warm_up()
    serve(lambda words: run(app(Path(words[0]), words[1])))
