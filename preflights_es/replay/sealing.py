"""A child as a session of its own, to be kept in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from preflights_es.core.ports import Stored
from preflights_es.store.chain import GENESIS, digest, link, stream_prefix


def sealed_as(
    session_id: str, events: Sequence[Stored], salt: Callable[[], bytes]
) -> tuple[Stored, ...]:
    """The same events under another id, salted and chained anew; their payloads stay byte for byte.

    The ids of Inputs stay too: a log that has the recorded session refuses its child.
    """
    first = events[0]
    prefix = stream_prefix(session_id, first.project, first.workflow)
    previous, made = GENESIS, []
    for event in events:
        assert event.data is not None, "what was erased was not run again"
        grain = salt()
        named = replace(event, session_id=session_id, salt=grain, digest=digest(grain, event.data))
        previous = link(previous, prefix, named)
        made.append(replace(named, hash=previous))
    return tuple(made)
