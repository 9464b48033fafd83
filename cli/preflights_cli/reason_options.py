"""`--because`, `--consequence` and `--alternative`: why something is decided, as people type it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import click

from preflights_es.core.rationale import Alternative, Reasons

P = ParamSpec("P")
R = TypeVar("R")


def reasoned(command: Callable[P, R]) -> Callable[P, R]:
    """The three options; above `common` or `recording`."""
    for option in (
        click.option(
            "--alternative",
            "alternatives",
            multiple=True,
            metavar='"NAME: WHY NOT"',
            help="What was not chosen, and why; repeatable.",
        ),
        click.option(
            "--consequence",
            "consequences",
            multiple=True,
            metavar="TEXT",
            help="What follows from the decision; repeatable.",
        ),
        click.option("--because", default="", metavar="TEXT", help="Why it is decided so."),
    ):
        command = option(command)
    return command


def reasons_of(
    because: str, consequences: tuple[str, ...], alternatives: tuple[str, ...]
) -> Reasons | None:
    """What was said of why; None where nothing was."""
    found = Reasons(because, consequences, tuple(map(alternative, alternatives)))
    return None if found == Reasons() else found


def alternative(text: str) -> Alternative:
    """`NAME: why not`, or the name alone."""
    name, _, why_not = text.partition(": ")
    return Alternative(name.strip().removesuffix(":"), why_not.strip())
