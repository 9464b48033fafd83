"""`usage`: what providers were asked, what it took, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from preflights_cli.common import Voice, finish_pending, reading, tell_behind
from preflights_cli.dates import Moment
from preflights_cli.table import Column, table
from preflights_es.core.times import iso
from preflights_es.projections.usage import BY, By, Used
from preflights_es.services.request import Request
from preflights_es.services.usage import usage

UNKNOWN = "?"
"""Shown for an unknown number; 0 would be wrong."""


@click.command()
@click.option(
    "--by",
    type=click.Choice(BY),
    multiple=True,
    help="Group by this; repeatable. Default: all three.",
)
@click.option(
    "--since",
    type=Moment(is_end=False),
    metavar="DATE",
    help="Calls since this day or time (UTC without an offset).",
)
@click.option(
    "--until",
    type=Moment(is_end=True),
    metavar="DATE",
    help="Calls until this day or time (UTC without an offset).",
)
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@reading
def usage_command(
    by: tuple[str, ...],
    since: int | None,
    until: int | None,
    any_project: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Sum up the calls of providers: tokens, retries, fallbacks, latency, and what they cost.

    Costs follow the prices in your settings ([[prices]]); a call without a price counts as
    unpriced.

    \b
    Examples:
      preflights usage
      preflights usage --by model --since 2026-11-01 --json
    """
    refuse_backwards(since, until)
    finish_pending(app, voice)
    found = usage(app, by, since=since, until=until, any_project=any_project)
    tell_behind(app, voice)
    voice.json(found)
    if voice.as_json:
        return 0
    if found.usage:
        _say(voice, found.usage, found.by)
    elif usage(app, any_project=any_project).usage:
        voice.say("No call fits the filter.")
    else:
        voice.say("No provider was asked anything.")
    return 0


def refuse_backwards(since: int | None, until: int | None) -> None:
    """Raises:
    UsageError: a time would end before it begins.
    """
    if since is not None and until is not None and since > until:
        message = f"found --since {iso(since)} after --until {iso(until)}: expected an earlier time"
        raise click.UsageError(message)


def _say(voice: Voice, found: Sequence[Used], names: Sequence[By]) -> None:
    columns = [Column(name, [getattr(one, name) for one in found]) for name in names]
    columns += [
        Column("calls", [_text(one.calls) for one in found]),
        Column("trouble", [_trouble(one) for one in found]),
    ]
    columns += [
        Column(heading, [_text(getattr(one, name)) for one in found])
        for heading, name in (
            ("tokens in", "input_tokens"),
            ("out", "output_tokens"),
            ("median ms", "latency_ms_median"),
        )
    ]
    columns.append(Column("cost", [_cost(one) for one in found]))
    table(tuple(columns))
    if any(one.unmeasured for one in found):
        voice.hint("Some calls did not report their tokens: the sums leave them out.")
    if any(one.unpriced for one in found):
        voice.hint("Configure prices with [[prices]] in preflights.toml.")


def _trouble(one: Used) -> str:
    """The number of failed calls in words; empty without any."""
    counts = (
        ("retries", one.retries),
        ("failed", one.failed),
        ("rejected", one.rejected),
        ("fallbacks", one.fallbacks),
        ("late", one.late),
    )
    return ", ".join(f"{name} {count:,}" for name, count in counts if count)


def _text(value: Any) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def _cost(one: Used) -> str:
    known = ", ".join(f"{cost.amount} {cost.currency}" for cost in one.costs)
    if not one.unpriced:
        return known
    return f"{known} + {UNKNOWN}" if known else UNKNOWN
