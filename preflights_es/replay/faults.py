"""What deciding or folding an event raises, with its place."""

from __future__ import annotations

import traceback

import msgspec


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Deciding or folding an event raises."""

    version: int
    error: str
    """The exception's type."""
    message: str
    file: str
    line: int
    recorded: bool
    """True when the log itself ends there: the recorded bug, raised again."""


def fault_of(version: int, error: BaseException, *, recorded: bool) -> Fault:
    """An exception, and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    return Fault(
        version=version,
        error=type(error).__name__,
        message=str(error),
        file=last.filename if last else "",
        line=(last.lineno or 0) if last else 0,
        recorded=recorded,
    )
