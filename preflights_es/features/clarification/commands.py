"""`start`, `accept` and `admin renumber`, and the options that say what becomes of decisions."""

from __future__ import annotations

from typing import Any, Final

import click
from msgspec.structs import replace

from preflights_cli import EXIT_REFUSED, EXIT_WAITING
from preflights_cli.common import (
    Voice,
    by_option,
    creating_command,
    each_given,
    is_terminal,
    key_option,
    language_option,
    reading_where,
    require_option_value,
    require_quoted_text,
    sign_option,
    text_option,
    with_lead_options,
    writing_command,
)
from preflights_cli.names import DECISION, SESSION, Name
from preflights_cli.options import from_file, grouped_options, keyed, with_reason_options
from preflights_cli.rendering import say_session_result
from preflights_es.features.clarification import display
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.values import Mark
from preflights_es.kernel.errors import Refused, UnknownSession
from preflights_es.kernel.text import escaped_text
from preflights_es.runtime.finder import LAST
from preflights_es.use import sessions
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewAcceptance, NewSession
from preflights_es.words.decisions import Choices
from preflights_es.words.language import language_of
from preflights_es.words.questions import Option, WrittenQuestion, lacking, written_question
from preflights_es.words.workflow import View


def _chosen(
    supersedes: tuple[str, ...],
    keep: tuple[str, ...],
    exceptions: tuple[str, ...],
    again: bool,
    **more: Any,
) -> dict[str, Any]:
    """What is said of decisions in force.

    Raises:
        UsageError: one to keep has no reason, or names no decision.
    """
    keeps = []
    for one in keep:
        typed, sign, reason = one.partition("=")
        if not (sign and typed.strip()):
            message = f"--keep: found {one!r}, expected DECISION=REASON"
            raise click.UsageError(message)
        keeps.append((typed.strip(), reason))
    return {"choices": Choices(supersedes, tuple(keeps), exceptions, again), **more}


choice_options: Final = grouped_options(
    _chosen,
    click.option(
        "--keep",
        "keep",
        multiple=True,
        metavar="DECISION=REASON",
        help="Keep an older decision that differs in force; repeatable.",
    ),
    click.option(
        "--exception",
        "exceptions",
        multiple=True,
        metavar="DECISION",
        help="It is an exception to a decision for the whole project; repeatable.",
    ),
    click.option("--again", is_flag=True, help="Record it although a decision in force says so."),
)
"""What becomes of decisions in force, given to the command as `choices`."""


def _written(
    question: str | None,
    options: tuple[str, ...],
    described: tuple[str, ...],
    against: tuple[str, ...],
    recommend: str | None,
    topic: str | None,
    matters: str | None,
    evidence: tuple[str, ...],
    scope: str | None,
    **more: Any,
) -> dict[str, Any]:
    """The question that the caller wrote; `--scope` is the question's, too.

    Raises:
        UsageError: a part of it is said without it, or of no option.
    """
    written: WrittenQuestion | None = None
    if question is not None:
        labels = tuple(option.strip() for option in options)
        means = _each_about(described, labels, "--describe")
        flaws = _each_about(against, labels, "--against")
        written = written_question(
            question,
            [Option(one, means.get(one, ""), flaws.get(one, "")) for one in labels],
            topic or "",
            _split_option_text(recommend, labels, "--recommend") if recommend else None,
            why=matters or "",
            scope=scope or "",
            evidence=evidence,
        )
    elif options or described or against or recommend or topic or matters or evidence:
        message = (
            "--option, --describe, --against, --recommend, --topic, --matters and --evidence "
            "belong to a question: give --question too"
        )
        raise click.UsageError(message)
    return {"written": written, "scope": scope, **more}


question_options: Final = grouped_options(
    _written,
    text_option("--question", metavar="TEXT", help="Ask this question of yours."),
    click.option("--option", "options", multiple=True, metavar="TEXT", help="One of its options."),
    click.option(
        "--describe",
        "described",
        multiple=True,
        metavar="OPTION: TEXT",
        help="What an option means.",
    ),
    click.option(
        "--against", multiple=True, metavar="OPTION: TEXT", help="What speaks against it."
    ),
    text_option("--recommend", metavar="OPTION: WHY", help="Recommend an option, with a reason."),
    click.option(
        "--topic",
        metavar="TOPIC",
        type=Name("topic"),
        callback=require_option_value,
        help="What the question is about.",
    ),
    text_option("--matters", metavar="TEXT", help="What depends on the answer."),
    click.option(
        "--evidence",
        multiple=True,
        metavar="PATH:LINES",
        help="A file that the question follows from, such as src/db.py:12-40.",
    ),
)
"""Eight options, given to the command as one `written`."""


