"""`--supersedes`, `--keep`, `--exception`, `--again`: what becomes of decisions in force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from preflights_es.kernel.decisions import Choices

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--keep",
        "keep",
        multiple=True,
        metavar="DECISION=REASON",
        help="Keep an older decision that differs in force; repeatable.",
    ),
    click.option(
        "--exception",
        "exceptions",
        multiple=True,
        metavar="DECISION",
        help="It is an exception to a decision for the whole project; repeatable.",
    ),
    click.option("--again", is_flag=True, help="Record it although a decision in force says so."),
)


def choice_options(command: Command) -> Command:
    """Options that say what becomes of decisions in force."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def chosen(
    supersedes: tuple[str, ...],
    keep: tuple[str, ...],
    exceptions: tuple[str, ...] = (),
    *,
    again: bool = False,
) -> Choices | None:
    """What the options say; None where none is given.

    Raises:
        UsageError: one has no reason, or names no decision.
    """
    keeps = []
    for one in keep:
        typed, sign, reason = one.partition("=")
        if not (sign and typed.strip()):
            message = f"--keep: found {one!r}, expected DECISION=REASON"
            raise click.UsageError(message)
        keeps.append((typed.strip(), reason))
    return Choices(supersedes, tuple(keeps), exceptions, again) or None
