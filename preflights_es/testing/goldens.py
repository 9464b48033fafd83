"""Golden sessions: files that each later version of a workflow has to replay."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from preflights_es.history.replayer import Replayer
from preflights_es.kernel.ports import Provider, Stored
from preflights_es.store import chain, jsonl
from preflights_es.testing.played import PlayedSession, SessionMove
from preflights_es.use.replays import own_code
from preflights_es.words.workflow import Workflow


def record_golden(
    workflow: Workflow[Any],
    inputs: Iterable[SessionMove],
    path: Path,
    provider: Provider | None = None,
) -> None:
    """Write the session that the Inputs come to, as an export writes one.

    Time, ids and salts are counted: the same rules write the same bytes.

    Args:
        provider: answers the calls, where the first Input says who leads.

    Raises:
        SessionFaulted: deciding an Input failed; nothing is written.
    """
    session = PlayedSession(workflow, provider).play(inputs)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl.encode_event_file(session.stored))


def golden_sessions(path: Path) -> list[list[Stored]]:
    """The events of each session of a file.

    Raises:
        LogDamaged: it is no file of sessions.
    """
    lines = path.read_bytes().splitlines()
    return list(chain.group_events_by_session(jsonl.stored(lines, path.name)).values())


def check_golden(workflow: Workflow[Any], path: Path) -> None:
    """See that each session of a file replays without a difference.

    Raises:
        AssertionError: one does not; names the file, the event and what differs.
        LogDamaged: it is no file of sessions.
    """
    replayer = Replayer({workflow.name: workflow}, own_code())
    for stored in golden_sessions(path):
        replay = replayer.replay(stored)
        if replay.status != "identical":
            why = replay.fault or replay.divergences[0]
            raise AssertionError(f"{path}: session {replay.session_id} is {replay.status}: {why}")
