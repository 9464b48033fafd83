"""Files of many sessions, as `export --all` writes them."""

from __future__ import annotations

from pathlib import Path

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import IntentionDeclared
from preflights_es.features.clarification.domain.values import HeuristicsConfig
from preflights_es.kernel.events import Actor
from preflights_es.kernel.lead import Setup
from preflights_es.store import jsonl
from tests.fixed import NOON, memory_runner


def many(path: Path, count: int) -> bytes:
    """A file of so many sessions."""
    runner = memory_runner()
    actor = Actor("script")
    setup = Setup("0.1.0", WORKFLOW.decider.version)
    content = jsonl.FIRST
    for number in range(count):
        first = IntentionDeclared(
            at=NOON,
            actor=actor,
            intention=f"Add a cache, number {number}",
            project="house",
            uid=f"{number:012x}",
            setup=setup,
            heuristics=HeuristicsConfig(),
        )
        handle = runner.open(WORKFLOW, "house", first, runner.new_id(), runner.new_id()).handle
        content += b"".join(map(jsonl.encode_event_line, runner.store.read(handle.session_id)))
    path.write_bytes(content)
    return content
