"""`start`: the intention, and the conversation about it."""

from __future__ import annotations

from collections.abc import Mapping

import click

from preflights_cli import options as answer_options
from preflights_cli.common import (
    Voice,
    by_option,
    each_given,
    given,
    is_terminal,
    key_option,
    language_option,
    led,
    recording,
    whole,
)
from preflights_cli.options import reasoned
from preflights_cli.rendering import said
from preflights_es.features.clarification.commands import display
from preflights_es.features.clarification.commands.choice_options import choice_options, chosen
from preflights_es.features.clarification.commands.question_options import question_options
from preflights_es.features.clarification.domain import WORKFLOW as CLARIFICATION
from preflights_es.features.clarification.domain.values import Mark
from preflights_es.features.clarification.use.sessions import start
from preflights_es.kernel.decisions import Reasons
from preflights_es.kernel.questions import WrittenQuestion, lacking
from preflights_es.use import sessions
from preflights_es.use.request import Request


def mark_of(*, as_task: bool, adr: bool) -> Mark:
    """As what the person wants it filed."""
    if as_task and adr:
        message = "--as-task and --adr exclude each other"
        raise click.UsageError(message)
    return "task" if as_task else "adr" if adr else ""


def _refuse_own(flags: Mapping[str, bool]) -> None:
    """What says something of a decision says nothing to another workflow."""
    if named := [option for option, is_given in flags.items() if is_given]:
        message = f"{named[0]} is about a decision: leave it out with --workflow"
        raise click.UsageError(message)


@click.command()
@click.argument("intention", nargs=-1, metavar="INTENTION", callback=whole)
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
@click.option("--as-task", is_flag=True, help="File it as a task, not as a decision record.")
@click.option("--adr", is_flag=True, help="File it as a record, whatever was said before.")
@click.option(
    "--supersedes",
    multiple=True,
    metavar="DECISION",
    callback=each_given,
    help="The decision that this one replaces; several with --accept.",
)
@choice_options
@click.option(
    "--keep-known",
    metavar="DECISION",
    callback=given,
    help="Keep a decision in force that is said first; nothing new is decided.",
)
@click.option("--scope", metavar="TEXT", callback=given, help="What the decision is for.")
@click.option("--task", metavar="TASK", callback=given, help="Clarify this open task of a note.")
@question_options
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
    intention: str | None,
    answered: tuple[str, ...],
    answers_file: str | None,
    no_input: bool,
    accepting: bool,
    by: str | None,
    as_task: bool,
    adr: bool,
    supersedes: tuple[str, ...],
    keep: tuple[str, ...],
    exceptions: tuple[str, ...],
    again: bool,
    keep_known: str | None,
    scope: str | None,
    task: str | None,
    written: WrittenQuestion | None,
    why: Reasons | None,
    app: Request,
    voice: Voice,
) -> int:
    """Say what you want to build; one or two questions make the decision explicit.

    \b
    Examples:
      preflights start "Add OAuth login"
      preflights start "Store invoices in a database" --answer db_type=PostgreSQL --no-input
      preflights start "Add login" --answer auth_strategy=OAuth --accept --by "Ada" --json
      preflights start "Speed up search" --question "Which cache?" --option Redis
        --option Memcached --recommend "Redis: sessions use it" --topic Caching
        --matters "Every page waits for it" --evidence src/cache.py:10-42
      preflights start "Cache pages" --because "The database is too slow" --no-input
      preflights start --task 3f9a12c4.1
      preflights start --workflow retro "The release was late"
    """
    if intention is None and not task:
        message = "there is no intention: say what you want to build, or give --task"
        raise click.UsageError(message)
    if by is not None and not (accepting or keep_known):
        message = "--by names the person who accepts: give --accept too"
        raise click.UsageError(message)
    choices = chosen(supersedes[1:], keep, exceptions, again=again)
    if choices and not accepting:
        what = "--keep, --exception, --again and a second --supersedes"
        message = f"{what} are about the acceptance: give --accept too"
        raise click.UsageError(message)
    mark = mark_of(as_task=as_task, adr=adr)
    if written and (strict or app.leads.named):
        message = "--question asks no model: leave --strict and the provider's options out"
        raise click.UsageError(message)
    wanted = (
        answer_options.from_file(answers_file) if answers_file else []
    ) + answer_options.keyed(answered)
    asks = is_terminal() and not (voice.as_json or no_input)
    if name not in (None, CLARIFICATION.name):
        own = {
            "--accept": accepting,
            "--as-task": as_task,
            "--adr": adr,
            "--task": task is not None,
        }
        own |= {"--question": written is not None, "--supersedes": bool(supersedes)}
        own |= {"--exception": bool(exceptions), "--again": again, "--scope": bool(scope)}
        own |= {"--keep-known": bool(keep_known)}
        _refuse_own({**own, "--keep": bool(keep)})
        found = sessions.start(app, intention or "", name, wanted, strict=strict, reasons=why)
    else:
        found = start(
            app,
            intention or "",
            wanted,
            strict=strict,
            mark=mark,
            supersedes=supersedes[0] if supersedes else None,
            task=task,
            accepts=accepting and not asks,
            by=by,
            written=written,
            reasons=why,
            choices=choices,
            scope=scope or "",
            keep_known=keep_known,
        )
        if not found.is_recalled:
            display.tell_found(voice, found)
            if written and not asks and (lacks := lacking(written)):
                voice.remark(f"The question lacks: {'; '.join(lacks)}.")
    if not asks:
        return said(voice, found)
    from preflights_cli import dialogue  # only at a terminal

    more = {"choices": choices} if choices else {}
    return dialogue.run(app, voice, found, accepting=accepting, by=by, **more)
