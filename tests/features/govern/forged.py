"""Session files as an attacker writes them who knows how a chain is computed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from tests.cli.clones import session_file
from tests.cli.program import Project
from tests.store.given import resealed

EVE: Final = {"at": 1_790_000_000_000_000, "actor": {"kind": "user", "name": "Eve"}}
"""Of every Input that she forges."""
IGNORED: Final = ("session.input_ignored.v1", {"reason": "closed"})


def rewritten(
    team: Project, change: Callable[[list[Stored]], list[Stored]], session: str = ""
) -> None:
    """A session file, the newest one's, with other events, its chain computed anew."""
    file = session_file(team, session or team.newest())
    lines = file.read_bytes().splitlines(keepends=True)
    made = resealed(change([*jsonl.stored(lines, "it")]))
    file.write_bytes(lines[0] + b"".join(jsonl.encode_event_line(one) for one in made))


def behind(events: list[Stored], *more: tuple[str, Mapping[str, Any]]) -> list[Stored]:
    """The same events and others; one that says its actor is an Input."""
    made = [*events]
    like = next(one for one in events if one.actor_kind is None)
    for tag, data in more:
        said = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
        if kind := data.get("actor", {}).get("kind"):
            id_ = f"{(events[0].input_id or '')[:-6]}{len(made):06x}"
            one = replace(events[0], type=tag, data=said, input_id=id_, actor_kind=kind)
        else:
            one = replace(like, type=tag, data=said)
        made.append(one)
    return made
