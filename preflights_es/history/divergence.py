"""Where a replay differs from what was recorded, or raises; and when two runs are the same."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec

from preflights_es.history.causes import causes
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import ABSENT, decoded, differences

ABSENT_TEXT = "(absent)"

_request = msgspec.json.Decoder(CompletionRequested).decode


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """One value that today's code decides differently."""

    version: int
    """Of the event, in the session."""
    type: str
    """Of the event: as recorded, or as computed where nothing was recorded there."""
    pointer: str
    """JSON Pointer into the payload; empty for the event as a whole."""
    recorded: Any
    computed: Any
    cause: str = ""
    """Of a request, what changed, as in `prompt clarify.v1 changed`; of a response, who answers
    otherwise; empty where the values say all."""


Encoded = tuple[str, bytes]
"""Tag and canonical payload of an event."""


def between(
    version: int, recorded: Encoded | None, computed: Encoded | None, cause: str = ""
) -> list[Divergence]:
    """Every value in which two events at one place differ; an absent event is None.

    Args:
        cause: of all of them; of a request it is found here.
    """
    if recorded is None or computed is None or recorded[0] != computed[0]:
        tag = (recorded or computed or ("", b""))[0]
        return [
            Divergence(
                version=version,
                type=tag,
                pointer="",
                recorded=_whole(recorded),
                computed=_whole(computed),
                cause=cause,
            )
        ]
    found = list(differences(decoded(recorded[1]), decoded(computed[1])))
    if found and not cause and recorded[0] == CompletionRequested.tag:
        cause = _cause(recorded[1], computed[1])
    return [
        Divergence(
            version=version,
            type=recorded[0],
            pointer=pointer,
            recorded=plain(a),
            computed=plain(b),
            cause=cause,
        )
        for pointer, a, b in found
    ]


def _cause(recorded: bytes, computed: bytes) -> str:
    try:
        return ", ".join(causes(_request(recorded), _request(computed)))
    except msgspec.DecodeError:
        return ""  # the fold decodes it too, and says what is wrong with it


def _whole(event: Encoded | None) -> Any:
    return ABSENT_TEXT if event is None else {"type": event[0], "data": decoded(event[1])}


def plain(value: Any) -> Any:
    """A value as it is shown, also where there is none."""
    return ABSENT_TEXT if value is ABSENT else value


def trace(events: Sequence[Encoded]) -> str:
    """SHA-256 over type and payload of every event, in hexadecimal."""
    found = sha256()
    for tag, data in events:
        found.update(b"%d:%s%d:" % (len(tag), tag.encode(), len(data)) + data)
    return found.hexdigest()


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
