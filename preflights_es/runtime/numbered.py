"""Whether the numbers of records are those that sessions bear: no chain covers what was given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from preflights_es.core.errors import PreflightsError
from preflights_es.core.ports import Head, Numbering, Stored
from preflights_es.runtime.integrity import Broken
from preflights_es.runtime.runner import Runner


class Numbered:
    """Looks at sessions that verify, and at last at the numbers of those that are not there."""

    def __init__(self, runner: Runner, numbering: Numbering) -> None:
        self._runner = runner
        self._numbering = numbering

    def look(self, head: Head, events: Sequence[Stored]) -> Broken | None:
        """What is wrong with the number of a session; None where nothing is."""
        number = self._number(head, events)
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

    def _number(self, head: Head, events: Sequence[Stored]) -> int | None:
        try:
            workflow = self._runner.workflow(head.workflow)
            if workflow.record is None:
                return None
            session = self._runner.folded(workflow, events)
        except PreflightsError:  # of a newer program, or one that replay has to look at
            return None
        number: int | None = getattr(session.state, "number", None)
        return number
