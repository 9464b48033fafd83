"""What a model must answer to a question: a query, candidates, or words (seed 4)."""

from __future__ import annotations

import json
from typing import Any, Final

from preflights_es.features.metrics.domain.events import CONTRACT, PACKAGE, POLICY
from preflights_es.judging.contract import Contract
from preflights_es.kernel.completions import read_prompt_schema


def load_metrics_schema() -> dict[str, Any]:
    """The schema of today."""
    found: dict[str, Any] = json.loads(read_prompt_schema(PACKAGE, CONTRACT).text)
    return found


METRICS: Final = Contract(
    name="metrics",
    version=1,
    schema=load_metrics_schema,
    prose="drop",
    unknown="drop",
    failure=False,
    code=False,
    words=True,
    policy=POLICY,
)
