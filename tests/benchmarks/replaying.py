"""Strict replay of recorded sessions, against the standard library doing the same by hand."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.values import Heuristics, HeuristicsConfig
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store import jsonl, stored_events
from preflights_es.use.replays import own_code
from preflights_es.use.use_cases import NewSession
from tests.benchmarks import floor, floor_led
from tests.benchmarks.measure import Figure, paired
from tests.record_goldens import Recorder

SESSIONS = 1_000
LED_LIMIT = 1.35  # what is compared is decoded too (docs/architecture.md)
LED_STRETCH = 0.6
ANSWERS = (
    ("Add OAuth login", "auth_strategy", ("tbd", "", "OAuth"), "Magic Link"),
    ("Choose a database", "db_type", ("n/a", "?", "postgresql"), "MySQL"),
    ("A new UI", "frontend_framework", (" ", "todo", "Solid"), "React"),
    ("An API for partners", "api_style", ("-", "tba", "REST"), "GraphQL"),
)


def recorded_lines() -> list[bytes]:
    """The lines of 1,000 sessions of 21 events each, as `export` writes them."""
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder))
        for i in range(SESSIONS):
            intention, key, values, revised = ANSWERS[i % len(ANSWERS)]
            handle = recorder.start(f"{intention} for customer {i}")
            for value in values:
                handle = recorder.answer_all(handle, {key: value})
            handle = recorder.answer_all(handle, {key: revised}, revise=True)
            handle = recorder.answer(handle, no_such_key="x")
            handle = recorder.answer_all(handle, {key: values[-1]}, revise=True)
            recorder.by().accept(handle.session_id)
        return recorder.lines().splitlines()


LED = (
    "Keep what customers order, for customer {}",
    "Let partners in, of customer {}",
    "A place for the pictures of customer {}",
    "Send things to customer {} on time",
)
QUESTION = {
    "outcome": "ask",
    "topic": "Database",
    "question": "Where do these live, given what the shop has today?",
    "why": "Every report reads them.",
    "options": [
        {"label": label, "description": "", "against": ""}
        for label in ("PostgreSQL", "SQLite", "DynamoDB")
    ],
    "recommended": None,
    "scope": "",
    "more": False,
}


class Model:
    """Answers like one; the first try at a question and at a patch is cut off."""

    value = ""

    async def respond(self, request: CompletionRequested) -> Completion:
        """A response of the length that is usual."""
        fields = [{"name": "Type", "value": self.value}]
        patch = {"category": "Database", "fields": fields}
        text = json.dumps(QUESTION if request.contract == "clarify.v1" else patch)
        return Completion(
            text=text[:-4] if request.call in ("clarify-1.1", "decide-2.1") else text,
            model="claude-sonnet-5-5",
            stop_reason="end_turn",
            request_id="msg_01ABCDEFGHIJKLMNOPQRSTUV",
            input_tokens=512,
            output_tokens=60,
        )


def led_lines(sessions: int = SESSIONS) -> list[bytes]:
    """The lines of sessions that a model led: 24 events and five responses each.

    None of them is computed again: they came from a model, as far as the log knows.
    """
    lead = Lead("anthropic", "claude-sonnet-5-5", (("max_tokens", "16384"),))
    setup = Setup("0.1.0", WORKFLOW.decider.version, lead.provider, WORKFLOW.led.prompts, lead)
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder))
        model = Model()
        for i in range(sessions):
            recorder.asked = model
            # A project each: the runner reads a project's sessions for what a model is told.
            by = recorder.by(project=f"shop-{i}")
            opened = by.open(
                NewSession(LED[i % len(LED)].format(i)), setup, Heuristics(HeuristicsConfig())
            )
            recorder.order.append(opened.handle.session_id)
            handle = recorder.settled(opened.handle)
            model.value = "PostgreSQL"
            handle = recorder.settled(recorder.answer(handle, db_type="postgresql"))
            model.value = "SQLite"
            recorder.settled(recorder.revise(handle, db_type="SQLite"))
        return recorder.lines().splitlines()


def figures() -> list[Figure]:
    """Sessions a CPU second, parsing and verifying included."""
    return [
        _figure("", recorded_lines(), floor.replay, 3.0, 1.5),
        _figure(" that a model led", led_lines(), floor_led.replay, LED_LIMIT, LED_STRETCH),
    ]


def _figure(
    which: str,
    lines: list[bytes],
    by_hand: Callable[[list[bytes]], int],
    limit: float,
    stretch: float,
) -> Figure:
    pair = paired(lambda: _ours(lines), lambda: _floor(lines, by_hand), 9)
    events, size = len(lines) / SESSIONS, sum(map(len, lines)) / SESSIONS / 1_000
    return pair.figure(
        f"strict replay of {SESSIONS:,} sessions of {events:.0f} events, {size:.0f} KB{which}",
        limit,
        lambda taken: f"{SESSIONS / taken:,.0f} sessions/s",
        stretch,
    )


def _ours(lines: list[bytes]) -> float:
    began = time.process_time()
    replayer = Replayer(WORKFLOWS, own_code())
    for events in stored_events.group_events_by_session(jsonl.stored(lines, "bench")).values():
        result = replayer.replay(events)
        assert result.status == "identical", result
    return time.process_time() - began


def _floor(lines: list[bytes], by_hand: Callable[[list[bytes]], int]) -> float:
    began = time.process_time()
    assert by_hand(lines) == SESSIONS, "the floor replays all of them"
    return time.process_time() - began
