"""Whether the numbers of records are those that sessions bear: no chain covers what was given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from preflights_es.core.ports import Head, Numbering
from preflights_es.core.session import Session
from preflights_es.runtime.integrity import Broken


class Numbered:
    """Looks at sessions that were folded, and at the numbers of those that are not there."""

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering

    def look(self, head: Head, session: Session[Any]) -> Broken | None:
        """What is wrong with the number of a session; None where nothing is."""
        number: int | None = getattr(session.state, "number", None)
        if number is None or self._numbering.is_given(head.project, number):
            return None
        found = f"its record bears the number {number}, which the log does not know as given"
        return Broken(head.session_id, 0, found)

    def gone(self, project: str | None) -> Iterator[Broken]:
        """Sessions of a project (of all: None) that were given numbers, and are not there."""
        for of, number, session_id in self._numbering.gone():
            if project in (None, of):
                found = f"it was given the number {number} of {of}, and is gone: it was removed"
                yield Broken(session_id, 0, found)
