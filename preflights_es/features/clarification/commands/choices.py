"""What a person says at a terminal about older decisions that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import click
from msgspec.structs import replace

from preflights_cli.common import Voice
from preflights_cli.dialogue import HELP, Left, line
from preflights_cli.spoken import Say, spoken
from preflights_es.features.clarification.commands.display import compared, waiting
from preflights_es.features.clarification.use.results import RelatedDecision
from preflights_es.kernel.decisions import Choices
from preflights_es.kernel.questions import is_placeholder
from preflights_es.kernel.text import shown
from preflights_es.use.results import Session


def resolved(
    voice: Voice,
    session: Session,
    said: Choices | None,
    accept: Callable[[Choices, Session], Session],
) -> Session:
    """The session once the person has chosen about each decision that differs.

    Args:
        accept: tries it again, with what was chosen so far.

    Raises:
        Left: the person leaves; nothing is accepted.
    """
    said, say = said or Choices(), spoken(session)
    while found := waiting(session):
        for one in found:
            voice.say(compared(one))
            said = _with(said, one, say)
        session = accept(said, session)
    return session


def _with(said: Choices, one: RelatedDecision, say: Say) -> Choices:
    key = _key(say, is_exception=one.evolution == "exception")
    if key == "l":
        raise Left
    if key == "s":
        return replace(said, supersedes=(*said.supersedes, one.uid))
    if key == "e":
        return replace(said, exceptions=(*said.exceptions, one.uid))
    why = say("Why do both stay in force? ")
    while (reason := line(why).strip()).casefold() in ("", *HELP) or is_placeholder(reason):
        if reason:
            click.echo(say("{reason} is a placeholder.", reason=shown(reason)))
    return replace(said, keeps=(*said.keeps, (one.uid, reason)))


_BOTH: Final = "[s]upersede it, [k]eep both, [l]eave? "
_EXCEPTION: Final = "[e]xception to it, [s]upersede it, [l]eave? "


def _key(say: Say, *, is_exception: bool) -> str:
    """A key that means something.

    Raises:
        Left: Ctrl-D.
    """
    while True:
        click.echo(say(_EXCEPTION if is_exception else _BOTH), nl=False)
        try:
            key = click.getchar().lower()
        except EOFError:
            raise Left from None
        click.echo(key if key.isprintable() else "")
        if key in ("s", "e" if is_exception else "k"):
            return key
        if key in ("l", "q", "\x1b"):
            return "l"
