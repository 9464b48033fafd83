"""The reasons of a proposal at a terminal: one question, and a text for the person's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from preflights_cli.common import Voice
from preflights_cli.dialogue import HELP, line
from preflights_cli.options import alternative
from preflights_cli.rendering import say_refusals
from preflights_cli.spoken import spoken
from preflights_es.features.clarification.commands.display import own
from preflights_es.kernel.decisions import Alternative, Reasons, alternative_text
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import one_line, shown
from preflights_es.system.files import Unreadable, beginning
from preflights_es.use import sessions
from preflights_es.use.request import Request
from preflights_es.use.results import Session

TEXT_MAX: Final = 200_000  # bytes of an edited text
NAME: Final = "reasons.txt"
_LISTS: Final = ("Consequences:", "Alternatives:")


class Unparsable(Exception):
    """A line of the text belongs nowhere."""


def asked(app: Request, session: Session) -> Session:
    """The session after the person was asked why; Enter skips it."""
    if own(session).patch is None or own(session).because is not None:
        return session
    drop_typed()
    say = spoken(session)
    while (text := line(say("Why? (Enter to skip) "))).strip().casefold() in HELP:
        click.echo(say("Give the reason in your own words; Enter goes on without one."), err=True)
    return told(app, session, Reasons(text)) if text.strip() else session


def drop_typed() -> None:
    """What was typed before the question was seen is no reason."""
    try:
        import termios
    except ImportError:  # Windows
        return
    with suppress(termios.error):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def told(app: Request, session: Session, reasons: Reasons) -> Session:
    """The session with reasons; as it was where they cannot be recorded."""
    try:
        after = sessions.answer(app, session.session_id, (), reasons=reasons)
    except Refused as refused:
        click.echo(f"Not taken: {shown(str(refused))}", err=True)
        return sessions.show(app, session.session_id)
    say_refusals(after)
    return after


def edited(app: Request, voice: Voice, session: Session, draft: str) -> tuple[Session, str]:
    """The session after the person edited its reasons, and the text where it was not taken."""
    before = written(said_of(session))
    text = saved(draft or before)
    if text is None or text == before:
        voice.say(spoken(session)("Nothing was changed."))
        return session, draft
    try:
        reasons = parsed(text, said_of(session))
    except Unparsable as error:
        click.echo(f"Not taken: {shown(str(error))}; press e to go on with your text.", err=True)
        return session, text
    after = told(app, session, reasons)
    return after, text if after.not_done or after.version == session.version else ""


# 1. The text ---------------------------------------------------------------------------------


def said_of(session: Session) -> Reasons:
    """The reasons of a session, as one text would say them."""
    found = own(session)
    return Reasons(
        one_line(found.because.text) if found.because else "",
        tuple(one_line(said.text) for said in found.consequences),
        tuple(Alternative(one_line(o.name), one_line(o.why_not)) for o in found.alternatives),
        replaces=True,
    )


def written(reasons: Reasons) -> str:
    """The text that the person edits."""
    return "\n".join(
        (
            "# Lines that begin with # are left out.",
            "",
            f"Because: {reasons.because}".rstrip(),
            "",
            _LISTS[0],
            *(f"- {text}" for text in reasons.consequences),
            "",
            _LISTS[1],
            "# - NAME: why not",
            *(f"- {alternative_text(one)}" for one in reasons.alternatives),
            "",
        )
    )


def parsed(text: str, before: Reasons) -> Reasons:
    """What the person saved.

    Args:
        before: an alternative whose line did not change stays as it was.

    Raises:
        Unparsable: a line belongs nowhere.
    """
    known = {alternative_text(one): one for one in before.alternatives}
    parts: dict[str, list[str]] = {"Because:": [], **{name: [] for name in _LISTS}}
    part = ""
    for number, full in enumerate(text.splitlines(), 1):
        bare = full.strip()
        if not bare or bare.startswith("#"):
            continue
        if head := next((name for name in parts if bare.startswith(name)), None):
            part, bare = head, bare.removeprefix(head).strip()
            if bare:
                parts[part].append(bare)
        elif part in _LISTS and bare.startswith(("- ", "* ")):
            parts[part].append(bare[2:].strip())
        elif part and (parts[part] or part not in _LISTS):
            parts[part] = [*parts[part][:-1], " ".join((*parts[part][-1:], bare))]
        else:
            message = f"line {number} belongs to no part: {bare[:40]!r}"
            raise Unparsable(message)
    return Reasons(
        " ".join(parts["Because:"]),
        tuple(parts[_LISTS[0]]),
        tuple(known.get(entry) or alternative(entry) for entry in parts[_LISTS[1]]),
        replaces=True,
    )


# 2. The editor -------------------------------------------------------------------------------


def saved(text: str) -> str | None:
    """What the person's editor saved; None where it could not run, or failed.

    The editor runs without a shell, on a file that only this user can read.
    """
    words = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"  # noqa: TID251  the person's own editor, no setting of ours
    with TemporaryDirectory(prefix="preflights-") as folder:
        path = Path(folder) / NAME
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        try:
            done = subprocess.run([*shlex.split(words), str(path)], check=False)  # noqa: S603  no shell
            if done.returncode:
                click.echo(f"Not taken: {shown(words)} ended with {done.returncode}.", err=True)
                return None
            return beginning(path, TEXT_MAX).decode("utf-8", "replace")
        except (OSError, ValueError, Unreadable) as error:
            click.echo(f"Not taken: {shown(words)} cannot run: {shown(str(error))}.", err=True)
            return None
