"""`admin projections follow`."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import click

from preflights_cli.common import Voice, recording
from preflights_cli.progress import counted
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ids import iso
from preflights_es.runtime.projector import Follower
from preflights_es.system import clock_ids
from preflights_es.use.request import Request
from preflights_es.use.upkeep import Followed

EVERY_DEFAULT: Final = 1.0  # seconds between two looks, each of which is two small queries
EVERY_MIN: Final = 0.1
EVERY_MAX: Final = 86_400.0


class _Seconds(click.FloatRange):
    """A time that is a number."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is no time: expected seconds", param, ctx)
        return found


@click.command("follow", short_help="Fold new events until stopped.")
@click.option(
    "--every",
    type=_Seconds(EVERY_MIN, EVERY_MAX),
    default=EVERY_DEFAULT,
    metavar="SECONDS",
    help="Time between two looks at the log.",
)
@recording
def follow_command(every: float, app: Request, voice: Voice) -> int:
    """Keep projections up to date, so that their readers do not wait for a fold.

    It looks at the log every second, or as often as you say. Ctrl-C or SIGTERM ends it between
    two transactions. Several may run at the same time.

    \b
    Examples:
      preflights admin projections follow
      preflights admin projections follow --every 10 --json
    """
    said = _Said(voice, every)
    follower = Follower(every, said.progress, said.trouble)
    with _stopping(follower.stop) as signals:
        app.process.follow(follower)
    if signal.SIGINT in signals:
        raise KeyboardInterrupt  # which ends the line
    said.end()
    return 0


class _Said:
    """What a follower says: a line each time, at a terminal always the same one."""

    def __init__(self, voice: Voice, every: float) -> None:
        self._voice = voice
        self._every = every
        self._sessions = 0
        self._width = 0
        self._trouble = ""

    def progress(self, sessions: int) -> None:
        at = iso(clock_ids.now())
        self._voice.json(Followed(at=at, sessions=sessions))
        self._trouble = ""
        how = f"looking every {self._every:g} s"
        when = f"{at[:10]} {at[11:19]} UTC"
        if self._is_drawn:
            self._sessions += sessions
            line = f"{when}  {counted(self._sessions, 'session')} folded, {how}. Ctrl-C ends it."
            click.echo(f"\r{line:<{self._width}}", nl=False)
            self._width = len(line)
        else:
            self._voice.say(f"{when}  {counted(sessions, 'session')} folded, {how}.")
        sys.stdout.flush()

    def trouble(self, error: PreflightsError) -> None:
        if str(error) != self._trouble:  # it is tried again and again
            self._trouble = str(error)
            self.end()
            self._voice.warn(f"{error}; it is tried again")

    def end(self) -> None:
        """Leave the line where the cursor stands."""
        if self._width:
            self._width = 0
            click.echo()

    @property
    def _is_drawn(self) -> bool:
        return sys.stdout.isatty() and not self._voice.as_json


@contextmanager
def _stopping(stop: Callable[[], None]) -> Iterator[list[int]]:
    """Within it, Ctrl-C and SIGTERM ask to stop; those that came. Who asks twice need not wait."""
    came: list[int] = []

    def asked(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        signal.signal(number, signal.SIG_DFL)
        stop()

    # A shell that starts it in the background may have had Ctrl-C ignored.
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, asked) for number in numbers}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
