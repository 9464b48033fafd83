"""`start` and `resume`: the conversation."""

from __future__ import annotations

import click

from preflights_cli import answers, dialogue
from preflights_cli.common import Voice, common, finish_pending, is_terminal
from preflights_cli.shapes import said
from preflights_es.app import App
from preflights_es.runtime.runner import Step
from preflights_es.workflows.clarification.values import Mark


def mark_of(*, local: bool, adr: bool) -> Mark:
    """What a person said about the reach of the change."""
    if local and adr:
        message = "--local and --adr exclude each other"
        raise click.UsageError(message)
    return "local" if local else "adr" if adr else ""


@click.command()
@click.argument("intention")
@click.option("--answer", "given", multiple=True, metavar="KEY=VALUE", help="Answer in advance.")
@click.option("--answers-file", metavar="FILE", help="Answers as a JSON object; - is stdin.")
@click.option("--no-input", is_flag=True, help="Stop at the first open question, exit code 3.")
@click.option("--accept", "accepting", is_flag=True, help="Accept the outcome.")
@click.option("--by", metavar="NAME", help="The person who accepts, without a terminal.")
@click.option("--local", is_flag=True, help="The change is local: a backend task, no record.")
@click.option("--adr", is_flag=True, help="File it as a record, whatever the category.")
@click.option("--supersedes", metavar="UID", help="The decision that this one replaces.")
@common
def start_command(
    intention: str,
    given: tuple[str, ...],
    answers_file: str | None,
    no_input: bool,
    accepting: bool,
    by: str | None,
    local: bool,
    adr: bool,
    supersedes: str | None,
    app: App,
    voice: Voice,
) -> int:
    """Say what you want to build; one or two questions make the decision explicit.

    \b
    Examples:
      preflights start "Add OAuth login"
      preflights start "Store invoices in a database" --answer db_type=PostgreSQL --no-input
      preflights start "Add login" --answer auth_strategy=OAuth --accept --by "Ada" --json
    """
    if by is not None and not accepting:
        message = "--by names who accepts: give --accept too"
        raise click.UsageError(message)
    wanted = (answers.from_file(answers_file) if answers_file else []) + answers.keyed(given)
    mark = mark_of(local=local, adr=adr)
    app.documents.check_folders()
    finish_pending(app, voice)
    step = app.sessions.open(
        intention, app.setup(), app.settings.heuristics, mark=mark, supersedes=supersedes
    )
    if wanted:
        step = app.sessions.answer(step.handle, wanted)
    if is_terminal() and not (voice.as_json or no_input):
        return dialogue.run(app, voice, step, accepting=accepting, by=by)
    return _ended(app, voice, step, accepting=accepting, by=by)


def _ended(app: App, voice: Voice, step: Step, *, accepting: bool, by: str | None) -> int:
    """Without a person at the keyboard: what was given is all there is."""
    code = 0
    if accepting and not step.handle.session.state.question:
        refused = step.decisions
        step = app.sessions.accept(step.handle.session_id, by=by)
        step = Step(app.documents.finish(step.handle), (*refused, *step.decisions))
    return said(voice, step.handle, step.decisions) or code


@click.command()
@click.argument("session", default="last")
@click.option("--no-input", is_flag=True, help="Only say how it stands.")
@common
def resume_command(session: str, no_input: bool, app: App, voice: Voice) -> int:
    """Go on with a session: at a terminal the conversation, else how it stands.

    Decides what an earlier error left undecided, once the error is mended.

    \b
    Examples:
      preflights resume
      preflights resume 3f9a12c4 --json
    """
    finish_pending(app, voice)
    step = app.runner.resume(app.sessions.load(session))
    step = Step(app.documents.finish(step.handle), step.decisions)
    if is_terminal() and not (voice.as_json or no_input):
        return dialogue.run(app, voice, step)
    return said(voice, step.handle, step.decisions)
