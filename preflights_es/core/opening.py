"""What a first Input is made from, where a text is enough to begin a session."""

from __future__ import annotations

from preflights_es.core.events import Actor, Value
from preflights_es.core.lead import Setup


class Opening(Value, frozen=True, kw_only=True):
    """A text that a person typed, and all that a workflow may record beside it."""

    at: int
    """Microseconds since 1970 UTC."""
    actor: Actor
    text: str
    """Checked, and without secrets."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out, one a replacement."""
    project: str
    setup: Setup
