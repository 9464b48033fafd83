"""`accept`: the word by which a proposal becomes a decision."""

from __future__ import annotations

import click

from preflights_cli.common import (
    Voice,
    by_option,
    common,
    finish_pending,
    key_option,
    tell_name,
)
from preflights_cli.filing import filed
from preflights_cli.rendering import said
from preflights_cli.workflows.clarification.start import mark_of
from preflights_es.runtime.sessions import recalled
from preflights_es.services import acceptance
from preflights_es.services.clarification.clarifications import clarifications_of
from preflights_es.services.request import Request
from preflights_es.workflows.clarification import WORKFLOW as CLARIFICATION


@click.command()
@click.argument("session")
@by_option
@click.option(
    "--expect", type=int, metavar="VERSION", help="Refuse if the session is not at this version."
)
@click.option("--local", is_flag=True, help="Local change: file a backend decision as a task.")
@click.option("--adr", is_flag=True, help="File it as a record in any category.")
@key_option
@common
def accept_command(
    session: str,
    by: str | None,
    expect: int | None,
    local: bool,
    adr: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Accept the proposed decision, show it, and write its document.

    Without a terminal and without --by a script accepts: the record says "proposed" until
    a person accepts it.

    \b
    Examples:
      preflights accept last
      preflights accept 3f9a12c4 --by "Ada Lovelace" --expect 6
    """
    mark = mark_of(local=local, adr=adr)
    app.process.documents.check_folders()
    finish_pending(app, voice)
    handle = app.sessions.load(session)
    if expect is None and handle.session.undecided is None:
        expect = handle.version
    if by is None:
        tell_name(app, voice)
    if handle.workflow.name == CLARIFICATION.name:
        step = clarifications_of(app).accept(handle.session_id, by=by, mark=mark, expect=expect)
    elif mark:
        message = f"--{mark} is about a clarification: leave it out"
        raise click.UsageError(message)
    else:
        step = acceptance.accept(app, handle, by=by, expect=expect)
    handle = step.handle if recalled(step) else filed(app, voice, step.handle)
    return said(voice, handle, step.decisions)
