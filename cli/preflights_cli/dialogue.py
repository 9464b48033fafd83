"""Any session in words, and the conversation about it at a terminal.

A workflow's own words are what its feature gives as `shown`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

import click
import msgspec
from msgspec.structs import replace

from preflights_cli import EXIT_ENVIRONMENT, EXIT_INTERRUPTED, EXIT_REFUSED, EXIT_WAITING
from preflights_cli import options as answer_options
from preflights_cli.advice import advised, error_with_advice
from preflights_cli.common import Voice, say_saved
from preflights_cli.german import Say, english, spoken
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import iso, short_session
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.runtime.features import FEATURES
from preflights_es.use import sessions
from preflights_es.use.answers import resolve_option_number
from preflights_es.use.request import Request
from preflights_es.words.questions import Question
from preflights_es.words.workflow import ErasedBy, NotDone, View


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a workflow shows of its sessions."""

    describe: Callable[[Voice, View], None]
    """The session in a few lines."""
    hint: Callable[[View], str] = lambda _session: ""
    """What may come next; empty where every workflow does the same."""
    beside: Callable[[View, str], str] = lambda _session, _option: ""
    """What stands beside an option of the open question."""
    explained: Callable[[View, str], list[str]] = lambda _session, _option: []
    """Lines below an option of the open question; below the question itself, for an empty one."""
    default: Callable[[View], str] = lambda _session: ""
    """The option of the open question that Enter takes; empty where there is none."""
    below: Callable[[View], Iterable[str]] = lambda _session: ()
    """Lines below the open question, where a person answers it later."""
    completed: Callable[[View], View] = lambda session: session
    """The session as its JSON says it, with the words that a command line takes."""
    companion: Callable[[Question, str], str] = lambda _question, _value: ""
    """The key under which a choice is said in own words; empty where the choice says enough."""
    labels: Mapping[str, str] = {}
    """What people read in place of a field's name, by the key of its question."""
    advice: Mapping[str, str] = {}
    """What to do about what was not done, by its code."""
    conversation: str = ""
    """The module whose `run` is the conversation of a workflow in which a person accepts."""
    by_hand: str = "preflights show {id}"
    """The command for what a person has to do where nothing is asked and nothing proposed."""
    accept: str = "preflights accept {id}"
    """The command by which a person accepts what is proposed."""
    sources: Mapping[str, str] = {}
    """How a value came about, in words, by `Origin.source`."""


OTHER: Final = "Other (specify)"


@cache
def shown_of(workflow: str) -> Shown:
    """What a workflow shows of its sessions; the plain display where it shows nothing."""
    feature = FEATURES.get(workflow)
    if feature is None or not feature.shown:
        return PLAIN
    try:
        shown_by = feature.loaded(feature.shown)
    except Exception as error:  # code of others: its sessions are shown plainly
        if not FEATURES.is_foreign(workflow):
            raise
        why = one_line(f"{type(error).__name__}: {error}")
        what = f"{feature.package}.{feature.shown.partition(':')[0]}"
        click.echo(f"warning: {what} does not load: {escaped_text(why)}", err=True)
        return PLAIN
    return shown_by if isinstance(shown_by, Shown) else PLAIN


def session_exit_code(session: View) -> int:
    """1 when something was refused or failed, 3 when a person goes on, 5 when a model does."""
    if session.not_done or session.failed:
        return EXIT_REFUSED
    if session.asking:
        return 0  # what is recorded while another process asks the provider is no failure
    if session.status == "waiting":
        return EXIT_ENVIRONMENT
    return EXIT_WAITING if session.to_do else 0


def say_refusals(session: View) -> None:
    """What was recorded and does not count, on stderr."""
    for one in session.refusals:
        not_so = "Not done: {why}" if one.key is None else "Not taken: {why}"
        said = spoken(session)(
            not_so, why=escaped_text(_not_done_message(session, one, spoken(session)))
        )
        click.echo(said, err=True)


def _not_done_message(session: View, one: NotDone, say: Say = english) -> str:
    key = f"{one.key!r} " if one.key and one.message.startswith(f"{one.key!r} ") else ""
    said = key + say(one.message.removeprefix(key))
    return said + say(shown_of(session.workflow).advice.get(one.code, ""))


