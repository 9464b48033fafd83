"""`inbox`, `answer`, `revise`, `resume` and `abandon`: what waits, and what a person does with a
session that is open, one by one or all after a look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

import click
import msgspec

from preflights_cli import EXIT_INTERRUPTED, EXIT_REFUSED, EXIT_WAITING, dialogue
from preflights_cli.advice import error_with_advice
from preflights_cli.common import Voice, bar, by_option, is_terminal, sign_option, writing_where
from preflights_cli.rendering import session_exit_code, shown_of
from preflights_cli.table import CELL_MAX, streamed
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import count_in_words, escaped_text, one_line, shortened
from preflights_es.use import sessions
from preflights_es.use.filed_sessions import FiledSession
from preflights_es.use.inbox import Waiting, inbox, list_proposed_sessions
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewAcceptance
from preflights_es.words.workflow import View

INTENTION_MIN: Final = 20  # characters that are shown of it, however long its origin is
SAID: Final = {
    "proposal": "proposal",
    "question": "question",
    "by_hand": "to file by hand",
    "model": "model to ask",
    "faulted": "fault",
}
"""What waits, in words."""
FILED: Final = {
    "beyond": "goes on beyond the log",
    "diverged": "and the log hold different events",
    "restored": "has text that was erased here",
}
"""The same of session files, by how they compare with the log."""
SETTLES: Final = {
    "question": "preflights answer {id} VALUE",
    "model": "preflights resume {id}",
    "faulted": "preflights replay {id}",
}
"""The command that settles it; of proposals and what is filed by hand, the workflow says it."""


@click.command()
@click.option("--all", "everything", is_flag=True, help="Confirm every proposal, after a look.")
@by_option
@sign_option
@writing_where("everything")
def inbox_command(everything: bool, by: str | None, app: Request, voice: Voice) -> int:
    """List what waits for you: proposals, questions, notes to file, models to ask, session files.

    At a terminal you then accept or decline what agents and scripts proposed, one by one.

    \b
    Examples:
      preflights inbox
      preflights inbox --all
      preflights inbox --all --by "Ada Lovelace" --json
    """
    if by is not None and not everything:
        raise click.UsageError("--by names the person of --all: give both")
    code = 0
    if everything:
        code = confirmed(app, voice, list_proposed_sessions(app), by)
        if not voice.as_json:
            return code
    _say_inbox(app, voice)
    if is_terminal() and not (voice.as_json or voice.quiet) and app.actor.kind == "user":
        return one_by_one(app, voice, list_proposed_sessions(app))
    return code


def _say_inbox(app: Request, voice: Voice) -> None:
    found = inbox(app)
    rows = [msgspec.to_builtins(one) | {"command": settling(one)} for one in found.waiting]
    files = [msgspec.to_builtins(one) | {"command": _syncs(one)} for one in found.files]
    voice.json(msgspec.to_builtins(found) | {"waiting": rows, "files": files})
    if not voice.as_json and not _say_waiting(found.waiting, found.files):
        voice.say("Nothing waits.")
    if found.more:
        listed = "`preflights sessions --all --all-workflows` lists them"
        voice.warn(f"{found.more} older sessions may wait: {listed}")


def _say_waiting(found: Iterable[Waiting], files: Iterable[FiledSession] = ()) -> bool:
    """What waits, one a line; whether anything does."""
    rows = (
        (short_session(one.session_id), SAID[one.kind], _waiting_subject(one), settling(one))
        for one in found
    )
    filed = (
        (short_session(one.session_id), "file", _session_file_state(one), _syncs(one))
        for one in files
    )
    return streamed(("id", "waits", "intention", "settle it with"), chain(rows, filed))


def _waiting_subject(one: Waiting) -> str:
    origin = f" ({one.origin})" if one.origin else ""
    room = CELL_MAX
    if one.kind == "question":  # why it is open says more than its last words
        room = max(CELL_MAX - len(origin), INTENTION_MIN)
    return f"{shortened(one_line(one.intention), room)}{origin}"


def _session_file_state(file: FiledSession) -> str:
    return f"its file {'erases it' if file.is_erased else FILED[file.compared]}"


def _syncs(file: FiledSession) -> str:
    erases = f"preflights admin erase {short_session(file.session_id)}"
    return erases if file.is_erased else "preflights sync"


def settling(one: Waiting) -> str:
    """The command that settles what waits."""
    if one.file is not None:
        return "preflights sync"
    shown_by = shown_of(one.workflow)
    own = shown_by.accept if one.kind == "proposal" else shown_by.by_hand
    command = SETTLES.get(one.kind, own)
    return command.format(id=short_session(one.session_id))


def the_one(voice: Voice, found: Sequence[Waiting], what: str) -> str | None:
    """The session that a command without one means; None where none waits.

    Raises:
        UsageError: several wait; they are listed.
    """
    if len(found) < 2:
        return found[0].session_id if found else None
    if not voice.as_json:
        _say_waiting(found)
    named = ", ".join(short_session(one.session_id) for one in found)
    raise click.UsageError(f"{len(found)} sessions wait ({named}): name the one to {what}")


NAMED_MAX: Final = 3  # decisions that one contradicts


def one_by_one(app: Request, voice: Voice, proposed: Sequence[View]) -> int:
    """Show each proposal, and take the person's word on it; 130 where the person stops."""
    what = f"{_count_proposals(proposed)} of agents and scripts"
    if not proposed or not _person_confirms(f"\nLook at {what} now, one by one?"):
        return 0
    for number, one in enumerate(proposed, 1):
        voice.say(f"\n{number} of {len(proposed)}:")
        shown_by = shown_of(one.workflow)
        shown_by.describe(voice, one)
        if not shown_by.conversation:
            if _person_confirms("Approve it?"):
                _confirmed(app, one, None)
        elif dialogue.run_dialogue(app, voice, one) == EXIT_INTERRUPTED:
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
        id_ = short_session(one.session_id)
        click.echo(f"{id_} is not confirmed: {escaped_text(why)}: {settle}", err=True)
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
