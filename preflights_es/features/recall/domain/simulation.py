"""What the simulator answers in place of a model that compares decisions.

The other contracts of this workflow are routes of the simulator's own.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from preflights_es.features.recall.domain.evolution import Decision, evolution
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.decisions import Evolution
from preflights_es.kernel.json import encoded
from preflights_es.kernel.simulation import Bank, Draws, Route

OTHERS: Final[tuple[Evolution, ...]] = ("update", "contradict", "extend", "derive", "none")


class _Told(msgspec.Struct):
    """A decision as a request has it."""

    uid: str
    category: str
    fields: dict[str, str]
    intention: str = ""

    def compared(self) -> Decision:
        fields = tuple(self.fields.items())
        return Decision(
            category=self.category, fields=fields, intention=self.intention, uid=self.uid
        )


def varied(draws: Draws, request: CompletionRequested) -> str:
    """A `detect_evolution.v1` around the findings of the rules."""
    new, *older = _decisions(request) or [_Told("", "", {})]
    made: list[dict[str, Any]] = []
    for old in older:
        kind = evolution(new.compared(), old.compared())
        kind = "none" if kind == "same" else kind  # no model is asked about these
        if draws.chance(0.3):
            kind = draws.pick(OTHERS)
        if draws.chance(0.9):  # one in ten is overlooked
            made.append({"uid": old.uid, "type": kind, "reason": f"{old.category}: {kind}"})
    text = encoded({"evolutions": made}).decode()
    return f"```json\n{text}\n```" if draws.chance(0.2) else text


def _decisions(request: CompletionRequested) -> list[_Told]:
    """The new one, then the older ones; none where the request tells of none."""
    said = next((m.content for m in request.messages if m.role == "user"), "")
    lines = [line for line in said.splitlines() if line.startswith('{"uid":')]
    try:
        return [msgspec.json.decode(line, type=_Told) for line in lines]
    except (msgspec.MsgspecError, UnicodeError):
        return []


BANK: Bank = {"detect_evolution.v1": Route(varied)}
