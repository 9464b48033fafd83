"""Sessions for regression runs, and what can be planted in them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.features.regress.change import RunChange
from preflights_es.features.regress.children import Runs
from preflights_es.features.regress.regression import Regression
from preflights_es.features.regress.results import Case
from preflights_es.history.child import sealed_as
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.events import Input
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.use.replays import own_code
from preflights_es.words.workflow import Workflow
from tests.fixed import salt
from tests.led import Case as Led
from tests.led import Session
from tests.toy import altered

Events = Sequence[Stored]
Payload = dict[str, Any]
TEXTS: Final = ("Add login", "Keep orders in a database", "Improve things", "Deploy it")
NOTES: Final = ("Email an Chef, Meeting 14 Uhr", "Arzt", "urgent: taxes; Idee: Podcast")


@cache
def led(workflow: str, text: str, seed: int = 0, faults: str = "none") -> tuple[Stored, ...]:
    """A session that the simulator led."""
    session = asyncio.run(Session(Led(workflow, text, seed, faults)).led())
    return tuple(session.runner.store.read(session.handle.session_id))


def many(count: int) -> Iterator[tuple[Stored, ...]]:
    """Different sessions, each under an id of its own; the seeds count on."""
    made = [
        *(led("clarification", text, seed) for text in TEXTS for seed in range(16)),
        *(led("extraction", text, seed) for text in NOTES for seed in range(16)),
    ]
    for i in range(count):
        yield sealed_as(f"01a0c450-6c02-7000-8000-{i:012x}", made[i % len(made)], salt)


def chained(events: Events) -> tuple[Stored, ...]:
    """The events as they are, numbered and chained anew: no hash shows what was done to them."""
    numbered = [replace(one, version=i) for i, one in enumerate(events, 1)]
    return sealed_as(events[0].session_id, numbered, salt)


def edited(events: Events, at: int, edit: Callable[[Payload], object]) -> tuple[Stored, ...]:
    """One payload edited, in place."""
    payload = decode_plain_json(events[at].data or b"")
    edit(payload)
    return chained(
        [*events[:at], replace(events[at], data=canonical_json(payload)), *events[at + 1 :]]
    )


def place(events: Events, tag: str) -> int:
    """Of the first event of a type, from 0."""
    return next(i for i, one in enumerate(events) if one.type == tag)


def with_prompt(text: str) -> Callable[[Payload], None]:
    """A request as another text of its prompt made it."""

    def edit(payload: Payload) -> None:
        payload["messages"][0]["content"] = text
        payload["prompts"][0][1] = sha256(text.encode()).hexdigest()

    return edit


def requested(events: Events) -> int:
    """The place of the first request."""
    return place(events, CompletionRequested.tag)


def regression_of(change: RunChange | None = None, **more: Any) -> Regression:
    """Of our workflows."""
    runs = Runs(WORKFLOWS, own_code(), change, **more) if change else None
    return Regression(WORKFLOWS, own_code(), runs)


def judged(events: Events, change: RunChange | None = None, **more: Any) -> Case:
    """A session's case; it is not left out."""
    with regression_of(change, **more) as regression:
        found = regression.case(events)
    assert isinstance(found, Case), found
    return found


def child_of(events: Events, change: RunChange) -> tuple[Stored, ...]:
    """A session run again with a change."""
    return Runs(WORKFLOWS, own_code(), change).child(events)


def ruled(workflow: Workflow[Any], where: Callable[[Any], bool], **changes: Any) -> Workflow[Any]:
    """Another version of the rules: a field of some Decisions differs."""

    def decide(state: Any, new: Input) -> Any:
        return tuple(
            replace(one, **changes) if where(one) else one
            for one in workflow.decider.decide(state, new)
        )

    return altered(workflow, decide=decide)
