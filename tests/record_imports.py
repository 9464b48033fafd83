"""Golden imports: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from preflights_es.kernel.events import Evidence
from preflights_es.kernel.imports import (
    WORKFLOW,
    ProposalConfirmed,
    ProposalTaken,
    SessionsTaken,
    TakenSession,
)
from tests.record_goldens import ADA, CLAUDE, Recorder

TAKEN: Final = TakenSession("01a0c450-6c01-7000-8000-00003f9a12c4", 0, 9, "ab" * 32, accepted=True)


def sessions_are_imported_and_a_proposal_is_confirmed(r: Recorder) -> None:
    seen = Evidence(terminal=True)
    source, digest = "shop.jsonl", "cd" * 32
    r.opened(
        SessionsTaken(
            at=r.runner.now(),
            actor=ADA,
            evidence=seen,
            source=source,
            digest=digest,
            sessions=(TAKEN,),
        ),
        WORKFLOW,
    )
    proposal = ProposalTaken(
        at=r.runner.now(),
        actor=CLAUDE,
        evidence=seen,
        source=source,
        digest=digest,
        session=TAKEN,
    )
    handle = r.opened(proposal, WORKFLOW)
    confirmed = ProposalConfirmed(at=r.runner.now(), actor=ADA, session=TAKEN, evidence=seen)
    r.submitted(handle, confirmed)


GOLDENS: tuple[Callable[[Recorder], None], ...] = (
    sessions_are_imported_and_a_proposal_is_confirmed,
)
