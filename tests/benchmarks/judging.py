"""Judging a response in all five stages, against what only checks its schema."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from preflights_es.judging.contract import Accepted, Contract, Violation, judge
from tests.benchmarks.measure import Figure, paired
from tests.judging.judging_large import LARGE

RESPONSES = 50  # a round
ROUNDS = 25
LENGTH = 5_000_000  # characters of a response that no model sends
LENGTH_ROUNDS = 3
LENGTH_LIMIT = 40  # `json.loads` takes less than 50 ms for as many: judging less than 2 s


def figures() -> list[Figure]:
    """Valid responses of 2 KB, and the slowest of all kinds of 5 MB."""
    return [
        _small("judging a plan of 2 KB, all five stages", PLAN, plan()),
        _small("the same in a code fence", PLAN, plan(), "```json\n{}\n```\n"),
        _small("judging a list of tasks and events of 2 KB", ITEMS, items(8)),
        max(map(_large, LARGE), key=lambda figure: figure.ratio),
    ]


def _small(what: str, contract: Contract, document: str, wrapping: str = "{}") -> Figure:
    """The floor has no fence to take away."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # ships no types

    raw = wrapping.replace("{}", document)
    assert isinstance(judge(raw, contract), Accepted), "the response is valid"
    validator = Draft202012Validator(contract.shape.schema)
    pair = paired(
        _seconds(lambda: judge(raw, contract), RESPONSES),
        _seconds(lambda: validator.is_valid(json.loads(document)), RESPONSES),
        ROUNDS,
    )
    ours, theirs = (f"{seconds * 1_000_000:.0f} us" for seconds in (pair.ours, pair.floor))
    return Figure(what, pair.ratio, 0.2, 0.12, ours, theirs)


def _large(name: str) -> Figure:
    raw = LARGE[name](LENGTH)
    document = items(LENGTH // 240)
    pair = paired(
        _seconds(lambda: judge(raw, ANYTHING), 1),
        _seconds(lambda: json.loads(document), 1),
        LENGTH_ROUNDS,
    )
    ours, theirs = (f"{seconds * 1_000:.0f} ms" for seconds in (pair.ours, pair.floor))
    what = f"judging 5 MB, the slowest kind ({name})"
    return Figure(what, pair.ratio, LENGTH_LIMIT, None, ours, theirs)


def _seconds(judged: Callable[[], object], times: int) -> Callable[[], float]:
    """CPU seconds a response."""

    def seconds() -> float:
        began = time.process_time()
        for _ in range(times):
            judged()
        return (time.process_time() - began) / times

    return seconds


# What is judged ------------------------------------------------------------------------------

TEXT = {"type": "string", "minLength": 1}


def _ids_differ(payload: Any) -> tuple[Violation, ...]:
    ids = [test["id"] for test in payload["tests"]]
    return () if len(set(ids)) == len(ids) else (Violation("/tests", "two have the same id"),)


PLAN = Contract(
    name="test_plan",
    version=1,
    schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["tests"],
        "additionalProperties": False,
        "properties": {
            "tests": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Test"}}
        },
        "$defs": {
            "Test": {
                "type": "object",
                "required": ["id", "target", "assertions"],
                "additionalProperties": False,
                "properties": {
                    "id": TEXT,
                    "target": TEXT,
                    "assertions": {"type": "array", "minItems": 1, "items": TEXT},
                },
            }
        },
    },
    checks=_ids_differ,
)
ASSERTIONS = [
    'refuses an order that was shipped (the reason is "shipped")',
    "keeps the old total in the audit trail; no mail is sent",
    "if the customer asks twice, the second call changes nothing",
]


def plan() -> str:
    """A plan as a model writes it, with line breaks and indents."""
    tests = [
        {"id": f"T-{i:03}", "target": "orders.application.CancelOrder", "assertions": ASSERTIONS}
        for i in range(7)
    ]
    return json.dumps({"tests": tests}, indent=1)


class _Item(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1, max_length=200)]
    confidence: Annotated[float, Field(ge=0, le=1)]


class _Task(_Item):
    type: Literal["task"]
    duration_min: Annotated[int, Field(ge=1, le=480)]
    duration_max: Annotated[int, Field(ge=1, le=480)]
    importance: Literal["low", "normal", "high"]


class _Event(_Item):
    type: Literal["event"]
    start_time: Annotated[str, Field(pattern="^[0-2][0-9]:[0-5][0-9]$")]


class _Items(BaseModel):
    model_config = ConfigDict(extra="forbid")

    items: list[Annotated[_Task | _Event, Field(discriminator="type")]]


def _times_fit(payload: Any) -> tuple[Violation, ...]:
    """What the schema cannot say: a shortest duration is not longer than the longest."""
    return tuple(
        Violation(f"/items/{at}/duration_max", "is shorter than duration_min")
        for at, item in enumerate(payload["items"])
        if item["type"] == "task" and item["duration_max"] < item["duration_min"]
    )


ITEMS = Contract(name="items", version=1, model=_Items, checks=_times_fit)
ANYTHING = Contract(name="anything", version=1, schema={"type": "object"})


def items(pairs: int) -> str:
    """Tasks and events in turn."""
    task = {"type": "task", "duration_min": 10, "duration_max": 15, "importance": "normal"}
    event = {"type": "event", "start_time": "09:30"}
    made = [
        [
            {**task, "title": f"Write mail number {i} to the boss", "confidence": 0.9},
            {**event, "title": f"Dentist, Main Street {i} (bring the card)", "confidence": 0.8},
        ]
        for i in range(pairs)
    ]
    return json.dumps({"items": [item for pair in made for item in pair]})
