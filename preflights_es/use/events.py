"""The events of one session, as they are stored and as they are read."""

from __future__ import annotations

from collections.abc import Sequence

from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.events import Event
from preflights_es.kernel.ports import Stored
from preflights_es.store import chain
from preflights_es.store.codec import Codec
from preflights_es.use.looking import looking
from preflights_es.use.request import Request
from preflights_es.use.results import Result


class Recorded(Result, frozen=True):
    """What the log has of a session, also of a damaged one."""

    stored: Sequence[Stored]
    events: tuple[Event | LogDamaged | None, ...]
    """In place of an event, the error of reading it, or None where its payload is gone."""
    damage: LogDamaged | None
    """Why its chain does not hold, or else the first event that cannot be read."""


def log(request: Request, session: str, *, decodes: bool = True) -> Recorded:
    """The events of a session.

    Args:
        decodes: whether the events are wanted, and not only what is stored.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        AnotherVersion: another version wrote it.
    """
    request = looking(request, session)
    store, runner = request.process.store, request.process.runner
    session_id = request.sessions.resolved(session)
    head = store.head(session_id)  # before the events: a session may grow meanwhile
    stored = store.read(session_id)
    events: tuple[Event | LogDamaged | None, ...] = ()
    if decodes and stored:
        codec = runner.codec(runner.workflow_or_opaque(stored[0].workflow))
        events = tuple(_decoded(codec, one) for one in stored)
    damage = next((one for one in events if isinstance(one, LogDamaged)), None)
    try:
        chain.verified(stored, head.hash if head else None)
    except LogDamaged as error:
        damage = error
    return Recorded(stored=stored, events=events, damage=damage)


def _decoded(codec: Codec, one: Stored) -> Event | LogDamaged | None:
    if one.data is None:
        return None
    try:
        return codec.decode(one)
    except LogDamaged as error:
        return error
    except TypeError as error:  # a database keeps what it is given, whatever the column's type
        return LogDamaged(
            f"session {one.session_id}", one.version, f"its payload cannot be read: {error}"
        )
