"""Long work, how much of it there is, and what it leaves for later."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from preflights_cli.common import Voice
from preflights_es.use.request import Request

if TYPE_CHECKING:
    from preflights_es.use.progress import Drawn, Update

BAR_FROM: Final = 200  # sessions: fewer are done before a bar is drawn


def bar(voice: Voice, label: str, *, least: int = BAR_FROM) -> Drawn:
    """A bar on stderr, where that is a terminal and there is time to look at it.

    Args:
        least: a length below which there is none.
    """

    @contextmanager
    def drawn(length: int) -> Iterator[Update]:
        hidden = length < least or not sys.stderr.isatty() or voice.quiet
        with click.progressbar(length=length, label=label, hidden=hidden, file=sys.stderr) as made:
            yield made.update

    return drawn


def count_in_words(number: int, what: str) -> str:
    """`1 session`, `2,000 sessions`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def tell_scrubbed(app: Request, voice: Voice, *, scrubbed: bool) -> None:
    """Warn where erased bytes are not overwritten yet."""
    if not scrubbed:
        voice.warn(app.process.store.database.keeps)
