"""The conversation at a terminal: one question at a time, every answer recorded at once."""

from __future__ import annotations

import sys

import click

from preflights_cli import answer_options
from preflights_cli.common import Voice
from preflights_cli.main import EXIT_INTERRUPTED, EXIT_WAITING
from preflights_cli.rendering import (
    ask,
    describe,
    exit_code,
    open_questions,
    say_refusals,
    shown_of,
    tell_asking,
    view_of,
)
from preflights_es.core.errors import Refused
from preflights_es.core.ids import short
from preflights_es.core.text import shown
from preflights_es.core.views import Question
from preflights_es.runtime.runner import Handle, Step
from preflights_es.services.request import Request


class Left(Exception):
    """The person ended the conversation; what was said is recorded."""


def run(
    app: Request, voice: Voice, step: Step, *, accepting: bool = False, by: str | None = None
) -> int:
    """Ask until nothing is open, and end as sessions of the workflow do."""
    converse = shown_of(step.handle.workflow.name).converse
    try:
        if converse is not None:
            return converse(app, voice, step, accepting, by)
        handle = conversed(app, voice, step)
    except (Left, KeyboardInterrupt) as left:
        id_ = short(step.handle.session_id)
        click.echo(f"\nSaved. Go on with: preflights resume {id_}", err=True)
        return EXIT_WAITING if isinstance(left, Left) else EXIT_INTERRUPTED
    describe(voice, handle)
    return exit_code(handle)


# 1. Questions --------------------------------------------------------------------------------


def conversed(app: Request, voice: Voice, step: Step) -> Handle:
    """The session with no question open; each answer is recorded before the next is asked."""
    handle = step.handle
    say_refusals(step.handle, step.decisions)
    _say_new_warnings(voice, (), handle)
    while questions := open_questions(handle):
        given = answered(voice, handle, questions[0])
        handle = taken(app, voice, handle, given, revise=False)
    return handle


def taken(
    app: Request, voice: Voice, before: Handle, given: answer_options.Answers, *, revise: bool
) -> Handle:
    """The session after an answer, or as it stands where the answer cannot be recorded."""
    try:
        step = app.sessions.answer(before, given, revise=revise)
    except Refused as refused:
        click.echo(f"Not taken: {shown(str(refused))}", err=True)
        return app.process.runner.load(before.session_id)  # another process may have ended it
    say_refusals(step.handle, step.decisions)
    _say_new_warnings(voice, view_of(before).warnings, step.handle)
    tell_asking(voice, step)
    return step.handle


def _say_new_warnings(voice: Voice, before: tuple[str, ...], handle: Handle) -> None:
    for warning in view_of(handle).warnings:
        if warning not in before:
            voice.warn(warning)


def answered(voice: Voice, handle: Handle, question: Question) -> answer_options.Answers:
    """What the person answers to one question; asked again while it is empty."""
    ask(voice, question)
    while True:
        text = line("> ")
        if not text.strip():
            click.echo("An answer is needed; Ctrl-D leaves it for later.", err=True)
            continue
        try:
            value = answer_options.chosen(question, text)
        except Refused:
            click.echo(
                f"There is no option {shown(text.strip())}: "
                f"give 1 to {len(question.options)}, or the answer in words.",
                err=True,
            )
            continue
        if own := shown_of(handle.workflow.name).companion(question, value.strip()):
            return [(question.id, (value,)), (own, (_specified(),))]
        return [(question.id, (value,))]


def _specified() -> str:
    while not (text := line("In your own words: ").strip()):
        pass
    return text


def line(prompt: str) -> str:
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
            raise Left
        return text.removesuffix("\n")
