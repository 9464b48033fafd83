"""`sessions`: the sessions of a project as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, islice
from typing import Literal

import click

from preflights_cli.common import Voice, hint_other_projects, reading_command
from preflights_cli.table import PAGE, refuse_backwards, streamed, time_range_options
from preflights_es.kernel import ids
from preflights_es.kernel.ids import DAY_LENGTH
from preflights_es.kernel.text import one_line
from preflights_es.projections.usage import COUNTED, Counted, costs_in_words
from preflights_es.use import session_lists
from preflights_es.use.request import Request
from preflights_es.use.results import SessionRow
from preflights_es.use.session_lists import SessionSearch


def _refuse_unknown(app: Request, status: str) -> None:
    if status not in (known := session_lists.statuses(app, status)):
        expected = ", ".join(sorted(known))
        message = f"no session has the status {status!r}: expected one of {expected}"
        raise click.BadParameter(message, param_hint="'--status'")


@click.command()
@click.option("--all", "everything", is_flag=True, help="List all, not only the newest 20.")
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@click.option(
    "--status", metavar="STATUS", help="Only this status, such as needs_answers or ready."
)
@click.option("--workflow", metavar="NAME", default="", help="Of this workflow, not decisions.")
@click.option("--all-workflows", is_flag=True, help="Of every workflow, plans and notes too.")
@click.option("--query", metavar="TEXT", default="", help="With these words, or of this id.")
@click.option("--model", "of_model", metavar="NAME", default="", help="That asked this model.")
@click.option(
    "--with",
    "counted",
    type=click.Choice((*COUNTED, "refused")),
    help="With such calls of models; refused: with a refused answer, also a person's.",
)
@click.option(
    "--cost-over", metavar="AMOUNT", type=click.FloatRange(0), help="That cost more than this."
)
@time_range_options("In which something, or such a call, happened")
@reading_command
def sessions_command(
    everything: bool,
    any_project: bool,
    status: str | None,
    workflow: str,
    all_workflows: bool,
    query: str,
    of_model: str,
    counted: Counted | Literal["refused"] | None,
    cost_over: float | None,
    since: int | None,
    until: int | None,
    app: Request,
    voice: Voice,
) -> int:
    """List the decisions of this project and how they stand, newest first.

    \b
    Examples:
      preflights sessions
      preflights sessions --status ready --json
      preflights sessions --all-workflows --with fallbacks --since 2026-11-27
    """
    refuse_backwards(since, until)
    if workflow and all_workflows:
        message = "--workflow names one, --all-workflows lists every one: give one of both"
        raise click.UsageError(message)
    if status is not None:
        _refuse_unknown(app, status)
    rows, more = session_lists.list_session_rows(
        app,
        everything=everything,
        any_project=any_project,
        status=status,
        workflow=workflow,
        all_workflows=all_workflows,
        search=(
            search := SessionSearch(
                words=query,
                model=of_model,
                counted=None if counted == "refused" else counted,
                refused=counted == "refused",
                since=since,
                until=until,
                cost_over=cost_over,
            )
        ),
    )
    voice.listed({"format": "sessions/1", "sessions": [], "more": more}, "sessions", rows)
    if not (voice.as_json or _say_sessions(voice, rows, status, is_searched=not search.is_any)):
        hint_other_projects(app, voice)
    if more:
        voice.hint("Older ones with: preflights sessions --all")
    return 0


def _say_sessions(
    voice: Voice, rows: Iterable[SessionRow], status: str | None, *, is_searched: bool
) -> bool:
    """Whether there are any."""
    first = [*islice(rows, PAGE)]
    are_asked = any(row.calls for row in first)
    columns: dict[str, Callable[[SessionRow], str]] = {
        "id": lambda row: ids.short_session(row.session_id),
        "began": lambda row: row.began_at[:DAY_LENGTH],
        "workflow": lambda row: row.workflow,
        "status": lambda row: row.status.replace("_", " "),
    }
    if are_asked:
        columns["model"] = lambda row: ", ".join(row.models)
        columns["calls"] = lambda row: f"{row.calls:,}" if row.calls else ""
        columns["cost"] = lambda row: costs_in_words(row.costs)
    columns["intention"] = lambda row: one_line(row.intention)
    cells = ([cell(row) for cell in columns.values()] for row in chain(first, rows))
    if streamed(tuple(columns), cells):
        return True
    if is_searched:
        voice.say("No session here fits.")
    elif status:
        voice.say(f"No session here is {status.replace('_', ' ')}.")
    else:
        voice.say("No sessions here yet.")
        voice.hint('Begin with: preflights start "what you want to build"')
    return False
