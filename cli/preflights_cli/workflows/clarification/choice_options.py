"""`--supersedes` and `--keep`: what becomes of older decisions that differ."""

from __future__ import annotations

import click

from preflights_es.core.evolution import Choices

keep_option = click.option(
    "--keep",
    "keep",
    multiple=True,
    metavar="DECISION=REASON",
    help="Keep an older decision that differs in force; repeatable.",
)


def chosen(supersedes: tuple[str, ...], keep: tuple[str, ...]) -> Choices | None:
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
    return Choices(supersedes, tuple(keeps)) or None
