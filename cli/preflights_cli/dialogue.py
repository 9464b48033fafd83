"""The conversation at a terminal: one question at a time, every answer recorded at once."""

from __future__ import annotations

import sys
from typing import Final

import click
from msgspec.structs import replace

from preflights_cli import answer_options
from preflights_cli.common import Voice, filed
from preflights_cli.main import EXIT_INTERRUPTED, EXIT_WAITING
from preflights_cli.rendering import (
    OFFERED,
    ask,
    describe,
    exit_code,
    open_questions,
    say_refusals,
    status_of,
    tell_asking,
    view_of,
)
from preflights_cli.workflows.clarification import display
from preflights_es.core.errors import Refused
from preflights_es.core.ids import short
from preflights_es.core.text import shown
from preflights_es.core.views import Question
from preflights_es.runtime.runner import Handle, Step
from preflights_es.services.clarification.clarifications import clarifications
from preflights_es.services.request import Request
from preflights_es.workflows.clarification.rules import chose_other
from preflights_es.workflows.clarification.values import COMPANION, OTHER, HeuristicsConfig

CATEGORY_KEY: Final = HeuristicsConfig().category.id


class Left(Exception):
    """The person ended the conversation; what was said is recorded."""


def run(
    app: Request, voice: Voice, step: Step, *, accepting: bool = False, by: str | None = None
) -> int:
    """Ask until nothing is open, and end as sessions of the workflow do."""
    if step.handle.workflow.record is None:
        return _asked(app, voice, step)
    return _decided(app, voice, step, accepting=accepting, by=by)


def _decided(app: Request, voice: Voice, step: Step, *, accepting: bool, by: str | None) -> int:
    """Ask until nothing is open, show what would be decided, and take the person's word."""
    try:
        _say_detected(voice, step.handle)
        return _ended(app, voice, _conversed(app, voice, step), accepting=accepting, by=by)
    except (Left, KeyboardInterrupt) as left:
        id_ = short(step.handle.session_id)
        click.echo(f"\nSaved. Go on with: preflights resume {id_}", err=True)
        return EXIT_WAITING if isinstance(left, Left) else EXIT_INTERRUPTED


def _asked(app: Request, voice: Voice, step: Step) -> int:
    """Ask until nothing is open, and show what came of it: for sessions that nobody accepts."""
    try:
        handle = _conversed(app, voice, step)
    except (Left, KeyboardInterrupt) as left:
        id_ = short(step.handle.session_id)
        click.echo(f"\nSaved. Go on with: preflights resume {id_}", err=True)
        return EXIT_WAITING if isinstance(left, Left) else EXIT_INTERRUPTED
    describe(voice, handle)
    return exit_code(handle)


# 1. Questions --------------------------------------------------------------------------------


def _conversed(app: Request, voice: Voice, step: Step) -> Handle:
    """The session with no question open; each answer is recorded before the next is asked."""
    handle = step.handle
    say_refusals(step.handle, step.decisions)
    _say_new_warnings(voice, (), handle)
    while questions := open_questions(handle):
        handle = _taken(app, voice, handle, _answered(voice, questions[0]), revise=False)
    return handle


def _taken(
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


def _say_detected(voice: Voice, handle: Handle) -> None:
    view = display.view_of(handle)
    if view.provenance and view.turn == 1 and view.provenance[0].source == "detected":
        voice.hint(f"This is about {shown(view.provenance[0].value)}, as the intention says.")


def _say_new_warnings(voice: Voice, before: tuple[str, ...], handle: Handle) -> None:
    for warning in view_of(handle).warnings:
        if warning not in before:
            voice.warn(warning)


def _answered(voice: Voice, question: Question) -> answer_options.Answers:
    """What the person answers to one question; asked again while it is empty."""
    ask(voice, question)
    while True:
        text = _line("> ")
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
        if _needs_text(question, value.strip()):
            return [(question.id, (value,)), (question.id + COMPANION, (_specified(),))]
        return [(question.id, (value,))]


def _needs_text(question: Question, value: str) -> bool:
    """Whether the choice says nothing without words of the person's own.

    The bare `Other` is a category like any other, and leads to a question of its own.
    """
    is_category = question.id == CATEGORY_KEY and value.casefold() == OTHER.casefold()
    return chose_other(question, value) and not is_category


def _specified() -> str:
    while not (text := _line("In your own words: ").strip()):
        pass
    return text


def _line(prompt: str) -> str:
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


# 2. Word and keystroke -----------------------------------------------------------------------


def _ended(app: Request, voice: Voice, handle: Handle, *, accepting: bool, by: str | None) -> int:
    """One keystroke between a proposal and a decision."""
    while status_of(handle) in OFFERED:
        _say_proposal(voice, handle)
        key = "a" if accepting else _key()
        if key == "a":
            step = clarifications(app).accept(handle.session_id, by=by, expect=handle.version)
            say_refusals(step.handle, step.decisions)
            handle = filed(app, voice, step.handle)
            describe(voice, handle)
            return exit_code(handle, step.decisions)
        if key != "r":
            raise Left
        handle = _revised(app, voice, handle)
    describe(voice, handle)
    return exit_code(handle)


def _say_proposal(voice: Voice, handle: Handle) -> None:
    view = display.view_of(handle)
    voice.say()
    if view.patch is None:
        voice.say("Nothing was decided; accepting files a task without a decision.")
    else:
        what = "an architecture decision record" if view.kind == "adr" else "a task"
        voice.say(f"This becomes {what}:")
        for line in display.values(view.provenance):
            voice.say(f"  {line}")


_LEAVING = ("l", "q", "\x1b")


def _key() -> str:
    """`a`, `r`, or one of those that leave; what was typed before the proposal was seen is no key.

    Raises:
        Left, KeyboardInterrupt: Ctrl-D, Ctrl-C.
    """
    while True:
        click.echo("[a]ccept, [r]evise, [l]eave? ", nl=False)
        try:
            key = click.getchar().lower()
        except EOFError:
            raise Left from None
        click.echo(key if key.isprintable() else "")
        if key in ("a", "r", *_LEAVING):
            return key


def _revised(app: Request, voice: Voice, handle: Handle) -> Handle:
    """One answer once more, and whatever that opens."""
    question = _chosen_again(voice, handle)
    handle = _taken(app, voice, handle, _answered(voice, question), revise=True)
    return _conversed(app, voice, Step(handle, ()))


def _chosen_again(voice: Voice, handle: Handle) -> Question:
    """The question that the person wants to answer anew; the last one unless they say which."""
    again = _answerable(handle)
    if len(again) == 1:
        return again[0][1]
    voice.say("Which answer?")
    for number, (name, _) in enumerate(again, 1):
        voice.say(f"  {number}. {shown(name)}")
    while True:
        text = _line(f"> ({len(again)}) ").strip() or str(len(again))
        for number, (name, question) in enumerate(again, 1):
            if text.casefold() in (str(number), name.casefold()):
                return question
        click.echo(f"Give 1 to {len(again)}.", err=True)


def _answerable(handle: Handle) -> list[tuple[str, Question]]:
    """Pairs of field and question, for the category and each value that was given."""
    config = handle.session.state.heuristics
    fields = {field.id: field for category in config.categories for field in category.fields()}
    fields[config.description.id] = config.description
    again = [("Category", config.category_question())]
    for provenance in display.view_of(handle).provenance:
        if field := fields.get(provenance.key):
            asked = field.asked()
            question = replace(asked, question=asked.question or f"{field.name}?")
            again.append((provenance.field, question))
    return again