def say_session_result(voice: Voice, session: View) -> int:
    """Say how a session stands after a call; the exit code."""
    say_refusals(session)
    for warning in session.warnings:
        voice.warn(warning)
    tell_asking(voice, session)
    if voice.as_json:
        voice.json(session_json(session))
    elif session.asking:
        voice.say(f"Recorded in {short_session(session.session_id)}.")
    else:
        describe_session(voice, session)
    return session_exit_code(session)


def session_json(session: View) -> dict[str, object]:
    """Its versioned JSON; what is refused names the command that helps."""
    refusals = tuple(
        replace(one, message=_not_done_message(session, one)) for one in session.refusals
    )
    completed = shown_of(session.workflow).completed(session)
    return replace(completed, refusals=refusals).shape()


def tell_asking(voice: Voice, session: View) -> None:
    """Say who asks the provider meanwhile, where that is another process."""
    if session.asking:
        id_ = short_session(session.session_id)
        voice.warn(advised(session.asking, "asking_elsewhere", {"session": id_}))


def describe_session(voice: Voice, session: View) -> None:
    """A session in a few lines, and what may come next."""
    if session.erased is not None:
        _say_erased(voice, session.session_id, session.erased)
        return
    shown_by = shown_of(session.workflow)
    shown_by.describe(voice, session)
    if session.status == "needs_answers":
        voice.say()
        say_question(voice, session, session.questions[0])
        for line in shown_by.below(session):
            voice.say(f"  {escaped_text(line)}")
    voice.hint(shown_by.hint(session) or _next_command_hint(session))


def _say_erased(voice: Voice, session_id: str, erased: ErasedBy) -> None:
    """All that is left to say: when, by whom, and why."""
    from preflights_cli.table import minute

    by = erased.by
    who = f"{by.name} ({by.kind})" if by.name else by.kind
    why = f": {one_line(erased.reason)}" if erased.reason else ""
    voice.say(escaped_text(f"Session {short_session(session_id)} was erased{why}"))
    voice.say(escaped_text(f"  {minute(iso(erased.at))}, by {who}"))


def say_question(voice: Voice, session: View, question: Question) -> None:
    """A question with the label and the key under which it is answered, and numbered options."""
    say, shown_by = spoken(session), shown_of(session.workflow)
    label = shown_by.labels.get(question.id) or dict(session.labels).get(question.id)
    names = f"  ({say(label)}, {question.id})" if label else ""
    voice.say(voice.bold(escaped_text(question.question)) + escaped_text(names))
    for text in shown_by.explained(session, ""):
        voice.say(f"  {escaped_text(one_line(text))}")
    for number, option in enumerate(question.options, 1):
        beside = shown_by.beside(session, option)
        said = f" ({escaped_text(one_line(beside))})" if beside else ""
        named = say(option) if option == OTHER else option
        voice.say(f"  {number}. {escaped_text(named)}{said}")
        for text in shown_by.explained(session, option):
            voice.say(f"     {escaped_text(one_line(text))}")


def _next_command_hint(session: View) -> str:
    text = {
        "needs_answers": "Answer with: preflights answer {id} VALUE",
        "waiting": "Ask the model again with: preflights resume {id}",
        "faulted": "See why with: preflights replay {id}",
        "abandoned": "It is closed.",
    }.get(session.status, "Look at it with: preflights show {id}")
    return spoken(session)(text, id=short_session(session.session_id))


def _describe_plain_session(voice: Voice, session: View) -> None:
    voice.say(voice.bold(escaped_text(one_line(session.intention))))
    voice.say(f"  session {short_session(session.session_id)}, {session.status.replace('_', ' ')}")
    if result := getattr(session.view, "result", ""):
        voice.say(f"  {escaped_text(one_line(str(result)))}")


PLAIN: Final = Shown(describe=_describe_plain_session)


HELP: Final = ("?", "h?", "help", "hilfe")
"""What people type who want to know what can be typed; no answer."""


class ConversationLeft(Exception):
    """The person ended the conversation; what was said is recorded."""


