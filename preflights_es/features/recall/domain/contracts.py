"""What a model must answer (docs/specs/memory.md)."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from preflights_es.features.recall.domain.rules import CONTRACT, PACKAGE
from preflights_es.judging.contract import Contract
from preflights_es.kernel.completions import read_prompt_schema


def _read_rewrite_schema() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(read_prompt_schema(PACKAGE, CONTRACT).text)
    return found


REWRITE: Final = Contract(
    name="rewrite_query",
    version=1,
    schema=_read_rewrite_schema,
    prose="drop",
    unknown="drop",
    failure=False,
    code=False,
)
"""The simulator has a route of its own for it."""
