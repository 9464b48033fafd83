"""`usage`, `prompts` and `facts`: what models are sent and told of the repository, what it took,
and what came of it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from preflights_cli.common import Voice, reading_command, tell_behind
from preflights_cli.table import refuse_backwards, streamed, time_range_options
from preflights_es.kernel.completions import Prompt, prompt
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import escaped_text, span
from preflights_es.projections.usage import BY, By, UsageTotals, costs_in_words
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.load import load_settings
from preflights_es.use.repository_facts import Facts, read_known_facts
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
    """Sum up the calls of models: tokens, retries, fallbacks, latency, and what they cost.

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
    elif found.recorded:
        voice.say("This program asked no model.")
    elif (whole := usage(app, any_project=any_project)).usage or whole.recorded:
        voice.say("No call fits the filter.")
    else:
        voice.say("No model was asked anything.")
    if found.recorded:
        voice.say("Calls of other programs (`preflights calls`):")
        _say_usage(voice, found.recorded, found.by)
    return 0


def _say_usage(voice: Voice, found: Sequence[UsageTotals], names: Sequence[By]) -> None:
    headings = (*names, "calls", "tokens", "median", "cost", "")
    streamed(headings, (_usage_table_row(one, names) for one in found))
    if any(one.unmeasured for one in found):
        voice.hint("Some calls did not report their tokens: sums and costs leave them out.")
    if any(one.unpriced > one.unmeasured for one in found):
        voice.hint("Configure prices with [[prices]] in preflights.toml.")


def _usage_table_row(one: UsageTotals, names: Sequence[By]) -> tuple[str, ...]:
    return (
        *(getattr(one, name) for name in names),
        _format_known_number(one.calls),
        f"{_format_known_number(one.input_tokens)} -> {_format_known_number(one.output_tokens)}",
        UNKNOWN if one.latency_ms_median is None else span(one.latency_ms_median / 1_000),
        _format_usage_cost(one),
        _failed_calls_in_words(one),
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
    known = costs_in_words(one.costs)
    if not one.unpriced:
        return known
    return f"{known} + {UNKNOWN}" if known else UNKNOWN


DIGITS: Final = 12
"""Of a digest, in a table."""
Used = tuple[str, str, Prompt]
"""A prompt's name, its workflow, and the version that a new session uses."""


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def prompts_command(name: str | None, as_json: bool) -> int:
    """List the prompts in use, or print one, to change it and try it by `--prompt NAME=FILE`.

    \b
    Examples:
      preflights prompts
      preflights prompts clarify > new.md
      preflights regress --prompt clarify=new.md
    """
    used = [
        (key, workflow.name, prompt(workflow.led.package, id_))
        for workflow in WORKFLOWS.installed()
        for key, id_ in workflow.led.prompts
    ]
    if name is not None:
        used = [_find_prompt(name, used)]
        if not as_json:
            sys.stdout.buffer.write(used[0][2].text.encode())  # byte by byte as it is sent
            return 0
    voice = Voice(as_json=as_json, quiet=False, verbose=False)
    rows = [_prompt_table_row(*one, whole=name is not None) for one in used]
    settings = load_settings(Path.cwd())
    asks = {"provider": settings.provider, "model": settings.model, "host": settings.host}
    voice.json({"format": "prompts/1", "prompts": rows, "asks": asks})
    if not as_json:
        cells = ((key, one.id, workflow, one.sha256[:DIGITS]) for key, workflow, one in used)
        streamed(("name", "version", "workflow", "sha256"), cells)
        if host := settings.host:
            who = f"{settings.provider} {settings.model}"
            voice.say(f"\nA new session sends them to {who} at {host}.")
    return 0


def _find_prompt(name: str, used: list[Used]) -> Used:
    """The prompt that is meant, by its name or version.

    Raises:
        Refused: none is called so, or several are.
    """
    found = [one for one in used if name in (one[0], one[2].id)]
    if len(found) == 1:
        return found[0]
    if found:
        versions = " or ".join(one[2].id for one in found)
        raise Refused(f"several prompts are called {name}: give {versions}", code="unknown_prompt")
    known = ", ".join(dict.fromkeys(one[0] for one in used))
    raise Refused(f"no prompt {name!r}: expected one of {known}", code="unknown_prompt")


def _prompt_table_row(name: str, workflow: str, found: Prompt, *, whole: bool) -> dict[str, str]:
    row = {"name": name, "version": found.id, "workflow": workflow, "sha256": found.sha256}
    return row | {"text": found.text} if whole else row


SHOWN_MAX: Final = 30  # packages that stand for no known product


@click.command()
@reading_command
def facts_command(app: Request, voice: Voice) -> int:
    """Show what the repository says of itself: packages, images, languages, CI, README.

    A session begins with these facts: a question offers first what is here already, and a model
    that leads sees them. Files are read within limits; links are not followed; of a URL nothing is
    kept but the package's name.

    \b
    Examples:
      preflights facts
      preflights facts --json
    """
    found = read_known_facts(app)
    voice.json(found)
    if not voice.as_json:
        _say_facts(voice, found)
    return 0


def _say_facts(voice: Voice, found: Facts) -> None:
    known = [one for one in found.technologies if one.product]
    others = [one for one in found.technologies if not one.product]
    lines = [("README", found.readme)]
    lines += [("Languages", ", ".join(f"{one.name} {one.files}" for one in found.languages))]
    lines += [("CI", ", ".join(found.ci))]
    lines += [("Products", ", ".join(f"{one.product} ({one.name}, {one.path})" for one in known))]
    more = f", and {len(others) - SHOWN_MAX} more" if len(others) > SHOWN_MAX else ""
    lines += [("Packages", ", ".join(one.name for one in others[:SHOWN_MAX]) + more)]
    lines += [("Records", "; ".join(found.records))]
    lines += [("Not read", f"{one.path}: {one.why}") for one in found.not_read]
    said = [(name, text) for name, text in lines if text]
    if not said:
        voice.say("This folder says nothing of itself: no packages, no text of a README, no code.")
    for name, text in said:
        voice.say(f"{name + ':':<11} {escaped_text(text)}")
