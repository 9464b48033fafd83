"""`answer`, `revise`, `resume` and `abandon`: what a person does with a session that is open."""

from __future__ import annotations

import click

from preflights_cli import dialogue
from preflights_cli import options as answer_options
from preflights_cli.common import Voice, is_terminal, key_option, with_lead_options, writing_command
from preflights_cli.inbox import the_one
from preflights_cli.names import SESSION
from preflights_cli.options import with_reason_options
from preflights_cli.rendering import say_session_result
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import escaped_text
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.finder import LAST
from preflights_es.use import sessions
from preflights_es.use.inbox import resumable
from preflights_es.use.request import Request
from preflights_es.words.decisions import StatedReasons


@click.command()
@click.argument("session", type=SESSION)
@click.argument("answer", nargs=-1, metavar="[KEY=]VALUE...")
@click.option("--relayed", is_flag=True, help="Pass a person's words on; for agents and scripts.")
@click.option(
    "--not-this", is_flag=True, help="The menu is about something else; decide in own words."
)
@with_reason_options
@key_option
@writing_command
def answer_command(
    session: str,
    answer: tuple[str, ...],
    relayed: bool,
    not_this: bool,
    reasons: StatedReasons | None,
    app: Request,
    voice: Voice,
) -> int:
    """Answer the open question; a number stands for its option.

    With --because and the like, say why; without an answer, only that is recorded. Alone, it asks
    the question at a terminal.

    \b
    Examples:
      preflights answer last OAuth
      preflights answer last 2
      preflights answer 3f9a12c4 db_type=PostgreSQL db_orm=SQLAlchemy
      preflights answer last auth_strategy__other=Passkeys
      preflights answer 3f9a12c4 OAuth --relayed
      preflights answer last --not-this
      preflights answer last OAuth --because "We know it" --alternative "SAML: too slow"
    """
    if not_this:
        if answer or relayed or reasons is not None:
            raise click.UsageError("--not-this stands alone: answer what is asked then")
        return say_session_result(voice, FEATURES.port("dismiss_topic")(app, session))
    if not (answer or relayed or reasons or voice.as_json) and is_terminal():
        return dialogue.run_dialogue(app, voice, sessions.resume(app, session), is_resumed=True)
    _refuse_nothing(answer, reasons)
    if relayed and not answer:
        raise click.UsageError("--relayed takes an answer")
    given = answer_options.parse_answer_words(answer)
    done = sessions.answer_session(app, session, given, relays=relayed, reasons=reasons)
    return say_session_result(voice, done)


def _refuse_nothing(answer: tuple[str, ...], reasons: StatedReasons | None) -> None:
    if reasons is None and not answer:
        raise click.UsageError("give an answer, or why it is decided so (--because)")


@click.command()
@click.argument("session", type=SESSION)
@click.argument("answer", nargs=-1, metavar="KEY=VALUE...")
@with_reason_options
@key_option
@writing_command
def revise_command(
    session: str, answer: tuple[str, ...], reasons: StatedReasons | None, app: Request, voice: Voice
) -> int:
    """Change an answer before the decision is accepted; the old one stays in the log.

    Another value drops the reason of the value before: say why with --because.

    \b
    Examples:
      preflights revise last auth_strategy="Magic Link"
      preflights revise last change_category=Database
    """
    _refuse_nothing(answer, reasons)
    given = answer_options.keyed(answer)
    done = sessions.answer_session(app, session, given, revise=True, reasons=reasons)
    return say_session_result(voice, done)


@click.command()
@click.argument("session", type=SESSION, required=False)
@click.option("--no-input", is_flag=True, help="Ask no question; finish open calls and documents.")
@with_lead_options
@writing_command
def resume_command(session: str | None, no_input: bool, app: Request, voice: Voice) -> int:
    """Continue a session: at a terminal ask the open questions, else show the session.

    Without SESSION it takes the only one that waits, and lists them where several wait; where none
    does, it shows the last one.

    If an error stopped the last step, the step runs now. With --provider or another option of a
    model, that model takes the next steps (mock: the rules).

    \b
    Examples:
      preflights resume
      preflights resume 3f9a12c4 --provider openai --model gpt-5.1-mini
    """
    session = session or the_one(voice, resumable(app), "resume") or LAST
    found = sessions.resume(app, session, anew=app.leads.named)
    if is_terminal() and not (voice.as_json or no_input):
        return dialogue.run_dialogue(app, voice, found, is_resumed=True)
    return say_session_result(voice, found)


@click.command()
@click.argument("session", type=SESSION)
@click.option("--reason", default="", metavar="TEXT", help="Reason; it is recorded.")
@click.option("--force", is_flag=True, help="Also end a session that cannot decide its last Input.")
@key_option
@writing_command
def abandon_command(session: str, reason: str, force: bool, app: Request, voice: Voice) -> int:
    """Decline a proposal, or give a session up; it stays in the log.

    The record of a proposal then says `rejected`, with the reason. A record that git does not know,
    and that no person edited, is removed instead.

    \b
    Examples:
      preflights abandon last --reason "not needed any more"
    """
    found = sessions.abandon(app, session, reason, force=force)
    if voice.as_json:
        return say_session_result(voice, found)
    voice.say(f"Abandoned {short_session(found.session_id)}.")
    if found.written:
        voice.say(f"  rejected in {escaped_text(found.written.path)}")
    return 0
