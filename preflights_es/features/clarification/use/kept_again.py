"""Sessions that ended with a decision in force: it was asked again, and kept."""

from __future__ import annotations

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import DecisionKept
from preflights_es.features.clarification.domain.state import State
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ids import iso
from preflights_es.use.request import Request
from preflights_es.use.results import Who
from preflights_es.use.why_results import AskedAgain


def asked_again(request: Request) -> dict[str, tuple[AskedAgain, ...]]:
    """Oldest first, by the session of the decision, or by the path of another tool's record."""
    process, found = request.process, dict[str, list[AskedAgain]]()
    for row in process.projector.rows("sessions", process.project):
        if (row["workflow"], row["status"]) != (WORKFLOW.name, "stopped"):
            continue
        session_id = row["session_id"]
        try:
            if all(one.type != DecisionKept.tag for one in process.store.read(session_id)):
                continue  # nothing of it has to be folded
            state: State = process.runner.load(session_id).session.state
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        if (kept := state.keeps) is None:
            continue
        again = AskedAgain(
            session_id=session_id,
            intention=state.intention,
            by=Who.of(kept.actor),
            relayed_by=Who.of(kept.relayed_by),
            at=iso(kept.at),
        )
        found.setdefault(kept.kept.session_id or kept.path, []).append(again)
    return {key: tuple(sorted(those, key=lambda one: one.at)) for key, those in found.items()}
