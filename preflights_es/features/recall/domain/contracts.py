"""What a model must answer (docs/specs/memory.md)."""

from __future__ import annotations

from functools import partial
from typing import Final

from preflights_es.features.recall.domain.rules import CONTRACT, PACKAGE
from preflights_es.judging.contract import Contract
from preflights_es.kernel.completions import decode_prompt_schema

REWRITE: Final = Contract(
    name="rewrite_query",
    version=1,
    schema=partial(decode_prompt_schema, PACKAGE, CONTRACT),
    prose="drop",
    unknown="drop",
    failure=False,
    code=False,
)
"""The simulator has a route of its own for it."""
