"""Numbers of records that stand twice, since sessions of another log came in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from preflights_es.core.errors import PreflightsError
from preflights_es.runtime.runner import Runner
from preflights_es.runtime.transfer import Taken

FOLDED_MAX: Final = 1_000  # sessions that were here before and are looked at


class Collision(msgspec.Struct, frozen=True):
    """Records of one project that bear one number."""

    project: str
    number: int
    session_ids: tuple[str, ...]
    """The one that was here first, then as they came."""


class Collisions:
    """Looks at sessions as they are taken over; what it keeps of each is its id and number."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._came: dict[str, dict[int, str]] = {}
        """By project and number: the first that came with it."""
        self._more: dict[tuple[str, int], list[str]] = {}
        """Those that came with the same number behind it."""

    def look(self, taken: Taken) -> None:
        """A session of which something was taken; another one is what it was."""
        if taken.number is None or not taken.new or taken.erased:
            return
        project, session_id = taken.head.project, taken.head.session_id
        first = self._came.setdefault(project, {}).setdefault(taken.number, session_id)
        if first != session_id:
            self._more.setdefault((project, taken.number), []).append(session_id)

    def found(self) -> Iterator[Collision]:
        """Numbers that stand twice now, by project, the lowest first."""
        folded = 0
        for project, came in sorted(self._came.items()):
            held = self._runner.store.numbers(project)
            for number, first in sorted(came.items()):
                ids = [first, *self._more.get((project, number), ())]
                holder = held.get(number, first)
                if holder not in ids and folded < FOLDED_MAX:
                    folded += 1
                    ids = [holder, *ids] if self._bears(holder, number) else ids
                if len(ids) > 1:
                    yield Collision(project, number, tuple(ids))

    def _bears(self, session_id: str, number: int) -> bool:
        """Whether it has not got another one meanwhile: a number that was held stays taken."""
        try:
            handle = self._runner.load(session_id)
        except PreflightsError:
            return False
        return getattr(handle.workflow.view(handle.session.state), "number", None) == number
