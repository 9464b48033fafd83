"""Answer and accept the same sessions: `python -m tests.store.answerer FOLDER DATABASE SESSION...`.

The processes are forked from one that has imported the program. Each has read every session before
any of them answers, so that what it knows of most is out of date when it comes to them, and each
takes them in an order of its own. A line says what came of an answer (`answered SESSION VALUE
DECISION...`) or of an acknowledgement (`accepted SESSION PROCESS OUTCOME`).
"""

from __future__ import annotations

import random
import sys
from contextlib import closing
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.kernel.errors import Refused
from preflights_es.use.request import Request
from tests.store.decider import app
from tests.store.mortal import acknowledge

PROCESSES: Final = 4
PATIENCE_S: Final = 60  # that the others may take; where one failed, all end


def run(program: Request, name: str, sessions: list[str], gate: Any) -> None:
    """Answer all, then accept all."""
    order = random.Random(name)
    handles = [program.process.runner.load(session_id) for session_id in sessions]
    order.shuffle(handles)
    gate.wait(PATIENCE_S)
    for handle in handles:
        (question,) = handle.workflow.shown.view(handle.session.state).questions
        value = f"{name}-{handle.session_id[-12:]}"
        step = program.sessions.answer(handle, [(question.id, [value])])
        decisions = (type(decision).__name__ for decision in step.decisions)
        acknowledge("answered", handle.session_id, value, *decisions)
    order.shuffle(sessions)
    gate.wait(PATIENCE_S)  # what is accepted takes no answer any more
    for session_id in sessions:
        acknowledge("accepted", session_id, name, _accepted(program, session_id))


def _accepted(program: Request, session_id: str) -> str:
    """The first decision, or why there is none; the document is written."""
    try:
        step = clarifications_of(program).accept(session_id)
    except Refused:
        return "Refused"
    program.process.documents.finish(step.handle)
    return type(step.decisions[0]).__name__


def one(folder: Path, database: str, name: str, sessions: list[str], gate: Any) -> None:
    """A process, from its first connection to its last."""
    with closing(app(folder, database)) as program:
        run(program, name, sessions, gate)


def main(folder: Path, database: str, sessions: list[str]) -> None:
    """All of them; fails where one does."""
    import_module("preflights_es.store.postgres")  # before the fork, not in every process
    context = get_context("fork")
    gate = context.Barrier(PROCESSES)
    processes = [
        context.Process(target=one, args=(folder, database, f"rival{n}", list(sessions), gate))
        for n in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    sys.exit(any(process.exitcode for process in processes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
