"""Long work, how much of it there is, and what it leaves for later."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from preflights_cli.common import Voice
from preflights_es.services.request import Request

BAR_FROM: Final = 200  # sessions: fewer are done before a bar is drawn


def bar(length: int, voice: Voice, label: str, *, least: int = BAR_FROM) -> Any:
    """A bar on stderr, where that is a terminal and there is time to look at it.

    Args:
        least: a length below which there is none.
    """
    return _drawn(voice, label, hidden=length < least, length=length)


def bar_over(items: Sequence[Any], voice: Voice, label: str) -> Any:
    """The same over items, one by one."""
    return _drawn(voice, label, hidden=len(items) < BAR_FROM, iterable=items)


def _drawn(voice: Voice, label: str, *, hidden: bool, **what: Any) -> Any:
    hidden = hidden or not sys.stderr.isatty() or voice.quiet
    return click.progressbar(label=label, file=sys.stderr, hidden=hidden, **what)


def counted(number: int, what: str) -> str:
    """`1 session`, `2,000 sessions`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def tell_scrubbed(app: Request, voice: Voice, *, scrubbed: bool) -> None:
    """Warn where erased bytes are not overwritten yet."""
    if not scrubbed:
        voice.warn(app.process.store.database.keeps)
