"""What a model must answer (docs/specs/memory.md), and what the simulator answers in its place."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec

from preflights_es.features.recall.domain.rules import PACKAGE, PROMPTS, Compared, evolution
from preflights_es.judging.contract import Contract
from preflights_es.kernel.completions import CompletionRequested, schema
from preflights_es.kernel.decisions import Evolution
from preflights_es.kernel.json import encoded
from preflights_es.kernel.simulation import Bank, Draws, Route


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

OTHERS: Final[tuple[Evolution, ...]] = ("update", "contradict", "extend", "derive", "none")


class _Written(msgspec.Struct):
    """A decision as a request has it."""

    uid: str
    category: str
    fields: dict[str, str]
    intention: str = ""

    def as_compared(self) -> Compared:
        fields = tuple(self.fields.items())
        return Compared(
            category=self.category, fields=fields, intention=self.intention, uid=self.uid
        )


def varied(draws: Draws, request: CompletionRequested) -> str:
    """A `detect_evolution.v1` around the findings of the rules."""
    new, *older = _decisions(request) or [_Written("", "", {})]
    made: list[dict[str, Any]] = []
    for old in older:
        kind = evolution(new.as_compared(), old.as_compared())
        kind = "none" if kind == "same" else kind  # no model is asked about these
        if draws.chance(0.3):
            kind = draws.pick(OTHERS)
        if draws.chance(0.9):  # one in ten is overlooked
            made.append({"uid": old.uid, "type": kind, "reason": f"{old.category}: {kind}"})
    text = encoded({"evolutions": made}).decode()
    return f"```json\n{text}\n```" if draws.chance(0.2) else text


def _decisions(request: CompletionRequested) -> list[_Written]:
    """The new one, then the older ones; none where the request tells of none."""
    said = next((m.content for m in request.messages if m.role == "user"), "")
    lines = [line for line in said.splitlines() if line.startswith('{"uid":')]
    try:
        return [msgspec.json.decode(line, type=_Written) for line in lines]
    except (msgspec.MsgspecError, UnicodeError):
        return []


BANK: Bank = {"detect_evolution.v1": Route(varied)}
"""The other contracts are routes of the simulator's own."""
