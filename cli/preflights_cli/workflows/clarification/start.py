"""`start`: the intention, and the conversation about it."""

from __future__ import annotations

from collections.abc import Mapping

import click

from preflights_cli import answer_options, dialogue
from preflights_cli.common import (
    Voice,
    by_option,
    given,
    is_terminal,
    key_option,
    language_option,
    led,
    recording,
)
from preflights_cli.reason_options import reasoned, reasons_of
from preflights_cli.rendering import said
from preflights_cli.workflows.clarification import display
from preflights_es.services import sessions
from preflights_es.services.clarification.sessions import start
from preflights_es.services.request import Request
from preflights_es.workflows.clarification import WORKFLOW as CLARIFICATION
from preflights_es.workflows.clarification.values import Mark


def mark_of(*, local: bool, adr: bool) -> Mark:
    """What a person said about the reach of the change."""
    if local and adr:
        message = "--local and --adr exclude each other"
        raise click.UsageError(message)
    return "local" if local else "adr" if adr else ""


def _refuse_own(flags: Mapping[str, bool], supersedes: str | None) -> None:
    """What says something of a decision says nothing to another workflow."""
    given = [option for option, is_given in flags.items() if is_given]
    if named := [*given, *(["--supersedes"] if supersedes else [])]:
        message = f"{named[0]} is about a decision: leave it out with --workflow"
        raise click.UsageError(message)


@click.command()
@click.argument("intention", nargs=-1, required=True, metavar="INTENTION")
@click.option("--answer", "answered", multiple=True, metavar="KEY=VALUE", help="Answer in advance.")
@click.option(
    "--answers-file",
    metavar="FILE",
    callback=given,
    help="Answers as a JSON object; - is stdin.",
)
@click.option("--no-input", is_flag=True, help="Stop at the first open question with exit code 3.")
@click.option("--accept", "accepting", is_flag=True, help="Accept the outcome.")
@by_option
@click.option("--local", is_flag=True, help="Local change: file a backend decision as a task.")
@click.option("--adr", is_flag=True, help="File it as a record in any category.")
@click.option(
    "--supersedes", metavar="UID", callback=given, help="The decision that this one replaces."
)
@click.option("--workflow", "name", metavar="NAME", callback=given, help="Another workflow.")
@click.option(
    "--strict", is_flag=True, help="If the model fails, wait; do not go on with the rules."
)
@reasoned
@language_option
@key_option
@led
@recording
def start_command(
    name: str | None,
    strict: bool,
    intention: tuple[str, ...],
    answered: tuple[str, ...],
    answers_file: str | None,
    no_input: bool,
    accepting: bool,
    by: str | None,
    local: bool,
    adr: bool,
    supersedes: str | None,
    because: str,
    consequences: tuple[str, ...],
    alternatives: tuple[str, ...],
    app: Request,
    voice: Voice,
) -> int:
    """Say what you want to build; one or two questions make the decision explicit.

    \b
    Examples:
      preflights start "Add OAuth login"
      preflights start "Store invoices in a database" --answer db_type=PostgreSQL --no-input
      preflights start "Add login" --answer auth_strategy=OAuth --accept --by "Ada" --json
      preflights start "Cache pages" --because "The database is too slow" --no-input
      preflights start --workflow retro "The release was late"
    """
    if len(intention) > 1:
        message = f"the intention has {len(intention)} parts: put quotes around the whole of it"
        raise click.UsageError(message)
    if by is not None and not accepting:
        message = "--by names the person who accepts: give --accept too"
        raise click.UsageError(message)
    mark = mark_of(local=local, adr=adr)
    wanted = (
        answer_options.from_file(answers_file) if answers_file else []
    ) + answer_options.keyed(answered)
    why = reasons_of(because, consequences, alternatives)
    asks = is_terminal() and not (voice.as_json or no_input)
    if name not in (None, CLARIFICATION.name):
        _refuse_own({"--accept": accepting, "--local": local, "--adr": adr}, supersedes)
        found = sessions.start(app, intention[0], name, wanted, strict=strict, reasons=why)
    else:
        found = start(
            app,
            intention[0],
            wanted,
            strict=strict,
            mark=mark,
            supersedes=supersedes,
            accepts=accepting and not asks,
            by=by,
            reasons=why,
        )
        if not found.is_recalled:
            display.tell_found(voice, found)
    return (
        dialogue.run(app, voice, found, accepting=accepting, by=by) if asks else said(voice, found)
    )