def _each_about(said: tuple[str, ...], options: tuple[str, ...], name: str) -> dict[str, str]:
    """What is said of each option."""
    found: dict[str, str] = {}
    for option, text in (_split_option_text(one, options, name) for one in said):
        if option in found:
            raise click.UsageError(f"{name}: {option!r} is given twice: say it in one sentence")
        found[option] = text
    return found


def _split_option_text(said: str, options: tuple[str, ...], name: str) -> tuple[str, str]:
    """An option and what is said of it; an option may hold a colon itself."""
    for option in sorted(options, key=len, reverse=True):
        begun, colon = said.lstrip()[: len(option)], said.lstrip()[len(option) :].lstrip()
        if begun.casefold() == option.casefold() and colon.startswith(":"):
            return option, colon[1:].strip()
    option, colon, text = said.partition(":")
    if not colon:
        raise click.UsageError(f"{name}: found {said!r}, expected OPTION: TEXT")
    if name != "--recommend":
        message = f"{name}: there is no option {option.strip()!r}: give --option for it"
        raise click.UsageError(message)
    return option.strip(), text.strip()


def _marked(as_task: bool, adr: bool, **more: Any) -> dict[str, Any]:
    if as_task and adr:
        message = "--as-task and --adr exclude each other"
        raise click.UsageError(message)
    mark: Mark = "task" if as_task else "adr" if adr else ""
    return {"mark": mark, **more}


mark_options: Final = grouped_options(
    _marked,
    click.option("--as-task", is_flag=True, help="File it as a task, not as a decision record."),
    click.option("--adr", is_flag=True, help="File it as a record, whatever was said before."),
)
"""Given to the command as one `mark`."""


