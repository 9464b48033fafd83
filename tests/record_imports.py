"""Golden imports: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

from typing import Final

from preflights_es.kernel.events import Evidence
from preflights_es.words.imports import WORKFLOW, SessionsTaken, TakenSession
from tests.record_goldens import ADA, Recorder

TAKEN: Final = TakenSession("01a0c450-6c01-7000-8000-00003f9a12c4", 0, 9, "ab" * 32, accepted=True)


def sessions_are_imported(r: Recorder) -> None:
    taken = SessionsTaken(
        at=r.runner.now(),
        actor=ADA,
        evidence=Evidence(terminal=True),
        source="shop.jsonl",
        digest="cd" * 32,
        sessions=(TAKEN,),
    )
    r.opened(taken, WORKFLOW)
