"""The reasons, the scope and the files of a decision as one text, for the person's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
from msgspec import UNSET

from preflights_cli.german import Say, english
from preflights_cli.options import alternative
from preflights_es.features.clarification.display import as_clarification
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.system.files import Unreadable, read_file_beginning
from preflights_es.words.decisions import (
    HOLDS,
    Hold,
    RejectedAlternative,
    StatedReasons,
    alternative_text,
)
from preflights_es.words.path_patterns import pattern_problem
from preflights_es.words.workflow import View

TEXT_MAX: Final = 200_000  # bytes of an edited text
NAME: Final = "reasons.txt"
_LINES: Final = ("For:", "Because:", "Agents:")
_LISTS: Final = ("Instead of:", "Consequences:", "Files:")


class Unparsable(Exception):
    """A line of the text belongs nowhere."""


def session_reasons(session: View) -> StatedReasons:
    """The reasons of a session, as one text would say them."""
    found = as_clarification(session)
    return StatedReasons(
        one_line(found.because.text) if found.because else "",
        tuple(one_line(said.text) for said in found.consequences),
        tuple(
            RejectedAlternative(one_line(o.name), one_line(o.why_not)) for o in found.alternatives
        ),
        replaces=True,
        paths=found.paths,
        hold=found.hold,
    )


def format_reasons_text(reasons: StatedReasons, scope: str = "", say: Say = english) -> str:
    """The text that the person edits."""
    return "\n".join(
        (
            say("# Lines that begin with # are left out."),
            "",
            say("# What it is for, such as: the orders. Empty: the whole project."),
            f"{say(_LINES[0])} {scope}".rstrip(),
            "",
            f"{say(_LINES[1])} {reasons.because}".rstrip(),
            "",
            say(_LISTS[0]),
            say("# - NAME: why not"),
            *(f"- {alternative_text(one)}" for one in reasons.alternatives),
            "",
            say(_LISTS[1]),
            *(f"- {text}" for text in reasons.consequences),
            "",
            say("# The files that it holds for. None: all files."),
            say(_LISTS[2]),
            "# - src/db/**",
            *(f"- {path}" for path in reasons.paths or ()),
            "",
            say("# Before an agent edits one of them: tell (the agent is told of it),"),
            say("# ask (a person is asked), deny (the edit is refused)."),
            f"{say(_LINES[2])} {reasons.hold or 'tell'}",
            "",
        )
    )


def parse_reasons_text(
    text: str, before: StatedReasons, say: Say = english
) -> tuple[StatedReasons, str]:
    """What the person saved, and what the decision is for.

    Args:
        before: an alternative whose line did not change stays as it was.

    Raises:
        Unparsable: a line belongs nowhere.
    """
    known = {alternative_text(one): one for one in before.alternatives}
    parts: dict[str, list[str]] = {name: [] for name in (*_LINES, *_LISTS)}
    part = ""
    for number, full in enumerate(text.splitlines(), 1):
        bare = full.strip()
        if not bare or bare.startswith("#"):
            continue
        if head := next((name for name in parts if bare.startswith(say(name))), None):
            part, bare = head, bare.removeprefix(say(head)).strip()
            if bare:
                parts[part].append(bare)
        elif part in _LISTS and bare.startswith(("- ", "* ")):
            parts[part].append(bare[2:].strip())
        elif part and (parts[part] or part not in _LISTS):
            parts[part] = [*parts[part][:-1], " ".join((*parts[part][-1:], bare))]
        else:
            raise Unparsable(f"line {number} belongs to no part: {bare[:40]!r}")
    scope, because, said = (" ".join(parts[name]) for name in _LINES)
    others, consequences, paths = (tuple(parts[name]) for name in _LISTS)
    hold: Hold | None = next((one for one in HOLDS if one == (said or "tell")), None)
    if hold is None:
        raise Unparsable(f"found Agents: {said[:40]!r}, expected {', '.join(HOLDS)}")
    for path in paths:
        if why := pattern_problem(path):
            raise Unparsable(f"the path {path[:40]!r} {why}")
    reasons = StatedReasons(
        because,
        consequences,
        tuple(known.get(entry) or alternative(entry) for entry in others),
        replaces=True,
        paths=UNSET if paths == (before.paths or ()) else paths,
        hold=UNSET if hold == (before.hold or "tell") else hold,
    )
    return reasons, scope


def edit_in_editor(text: str) -> str | None:
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
                click.echo(
                    f"Not taken: {escaped_text(words)} ended with {done.returncode}.", err=True
                )
                return None
            return read_file_beginning(path, TEXT_MAX).decode("utf-8", "replace")
        except (OSError, ValueError, Unreadable) as error:
            click.echo(
                f"Not taken: {escaped_text(words)} cannot run: {escaped_text(str(error))}.",
                err=True,
            )
            return None
