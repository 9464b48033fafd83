"""A person confirms what agents and scripts proposed: one by one, or all after a look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from preflights_cli import EXIT_INTERRUPTED, EXIT_REFUSED, EXIT_WAITING, dialogue
from preflights_cli.advice import error_with_advice
from preflights_cli.common import Voice, is_terminal
from preflights_cli.progress import bar, count_in_words
from preflights_cli.rendering import session_exit_code, shown_of
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.use import sessions
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewAcceptance
from preflights_es.words.workflow import View

NAMED_MAX: Final = 3  # decisions that one contradicts


def one_by_one(app: Request, voice: Voice, proposed: Sequence[View]) -> int:
    """Show each proposal, and take the person's word on it; 130 where the person stops."""
    asked = [one for one in proposed if shown_of(one.workflow).conversation]
    if not asked or not _person_confirms(f"\nLook at {_count_proposals(asked)} now, one by one?"):
        return 0
    for number, one in enumerate(asked, 1):
        voice.say(f"\n{number} of {len(asked)}:")
        shown_of(one.workflow).describe(voice, one)
        if dialogue.run_dialogue(app, voice, one) == EXIT_INTERRUPTED:
            return EXIT_INTERRUPTED
    return 0


def confirmed(app: Request, voice: Voice, proposed: Sequence[View], by: str | None) -> int:
    """Confirm all proposals, each on its own; 1 where one was refused, 3 where one waits.

    Raises:
        UsageError: no person is there, and none is named.
        Refused: an agent is at work.
    """
    if not proposed:
        voice.say("No proposal waits.")
        return 0
    app.sessions.refuse_agent("confirm a proposal")
    asks = is_terminal() and not voice.as_json
    if not asks and by is None:
        message = "a person confirms: run --all at a terminal, or name the person with --by"
        raise click.UsageError(message)
    if not voice.as_json:
        for one in proposed:
            shown_of(one.workflow).describe(voice, one)
    if asks and not _person_confirms(f"Confirm {_count_proposals(proposed)}?"):
        return EXIT_WAITING
    with bar(voice, "Confirming")(len(proposed)) as update:
        codes = []
        for one in proposed:
            codes.append(_confirmed(app, one, by))
            update(1)
    voice.say(f"Confirmed {codes.count(0)} of {_count_proposals(proposed)}.")
    return EXIT_REFUSED if EXIT_REFUSED in codes else max(codes)


def _confirmed(app: Request, one: View, by: str | None) -> int:
    """Confirm one as it was seen; what is not done is one line on stderr."""
    try:
        new = NewAcceptance(one.session_id, by=by, expect=one.version)
        done = sessions.accept_session(app, new)
    except Refused as refused:
        reason = escaped_text(error_with_advice(refused))
        click.echo(f"{short_session(one.session_id)} is not confirmed: {reason}", err=True)
        return EXIT_REFUSED
    if code := session_exit_code(done):
        why = "; ".join(refusal.message for refusal in done.refusals) or _waits(done)
        settle = shown_of(one.workflow).accept.format(id=short_session(one.session_id))
        click.echo(
            f"{short_session(one.session_id)} is not confirmed: {escaped_text(why)}: {settle}",
            err=True,
        )
    return code


def _waits(done: View) -> str:
    """What a person has to do, and the decisions that it is about."""
    related = [one for one in getattr(done, "related", ()) if one.needs_choice]
    named = (
        f"{short_session(one.session_id)} {one_line(one.title)!r}" for one in related[:NAMED_MAX]
    )
    return f"{done.to_do} ({', '.join(named)})" if related else done.to_do


def _count_proposals(proposed: Sequence[View]) -> str:
    return count_in_words(len(proposed), "proposal")


def _person_confirms(question: str) -> bool:
    """Whether the person says yes; Ctrl-D says no."""
    try:
        return click.confirm(question)
    except click.Abort:
        click.echo()
        return False
