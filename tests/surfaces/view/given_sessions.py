"""Sessions in files, as they were recorded and with changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from preflights_es.store.stored_events import (
    GENESIS,
    digest_payload,
    hash_event_link,
    stream_prefix,
)
from tests.fixed import salt


def resealed(events: Iterable[Stored]) -> tuple[Stored, ...]:
    """The same payloads and envelopes as one session whose chain holds."""
    found: list[Stored] = []
    previous = GENESIS
    for version, one in enumerate(events, 1):
        data = one.data or b""
        made = replace(one, version=version, salt=salt(), digest=digest_payload(salt(), data))
        previous = hash_event_link(
            previous, stream_prefix(one.session_id, one.project, one.workflow), made
        )
        found.append(replace(made, hash=previous))
    return tuple(found)


def told(events: Sequence[Stored], change: Callable[[str], str]) -> tuple[Stored, ...]:
    """Every text of every payload changed; keys stay."""

    def changed(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, dict):
            return {name: changed(one) for name, one in value.items()}
        return [*map(changed, value)] if isinstance(value, list) else value

    payloads = (json.dumps(changed(json.loads(one.data or b"{}"))) for one in events)
    return tuple(
        replace(one, data=data.encode()) for one, data in zip(events, payloads, strict=True)
    )


def filed(path: Path, events: Sequence[Stored]) -> Path:
    """The file of a session."""
    path.write_bytes(jsonl.encode_event_file(events))
    return path
