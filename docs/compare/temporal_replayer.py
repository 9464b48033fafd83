"""Replays histories of Temporal by the rules of `by_hand.py`: a call of a model is an activity.

    python temporal_replayer.py ROOT [--unsandboxed]

Reads `histories.jsonl` of this folder; prints the ids of workflows whose replay fails.
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])

from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

with workflow.unsafe.imports_passed_through():
    from tests.benchmarks.floor_led import decided

PATCHES = 2  # a proposal, and one after the revision


@workflow.defn(name="Session")
class Session:
    """One session: calls are activities, answers are signals, the last patch is the result."""

    def __init__(self) -> None:
        self._heard: list[list[Any]] = []

    @workflow.signal
    def heard(self, tag: str, data: dict[str, Any]) -> None:
        """An answer or a revision."""
        self._heard.append([tag, data])

    @workflow.run
    async def run(self, tag: str, data: dict[str, Any]) -> Any:
        """Drive the session to its last patch."""
        state: dict[str, Any] = {"said": [], "steps": 0, "answers": {}}
        patches = 0
        while True:
            for name, decision in decided(state, tag, data):
                tag = ""
                if name == "completion.requested.v1":
                    text = await workflow.execute_activity(
                        decision["contract"],
                        decision,
                        result_type=str,
                        start_to_close_timeout=timedelta(minutes=1),
                    )
                    tag, data = "completion.received.v1", {"text": text}
                elif name.endswith("patch_proposed.v1"):
                    patches += 1
                    if patches == PATCHES:
                        return decision
            if not tag:
                await workflow.wait_condition(lambda: bool(self._heard))
                tag, data = self._heard.pop(0)


async def histories() -> AsyncIterator[WorkflowHistory]:
    """Those of this folder."""
    for line in Path("histories.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        yield WorkflowHistory.from_json(one["id"], {"events": one["events"]})


async def main() -> None:
    """Judge all histories."""
    logging.disable()
    more = {"workflow_runner": UnsandboxedWorkflowRunner()} if "--unsandboxed" in sys.argv else {}
    replayer = Replayer(workflows=[Session], **more)
    differing = []
    async with replayer.workflow_replay_iterator(histories()) as results:
        async for one in results:
            if one.replay_failure:
                differing.append(one.history.workflow_id)
                sys.stderr.write(f"{one.history.workflow_id}: {one.replay_failure}\n")
    sys.stdout.write(f"differing: {' '.join(differing)}\n")


if __name__ == "__main__":
    asyncio.run(main())
    sys.stdout.flush()
    os._exit(0)  # threads of its own crash now and then while the interpreter ends
