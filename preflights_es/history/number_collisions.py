"""Numbers of records that stand twice, since sessions of another log came in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from preflights_es.history.transfer import Taken
from preflights_es.kernel.errors import PreflightsError
from preflights_es.runtime.runner import Runner

FOLDED_MAX: Final = 1_000  # sessions that were here before and are looked at


class Collision(msgspec.Struct, frozen=True):
    """Records of one project that bear one number."""

    project: str
    number: int
    session_ids: tuple[str, ...]
    """The one that was here first, then as they came."""


class Collisions:
    """Looks at the sessions of a file as they pass; what it keeps of each is its id and number."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._came: dict[str, dict[int, list[str]]] = {}
        """By project and number, as they came."""
        self._new: set[str] = set()
        """Those whose number is what the file says."""
        self._folded = 0

    def look(self, taken: Taken) -> None:
        """Look at a session of the file, also one that an earlier import took silently."""
        if taken.number is None or taken.erased:
            return
        project, session_id = taken.head.project, taken.head.session_id
        self._came.setdefault(project, {}).setdefault(taken.number, []).append(session_id)
        if taken.new:
            self._new.add(session_id)

    def found(self) -> Iterator[Collision]:
        """Numbers that stand twice now, by project, the lowest first."""
        for project, came in sorted(self._came.items()):
            held = self._runner.store.numbers(project)
            for number, ids in sorted(came.items()):
                holder = held.get(number, ids[0])
                all_ = ids if holder in ids else [holder, *ids]
                bearing = [one for one in all_ if self._bears(one, number)] if all_[1:] else []
                if len(bearing) > 1:
                    yield Collision(project, number, tuple(bearing))

    def _bears(self, session_id: str, number: int) -> bool:
        """Whether it has not got another one meanwhile: a number that was held stays taken."""
        if session_id in self._new:
            return True
        self._folded += 1
        if self._folded > FOLDED_MAX:
            return False
        try:
            handle = self._runner.load(session_id)
        except PreflightsError:
            return False
        return handle.workflow.number(handle.session.state) == number
