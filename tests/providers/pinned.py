"""Responses that must never change: (seed, prompt) and the SHA-256 of what is answered.

`python -m tests.providers.pinned` writes the file of a new generation; one that exists stays.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from preflights_es.providers.faults import FaultConfig, FaultyProvider
from preflights_es.providers.simulator import SimLLMProvider
from preflights_es.words.simulation import GENERATION
from tests.providers.driving import driven, request

FILE: Final = Path(__file__).parent / f"{GENERATION.replace('/', '-')}.json"

SEEDS: Final = (0, 1, 42, -42, 2**63, -(2**80))
PROMPTS: Final = (
    "Extract entities from: I met Alice at Acme Corp",
    "Extract entities from:\nYesterday Zoltan flew from Berlin to New York with Frau Müller-Groß.",
    "Rewrite this query: what does Alice like for lunch in Tokyo?",
    "rewrite query",
    "Detect evolution.\nOld: Bob lives in Paris\nNew: Bob no longer lives in Paris",
    "Categorize: my sister loves vegetarian food, and I have a budget meeting tomorrow",
    "Kategorien? Nein: hello",
    "x",
    " ",
    "\x00",
    "Categorize \ud800 \u202e \U0001f600 日本語 Привет",
    "Extract entities: " + "Ada likes tea. " * 400,
)
FAULTS: Final = FaultConfig(
    llm_timeout=0.25, llm_error=0.25, llm_malformed=0.25, llm_rate_limit=0.25
)


BROKEN: Final = FaultConfig(llm_malformed=1.0)


def pinned() -> list[dict[str, Any]]:
    """Every case, with what it comes to today."""
    return [
        {
            "seed": seed,
            "prompt": prompt,
            "sha256": _digest(SimLLMProvider(seed), prompt),
            "malformed": _digest(SimLLMProvider(seed, BROKEN), prompt),
            "faults": [_fault(seed, prompt, attempt) for attempt in (1, 2, 3)],
        }
        for seed in SEEDS
        for prompt in PROMPTS
    ]


def _digest(provider: SimLLMProvider, prompt: str) -> str:
    return sha256(driven(provider.complete(prompt)).encode()).hexdigest()


def _fault(seed: int, prompt: str, attempt: int) -> str | None:
    faulty = FaultyProvider(SimLLMProvider(seed), seed, FAULTS)
    return faulty.drawn(request(prompt, attempt=attempt))


def main() -> None:
    """Write the file, once."""
    with FILE.open("x", encoding="utf-8") as file:
        json.dump(pinned(), file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
