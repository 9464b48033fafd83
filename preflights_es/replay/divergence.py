"""Where a replay differs from what was recorded."""

from __future__ import annotations

from typing import Any

import msgspec

from preflights_es.core.json import ABSENT, decoded, differences

ABSENT_TEXT = "(absent)"


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """One value that today's code decides otherwise."""

    version: int
    """Of the event, in the session."""
    type: str
    """Of the event: as recorded, or as computed where nothing was recorded there."""
    pointer: str
    """JSON Pointer into the payload; empty for the event as a whole."""
    recorded: Any
    computed: Any


Encoded = tuple[str, bytes]
"""Tag and canonical payload of an event."""


def between(version: int, recorded: Encoded | None, computed: Encoded | None) -> list[Divergence]:
    """Every value in which two events at one place differ; an absent event is None."""
    if recorded is None or computed is None or recorded[0] != computed[0]:
        tag = (recorded or computed or ("", b""))[0]
        return [
            Divergence(
                version=version,
                type=tag,
                pointer="",
                recorded=_whole(recorded),
                computed=_whole(computed),
            )
        ]
    return [
        Divergence(version=version, type=recorded[0], pointer=pointer, recorded=a, computed=b)
        for pointer, a, b in (
            (pointer, _plain(a), _plain(b))
            for pointer, a, b in differences(decoded(recorded[1]), decoded(computed[1]))
        )
    ]


def _whole(event: Encoded | None) -> Any:
    return ABSENT_TEXT if event is None else {"type": event[0], "data": decoded(event[1])}


def _plain(value: Any) -> Any:
    return ABSENT_TEXT if value is ABSENT else value
