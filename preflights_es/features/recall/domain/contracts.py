"""What a model must answer (docs/specs/memory.md)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec

from preflights_es.features.recall.domain.lead import PACKAGE, PROMPTS
from preflights_es.judging.contract import Contract
from preflights_es.kernel.completions import schema


def _schema(contract: str) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(schema(PACKAGE, contract).text)
    return found


def _contract(contract: str) -> Contract:
    name, _, version = contract.rpartition(".v")
    return Contract(
        name=name,
        version=int(version),
        schema=partial(_schema, contract),
        prose="drop",
        unknown="drop",
        failure=False,
        code=False,
    )


CONTRACTS: Final = {contract: _contract(contract) for contract in PROMPTS.values()}
"""By `name.vN`."""
