"""Sessions as each peer takes them: lines, workflow histories, calls with expected responses."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl, stored_events
from tests.benchmarks import floor_led, replaying

Session = tuple[Stored, ...]
Event = dict[str, Any]

PEERS: Final = Path(__file__).resolve().parent
REQUESTED: Final = "completion.requested.v1"
RECEIVED: Final = "completion.received.v1"
CHECKING: Final = [1, 2]
"""Flags of a history by which Temporal compares ids and types too; today's workers set them."""
PATCHES: Final = 2  # after which the session of the benchmark is done


def recorded(file: Path, sessions: int) -> list[Session]:
    """The benchmark's sessions that a model led; kept in a file, for the next run."""
    if not file.exists():
        file.write_bytes(b"\n".join(replaying.led_lines(sessions)) + b"\n")
    lines = file.read_bytes().splitlines()
    made = [
        tuple(one)
        for one in stored_events.group_events_by_session(jsonl.stored(lines, file.name)).values()
    ]
    return made[:sessions]


def lines_of(sessions: Iterable[Session]) -> list[bytes]:
    """As `preflights admin export` writes them."""
    return [jsonl.encode_event_line(event).rstrip(b"\n") for events in sessions for event in events]


def write(folder: Path, lines: list[bytes], golden: Sequence[Session]) -> None:
    """All that the peers read.

    Args:
        golden: the sessions before anything was planted: their responses are expected.
    """
    folder.mkdir(exist_ok=True)
    (folder / "sessions.jsonl").write_bytes(b"\n".join(lines) + b"\n")
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
        "prompts": [f"file://{PEERS / 'promptfoo_prompt.js'}"],
        "providers": [f"file://{PEERS / 'promptfoo_recorded.js'}"],
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
    """A session as Temporal's server would have recorded it."""
    first, *rest = events
    made = _History(events[0]["session_id"])
    yield made.started([first["type"], first["data"]])
    yield from made.task()
    scheduled = patches = 0
    for event in rest:
        match event["type"]:
            case tag if tag == REQUESTED:
                scheduled = made.number + 1
                yield made.scheduled(event["data"])
            case tag if tag == RECEIVED:
                yield from made.completed(scheduled, event["data"]["text"])
                yield from made.task()
            case tag if "answers_" in tag:
                yield made.signaled([event["type"], event["data"]])
                yield from made.task()
            case tag if tag.endswith("patch_proposed.v1"):
                patches += 1
                if patches == PATCHES:
                    yield made.ended(event["data"])
            case _:
                pass  # what is decided inside a workflow is in no history


class _History:
    """Numbers events, and knows their attributes."""

    def __init__(self, name: str) -> None:
        self.name, self.number, self._activities = name, 0, 0

    def _event(self, kind: str, **attributes: Any) -> Event:
        self.number += 1
        words = kind.split("_")
        key = words[0].lower() + "".join(word.capitalize() for word in words[1:])
        return {
            "eventId": str(self.number),
            "eventTime": "2026-01-12T09:30:00Z",
            "eventType": f"EVENT_TYPE_{kind}",
            f"{key}EventAttributes": attributes,
        }

    def started(self, arguments: list[Any]) -> Event:
        return self._event(
            "WORKFLOW_EXECUTION_STARTED",
            workflowType={"name": "Session"},
            taskQueue={"name": "sessions"},
            input=_payloads(arguments),
            originalExecutionRunId=self.name,
            firstExecutionRunId=self.name,
            workflowTaskTimeout="10s",
            attempt=1,
        )

    def task(self) -> Iterator[Event]:
        """A task of the workflow: what comes next was decided in it."""
        yield self._event("WORKFLOW_TASK_SCHEDULED", taskQueue={"name": "sessions"}, attempt=1)
        yield self._event("WORKFLOW_TASK_STARTED", scheduledEventId=str(self.number))
        yield self._event(
            "WORKFLOW_TASK_COMPLETED",
            scheduledEventId=str(self.number - 1),
            startedEventId=str(self.number),
            sdkMetadata={"coreUsedFlags": CHECKING},
        )

    def scheduled(self, request: Event) -> Event:
        self._activities += 1
        return self._event(
            "ACTIVITY_TASK_SCHEDULED",
            activityId=str(self._activities),
            activityType={"name": request["contract"]},
            taskQueue={"name": "sessions"},
            input=_payloads([request]),
            startToCloseTimeout="60s",
            workflowTaskCompletedEventId=str(self.number - 1),
        )

    def completed(self, scheduled: int, text: str) -> Iterator[Event]:
        yield self._event("ACTIVITY_TASK_STARTED", scheduledEventId=str(scheduled), attempt=1)
        yield self._event(
            "ACTIVITY_TASK_COMPLETED",
            scheduledEventId=str(scheduled),
            startedEventId=str(self.number),
            result=_payloads([text]),
        )

    def signaled(self, arguments: list[Any]) -> Event:
        return self._event(
            "WORKFLOW_EXECUTION_SIGNALED", signalName="heard", input=_payloads(arguments)
        )

    def ended(self, result: Any) -> Event:
        return self._event(
            "WORKFLOW_EXECUTION_COMPLETED",
            result=_payloads([result]),
            workflowTaskCompletedEventId=str(self.number),
        )


def _payloads(values: list[Any]) -> Event:
    encoding = base64.b64encode(b"json/plain").decode()
    return {
        "payloads": [
            {
                "metadata": {"encoding": encoding},
                "data": base64.b64encode(json.dumps(value).encode()).decode(),
            }
            for value in values
        ]
    }
