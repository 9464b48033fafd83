"""The end of a clarification's conversation: the proposal, and the person's word on it."""

from __future__ import annotations

import click
from msgspec.structs import replace

from preflights_cli.common import Voice
from preflights_cli.dialogue import Left, answered, conversed, line, taken
from preflights_cli.filing import filed
from preflights_cli.rendering import can_accept, describe, exit_code, say_refusals
from preflights_cli.workflows.clarification import display
from preflights_es.core.text import shown
from preflights_es.core.views import Question
from preflights_es.runtime.runner import Handle, Step
from preflights_es.services.clarification.clarifications import clarifications_of
from preflights_es.services.request import Request


def run(app: Request, voice: Voice, step: Step, *, accepting: bool, by: str | None) -> int:
    """Ask until nothing is open, show what would be decided, and take the person's word.

    Raises:
        Left, KeyboardInterrupt: the person left.
    """
    _say_detected(voice, step.handle)
    return _ended(app, voice, conversed(app, voice, step), accepting=accepting, by=by)


def _say_detected(voice: Voice, handle: Handle) -> None:
    view = display.view_of(handle)
    if view.provenance and view.turn == 1 and view.provenance[0].source == "detected":
        voice.hint(f"This is about {shown(view.provenance[0].value)}, as the intention says.")


def _ended(app: Request, voice: Voice, handle: Handle, *, accepting: bool, by: str | None) -> int:
    """One keystroke between a proposal and a decision."""
    while can_accept(handle):
        _say_proposal(voice, handle)
        key = "a" if accepting else _key()
        if key == "a":
            step = clarifications_of(app).accept(handle.session_id, by=by, expect=handle.version)
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
    """Revise one answer, and answer the questions that follow."""
    question = _chosen_again(voice, handle)
    handle = taken(app, voice, handle, answered(voice, handle, question), revise=True)
    return conversed(app, voice, Step(handle, ()))


def _chosen_again(voice: Voice, handle: Handle) -> Question:
    """The question that the person wants to answer anew; the last one unless they say which."""
    again = _answerable(handle)
    if len(again) == 1:
        return again[0][1]
    voice.say("Which answer?")
    for number, (name, _) in enumerate(again, 1):
        voice.say(f"  {number}. {shown(name)}")
    while True:
        text = line(f"> ({len(again)}) ").strip() or str(len(again))
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
