"""What a person should know of something that went well: a warning, as a value."""

from __future__ import annotations

from typing import Any

import msgspec


class Notice(msgspec.Struct, frozen=True):
    """A warning; advice that names a command is its reader's to add."""

    code: str
    """Stable, in snake case: what happened."""
    text: str
    """The same in words."""
    fields: dict[str, Any] = {}
    """The values that the text names, to word it again."""
