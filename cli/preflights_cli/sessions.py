"""`sessions`, `show`, `prompt`: nothing here changes a session."""

from __future__ import annotations

from collections.abc import Iterable

import click

from preflights_cli.common import Voice, reading_command, tell_behind
from preflights_es.kernel import ids
from preflights_es.kernel.errors import RecordWithoutSession
from preflights_es.kernel.text import one_line
from preflights_es.use import sessions
from preflights_es.use.request import Request
from preflights_es.use.results import SessionRow


def _refuse_unknown(app: Request, status: str) -> None:
    if status not in (known := sessions.statuses(app, status)):
        message = (
            f"no session has the status {status!r}: expected one of {', '.join(sorted(known))}"
        )
        raise click.BadParameter(message, param_hint="'--status'")


@click.command()
@click.option("--all", "everything", is_flag=True, help="List all, not only the newest 20.")
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@click.option(
    "--status",
    metavar="STATUS",
    help="Only this status, such as needs_answers or ready.",
)
@click.option("--workflow", metavar="NAME", default="", help="Of this workflow, not decisions.")
@click.option("--all-workflows", is_flag=True, help="Of every workflow, plans and notes too.")
@reading_command
def sessions_command(
    everything: bool,
    any_project: bool,
    status: str | None,
    workflow: str,
    all_workflows: bool,
    app: Request,
    voice: Voice,
) -> int:
    """List the decisions of this project and how they stand, newest first.

    \b
    Examples:
      preflights sessions
      preflights sessions --status ready --json
      preflights sessions --all-workflows
    """
    if workflow and all_workflows:
        message = "--workflow names one, --all-workflows lists every one: give one of both"
        raise click.UsageError(message)
    if status is not None:
        _refuse_unknown(app, status)
    rows, more = sessions.list_session_rows(
        app,
        everything=everything,
        any_project=any_project,
        status=status,
        workflow=workflow,
        all_workflows=all_workflows,
    )
    voice.listed({"format": "sessions/1", "sessions": [], "more": more}, "sessions", rows)
    if not voice.as_json:
        _say_sessions(voice, rows, status)
    if more:
        voice.hint("Older ones with: preflights sessions --all")
    return 0


def _say_sessions(voice: Voice, rows: Iterable[SessionRow], status: str | None) -> None:
    from preflights_cli.table import streamed

    cells = (
        (
            ids.short_session(row.session_id),
            _age(row.age_seconds),
            row.workflow,
            row.status.replace("_", " "),
            "" if row.progress is None else f"{round(row.progress * 100)} %",
            one_line(row.intention),
        )
        for row in rows
    )
    if streamed(("id", "age", "workflow", "status", "progress", "intention"), cells):
        return
    if status:
        voice.say(f"No session here is {status.replace('_', ' ')}.")
    else:
        voice.say("No sessions here yet.")
        voice.hint('Begin with: preflights start "what you want to build"')


def _age(seconds: int) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


@click.command()
@click.argument("session", default="last")
@reading_command
def show_command(session: str, app: Request, voice: Voice) -> int:
    """Show one session: what is decided, by whom, and what is open.

    \b
    Examples:
      preflights show
      preflights show 3f9a12c4 --json
    """
    from preflights_cli.rendering import say_session_result

    try:
        say_session_result(voice, sessions.show(app, session))
    except RecordWithoutSession as error:
        from preflights_cli.decisions import say_record

        say_record(voice, app, error)
    return 0


@click.command()
@click.argument("session", required=False)
@click.option("--for", "task", metavar="TASK", help="What the agent is about to do, in words.")
@reading_command
def prompt_command(session: str | None, task: str | None, app: Request, voice: Voice) -> int:
    """Print the brief for a coding agent: what is decided, and what is still open.

    Without SESSION it tells of the whole project: decisions in force, conflicts, proposals and
    open questions, in fewer than 500 tokens. Decisions that concern the task come first, with
    their reasons.

    \b
    Examples:
      preflights prompt
      preflights prompt --for "add a column to the orders"
      preflights prompt last
      preflights prompt 3f9a12c4 | claude -p
    """
    if session is not None and task is not None:
        message = "a session has its task: give SESSION or --for"
        raise click.UsageError(message)
    if session is None:
        from preflights_es.use.brief import compose_brief

        of_project = compose_brief(app, task or "")
        tell_behind(app, voice)
        voice.json(of_project)
        voice.say(of_project.prompt.rstrip("\n"))
        return 0
    found = sessions.prompt(app, session)
    voice.json(found)
    voice.say(found.prompt.rstrip("\n"))
    return 0
