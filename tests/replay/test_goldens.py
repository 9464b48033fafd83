"""Every golden session replays without a difference, and together they meet every event."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_es.app import WORKFLOWS
from preflights_es.core.artifacts import ARTIFACT_EVENTS
from preflights_es.core.events import SESSION_EVENTS
from preflights_es.core.ports import Stored
from preflights_es.replay.replayer import Replayer
from preflights_es.store import chain, jsonl
from tests.record_goldens import GOLDENS, recorded

REPLAYS = Path(__file__).parent.parent.parent / "replays"
FILES = sorted(REPLAYS.glob("*/*.jsonl"))


def _streams(path: Path) -> list[list[Stored]]:
    lines = path.read_bytes().splitlines()
    return list(chain.sessions(jsonl.stored(lines, path.name)).values())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_session_replays_without_a_difference(path: Path) -> None:
    for stream in _streams(path):
        result = Replayer(WORKFLOWS).replay(stream)
        assert (result.status, result.divergences, result.fault) == ("identical", (), None)


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.__name__)
def test_recording_a_golden_again_changes_no_byte(golden: object) -> None:
    assert callable(golden)
    path = REPLAYS / "clarification" / f"{golden.__name__}.jsonl"
    assert recorded(golden) == path.read_bytes()


def test_the_goldens_meet_every_event_of_the_workflow_and_the_kernel() -> None:
    met = {one.type for path in FILES for stream in _streams(path) for one in stream}
    completions_and_closed = {"completion.requested.v1", "session.input_ignored.v1"}
    known = {
        cls.tag
        for cls in (*WORKFLOWS["clarification"].events, *SESSION_EVENTS, *ARTIFACT_EVENTS)
    }
    assert known - met <= completions_and_closed
    assert len(FILES) >= 12
