"""The conversation at a terminal: one question at a time, every answer recorded at once."""

from __future__ import annotations

import click

from preflights_cli import answers
from preflights_cli.common import Voice
from preflights_cli.main import EXIT_INTERRUPTED, EXIT_WAITING
from preflights_cli.shapes import ask, describe, exit_code, refusal, status_of, values, view_of
from preflights_es.app import App
from preflights_es.core.errors import Refused
from preflights_es.core.ids import short
from preflights_es.core.text import shown
from preflights_es.core.views import Question
from preflights_es.runtime.runner import Handle, Step
from preflights_es.workflows.clarification.events import AnswerRefused
from preflights_es.workflows.clarification.values import COMPANION, OTHER_OPTION


class Left(Exception):
    """The person ended the conversation; what was said is recorded."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def run(
    app: App, voice: Voice, step: Step, *, accepting: bool = False, by: str | None = None
) -> int:
    """Ask until nothing is open, show what would be decided, and take the person's word."""
    try:
        handle = _conversed(app, voice, step)
        if status_of(handle) in ("ready", "stopped", "proposed"):
            handle = _acknowledged(app, voice, handle, accepting=accepting, by=by)
        else:
            describe(voice, handle)
    except Left as left:
        id_ = short(step.handle.session_id)
        click.echo(f"\nSaved. Go on with: preflights resume {id_}", err=True)
        return left.code
    return exit_code(handle)


def _conversed(app: App, voice: Voice, step: Step) -> Handle:
    handle = step.handle
    _say_refusals(step)
    _say_warnings(voice, handle)
    while question := handle.session.state.question:
        _say_detected(voice, handle)
        try:
            step = app.sessions.answer(handle, _answered(voice, question))
        except Refused as refused:
            click.echo(f"That {shown(str(refused))}", err=True)
            continue
        before, handle = handle, step.handle
        _say_refusals(step)
        if len(view_of(handle).warnings) > len(view_of(before).warnings):
            _say_warnings(voice, handle)
    return handle


def _say_detected(voice: Voice, handle: Handle) -> None:
    view = view_of(handle)
    if view.provenance and view.turn == 1 and view.provenance[0].source == "detected":
        voice.hint(f"This is about {shown(view.provenance[0].value)}, as the intention says.")


def _say_refusals(step: Step) -> None:
    for decision in step.decisions:
        if isinstance(decision, AnswerRefused):
            click.echo(f"Not taken: {shown(refusal(decision))}", err=True)


def _say_warnings(voice: Voice, handle: Handle) -> None:
    for warning in view_of(handle).warnings:
        voice.warn(warning)


def _answered(voice: Voice, question: Question) -> answers.Answers:
    """What the person answers to one question; asked again while it is empty."""
    ask(voice, question)
    while True:
        text = _line("> ")
        if not text.strip():
            continue
        try:
            value = answers.chosen(question, text)
        except Refused as refused:
            click.echo(str(refused).capitalize(), err=True)
            continue
        if value == OTHER_OPTION and value in question.options:
            return [(question.id, (value,)), (question.id + COMPANION, (_specified(),))]
        return [(question.id, (value,))]


def _specified() -> str:
    while not (text := _line("In your own words: ").strip()):
        pass
    return text


def _line(prompt: str) -> str:
    try:
        return input(prompt)
    except EOFError:
        raise Left(EXIT_WAITING) from None
    except KeyboardInterrupt:
        raise Left(EXIT_INTERRUPTED) from None


def _acknowledged(
    app: App, voice: Voice, handle: Handle, *, accepting: bool, by: str | None
) -> Handle:
    """One keystroke between a proposal and a decision."""
    while True:
        _say_proposal(voice, handle)
        key = "a" if accepting else _key()
        if key == "a":
            step = app.sessions.accept(handle.session_id, by=by, expect=handle.version)
            handle = app.documents.finish(step.handle)
            describe(voice, handle)
            return handle
        if key == "r" and handle.session.state.asked:
            handle = _revised(app, voice, handle)
        elif key in ("l", "q", "\x1b", "\x04"):
            raise Left(EXIT_WAITING)
        elif key == "\x03":
            raise Left(EXIT_INTERRUPTED)


def _say_proposal(voice: Voice, handle: Handle) -> None:
    view = view_of(handle)
    voice.say()
    if view.patch is None:
        voice.say("Nothing was decided; accepting files a task without a decision.")
    else:
        what = "an architecture decision record" if view.kind == "adr" else "a task"
        voice.say(f"This becomes {what}:")
        for line in values(view.provenance):
            voice.say(f"  {line}")


def _key() -> str:
    click.echo("[a]ccept, [r]evise, [l]eave? ", nl=False)
    try:
        key = click.getchar().lower()
    except EOFError:
        key = "\x04"
    except KeyboardInterrupt:
        key = "\x03"
    click.echo(key if key.isprintable() else "")
    return key


def _revised(app: App, voice: Voice, handle: Handle) -> Handle:
    """The last question once more."""
    question = handle.session.state.asked[-1]
    step = app.sessions.answer(handle, _answered(voice, question), revise=True)
    _say_refusals(step)
    return _conversed(app, voice, Step(step.handle, ()))