@click.command()
@click.argument("intention", nargs=-1, metavar="INTENTION", callback=require_quoted_text)
@click.option("--answer", "answered", multiple=True, metavar="KEY=VALUE", help="Answer in advance.")
@text_option("--answers-file", metavar="FILE", help="Answers as a JSON object; - is stdin.")
@click.option("--no-input", is_flag=True, help="Stop at the first open question with exit code 3.")
@click.option("--accept", "accepting", is_flag=True, help="Accept the outcome.")
@by_option
@sign_option
@mark_options
@click.option(
    "--supersedes",
    multiple=True,
    metavar="DECISION",
    type=DECISION,
    callback=each_given,
    help="The decision that this one replaces; several with --accept.",
)
@choice_options
@text_option(
    "--keep-known",
    metavar="DECISION",
    help="Keep this decision in force, of those that start lists; decide nothing new.",
)
@text_option("--scope", metavar="TEXT", help="What the decision is for.")
@text_option("--task", metavar="TASK", help="Clarify this open task of a note.")
@question_options
@text_option("--workflow", metavar="NAME", help="Another workflow.")
@click.option(
    "--strict", is_flag=True, help="If the model fails, wait; do not go on with the rules."
)
@with_reason_options
@language_option
@key_option
@with_lead_options
@creating_command
def start_command(
    intention: str | None,
    workflow: str | None,
    answered: tuple[str, ...],
    answers_file: str | None,
    no_input: bool,
    accepting: bool,
    choices: Choices,
    app: Request,
    voice: Voice,
    **said: Any,
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
    """
    asks = is_terminal() and not (voice.as_json or no_input)
    new = NewSession(
        intention or "",
        workflow or WORKFLOW.name,
        (from_file(answers_file) if answers_file else []) + keyed(answered),
        supersedes=next(iter(choices.supersedes), None),
        choices=replace(choices, supersedes=choices.supersedes[1:]),
        accepts=accepting and not asks,
        asks=asks,
        **{name: value for name, value in said.items() if value is not None},
    )
    _refuse_contradictions(new, app, is_accepting=accepting, is_silent=intention is None)
    settings = app.process.settings
    said_language = settings.language if settings.is_language_said else None
    voice.is_german = (said_language or language_of(new.text)) == "de"
    found = sessions.start_session(app, new)
    if new.workflow == WORKFLOW.name and not found.is_recalled:
        display.tell_found(voice, found)
        if new.written and not asks and (lacks := lacking(new.written)):
            voice.remark(f"The question lacks: {'; '.join(lacks)}.")
    if not asks:
        return say_session_result(voice, found)
    from preflights_cli import dialogue  # only at a terminal

    more: dict[str, Any] = {"choices": new.choices} if new.choices else {}
    return dialogue.run_dialogue(app, voice, found, accepting=accepting, by=new.by, **more)


def _refuse_contradictions(
    new: NewSession, app: Request, *, is_accepting: bool, is_silent: bool
) -> None:
    """Refuse what counts only with another option, or without it.

    Raises:
        UsageError: which, and what to do.
    """
    choices = new.choices or Choices()
    chosen = {"--keep": choices.keeps, "--exception": choices.exceptions, "--again": choices.again}
    if is_silent and not new.task:
        raise click.UsageError("there is no intention: say what you want to build, or give --task")
    if new.by is not None and not (is_accepting or new.keep_known):
        raise click.UsageError("--by names the person who accepts: give --accept too")
    if choices and not (is_accepting or new.asks):
        chosen = {"a second --supersedes": choices.supersedes, **chosen}
        what = next(name for name, value in chosen.items() if value)
        message = f"{what} counts when the decision is accepted: add --accept"
        raise click.UsageError(f"{message}, or give it to `preflights accept`")
    if new.keep_known and new.supersedes:
        message = "--keep-known decides nothing new, so --supersedes would replace nothing"
        raise click.UsageError(f"{message}: leave --keep-known out and say the decision")
    if new.written and (new.strict or app.leads.named):
        message = "--question asks no model: leave --strict and the provider's options out"
        raise click.UsageError(message)
    own = {
        "--accept": is_accepting,
        "--as-task": new.mark == "task",
        "--adr": new.mark == "adr",
        "--task": new.task,
        "--question": new.written,
        "--supersedes": new.supersedes,
        "--scope": new.scope,
        "--keep-known": new.keep_known,
        **chosen,
    }
    named = [option for option, value in own.items() if value]
    if named and new.workflow != WORKFLOW.name:
        raise click.UsageError(f"{named[0]} is about a decision: leave it out with --workflow")


@click.command()
@click.argument("session", type=SESSION, required=False)
@by_option
@sign_option
@click.option(
    "--expect", type=int, metavar="VERSION", help="Refuse if the session is not at this version."
)
@mark_options
@click.option(
    "--supersedes",
    multiple=True,
    metavar="DECISION",
    type=DECISION,
    callback=each_given,
    help="Replace a decision that differs; repeatable.",
)
@choice_options
@with_reason_options
@key_option
@writing_command
def accept_command(session: str | None, app: Request, voice: Voice, **said: Any) -> int:
    """Accept the proposed decision, show it, and write its document.

    Without SESSION it accepts the only proposal that waits; where several wait, it lists them.

    Where a decision in force has another value, you choose: replace it, or keep both and say
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
    new = NewAcceptance(session or _find_waiting_proposal(app, voice), **said)
    if new.mark and app.sessions.load(new.session).workflow.name != WORKFLOW.name:
        option = "--as-task" if new.mark == "task" else "--adr"
        raise click.UsageError(f"{option} is about a clarification: leave it out")
    try:
        found = sessions.accept_session(app, new)
    except UnknownSession as unknown:
        if unknown.typed != LAST or unknown.code == "only_in_file":
            raise
        raise Refused(str(unknown), code="no_session_to_accept", **unknown.fields) from unknown
    if voice.as_json or not is_terminal():
        return say_session_result(voice, found)

    from preflights_cli.dialogue import ConversationLeft  # only at a terminal
    from preflights_es.features.clarification.conversation import resolved

    def try_again(choices: Choices, seen: View) -> View:
        said_now = {"session": seen.session_id, "expect": seen.version, "choices": choices}
        return sessions.accept_session(app, replace(new, reasons=None, **said_now))

    try:
        return say_session_result(voice, resolved(voice, found, new.choices, try_again))
    except ConversationLeft:
        return EXIT_WAITING


def _find_waiting_proposal(app: Request, voice: Voice) -> str:
    """The only session with a proposal that waits.

    Raises:
        UsageError: several wait; or `--key` is given, under which a second run means another one.
        Refused: none waits.
    """
    from preflights_cli.inbox import the_one  # most name a session
    from preflights_es.use.inbox import acceptable

    if app.key:
        raise click.UsageError("--key needs a session: a second run must find the same one")
    if (found := the_one(voice, acceptable(app), "accept")) is None:
        raise Refused("no proposal waits to be accepted", code="nothing_waits")
    return found


@click.command()
@click.option("--check", is_flag=True, help="Only show collisions; exit code 1 if there are any.")
@reading_where("check")
def renumber_command(check: bool, app: Request, voice: Voice) -> int:
    """Give records whose numbers collide after a merge new numbers.

    The oldest record keeps its number, and the others get the next free ones of their folder.
    Headings and links of the records follow; lines of other files that point there are named.

    \b
    Examples:
      preflights admin renumber --check
      preflights admin renumber
    """
    from preflights_es.features.clarification.renumbering import renumber  # numbers seldom collide

    app.finish_pending()
    done = renumber(app, write=not check)
    voice.json(done)
    for move in done.moves:
        voice.say(escaped_text(f"{move.path} -> {move.to}"))
    for path in done.changed:
        voice.say(escaped_text(f"{path}: its heading or links follow"))
    for one in done.pointing:
        is_number = one.names.upper().startswith("ADR-") and "/" not in one.names
        why = "which two records bore: look which one it means" if is_number else "which has moved"
        voice.warn(f"{one.path}:{one.line} names {one.names}, {why}")
    if not done.moves:
        voice.say("No numbers collide.")
    return EXIT_REFUSED if check and done.moves else 0
