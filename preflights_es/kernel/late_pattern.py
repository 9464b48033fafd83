"""Regular expressions that are compiled when they are first used, not when a command starts."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def late_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives; a command uses few of those that its modules name."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: Any, flags: int) -> None:
        self._said = pattern, flags

    def __getattr__(self, name: str) -> object:
        found = getattr(re.compile(*self._said), name)
        setattr(self, name, found)  # found at once from now on
        return found
