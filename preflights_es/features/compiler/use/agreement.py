"""Where a plan disagrees with what is in force now: the same findings as those of its pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.compiler.domain.events import PassBegun, PlanDrafted
from preflights_es.features.compiler.domain.findings import findings, perhaps
from preflights_es.features.compiler.domain.state import State
from preflights_es.features.compiler.domain.values import DecidedField, LeftOut, ReadDecision
from preflights_es.features.compiler.use.layout import layout
from preflights_es.features.compiler.use.reading import decisions_in_force, newest, read_plan
from preflights_es.features.compiler.use.standing import Standings
from preflights_es.kernel.events import Source
from preflights_es.kernel.items import Finding
from preflights_es.kernel.json import decoded
from preflights_es.kernel.statements import Placed
from preflights_es.use.decisions import records_beside
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.request import Request

NO_SESSION: Final = Source("", 0, "")
"""Of a record of another tool."""


class Agreement(msgspec.Struct, frozen=True):
    """How a plan stands to what is in force."""

    findings: tuple[Finding, ...]
    perhaps: tuple[Finding, ...]
    """What names something that was decided against, and what contradicts a record of another
    tool; it never blocks."""
    quoted: tuple[Source, ...]
    """Sessions of the decisions that these name."""


class Agreements:
    """The plans of a project against what is in force; everything is read once."""

    def __init__(self, request: Request, standings: Standings) -> None:
        self._request = request
        self._standings = standings
        self._decisions = decisions_in_force(request)
        self._foreign = foreign_decisions(request)
        self._listed, self._unnamed = layout(request.process.settings.root)

    def of(self, state: State) -> Agreement:
        """How the artifact of a session stands to what is in force now."""
        begun, plan = state.begun, state.plan
        assert begun is not None, "an artifact follows from what was read"
        assert plan is not None, "the caller has found it"
        payload = decoded(plan.payload.encode())
        now = self._now(begun)
        found, maybe = findings(now, payload), perhaps(now, payload)
        maybe += beside(now, plan, self._foreign)
        said = [one.message for one in (*found, *maybe)]
        named = (one for one in now.decisions if any(one.uid in text for text in said))
        return Agreement(found, maybe, tuple(one.source for one in named))

    def _now(self, begun: PassBegun) -> PassBegun:
        """A pass as it would read now what it has read; its documents as they were."""
        rows = self._standings.in_force
        ids = {row.planned.id for row in rows}
        plans = []
        for one in begun.plans:
            other = None if one.id in ids else newest(rows, one.type)
            plans.append(read_plan(self._request, other) if other else one)
        left_out = (LeftOut("layout", self._unnamed),) if self._unnamed else ()
        return replace(
            begun,
            plans=tuple(plans),
            decisions=self._decisions,
            layout=self._listed,
            left_out=left_out,
        )


def beside(
    begun: PassBegun, plan: PlanDrafted, foreign: Iterable[ReadDecision]
) -> tuple[Finding, ...]:
    """What a plan states or names against records of other tools: perhaps, never more."""
    records = tuple(foreign)
    if not records:
        return ()
    payload = decoded(plan.payload.encode())
    only = replace(begun, decisions=records)
    stated = (one for one in findings(only, payload) if one.kind == "decision")
    return (*stated, *perhaps(only, payload))


def foreign_decisions(request: Request) -> tuple[ReadDecision, ...]:
    """What records of other tools decided, as far as their titles state it."""
    rows = records_beside(request, everything=False).rows
    return tuple(one for row in rows if row.is_held and (one := _stated(row)))


def _stated(row: ForeignRow) -> ReadDecision | None:
    from preflights_es.features.clarification.domain.pack import loaded
    from preflights_es.features.clarification.domain.topics import find

    said = find(row.title)
    if not said.stated:
        return None
    value = said.stated[0]
    topic = next((one for one in loaded().topics if one.id == value.topic), None)
    replaced = tuple(one.value for one in said.replaced)
    offered = topic.offered(said.language) if topic else ()
    others = tuple(dict.fromkeys(one for one in (*replaced, *offered) if one != value.value))
    field = DecidedField(topic.field if topic else "Decision", value.value, others)
    return ReadDecision(row.path, row.title, NO_SESSION, (field,), scope=said.scope)


def told(found: Iterable[Finding]) -> Iterator[Placed]:
    """Pairs of a code and what a person is told of what does not block."""
    for one in found:
        yield "perhaps_against", f"perhaps: {one.pointer} {one.message}"
