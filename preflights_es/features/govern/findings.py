"""What a check has to say, one thing at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, get_args

from preflights_es.features.govern.changes import printable
from preflights_es.use.results import Result

Rule = Literal[
    "holds",
    "turned-down",
    "unread-file",
    "denied",
    "decision-changed",
    "record-lost",
    "record-differs",
    "number-clash",
    "unverified-session",
    "contradiction",
    "unclear-record",
    "unused-pattern",
    "unread-record",
    "unsigned-acceptance",
    "signers-changed",
]
Level = Literal["error", "warning", "note"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)

NAMED_MAX: Final = 5  # files that a message names


class Finding(Result, frozen=True, kw_only=True):
    """One thing that a check has to say."""

    rule: Rule
    level: Level
    message: str
    """What it is, why it matters and what to do."""
    file: str = ""
    """The first file that it is about, relative to the root, as it can be shown; empty of none."""
    line: int | None = None
    files: tuple[str, ...] = ()
    """All files that it is about."""
    decision: str = ""
    """`ADR-0007`, a uid, or the path of a record of another tool."""
    session_id: str = ""


def finding(
    rule: Rule, level: Level, message: str, paths: Sequence[str] = (), **more: Any
) -> Finding:
    """Args:
    paths: of files, with surrogates for what is no UTF-8; the first one is where it is shown.
    """
    files = tuple(map(printable, paths))
    return Finding(
        rule=rule,
        level=level,
        message=message,
        file=files[0] if files else "",
        files=files,
        **more,
    )


def files_said(paths: Sequence[str]) -> str:
    named = ", ".join(map(printable, paths[:NAMED_MAX]))
    more = len(paths) - NAMED_MAX
    return f"{named} and {more:,} more" if more > 0 else named


NEWER: Final = "accept a decision that replaces {}"
