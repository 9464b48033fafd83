"""What sessions of a workflow hold that other sessions go on with: tasks, events, ideas, plans.

An artifact here is a structured plan with a standing.
"""

from datetime import date
from typing import Final, Literal

import msgspec

from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Actor, SourceSession, Value, Whole
from preflights_es.kernel.ids import short_session

_DIGITS_MAX: Final = 6  # of an item's number


def item_id(session_id: str, number: int) -> str:
    """What people type for an item: the end of the session's id, and the number within."""
    return f"{short_session(session_id)}.{number}"


def item_named(typed: str) -> tuple[str, int]:
    """The session and the number of what people type.

    Raises:
        Refused: it is no id of an item.
    """
    session, dot, digits = typed.strip().rpartition(".")
    if not (dot and digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS_MAX):
        message = f"found {typed!r}, expected an item such as 3f9a12c4.1"
        raise Refused(message, code="no_item_id", typed=typed)
    return session, int(digits)


def day_shown(day: str, today: str) -> str:
    """A date as people read it: `Fri 4 Dec`, with the year where it is another than today's.

    Args:
        day: YYYY-MM-DD; any other text stays as it is.
    """
    try:
        found = date.fromisoformat(day)
    except ValueError:
        return day
    weekday, month, *_ = found.ctime().split()  # English in every locale
    named = f"{weekday} {found.day} {month}"
    return named if day[:4] == today[:4] else f"{named} {found.year}"


class ItemRef(Value, frozen=True):
    """An item of another session, as it was read."""

    number: Whole
    source: SourceSession


class KeptItem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a session holds, as it stands; what was not said is None."""

    number: int
    """1 and up, within its session."""
    type: str
    status: str
    title: str
    began_at: int
    """When its session began, in microseconds since 1970 UTC."""
    noted_at: str
    """The same by the clock on the wall, ISO 8601 with the offset; empty where it is not known."""
    importance: str | None = None
    energy: str | None = None
    due: str | None = None
    """YYYY-MM-DD."""
    duration_min: int | None = None
    """Minutes."""
    duration_max: int | None = None
    start_time: str | None = None
    """HH:MM, 24 hours."""
    end_time: str | None = None
    date: str | None = None
    """Of an event, YYYY-MM-DD."""
    source: str | None = None
    """Who put it there: `extracted`, or `added` by hand."""
    confidence: float | None = None
    """0 to 1, of a model."""
    content: str | None = None
    decision: str | None = None
    """The uid of the decision that it led to."""
    record: int | None = None
    """The number of that decision's record."""


PlanStanding = Literal[
    "draft", "proposed", "approved", "locked", "rejected", "superseded", "abandoned", "failed"
]
"""`failed`: a FailureReport. `proposed`: a script or an agent approved it; it satisfies no pass."""


class ReadFileDigest(Value, frozen=True):
    """A file that was read, and the one digest that it had."""

    path: str
    sha256: str


class ReadRecord(Value, frozen=True):
    """Something of another session that was read."""

    kind: Literal["plan", "decision"]
    id: str
    """An artifact's id, or a decision's uid."""
    source: SourceSession


class Planned(Value, frozen=True, kw_only=True):
    """One artifact, and what became of it."""

    version: int
    """The version of the event that made it."""
    id: str
    type: str
    """As the specification calls it: `ProjectPlan`, `FailureReport`, ..."""
    subject: str = ""
    """Target or goal: one artifact in force for each type and subject."""
    standing: PlanStanding
    created_at: Whole
    """All times are in microseconds since 1970 UTC, by the clock of who recorded the Input."""
    created_by: Literal["human", "llm", "system"]
    depends_on: tuple[str, ...] = ()
    files: tuple[ReadFileDigest, ...] = ()
    """What was read from the disk."""
    records: tuple[ReadRecord, ...] = ()
    """What was read of other sessions."""
    changed_at: Whole | None = None
    """When its standing changed last."""
    changed_by: Actor | None = None
    superseded_by: str = ""
    """The id of the artifact that took its place."""
    reason: str = ""
    """Of a rejection; of a report, its summary."""
    path: str = ""
    """Of its file, once it was written."""
    sha256: str = ""
    """Of the file's bytes."""
