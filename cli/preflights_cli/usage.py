"""`usage`: what providers were asked, what it took, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from preflights_cli.common import Voice, reading_command, tell_behind
from preflights_cli.dates import refuse_backwards, time_range_options
from preflights_cli.table import streamed
from preflights_es.projections.usage import BY, By, UsageTotals
from preflights_es.use.request import Request
from preflights_es.use.usage import usage

UNKNOWN = "?"
"""Shown for an unknown number; 0 would be wrong."""


@click.command()
@click.option(
    "--by",
    type=click.Choice(BY),
    multiple=True,
    help="Group by this; repeatable. Default: all three.",
)
@time_range_options("Calls")
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@reading_command
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
    app.finish_pending()
    found = usage(app, by, since=since, until=until, any_project=any_project)
    tell_behind(app, voice)
    voice.json(found)
    if voice.as_json:
        return 0
    if found.usage:
        _say_usage(voice, found.usage, found.by)
    elif usage(app, any_project=any_project).usage:
        voice.say("No call fits the filter.")
    else:
        voice.say("No provider was asked anything.")
    return 0


def _say_usage(voice: Voice, found: Sequence[UsageTotals], names: Sequence[By]) -> None:
    headings = (*names, "calls", "trouble", "tokens in", "out", "median ms", "cost")
    streamed(headings, (_usage_table_row(one, names) for one in found))
    if any(one.unmeasured for one in found):
        voice.hint("Some calls did not report their tokens: the sums leave them out.")
    if any(one.unpriced for one in found):
        voice.hint("Configure prices with [[prices]] in preflights.toml.")


def _usage_table_row(one: UsageTotals, names: Sequence[By]) -> tuple[str, ...]:
    return (
        *(getattr(one, name) for name in names),
        _format_known_number(one.calls),
        _failed_calls_in_words(one),
        _format_known_number(one.input_tokens),
        _format_known_number(one.output_tokens),
        _format_known_number(one.latency_ms_median),
        _format_usage_cost(one),
    )


def _failed_calls_in_words(one: UsageTotals) -> str:
    """The number of failed calls in words; empty without any."""
    counts = (
        ("retries", one.retries),
        ("failed", one.failed),
        ("rejected", one.rejected),
        ("fallbacks", one.fallbacks),
        ("late", one.late),
    )
    return ", ".join(f"{name} {count:,}" for name, count in counts if count)


def _format_known_number(value: Any) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def _format_usage_cost(one: UsageTotals) -> str:
    known = ", ".join(f"{cost.amount} {cost.currency}" for cost in one.costs)
    if not one.unpriced:
        return known
    return f"{known} + {UNKNOWN}" if known else UNKNOWN
