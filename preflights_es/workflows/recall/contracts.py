"""What a model must answer that rewrites a question (docs/specs/memory.md, section 4)."""

from __future__ import annotations

from typing import Any

import msgspec

from preflights_es.contracts.contract import Contract
from preflights_es.core.prompts import schema
from preflights_es.workflows.recall.lead import CONTRACT, PACKAGE


def _schema() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(schema(PACKAGE, CONTRACT).text)
    return found


REWRITE_QUERY = Contract(
    name="rewrite_query", version=1, schema=_schema, prose="drop", failure=False, code=False
)
