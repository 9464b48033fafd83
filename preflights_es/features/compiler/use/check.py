"""`plan check`: the plans in force against each other and decisions; nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterator

from preflights_es.features.compiler.domain.state import State
from preflights_es.features.compiler.domain.waiving import still_open
from preflights_es.features.compiler.use.agreement import Agreement, Agreements
from preflights_es.features.compiler.use.naming import row_named
from preflights_es.features.compiler.use.standing import PlanRow, Standings
from preflights_es.kernel.items import Cause, Finding
from preflights_es.use.reading import looking
from preflights_es.use.request import Request
from preflights_es.use.results import Result, WaivedFinding


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
        handle = looking(request, row.session_id).sessions.load(row.session_id)
        state: State = handle.session.state
        if agreements is None or state.plan is None or row.planned.id != state.plan.id:
            continue  # a report
        yield _told(row, state, agreements.of(state), standings.causes(row))


def _told(row: PlanRow, state: State, found: Agreement, stale: tuple[Cause, ...]) -> CheckedPlan:
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
