"""`answer`, `revise`, `resume` and `abandon`: what a person does with a session that is open."""

from __future__ import annotations

import click

from preflights_cli import answer_options, dialogue
from preflights_cli.common import (
    Voice,
    common,
    finish_pending,
    is_terminal,
    key_option,
    led,
    tell_redacted,
)
from preflights_cli.filing import filed
from preflights_cli.rendering import said, step_said, view_of
from preflights_es.core.errors import Refused
from preflights_es.core.ids import short
from preflights_es.runtime.runner import Handle, Step
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
@click.argument("session", default="last")
@click.option("--no-input", is_flag=True, help="Ask no question; finish open calls and documents.")
@led
@common
def resume_command(session: str, no_input: bool, app: Request, voice: Voice) -> int:
    """Continue a session: at a terminal ask the open questions, else show the session.

    If an earlier error left an Input undecided, decide it now. With --provider or another option
    of a model, that model leads from here on (mock: the rules).

    \b
    Examples:
      preflights resume
      preflights resume 3f9a12c4 --provider openai --model gpt-5.1-mini
    """
    finish_pending(app, voice)
    handle = app.sessions.load(session)
    step = app.led_anew(handle) if app.leads.named else app.sessions.resume(handle)
    step = Step(filed(app, voice, step.handle), step.decisions)
    if is_terminal() and not (voice.as_json or no_input):
        return dialogue.run(app, voice, step)
    return said(voice, step.handle, step.decisions)


@click.command()
@click.argument("session")
@click.option("--reason", default="", metavar="TEXT", help="Reason; it is recorded.")
@click.option("--force", is_flag=True, help="Also end a session that cannot decide its last Input.")
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
