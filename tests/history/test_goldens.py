"""Every golden session replays without a difference, and together they meet every event."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from preflights_es.features.clarification.domain.events import QuestionSuggested
from preflights_es.history.replayer import Replayer, describe_session_outcome
from preflights_es.kernel.completions import COMPLETION_EVENTS, CompletionRequested
from preflights_es.kernel.events import ARTIFACT_EVENTS, SESSION_EVENTS, SessionErased
from preflights_es.kernel.lead import LED_EVENTS
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import fold
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.store import jsonl
from preflights_es.store.stored_events import Codec
from preflights_es.testing.laws import check_golden, golden_sessions
from preflights_es.use.replays import own_code
from tests.each import each
from tests.folding import judged_again
from tests.record_goldens import Recorder, every, recorded

LED = {cls.tag for cls in (*COMPLETION_EVENTS, *LED_EVENTS)} | {QuestionSuggested.tag}
REPLAYS = Path(__file__).parent.parent.parent / "replays"
FILES = sorted(REPLAYS.glob("*/*.jsonl"))


@each("path", FILES)
def test_a_golden_session_replays_without_a_difference(path: Path) -> None:
    check_golden(WORKFLOWS[path.parent.name], path)


@each("path", FILES)
def test_a_golden_session_is_folded_and_shown_without_a_verdict_of_today(path: Path) -> None:
    workflow = WORKFLOWS[path.parent.name]
    for stream in golden_sessions(path):
        assert [*judged_again(workflow, [*map(Codec(workflow.decider).decode, stream)])] == []


@each("path", [p for p in FILES if WORKFLOWS[p.parent.name].led.always])
def test_what_the_reference_said_in_a_golden_is_computed_again(path: Path) -> None:
    for stream in golden_sessions(path):
        said = [
            one
            for one in stream
            if one.type == CompletionRequested.tag and b'"provider":"mock"' in (one.data or b"")
        ]
        result = Replayer(WORKFLOWS, own_code()).replay(stream)
        assert (result.generation, result.reasked >= len(said)) == ("", True)


@pytest.mark.slow("whole runs")
@each(("path", "golden"), every().items())
def test_recording_a_golden_again_comes_to_the_same_decisions(
    path: Path, golden: Callable[[Recorder], None]
) -> None:
    again = jsonl.stored(recorded(golden).splitlines(), "recorded again")
    assert [_decision(one) for one in again] == [
        _decision(one) for stream in golden_sessions(path) for one in stream
    ]


@each(
    ("golden", "tokens"),
    [
        ("compiler/a_server_refuses_a_parameter", None),
        ("clarification/keyword_skips_the_generic_question", 0),
    ],
)
def test_tokens_that_no_provider_told_are_unknown(golden: str, tokens: int | None) -> None:
    workflow = WORKFLOWS[golden.partition("/")[0]]
    (stream,) = golden_sessions(REPLAYS / f"{golden}.jsonl")
    events = [*map(Codec(workflow.decider).decode, stream)]
    found = describe_session_outcome(workflow, fold(workflow.decider, events), events)
    assert (found["input_tokens"], found["output_tokens"]) == (tokens, tokens)


def _decision(one: Stored) -> tuple[str, bytes | None]:
    """Today's type and payload; of an Input only the type, since it may have gained a field."""
    type_, data = _today(one)
    return type_, None if one.input_id else data


def _today(one: Stored) -> tuple[str, bytes]:
    return Codec(WORKFLOWS[one.workflow].decider).upcast(one)


def test_the_goldens_meet_every_event_of_every_workflow_and_the_kernel() -> None:
    met = {_today(one)[0] for path in FILES for stream in golden_sessions(path) for one in stream}
    # Of our folder alone: the registry also gives what another test asked it for.
    ours = [
        name for name, one in FEATURES.items() if one.workflow and not FEATURES.is_foreign(name)
    ]
    own = {cls.tag for name in ours for cls in WORKFLOWS[name].decider.events}
    known = own | {cls.tag for cls in (*SESSION_EVENTS, *ARTIFACT_EVENTS)}
    # What was erased is gone: such a session has nothing to replay.
    assert known | LED <= met | {SessionErased.tag}
    assert len(FILES) >= 12
