"""What a person says at a terminal about decisions in force, before anything is asked."""

from __future__ import annotations

import click
from msgspec.structs import replace

from preflights_cli.advice import worded
from preflights_cli.common import Voice
from preflights_cli.dialogue import HELP, Left, line
from preflights_cli.rendering import say_refusals
from preflights_cli.spoken import Say, spoken
from preflights_es.features.clarification.commands.display import known_line, own
from preflights_es.features.clarification.commands.reasons import drop_typed
from preflights_es.features.clarification.use.results import KnownDecision
from preflights_es.features.clarification.use.sessions import keep
from preflights_es.kernel.decisions import Choices
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import shown
from preflights_es.use import sessions
from preflights_es.use.request import Request
from preflights_es.use.results import Session


def asked(
    app: Request, voice: Voice, session: Session, choices: Choices | None
) -> tuple[Session, Choices | None]:
    """The session once the person has seen what is in force, and what they chose about it.

    Raises:
        Left: the person leaves.
    """
    found = own(session)
    if not found.known or not found.questions:
        return session, choices
    say = spoken(session)
    voice.say(say("In force:"))
    for place, one in enumerate(found.known, 1):
        voice.say(f"  {place}. {known_line(one)}")
    while True:
        key, meant = _said(say, found.known)
        if not key:
            return session, choices
        if key == "o":
            if scoped := _scoped(app, session, line(say("For what? "))):
                return scoped, choices
        elif key == "k":
            place = found.known.index(meant) + 1
            return keep(app, session.session_id, str(place)), choices
        elif not meant.same_place:
            name = meant.path or (f"ADR-{meant.number:04}" if meant.number else meant.uid)
            told = "It is at another place: begin again with --supersedes {name}."
            click.echo(say(told, name=shown(name)), err=True)
        else:
            before = choices or Choices()
            return session, replace(before, supersedes=(*before.supersedes, meant.uid))


def _said(say: Say, known: tuple[KnownDecision, ...]) -> tuple[str, KnownDecision]:
    """A key that means something, and the decision that it is about; empty for Enter.

    Raises:
        Left: the person leaves.
    """
    while True:
        keys = say("[k]eep it, [r]eplace it, [o]ther scope? Enter asks the question: ")
        text = line(keys).strip().casefold()
        key, _, rest = text.partition(" ")
        if text in ("", "o"):
            return text, known[0]
        if key in ("k", "r") and (meant := _meant(known, rest)):
            return key, meant
        if text in ("l", "q", "\x1b"):
            raise Left
        _help(say, text, len(known))


def _meant(known: tuple[KnownDecision, ...], rest: str) -> KnownDecision | None:
    """The one with the number that was typed; without one the first, at the same place."""
    if not rest:
        return known[0] if known[0].same_place else None
    is_place = rest.isascii() and rest.isdigit() and 1 <= int(rest[:3]) <= len(known)
    return known[int(rest) - 1] if is_place else None


def _help(say: Say, text: str, most: int) -> None:
    told = (
        "k keeps the first, k 2 the second; r replaces it; o asks what the new one is for; "
        "Enter asks the question."
    )
    if text not in HELP:
        told = "Give k, r, o or Enter; a number from 1 to {most} follows k and r."
    click.echo(say(told, most=most), err=True)


def _scoped(app: Request, session: Session, text: str) -> Session | None:
    """The session for something else; None where nothing, or no scope, was said."""
    if not text.strip() or text.strip().casefold() in HELP:
        return None
    try:
        key = session.questions[0].id
        scoped = sessions.answer(app, session.session_id, [(f"{key}__scope", (text.strip(),))])
    except Refused as refused:
        click.echo(f"Not taken: {shown(worded(refused))}", err=True)
        return None
    say_refusals(scoped)
    return None if scoped.not_done else scoped


def scope_asked(app: Request, session: Session) -> Session:
    """The session after the person was asked what the decision is for; Enter: the whole project."""
    found = own(session)
    key = next((one.key for one in found.provenance if one.field != "Category"), "")
    if found.patch is None or found.scope or not key or found.kind != "adr":
        return session
    drop_typed()
    text = line(spoken(session)("For what? (Enter: the whole project) ")).strip()
    if not text or text.casefold() in HELP:
        return session
    return sessions.answer(app, session.session_id, [(f"{key}__scope", (text,))])