class Pressed(Exception):
    """A key of the workflow's own, in place of an answer."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def run_dialogue(
    app: Request,
    voice: Voice,
    session: View,
    *,
    accepting: bool = False,
    by: str | None = None,
    **said: Any,
) -> int:
    """Ask until nothing is open, and end as sessions of the workflow do.

    Args:
        said: what the conversation of the workflow takes besides.
    """
    session = sessions.conversed(app, session)
    module = shown_of(session.workflow).conversation
    try:
        if module:
            converse = import_module(module).run
            code: int = converse(app, voice, session, accepting=accepting, by=by, **said)
            return code
        session = conversed(app, voice, session)
    except (ConversationLeft, KeyboardInterrupt) as left:
        say_saved(session.session_id, spoken(session))
        return EXIT_WAITING if isinstance(left, ConversationLeft) else EXIT_INTERRUPTED
    describe_session(voice, session)
    return session_exit_code(session)


# 1. Questions --------------------------------------------------------------------------------


def conversed(app: Request, voice: Voice, session: View, turn: Turn | None = None) -> View:
    """The session with no question open; each answer is recorded before the next is asked.

    Args:
        turn: the session after its question was asked, where a workflow asks it otherwise.
    """
    say_refusals(session)
    _say_new_warnings(voice, (), session)
    while session.questions:
        session = (turn or _turn)(app, voice, session)
    return session


Turn = Callable[[Request, Voice, View], View]


def _turn(app: Request, voice: Voice, session: View) -> View:
    given = ask_for_answer(voice, session, session.questions[0])
    return submit_dialogue_answer(app, voice, session, given, revise=False)


def submit_dialogue_answer(
    app: Request, voice: Voice, before: View, given: answer_options.Answers, *, revise: bool
) -> View:
    """The session after an answer, or as it stands where the answer cannot be recorded."""
    try:
        session = sessions.answer_session(app, before.session_id, given, revise=revise)
    except Refused as refused:
        not_taken = spoken(before)("Not taken: {why}", why=escaped_text(error_with_advice(refused)))
        click.echo(not_taken, err=True)
        return sessions.show(app, before.session_id)  # another process may have ended it
    say_refusals(session)
    _say_new_warnings(voice, before.warnings, session)
    tell_asking(voice, session)
    return session


def _say_new_warnings(voice: Voice, before: tuple[str, ...], session: View) -> None:
    for warning in session.warnings:
        if warning not in before:
            voice.warn(warning)


def ask_for_answer(
    voice: Voice,
    session: View,
    question: Question,
    *,
    prompt: str = "",
    is_key: Callable[[str], bool] = lambda _: False,
    keys_help: str = "",
) -> answer_options.Answers:
    """What the person answers to one question.

    Args:
        prompt: in place of the question.
        is_key: whether a text is a key of the workflow's own, and no answer.
        keys_help: what the keys do.

    Raises:
        Pressed: one of the keys.
        Left: an empty line, where it takes no option.
    """
    say = spoken(session)
    default = "" if prompt else shown_of(session.workflow).default(session)
    if not prompt:
        say_question(voice, session, question)
    if default:
        voice.say(say("  Enter takes {option}.", option=escaped_text(default)))
    if keys_help:
        voice.say(f"  {keys_help}")
    while True:
        text = read_typed_line(prompt or "> ")
        text = text if text.strip() else default
        if not text.strip():
            raise ConversationLeft
        if text.strip().casefold() in HELP:
            click.echo(" ".join(filter(None, (_help(say, question), keys_help))), err=True)
            continue
        if is_key(text.strip()):
            raise Pressed(text.strip())
        try:
            value = resolve_option_number(question, text)
        except Refused:
            known = "There is no option {text}: give 1 to {most}, or the answer in words."
            told = say(known, text=escaped_text(text.strip()), most=len(question.options))
            click.echo(told, err=True)
            continue
        if own := shown_of(session.workflow).companion(question, value.strip()):
            return [(question.id, (value,)), (own, (_specified(say),))]
        return [(question.id, (value,))]


def _help(say: Say, question: Question) -> str:
    if not question.options:
        return say("Give the answer in your own words. An empty line leaves it for later.")
    return say(
        "Give a number from 1 to {most}, or the answer in your own words. "
        "An empty line leaves it for later.",
        most=len(question.options),
    )


def _specified(say: Say) -> str:
    while (text := read_typed_line(say("In your own words: ")).strip()).casefold() in ("", *HELP):
        pass
    return text


def read_typed_line(prompt: str) -> str:
    """What is typed up to Enter.

    Not by `input`, for which a NUL (Ctrl-Space) is the end of the text.
    """
    while True:
        click.echo(prompt, nl=False)
        try:
            text = sys.stdin.readline()
        except UnicodeDecodeError:
            click.echo("Not taken: it is no valid text: retype it.", err=True)
            continue
        if not text:
            raise ConversationLeft
        return text.removesuffix("\n")
