"""Where in a log an event may stand: `log := (Input Decision+)*`, and its envelope says which."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.kernel.events import Event, Input, InputQuarantined, SessionErased
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Session

SETS_ASIDE: Final = (InputQuarantined, SessionErased)
"""What may follow an Input that is undecided."""


def misplaced(session: Session[Any], event: Event, one: Stored) -> str | None:
    """Why an event cannot stand behind what a session holds; None where it can."""
    input_id = one.input_id
    if "\0" in one.decider or "\0" in one.project or (input_id and "\0" in input_id):
        return "its envelope holds NUL, which PostgreSQL does not take"
    if session.closed == "erased":
        return "it follows an erasure, which nothing can follow"
    if isinstance(event, Input):
        if input_id is None:
            return "an Input without an id"
        if one.actor_kind != event.actor.kind:
            return "its envelope names another actor than its payload"
        if session.undecided is not None and not isinstance(event, SETS_ASIDE):
            return "an Input after one that is undecided"
    elif input_id is not None:
        return "a Decision with the id of an Input"
    elif session.version == 0:
        return "a Decision that follows from no Input"
    return None
