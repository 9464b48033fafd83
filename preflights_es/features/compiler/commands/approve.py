"""`approve`, `reject` and `lock`: a person's word about an artifact."""

from __future__ import annotations

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.commands import Lazy
from preflights_cli.common import (
    Voice,
    by_option,
    key_option,
    require_option_value,
    sign_option,
    writing_command,
)
from preflights_cli.rendering import say_session_result
from preflights_es.features.compiler.use.approval import approve, lock_tests, reject
from preflights_es.use.request import Request


@click.command()
@click.argument("id_", metavar="ID")
@by_option
@sign_option
@click.option(
    "--expect", type=int, metavar="VERSION", help="Refuse if its session is not at this version."
)
@key_option
@writing_command
def approve_command(
    id_: str,
    by: str | None,
    expect: int | None,
    app: Request,
    voice: Voice,
) -> int:
    """Approve an artifact: the next passes read it, and its file is written.

    It supersedes the approved artifact of the same type. An ImplementationPlan supersedes only the
    one of the same target, a RefactorPlan the one of the same goal.

    ID is the artifact's id, at least four characters of its beginning, the id of its session, or
    `last`, the newest.

    Without a terminal and without --by a script approves: the artifact is proposed until a person
    approves it.

    \b
    Examples:
      preflights approve 3f9a12c4
      preflights approve 3f9a12c4 --by "Ada Lovelace" --expect 4
    """
    return say_session_result(voice, approve(app, id_, by=by, expect=expect))


@click.command()
@click.argument("id_", metavar="ID")
@click.option("--reason", required=True, metavar="TEXT", callback=require_option_value, help="Why.")
@by_option
@sign_option
@key_option
@writing_command
def reject_command(id_: str, reason: str, by: str | None, app: Request, voice: Voice) -> int:
    """Reject an artifact that is not approved; it stays in the log with the reason.

    \b
    Examples:
      preflights reject 3f9a12c4 --reason "Billing is no domain of its own"
      preflights reject 3f9a12c4 --reason "Too many layers" --by "Ada Lovelace"
    """
    found = reject(app, id_, reason, by=by)
    say_session_result(voice, found)
    return EXIT_REFUSED if found.not_done else 0


@click.command(cls=Lazy, under="lock")
def lock_command() -> None:
    """Lock the approved TestPlan.

    \b
    Examples:
      preflights lock tests
    """


@click.command()
@click.argument("id_", metavar="[ID]", required=False)
@by_option
@key_option
@writing_command
def lock_tests_command(id_: str | None, by: str | None, app: Request, voice: Voice) -> int:
    """Lock the approved TestPlan: `plan refactor` reads it. The new lock replaces the former one.

    Without ID it locks the one that is approved.

    \b
    Examples:
      preflights lock tests
      preflights lock tests 3f9a12c4 --by "Ada Lovelace"
    """
    return say_session_result(voice, lock_tests(app, id_, by=by))
