"""`answer`, `revise`, `accept`, `abandon`: one Input each."""

from __future__ import annotations

import click

from preflights_cli import answer_options
from preflights_cli.common import (
    Voice,
    by_option,
    common,
    filed,
    finish_pending,
    key_option,
    tell_name,
    tell_redacted,
)
from preflights_cli.rendering import said, step_said, view_of
from preflights_cli.start import mark_of
from preflights_es.core.errors import Refused
from preflights_es.core.ids import short
from preflights_es.runtime.runner import Handle
from preflights_es.runtime.sessions import recalled
from preflights_es.services.clarification.clarifications import clarifications
from preflights_es.services.request import Request


@click.command()
@click.argument("session")
@click.argument("answer", nargs=-1, required=True, metavar="[KEY=]VALUE...")
@key_option
@common
def answer_command(session: str, answer: tuple[str, ...], app: Request, voice: Voice) -> int:
    """Answer the open question; a number stands for its option.

    \b
    Examples:
      preflights answer last OAuth
      preflights answer last 2
      preflights answer 3f9a12c4 db_type=PostgreSQL db_orm=SQLAlchemy
      preflights answer last auth_strategy__other=Passkeys
    """
    return _answered(app, voice, session, answer, revise=False)


@click.command()
@click.argument("session")
@click.argument("answer", nargs=-1, required=True, metavar="KEY=VALUE...")
@key_option
@common
def revise_command(session: str, answer: tuple[str, ...], app: Request, voice: Voice) -> int:
    """Change an answer before the decision is accepted; the old one stays in the log.

    \b
    Examples:
      preflights revise last auth_strategy="Magic Link"
      preflights revise last change_category=Database
    """
    answer_options.keyed(answer)
    return _answered(app, voice, session, answer, revise=True)


def _answered(
    app: Request, voice: Voice, session: str, texts: tuple[str, ...], *, revise: bool
) -> int:
    finish_pending(app, voice)
    handle = app.sessions.load(session)
    before = app.sessions.answered(handle, revise=revise)
    if before is None:
        handle = app.process.runner.resume(handle).handle
    given = _given(texts, before or handle, again=before is not None)
    step = app.sessions.answer(handle, given, revise=revise)
    return step_said(voice, step)


def _given(texts: tuple[str, ...], handle: Handle, *, again: bool) -> answer_options.Answers:
    """What has no key answers the question that is open, or was when it was first said."""
    try:
        return answer_options.for_question(texts, next(iter(view_of(handle).questions), None))
    except Refused:
        if not again:
            raise
        return [("", texts)]  # never what was said the first time: refused as such


@click.command()
@click.argument("session")
@by_option
@click.option("--expect", type=int, metavar="VERSION", help="Refuse if the session moved on.")
@click.option("--local", is_flag=True, help="The change is local: a backend task, no record.")
@click.option("--adr", is_flag=True, help="File it as a record, whatever the category.")
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
    """Accept what is proposed, and say what that is; the document is written.

    Without a terminal and without --by it is a script's word: the record says
    "proposed" until a person accepts it.

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
    step = clarifications(app).accept(handle.session_id, by=by, mark=mark, expect=expect)
    handle = step.handle if recalled(step) else filed(app, voice, step.handle)
    return said(voice, handle, step.decisions)


@click.command()
@click.argument("session")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is recorded.")
@click.option("--force", is_flag=True, help="Also a session whose last Input cannot be decided.")
@key_option
@common
def abandon_command(session: str, reason: str, force: bool, app: Request, voice: Voice) -> int:
    """Give a session up; it stays in the log.

    \b
    Examples:
      preflights abandon last --reason "not needed any more"
    """
    finish_pending(app, voice)
    step = app.sessions.abandon(app.sessions.load(session), reason, force=force)
    tell_redacted(voice, "the reason", reason)
    if voice.as_json:
        return said(voice, step.handle, step.decisions)
    voice.say(f"Abandoned {short(step.handle.session_id)}.")
    return 0
