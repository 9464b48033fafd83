"""Sessions as each peer takes them: lines, workflow histories, calls with expected responses."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from environments import HERE

from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl, stored_events
from tests.benchmarks import floor_led, replaying

Session = tuple[Stored, ...]
Event = dict[str, Any]

REQUESTED: Final = "completion.requested.v1"
RECEIVED: Final = "completion.received.v1"
CHECKING: Final = [1, 2]
"""Flags of a history by which Temporal compares ids and types too; today's workers set them."""
QUEUE: Final = {"name": "sessions"}
PATCHES: Final = 2  # after which the session of the benchmark is done


def recorded(sessions: int) -> list[Session]:
    """The benchmark's sessions that a model led."""
    stored = jsonl.stored(replaying.led_lines(sessions), "recorded")
    return [tuple(one) for one in stored_events.group_events_by_session(stored).values()]


def lines_of(sessions: Iterable[Session]) -> list[bytes]:
    """As `preflights admin export` writes them."""
    return [jsonl.encode_event_line(event).rstrip(b"\n") for events in sessions for event in events]


def write(folder: Path, lines: list[bytes], golden: Sequence[Session]) -> None:
    """All that the peers read.

    Args:
        golden: the sessions before anything was planted: their responses are expected.
    """
    folder.mkdir(exist_ok=True)
    (folder / "sessions.jsonl").write_bytes(jsonl.FIRST + b"\n".join(lines) + b"\n")
    sessions: dict[str, list[Event]] = {}
    for line in lines:
        event = json.loads(line)
        sessions.setdefault(event["session_id"], []).append(event)
    with (folder / "histories.jsonl").open("w", encoding="utf-8") as file:
        for name, events in sessions.items():
            file.write(json.dumps({"id": name, "events": list(history(events))}) + "\n")
    expected = {
        events[0].session_id: [
            json.loads(e.data or b"")["text"] for e in events if e.type == RECEIVED
        ]
        for events in golden
    }
    exported = calls(sessions, expected)
    (folder / "calls.json").write_text(json.dumps(exported), "utf-8")
    (folder / "promptfoo.json").write_text(json.dumps(promptfoo(exported["calls"])), "utf-8")


# 1. Calls ------------------------------------------------------------------------------------


def calls(sessions: dict[str, list[Event]], expected: dict[str, list[str]]) -> dict[str, Any]:
    """What is asked today, what was recorded by a digest of the request, and every call."""
    lead = next(iter(sessions.values()))[0]["data"]["setup"]["lead"]
    today = {"model": lead["model"], "parameters": lead["parameters"], "prompts": floor_led.TEXTS}
    recorded, made = {}, []
    for name, events in sessions.items():
        texts = [one["data"]["text"] for one in events if one["type"] == RECEIVED]
        asked = [one["data"] for one in events if one["type"] == REQUESTED]
        for number, (request, text) in enumerate(zip(asked, texts, strict=True)):
            sent = [request["model"], request["parameters"], request["messages"]]
            key = json.dumps(sent, separators=(",", ":"), ensure_ascii=False)
            recorded[sha256(key.encode()).hexdigest()] = text
            golden = expected[name]
            made.append(
                {
                    "session": name,
                    "step": request["contract"],
                    "messages": request["messages"][1:],
                    "expected": golden[min(number, len(golden) - 1)],
                }
            )
    return {"today": today, "recorded": recorded, "calls": made}


def promptfoo(made: list[dict[str, Any]]) -> dict[str, Any]:
    """A configuration with a test for each call."""
    return {
        "prompts": [f"file://{HERE / 'promptfoo_prompt.js'}"],
        "providers": [f"file://{HERE / 'promptfoo_recorded.js'}"],
        "tests": [
            {
                "description": call["session"],
                "vars": {"step": call["step"], "messages": json.dumps(call["messages"])},
                "assert": [{"type": "equals", "value": call["expected"]}],
            }
            for call in made
        ],
    }


# 2. Histories --------------------------------------------------------------------------------


def history(events: list[Event]) -> Iterator[Event]:
    """A session as Temporal's server would have recorded it: without what is decided inside."""
    first, *rest = events
    made = _History()
    scheduled = asked = patches = 0
    yield made.event(
        "WORKFLOW_EXECUTION_STARTED",
        workflowType={"name": "Session"},
        taskQueue=QUEUE,
        input=_payloads(first["type"], first["data"]),
        originalExecutionRunId=first["session_id"],
        firstExecutionRunId=first["session_id"],
        workflowTaskTimeout="10s",
        attempt=1,
    )
    yield from made.task()
    for event in rest:
        tag, data = event["type"], event["data"]
        if tag == REQUESTED:
            scheduled, asked = made.number + 1, asked + 1
            yield made.event(
                "ACTIVITY_TASK_SCHEDULED",
                activityId=str(asked),
                activityType={"name": data["contract"]},
                taskQueue=QUEUE,
                input=_payloads(data),
                startToCloseTimeout="60s",
                workflowTaskCompletedEventId=str(made.number),
            )
        elif tag == RECEIVED:
            yield made.event("ACTIVITY_TASK_STARTED", scheduledEventId=str(scheduled), attempt=1)
            yield made.event(
                "ACTIVITY_TASK_COMPLETED",
                scheduledEventId=str(scheduled),
                startedEventId=str(made.number),
                result=_payloads(data["text"]),
            )
            yield from made.task()
        elif "answers_" in tag:
            yield made.event(
                "WORKFLOW_EXECUTION_SIGNALED", signalName="heard", input=_payloads(tag, data)
            )
            yield from made.task()
        elif tag.endswith("patch_proposed.v1"):
            patches += 1
            if patches == PATCHES:
                yield made.event(
                    "WORKFLOW_EXECUTION_COMPLETED",
                    result=_payloads(data),
                    workflowTaskCompletedEventId=str(made.number),
                )


class _History:
    """Numbers events, and names their attributes."""

    def __init__(self) -> None:
        self.number = 0

    def event(self, kind: str, **attributes: Any) -> Event:
        self.number += 1
        key = kind.title().replace("_", "")
        return {
            "eventId": str(self.number),
            "eventTime": "2026-01-12T09:30:00Z",
            "eventType": f"EVENT_TYPE_{kind}",
            f"{key[0].lower()}{key[1:]}EventAttributes": attributes,
        }

    def task(self) -> Iterator[Event]:
        """A task of the workflow: what comes next was decided in it."""
        yield self.event("WORKFLOW_TASK_SCHEDULED", taskQueue=QUEUE, attempt=1)
        yield self.event("WORKFLOW_TASK_STARTED", scheduledEventId=str(self.number))
        yield self.event(
            "WORKFLOW_TASK_COMPLETED",
            scheduledEventId=str(self.number - 1),
            startedEventId=str(self.number),
            sdkMetadata={"coreUsedFlags": CHECKING},
        )


def _payloads(*values: Any) -> Event:
    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    kind = {"encoding": encoded("json/plain")}
    return {"payloads": [{"metadata": kind, "data": encoded(json.dumps(v))} for v in values]}
