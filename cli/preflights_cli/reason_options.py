"""`--because`, `--consequence` and `--alternative`: why something is decided, as people type it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from preflights_es.kernel.rationale import Alternative, Reasons

R = TypeVar("R")


def reasoned(command: Callable[..., R]) -> Callable[..., R]:
    """The three options, given to the command as one `why`; above `common` or `recording`."""

    @wraps(command)
    def told(
        *args: Any,
        because: str,
        consequences: tuple[str, ...],
        alternatives: tuple[str, ...],
        **more: Any,
    ) -> R:
        said = Reasons(because, consequences, tuple(map(alternative, alternatives)))
        return command(*args, why=None if said == Reasons() else said, **more)

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
        told = option(told)
    return told


def alternative(text: str) -> Alternative:
    """`NAME: why not`, or the name alone."""
    name, _, why_not = text.partition(": ")
    return Alternative(name.strip().removesuffix(":"), why_not.strip())
