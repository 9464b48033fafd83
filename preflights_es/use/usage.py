"""What providers were asked, what it took, and what it cost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any, Final

from preflights_es.kernel.errors import Refused, WorkflowMissing
from preflights_es.kernel.ids import EPOCH, iso_or_none
from preflights_es.projections.usage import (
    BY,
    By,
    Kind,
    Price,
    UsageTotals,
    UsedThen,
    used,
    used_over_time,
)
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.file import PriceTable
from preflights_es.use.request import Request
from preflights_es.use.results import Result

Row = Mapping[str, Any]


class Usage(Result, frozen=True, tag_field="format", tag="usage/1"):
    """Sums over the calls of providers; times are ISO 8601, UTC."""

    project: str | None
    """None for every project."""
    since: str | None
    until: str | None
    by: tuple[By, ...]
    """What the sums are by."""
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    usage: tuple[UsageTotals, ...]
    recorded: tuple[UsageTotals, ...] = ()
    """The same of calls that other programs made, by the time at which each was made."""


def usage(
    request: Request,
    by: Collection[str] = BY,
    *,
    since: int | None = None,
    until: int | None = None,
    any_project: bool = False,
) -> Usage:
    """The calls of this project, or of all, summed up.

    Args:
        by: of `provider`, `model` and `prompt`; all three where it is empty.
        since, until: the time of the calls, in microseconds since 1970 UTC; None has no end.

    Raises:
        Refused: `by` names something else.
    """
    if others := sorted(set(by).difference(BY)):
        message = f"by is {others[0]!r}, expected {', '.join(BY[:-1])} or {BY[-1]}"
        raise Refused(message, code="wrong_type", argument="by")
    process = request.process
    project = None if any_project else process.project
    names = tuple(name for name in BY if name in by) or BY
    prices = [price(one) for one in process.settings.prices]
    own, recorded = _split_recorded(process.projector.rows("usage", project))
    found = tuple(used(own, names, since, until, prices=prices))
    return Usage(
        project=project,
        since=iso_or_none(since),
        until=iso_or_none(until),
        by=names,
        behind=bool(process.projector.behind),
        usage=found,
        recorded=tuple(used(recorded, names, since, until, prices=prices)),
    )


def _split_recorded(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """The calls of this program, and those that other programs made."""
    own: list[Row] = []
    recorded: list[Row] = []
    for row in rows:
        (recorded if has_made_calls(row["workflow"]) else own).append(row)
    return own, recorded


def has_made_calls(name: str) -> bool:
    """Whether a workflow's sessions hold calls of other programs, and so other people's words."""
    try:
        return WORKFLOWS[name].shown.made_calls is not None
    except WorkflowMissing:
        return False


class UsageOverTime(Result, frozen=True):
    """The same sums over time."""

    step: int
    """Microseconds of a span."""
    behind: bool
    """As in `Usage`."""
    totals: tuple[UsedThen, ...]
    """By kind."""
    spans: tuple[UsedThen, ...]
    """By span and kind; a span without a call is left out."""
    all_kinds: tuple[UsedThen, ...]
    """By span alone."""
    recorded: tuple[UsedThen, ...]
    """By kind, of calls that other programs made."""


HOUR: Final = 3_600 * 1_000_000  # microseconds
STEPS: Final = tuple(HOUR * hours for hours in (1, 6, 24, 7 * 24, 28 * 24, 364 * 24))
SPANS_MAX: Final = 60


def usage_over_time(
    request: Request, of: Kind, *, since: int | None = None, until: int | None = None
) -> UsageOverTime:
    """The calls of this project, summed up by span of time and by workflow, model or prompt.

    A span is as short as at most sixty of them allow.

    Args:
        since, until: as in `usage`.
    """
    process = request.process
    prices = [price(one) for one in process.settings.prices]
    rows, recorded = _split_recorded(process.projector.rows("usage", process.project))
    times = [row["at"] for row in rows]
    first = max(min(times, default=0), since or 0)
    last = min(max(times, default=0), until or max(times, default=0))
    step = step_between(first, last)

    def summed(rows: list[Row], step: int | None, of: Kind | None) -> tuple[UsedThen, ...]:
        return tuple(used_over_time(rows, step, of, since=since, until=until, prices=prices))

    return UsageOverTime(
        step=step,
        behind=bool(process.projector.behind),
        totals=summed(rows, None, of),
        spans=summed(rows, step, of),
        all_kinds=summed(rows, step, None),
        recorded=summed(recorded, None, of),
    )


def step_between(first: int, last: int) -> int:
    """Microseconds of a span; of times that are far apart there are more than sixty."""
    fitting = (step for step in STEPS if last // step - first // step < SPANS_MAX)
    return next(fitting, STEPS[-1])


def price(table: PriceTable) -> Price:
    """From the first moment of its day on, and as it was written: no float comes near it."""
    first = datetime.combine(table.since, time(), UTC) - EPOCH
    return Price(
        provider=table.provider,
        model=table.model,
        since=first.days * 86_400 * 1_000_000,
        input_per_million=Decimal(str(table.input_per_million)),
        output_per_million=Decimal(str(table.output_per_million)),
        currency=table.currency,
    )
