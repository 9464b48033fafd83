"""A question at a terminal: a menu, or the three lines that a record needs."""

from __future__ import annotations

from typing import Final

import click

from preflights_cli.common import Voice
from preflights_cli.dialogue import HELP, Pressed, answered, line, taken
from preflights_cli.options import alternative
from preflights_cli.spoken import Say, spoken
from preflights_es.features.clarification.commands.display import own
from preflights_es.features.clarification.commands.reasons import drop_typed, told
from preflights_es.features.clarification.use.sessions import nothing_to_decide
from preflights_es.kernel.decisions import Reasons
from preflights_es.kernel.questions import Question
from preflights_es.use.request import Request
from preflights_es.use.results import Session

KEYS: Final = ("t", "n")
"""It is a task; there is nothing to decide."""
KEYS_HELP: Final = "t makes it a task, n says that there is nothing to decide."


def turn(app: Request, voice: Voice, session: Session) -> Session:
    """The session after its question was asked; three lines where no topic covers it."""
    question, say = session.questions[0], spoken(session)
    is_whole, prompt = bool(own(session).fields), ""
    if is_whole:
        voice.say(say(KEYS_HELP))
        prompt = say("Decision: ")
    keys = _keys(question)
    try:
        given = answered(
            *(voice, session, question),
            prompt=prompt,
            keys=keys,
            keys_help=say(KEYS_HELP) if keys and not is_whole else "",
        )
    except Pressed as pressed:
        return nothing_to_decide(app, session.session_id, is_task=pressed.key == "t")
    after = taken(app, voice, session, given, revise=False)
    return _reasoned(app, say, after) if is_whole and own(after).patch else after


def _keys(question: Question) -> tuple[str, ...]:
    """None of them where one is an option."""
    options = {option.casefold() for option in question.options}
    return () if options.intersection(KEYS) else KEYS


def _reasoned(app: Request, say: Say, session: Session) -> Session:
    """The session after the lines behind the decision, which may stay empty."""
    because = _line(say, say("Because: ")) if own(session).because is None else ""
    instead = _line(say, say("Instead of: "))
    others = (alternative(instead),) if instead else ()
    return told(app, session, Reasons(because, (), others)) if because or others else session


def _line(say: Say, prompt: str) -> str:
    drop_typed()
    while (text := line(prompt).strip()).casefold() in HELP:
        click.echo(say("In your own words; Enter leaves it empty."), err=True)
    return text
