"""Advice that names a command, by the code of an error, a warning or a finding.

The rest of the program says what happened; which command helps is the command line's to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

ADVICE: Final[dict[str, str]] = {}


def advised(text: str, code: str, fields: Mapping[str, Any]) -> str:
    """A text, and the command that helps, where one does."""
    return text + ADVICE[code].format(**fields) if code in ADVICE else text
