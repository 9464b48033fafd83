"""`accept`: the word by which a proposal becomes a decision."""

from __future__ import annotations

import click

from preflights_cli import EXIT_WAITING
from preflights_cli.common import Voice, by_option, common, each_given, is_terminal, key_option
from preflights_cli.dialogue import Left
from preflights_cli.inbox import the_one
from preflights_cli.options import reasoned
from preflights_cli.rendering import said
from preflights_es.features.clarification.commands.choice_options import choice_options, chosen
from preflights_es.features.clarification.commands.choices import resolved
from preflights_es.features.clarification.commands.start import mark_of
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.values import Mark
from preflights_es.features.clarification.use.sessions import accept
from preflights_es.kernel.decisions import Choices, Reasons
from preflights_es.kernel.errors import Refused, UnknownSession
from preflights_es.runtime.sessions import LAST
from preflights_es.use import sessions
from preflights_es.use.inbox import acceptable
from preflights_es.use.request import Request
from preflights_es.use.results import Session


@click.command()
@click.argument("session", required=False)
@by_option
@click.option(
    "--expect", type=int, metavar="VERSION", help="Refuse if the session is not at this version."
)
@click.option("--as-task", is_flag=True, help="File it as a task, not as a decision record.")
@click.option("--adr", is_flag=True, help="File it as a record, whatever was said before.")
@click.option(
    "--supersedes",
    multiple=True,
    metavar="DECISION",
    callback=each_given,
    help="Supersede a decision that differs; repeatable.",
)
@choice_options
@reasoned
@key_option
@common
def accept_command(
    session: str | None,
    by: str | None,
    expect: int | None,
    as_task: bool,
    adr: bool,
    supersedes: tuple[str, ...],
    keep: tuple[str, ...],
    exceptions: tuple[str, ...],
    again: bool,
    why: Reasons | None,
    app: Request,
    voice: Voice,
) -> int:
    """Accept the proposed decision, show it, and write its document.

    Without SESSION it accepts the only proposal that waits; where several wait, it lists them.

    Where a decision in force has another value, you choose: supersede it, or keep both and say
    why.

    Without a terminal and without --by a script accepts: the record says "proposed" until
    a person accepts it.

    \b
    Examples:
      preflights accept
      preflights accept last
      preflights accept 3f9a12c4 --by "Ada Lovelace" --expect 6
      preflights accept last --because "The team runs it already"
      preflights accept last --by Ada --supersedes ADR-0003
      preflights accept last --by Ada --keep 5f4439e9="The old app stays on it"
    """
    mark = mark_of(as_task=as_task, adr=adr)
    session = session or _waiting(app, voice)
    if mark:
        _check(app, session, mark)
    choices = chosen(supersedes, keep, exceptions, again=again)
    try:
        found = _accepted(app, session, by, mark, expect, why, choices)
    except UnknownSession as unknown:
        if session != LAST:  # it may lie in a file
            raise
        raise Refused(str(unknown), code="no_session_to_accept", **unknown.fields) from unknown
    if voice.as_json or not is_terminal():
        return said(voice, found)

    def try_again(choices: Choices, seen: Session) -> Session:
        return _accepted(app, seen.session_id, by, mark, seen.version, None, choices)

    try:
        return said(voice, resolved(voice, found, choices, try_again))
    except Left:
        return EXIT_WAITING


def _accepted(
    app: Request,
    session: str,
    by: str | None,
    mark: Mark,
    expect: int | None,
    why: Reasons | None,
    choices: Choices | None,
) -> Session:
    if mark:
        return accept(app, session, by=by, mark=mark, expect=expect, reasons=why, choices=choices)
    return sessions.accept(app, session, by=by, expect=expect, reasons=why, choices=choices)


def _check(app: Request, session: str, mark: str) -> None:
    if app.sessions.load(session).workflow.name != WORKFLOW.name:
        option = "--as-task" if mark == "task" else "--adr"
        message = f"{option} is about a clarification: leave it out"
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
