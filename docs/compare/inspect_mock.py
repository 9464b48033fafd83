"""An Inspect task: each recorded call is a sample, a mock model gives the recorded responses.

    python inspect_mock.py

Reads `calls.json` of this folder; prints the ids of sessions with a sample that is not as expected.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import match
from inspect_ai.solver import generate

ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
CALLS = json.loads(Path("calls.json").read_text("utf-8"))
TODAY = CALLS["today"]


def recorded(messages: list[ChatMessage], *_: Any) -> ModelOutput:
    """The response to this very request."""
    said = [{"role": one.role, "content": one.text} for one in messages]
    sent = [TODAY["model"], TODAY["parameters"], said]
    key = json.dumps(sent, separators=(",", ":"), ensure_ascii=False)
    text = CALLS["recorded"].get(sha256(key.encode()).hexdigest(), "no recorded response")
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=512, output_tokens=60, total_tokens=572)
    return output


def samples() -> list[Sample]:
    """Every call, with today's prompt."""
    return [
        Sample(
            id=f"{call['session']}/{number}",
            input=[
                ChatMessageSystem(content=TODAY["prompts"][call["step"]]),
                *(ROLES[one["role"]](content=one["content"]) for one in call["messages"]),
            ],
            target=call["expected"],
        )
        for number, call in enumerate(CALLS["calls"])
    ]


def main() -> None:
    """Run the task, and read its log."""
    task = inspect_ai.Task(
        dataset=MemoryDataset(samples()),
        solver=generate(),
        scorer=match(location="exact", ignore_case=False),
    )
    model = get_model("mockllm/model", custom_outputs=recorded)
    (log,) = inspect_ai.eval(task, model=model, display="none", log_dir="inspect-logs")
    assert log.status == "success", log.error
    assert log.samples is not None
    differing = {
        str(one.id).partition("/")[0]
        for one in log.samples
        if not one.scores or one.scores["match"].value != "C"
    }
    sys.stdout.write(f"differing: {' '.join(sorted(differing))}\n")


if __name__ == "__main__":
    main()
