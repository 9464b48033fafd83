"""The end of a clarification's conversation: the proposal, and the person's word on it."""

from __future__ import annotations

import click
from msgspec.structs import replace

from preflights_cli.common import Voice
from preflights_cli.dialogue import Left, answered, conversed, line, taken
from preflights_cli.rendering import describe, exit_code, say_refusals
from preflights_cli.spoken import Say, spoken
from preflights_es.features.clarification.commands import known, lines, reasons
from preflights_es.features.clarification.commands.choices import resolved
from preflights_es.features.clarification.commands.display import own, values, why
from preflights_es.features.clarification.domain.values import DecisionPatch, suggested
from preflights_es.features.clarification.domain.views import ClarificationView
from preflights_es.features.clarification.use import sessions
from preflights_es.kernel.decisions import Choices
from preflights_es.kernel.questions import Question
from preflights_es.kernel.text import shown
from preflights_es.use.request import Request
from preflights_es.use.results import Session


def run(
    app: Request,
    voice: Voice,
    session: Session,
    *,
    accepting: bool,
    by: str | None,
    choices: Choices | None = None,
) -> int:
    """Ask until nothing is open, show what would be decided, and take the person's word.

    Args:
        choices: what the person said about older decisions before.

    Raises:
        Left, KeyboardInterrupt: the person left.
    """
    _say_detected(voice, session)
    session, choices = known.asked(app, voice, session, choices)
    is_whole = bool(own(session).fields)
    session = conversed(app, voice, session, lines.turn)
    asked_of = own(session).patch if is_whole else None
    return _ended(
        app, voice, session, accepting=accepting, by=by, choices=choices, asked_of=asked_of
    )


def _say_detected(voice: Voice, session: Session) -> None:
    found = own(session)
    if found.provenance and found.turn == 1 and found.provenance[0].source == "detected":
        topic = shown(found.provenance[0].value)
        said = "This is about {topic}, as the intention says."
        voice.hint(spoken(session)(said, topic=topic))


def _ended(
    app: Request,
    voice: Voice,
    session: Session,
    *,
    accepting: bool,
    by: str | None,
    choices: Choices | None,
    asked_of: DecisionPatch | None = None,
) -> int:
    """One keystroke between a proposal and a decision.

    Args:
        asked_of: the patch of which the person said why, or skipped it.
    """
    draft = ""
    while session.can_accept:
        if own(session).patch != asked_of:
            if asked_of is None:
                session = known.scope_asked(app, session)
            session, asked_of = reasons.asked(app, session), own(session).patch
        _say_proposal(voice, session)
        assert isinstance(session.view, ClarificationView), "it is a clarification"
        is_seen = accepting and not suggested(session.view.provenance)
        key = "a" if is_seen else _key(spoken(session))
        if key == "a":
            session = _accepted(app, voice, session, by, choices)
            say_refusals(session)
            break
        if key == "e":
            session, draft = reasons.edited(app, voice, session, draft)
        elif key == "r":
            session = _revised(app, voice, session)
        else:
            raise Left
    describe(voice, session)
    return exit_code(session)


def _accepted(
    app: Request, voice: Voice, session: Session, by: str | None, said: Choices | None
) -> Session:
    """The session once the person has chosen about older decisions that differ, too."""

    def accept(choices: Choices | None, seen: Session) -> Session:
        return sessions.accept(app, seen.session_id, by=by, expect=seen.version, choices=choices)

    return resolved(voice, accept(said, session), said, accept)


def _say_proposal(voice: Voice, session: Session) -> None:
    found, say = own(session), spoken(session)
    voice.say()
    if found.patch is None:
        voice.say(say("Nothing was decided; accepting files a task without a decision."))
    else:
        what = "an architecture decision record" if found.kind == "adr" else "a task"
        voice.say(say(f"This becomes {what}:"))
        for line in (*values(found.provenance, say), *why(found)):
            voice.say(f"  {line}")


_LEAVING = ("l", "q", "\x1b")


def _key(say: Say) -> str:
    """A key that means something; it ignores keys from before the proposal.

    Raises:
        Left, KeyboardInterrupt: Ctrl-D, Ctrl-C.
    """
    while True:
        click.echo(say("[a]ccept, [r]evise, [e]dit the reasons, [l]eave? "), nl=False)
        try:
            key = click.getchar().lower()
            key = key.strip("\r\n") or key  # Enter behind it, in one burst
        except EOFError:
            raise Left from None
        click.echo(key if key.isprintable() else "")
        if key in ("a", "r", "e", *_LEAVING):
            return key


def _revised(app: Request, voice: Voice, session: Session) -> Session:
    """Revise one answer, and answer the questions that follow."""
    again = sessions.answerable(app, session.session_id)
    question = _chosen_again(voice, spoken(session), again)
    session = taken(app, voice, session, answered(voice, session, question), revise=True)
    return conversed(app, voice, replace(session, refusals=()), lines.turn)


def _chosen_again(voice: Voice, say: Say, again: list[tuple[str, Question]]) -> Question:
    """The question that the person wants to answer anew; the last one unless they say which."""
    if len(again) == 1:
        return again[0][1]
    voice.say(say("Which answer?"))
    for number, (name, _) in enumerate(again, 1):
        voice.say(f"  {number}. {shown(name)}")
    while True:
        text = line(f"> ({len(again)}) ").strip() or str(len(again))
        for number, (name, question) in enumerate(again, 1):
            if text.casefold() in (str(number), name.casefold(), question.id):
                return question
        click.echo(say("Give 1 to {most}.", most=len(again)), err=True)
