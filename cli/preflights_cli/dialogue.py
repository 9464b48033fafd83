"""The conversation at a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

import click

from preflights_cli import EXIT_INTERRUPTED, EXIT_WAITING
from preflights_cli import options as answer_options
from preflights_cli.advice import error_with_advice
from preflights_cli.common import Voice, say_saved
from preflights_cli.german import Say, spoken
from preflights_cli.rendering import (
    describe_session,
    say_question,
    say_refusals,
    session_exit_code,
    shown_of,
    tell_asking,
)
from preflights_cli.table import folded_for
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.use import sessions
from preflights_es.use.answers import resolve_option_number
from preflights_es.use.request import Request
from preflights_es.words.questions import Question
from preflights_es.words.workflow import View

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
    is_resumed: bool = False,
    **said: Any,
) -> int:
    """Ask until nothing is open, and end as sessions of the workflow do.

    Args:
        is_resumed: whether the person left it before, and has to be told what it is about.
        said: what the conversation of the workflow takes besides.
    """
    session = sessions.conversed(app, session)
    if is_resumed and (session.questions or session.can_accept):
        voice.say(voice.bold(escaped_text(one_line(session.intention))))
    module = shown_of(session.workflow).conversation
    try:
        if module:
            converse = import_module(module).run
            known = {"accepting": accepting, "by": by, "is_resumed": is_resumed, **said}
            code: int = converse(app, voice, session, **known)
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
    turn = turn or partial(_turn, app, voice)
    while session.questions:
        session = turn(session)
    return session


Turn = Callable[[View], View]


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
        say_aside(not_taken)
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
            say_aside(" ".join(filter(None, (_help(say, question), keys_help))))
            continue
        if is_key(text.strip()):
            raise Pressed(text.strip())
        try:
            value = resolve_option_number(question, text)
        except Refused:
            known = "There is no option {text}: give 1 to {most}, or the answer in words."
            told = say(known, text=escaped_text(text.strip()), most=len(question.options))
            say_aside(told)
            continue
        if own := shown_of(session.workflow).companion(question, value.strip()):
            return [(question.id, (value,)), (own, (_specified(say),))]
        return [(question.id, (value,))]


def say_aside(text: str) -> None:
    """A line on stderr between two prompts; a terminal breaks no word of it."""
    click.echo(folded_for(sys.stderr, text), err=True)


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


def read_line_behind(key: str) -> str:
    """A line that begins with a key which was read alone.

    An Enter that came while the terminal gave single keys is a carriage return, behind which
    Python's text layer waits for one more character.
    """
    click.echo(key, nl=False)
    typed = b""
    while not typed.endswith((b"\r", b"\n")):
        if not (more := os.read(sys.stdin.fileno(), 1024)):
            raise ConversationLeft
        typed += more
    return key + typed.decode("utf-8", "replace").rstrip()


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
