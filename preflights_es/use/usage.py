"""What providers were asked, what it took, and what it cost."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, time
from decimal import Decimal

from preflights_es.kernel.ids import EPOCH, iso_or_none
from preflights_es.projections.usage import BY, By, Price, Used, used
from preflights_es.settings.file import PriceTable
from preflights_es.use.request import Request
from preflights_es.use.results import Result


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
    usage: tuple[Used, ...]


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
    """
    process = request.process
    project = None if any_project else process.project
    names = tuple(name for name in BY if name in by) or BY
    prices = [price(one) for one in process.settings.prices]
    rows = process.projector.rows("usage", project)
    found = tuple(used(rows, names, since, until, prices))
    return Usage(
        project=project,
        since=iso_or_none(since),
        until=iso_or_none(until),
        by=names,
        behind=bool(process.projector.behind),
        usage=found,
    )


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
