"""The simulator's completions, against judging a response with the usual libraries."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

from preflights_es.providers.simulator import SimLLMProvider
from tests.benchmarks.measure import Figure, paired

COMPLETIONS = 1_000  # a round
RESPONSES = 20  # a round of the floor
ROUNDS = 15
INSTRUCTIONS = (
    *("Extract entities from:", "Rewrite this query:", "Detect evolution:", "Categorize:"),
    "Say something about:",
)
SENTENCE = (
    "I met Alice Smith at Acme Corp in Berlin on Monday, and she no longer likes the vegetarian "
    "food there; project {} needs a database. "
)
LONG = 2_048  # characters of a long prompt


def figures() -> list[Figure]:
    """Completions of all five routes in turn, no prompt twice in a round."""
    floor = floor_seconds()
    return [
        _figure("a simulated completion, five routes mixed", 1, floor, 1 / 50, 1 / 80),
        _figure("the same with prompts of 2 KB", LONG // len(SENTENCE) + 1, floor, 1 / 30, None),
    ]


def _figure(
    what: str, sentences: int, floor: Callable[[], float], limit: float, stretch: float | None
) -> Figure:
    prompts = [
        f"{INSTRUCTIONS[i % len(INSTRUCTIONS)]}\n{SENTENCE.format(i) * sentences}"
        for i in range(COMPLETIONS)
    ]
    pair = paired(lambda: asyncio.run(_seconds(prompts)), floor, ROUNDS)
    return Figure(
        what,
        pair.ratio,
        limit,
        stretch,
        f"{pair.ours * 1_000_000:.0f} us",
        f"{pair.floor * 1_000_000:,.0f} us",
    )


async def _seconds(prompts: list[str]) -> float:
    """CPU seconds a completion."""
    provider = SimLLMProvider(42)
    began = time.process_time()
    for prompt in prompts:
        await provider.complete(prompt)
    return (time.process_time() - began) / len(prompts)


# The floor -----------------------------------------------------------------------------------


def _item(kind: str, **properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "required": ["type", "title", "confidence"],
        "properties": {
            "type": {"const": kind},
            "title": {"type": "string", "minLength": 1, "maxLength": 200},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            **properties,
        },
    }


MINUTES = {"type": "integer", "minimum": 1, "maximum": 480}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["items"],
    "properties": {
        "items": {
            "type": "array",
            "maxItems": 50,
            "items": {
                "oneOf": [
                    {"$ref": "#/$defs/Task"},
                    {"$ref": "#/$defs/Event"},
                    {"$ref": "#/$defs/Idea"},
                ]
            },
        }
    },
    "$defs": {
        "Task": _item(
            "task",
            duration_min=MINUTES,
            duration_max=MINUTES,
            importance={"enum": ["low", "normal", "high"]},
        ),
        "Event": _item(
            "event", start_time={"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"}
        ),
        "Idea": _item("idea", content={"type": "string"}),
    },
}
RESPONSE = json.dumps(
    {
        "items": [
            {
                "type": "task",
                "title": f"Write mail number {i} to the boss",
                "duration_min": 10,
                "duration_max": 15,
                "importance": "normal",
                "confidence": 0.9,
            }
            for i in range(14)
        ]
    }
)
"""2 KB, as seed 3 has it."""


def floor_seconds() -> Callable[[], float]:
    """CPU seconds to judge one valid response: `json.loads` and a validator made before."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # ships no types

    validator = Draft202012Validator(SCHEMA)

    def seconds() -> float:
        began = time.process_time()
        for _ in range(RESPONSES):
            assert validator.is_valid(json.loads(RESPONSE)), "the response is valid"
        return (time.process_time() - began) / RESPONSES

    return seconds
