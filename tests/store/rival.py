"""Do what they are told at the same moment.

`python -m tests.store.rival FOLDER DATABASE IN:OUT...`: for each pair of file descriptors there is
a child, which has forgotten everything but its imports. Each line that comes in is a verb and its
words; each line that goes out says what came of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.kernel.errors import PreflightsError
from preflights_es.use.request import Request
from tests.store.decider import app


def answer(program: Request, session_id: str, key: str, value: str) -> list[str]:
    """Load as a command does, then answer."""
    handle = program.process.runner.load(session_id)
    step = program.sessions.answer(handle, [(key, [value])])
    return [type(decision).__name__ for decision in step.decisions]


def accept(program: Request, session_id: str) -> list[str]:
    """Acknowledge, and write the document."""
    step = clarifications_of(program).accept(session_id)
    program.process.documents.finish(step.handle)
    return [type(decision).__name__ for decision in step.decisions]


def finish(program: Request) -> list[str]:
    """Write what is open."""
    return [handle.session_id for handle in program.process.finish_pending()]


def look(program: Request, session_id: str, times: str) -> list[str]:
    """Load the session again and again, while others write."""
    versions = [program.process.runner.load(session_id).version for _ in range(int(times))]
    assert versions == sorted(versions)
    return [str(versions[-1])]


VERBS: dict[str, Callable[..., list[str]]] = {
    "answer": answer,
    "accept": accept,
    "finish": finish,
    "look": look,
}


def obey(program: Request, orders: TextIO, reports: TextIO) -> None:
    """Until the orders end."""
    for line in orders:
        verb, *words = line.split()
        try:
            found = VERBS[verb](program, *words)
        except PreflightsError as error:
            found = [type(error).__name__]
        print(" ".join(found), file=reports, flush=True)
    program.process.close()


def main(folder: Path, database: str, pairs: list[str]) -> None:
    """One child a pair; done when all of them are."""
    for pair in pairs:
        if os.fork() == 0:
            into, out = map(int, pair.split(":"))
            with os.fdopen(into) as orders, os.fdopen(out, "w") as reports:
                obey(app(folder, database), orders, reports)
            os._exit(0)
    statuses = [os.wait()[1] for _ in pairs]
    sys.exit(any(statuses))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
