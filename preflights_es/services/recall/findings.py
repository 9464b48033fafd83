"""What the rules find between what is proposed and one older decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from preflights_es.core.artifacts import Related
from preflights_es.core.errors import PreflightsError
from preflights_es.core.evolution import Finding
from preflights_es.core.source import Source
from preflights_es.services.process import Process
from preflights_es.workflows.clarification.state import State
from preflights_es.workflows.recall.evolution import Decision, evolution

if TYPE_CHECKING:
    from preflights_es.services.recall.comparing import Older


def finding(process: Process, state: State, old: Older) -> Finding | None:
    """How the one stands to the other; None where it does not, or the older one cannot be read."""
    assert state.patch is not None, "only a patch is compared"
    new = Decision(
        category=state.patch.category, fields=state.patch.fields, intention=state.intention
    )
    former = Decision(category=old.category, fields=old.fields, uid=old.uid, number=old.number)
    stands = evolution(new, former)
    if stands == "none":
        return None
    try:
        read = process.runner.load(old.session_id)
    except PreflightsError:
        return None  # it was erased or damaged meanwhile
    return Finding(
        related=Related(old.uid, old.title, old.number, old.session_id),
        category=old.category,
        fields=old.fields,
        accepted_at=max(old.acknowledged_at, 0),
        evolution=stands,
        by="rules",
        source=Source(read.session_id, read.version, read.hash.hex()),
    )
