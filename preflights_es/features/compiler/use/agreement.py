"""Where plans disagree with what is in force now: the same findings as those of their passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.compiler.domain.decide import still_open
from preflights_es.features.compiler.domain.events import PassBegun, PlanDrafted
from preflights_es.features.compiler.domain.rules import findings, perhaps
from preflights_es.features.compiler.domain.state import State
from preflights_es.features.compiler.domain.values import DecidedField, LeftOut, ReadDecision
from preflights_es.features.compiler.use.artifacts import Standings, row_named
from preflights_es.features.compiler.use.reading import (
    decisions_in_force,
    layout,
    newest,
    read_plan,
)
from preflights_es.kernel.events import Source
from preflights_es.kernel.items import Cause, Finding, WaivedFinding
from preflights_es.kernel.json import decoded
from preflights_es.projections.artifacts import PlanRow
from preflights_es.use.decisions import records_beside
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.request import Request
from preflights_es.use.results import Result

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
        maybe += foreign_findings(now, plan, self._foreign)
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


def foreign_findings(
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


def tell_perhaps(request: Request, found: Iterable[Finding]) -> None:
    """Tell a person what does not block."""
    for one in found:
        request.notice("perhaps_against", f"perhaps: {one.pointer} {one.message}")


class CheckedPlan(Result, frozen=True):
    """A plan, and where it disagrees with what is in force now."""

    id: str
    type: str
    subject: str
    """The target of an ImplementationPlan, the goal of a RefactorPlan."""
    standing: str
    session_id: str
    findings: tuple[Finding, ...]
    """Those that no person has waived."""
    waived: tuple[WaivedFinding, ...]
    """Those that a person has waived, and that are still there."""
    perhaps: tuple[Finding, ...]
    """What names something that was decided against; it does not count."""
    stale: tuple[Cause, ...]
    """It does not count either: `artifacts` shows it as well."""


class PlanCheck(Result, frozen=True, tag_field="format", tag="plan-check/1"):
    """How the plans of a project agree."""

    project: str
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    plans: tuple[CheckedPlan, ...]

    @property
    def agrees(self) -> bool:
        """Whether no finding is open."""
        return not any(one.findings for one in self.plans)


def check(request: Request, typed: str | None = None) -> PlanCheck:
    """The plans in force, or one artifact of any standing, against what is in force now.

    Raises:
        Refused: no artifact, or several, match.
    """
    standings = Standings(request)
    rows = standings.in_force if typed is None else (row_named(standings.rows, typed),)
    process = request.process
    return PlanCheck(
        project=process.project,
        behind=bool(process.projector.behind),
        plans=tuple(_checked(request, standings, rows)),
    )


def _checked(
    request: Request, standings: Standings, rows: tuple[PlanRow, ...]
) -> Iterator[CheckedPlan]:
    agreements = Agreements(request, standings) if rows else None
    for row in rows:
        handle = request.reading.session(row.session_id).load()
        state: State = handle.session.state
        if agreements is None or state.plan is None or row.planned.id != state.plan.id:
            continue  # a report
        yield _checked_plan(row, state, agreements.of(state), standings.causes(row))


def _checked_plan(
    row: PlanRow, state: State, found: Agreement, stale: tuple[Cause, ...]
) -> CheckedPlan:
    one = row.planned
    names = {finding.name for finding in found.findings}
    return CheckedPlan(
        id=one.id,
        type=one.type,
        subject=one.subject,
        standing=one.standing,
        session_id=row.session_id,
        findings=still_open(found.findings, {waived.finding.name for waived in state.waived}),
        waived=tuple(
            WaivedFinding.of(waived) for waived in state.waived if waived.finding.name in names
        ),
        perhaps=found.perhaps,
        stale=stale,
    )
