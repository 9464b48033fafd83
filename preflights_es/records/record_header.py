"""What is known of a record that another tool or a person wrote."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

RECORD_MAX: Final = 1_000_000  # bytes; a decision is a page

Status = Literal[
    "none",
    "unknown",
    "proposed",
    "accepted",
    "rejected",
    "deprecated",
    "partly_superseded",
    "superseded",
]
"""`none`: the record writes no status. `unknown`: it writes one that is not understood."""
HELD: Final = frozenset(("none", "accepted", "partly_superseded"))
"""A record without a status is in force, as MADR says."""
Tool = Literal["nygard", "madr2", "madr3", "madr4", "log4brains", "other"]


class Reference(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a record names another one; nothing in it was looked up."""

    text: str
    number: int | None = None
    path: str = ""
    """As it stands in the link, without its fragment."""


class TitleStatement(msgspec.Struct, frozen=True):
    """What a title states; every part is empty where it states nothing."""

    category: str = ""
    value: str = ""
    scope: str = ""


class RecordHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a list of records shows of one."""

    path: str
    """As it was asked for; in a list, relative to the project's root, with forward slashes."""
    tool: Tool
    number: int | None = None
    title: str
    """As the record says it, else the words of its file's name."""
    status: Status = "none"
    status_text: str = ""
    """As the record writes it, on one line and cut."""
    superseded_by: Reference | None = None
    supersedes: tuple[Reference, ...] = ()
    date: str = ""
    """ISO 8601; empty where the record names no day."""
    session: str = ""
    """Of Preflights, where the record says that it is ours; a claim."""
    applies_to: tuple[str, ...] = ()
    """Entries of a list of what it is about, such as paths, as it is written."""
    said: TitleStatement = TitleStatement()
    """By its title."""
    chosen: str = ""
    """What its text says was chosen, on one line."""


class ForeignRecord(RecordHeader, frozen=True, kw_only=True):
    """A record as its text says it, on one line each."""

    context: str = ""
    because: str = ""
    considered: tuple[str, ...] = ()
