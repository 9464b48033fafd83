"""`accept`: the word by which a proposal becomes a decision."""

from __future__ import annotations

import click

from preflights_cli.common import Voice, by_option, common, key_option
from preflights_cli.inbox import the_one
from preflights_cli.reason_options import reasoned
from preflights_cli.rendering import said
from preflights_cli.workflows.clarification.start import mark_of
from preflights_es.core.errors import Refused
from preflights_es.core.rationale import Reasons
from preflights_es.services import sessions
from preflights_es.services.clarification.sessions import accept
from preflights_es.services.inbox import acceptable
from preflights_es.services.request import Request
from preflights_es.workflows.clarification import WORKFLOW


@click.command()
@click.argument("session", required=False)
@by_option
@click.option(
    "--expect", type=int, metavar="VERSION", help="Refuse if the session is not at this version."
)
@click.option("--local", is_flag=True, help="Local change: file a backend decision as a task.")
@click.option("--adr", is_flag=True, help="File it as a record in any category.")
@reasoned
@key_option
@common
def accept_command(
    session: str | None,
    by: str | None,
    expect: int | None,
    local: bool,
    adr: bool,
    why: Reasons | None,
    app: Request,
    voice: Voice,
) -> int:
    """Accept the proposed decision, show it, and write its document.

    Without SESSION it accepts the only proposal that waits; where several wait, it lists them.

    Without a terminal and without --by a script accepts: the record says "proposed" until
    a person accepts it.

    \b
    Examples:
      preflights accept
      preflights accept last
      preflights accept 3f9a12c4 --by "Ada Lovelace" --expect 6
      preflights accept last --because "The team runs it already"
    """
    mark = mark_of(local=local, adr=adr)
    session = session or _waiting(app, voice)
    if mark:
        _check(app, session, mark)
        found = accept(app, session, by=by, mark=mark, expect=expect, reasons=why)
    else:
        found = sessions.accept(app, session, by=by, expect=expect, reasons=why)
    return said(voice, found)


def _check(app: Request, session: str, mark: str) -> None:
    if app.sessions.load(session).workflow.name != WORKFLOW.name:
        message = f"--{mark} is about a clarification: leave it out"
        raise click.UsageError(message)


def _waiting(app: Request, voice: Voice) -> str:
    """The only session with a proposal that waits.

    Raises:
        UsageError: several wait; or `--key` is given, under which a second run means another one.
        Refused: none waits.
    """
    if app.has_key:
        message = "--key needs a session: a second run must find the same one"
        raise click.UsageError(message)
    if (found := the_one(voice, acceptable(app), "accept")) is None:
        raise Refused("no proposal waits to be accepted", code="nothing_waits")
    return found
