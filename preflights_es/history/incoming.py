"""Sessions as they come in: their numbers, and what this log has of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from preflights_es.history.imports import Outline
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import ArtifactOutside, Refused
from preflights_es.kernel.ports import Archive, Numbered, Stored
from preflights_es.kernel.session import Session
from preflights_es.records.record_names import FAR, NUMBER_MAX, highest
from preflights_es.words.decisions import Relations

NOTHING, WHOLE, TAIL = 0, 1, 2  # of a session, what is lacking here

Filed = Mapping[str, Callable[[], Collection[int]]]
"""By project: what looks up the numbers that its files bear."""


class VerifiedSessions:
    """What is known of the sessions of a file once they were verified, in their order."""

    def __init__(self) -> None:
        self.numbers: list[Numbered | None] = []
        self.calls: dict[int, tuple[tuple[str, bool], ...]] = {}
        """Of those that have any, by their place: call, and whether it is a completion."""
        self.erased: dict[int, str] = {}
        """Ids of those that are erased, by their place."""
        self._related: dict[str, tuple[int, Relations]] = {}
        """Of those that are related to others, by their ids: place, and what they say."""
        self._projects: dict[str, _Numbers] = {}
        self.lacking = bytearray()
        """Of each `NOTHING`, `WHOLE` or `TAIL`."""

    def add(
        self,
        first: Stored,
        number: Numbered | None,
        session: Session[Any],
        relations: Relations | None,
    ) -> None:
        """The next one, folded."""
        place = len(self.numbers)
        self.numbers.append(number)
        project = self._projects.setdefault(first.project, _Numbers())
        if number is not None:
            project.borne[number.number] = first.session_id
        if relations is not None:
            self._related[first.session_id] = (place, relations)
        if session.calls:
            self.calls[place] = tuple(
                (call.call, isinstance(call, CompletionRequested)) for call in session.calls
            )
        if session.closed == "erased":
            self.erased[place] = first.session_id

    def erasures_left_out(self) -> list[str]:
        """Ids of the sessions that the file erases and that are held here: they are passed over."""
        places = [place for place in self.erased if self.lacking[place] == TAIL]
        for place in places:
            self.lacking[place] = NOTHING
        return [self.erased[place] for place in places]

    def outlines(self) -> dict[str, Outline]:
        """Those that bring something and are related to others, once the log was asked."""
        return {
            session_id: Outline(relations, self.lacking[place] == WHOLE)
            for session_id, (place, relations) in self._related.items()
            if self.lacking[place] != NOTHING
        }

    def refuse_far_numbers(self, archive: Archive, filed: Filed) -> None:
        """A number that is far beyond the next one would end those of the project.

        Raises:
            Refused: there is one.
        """
        for project, numbers in self._projects.items():
            allowed = len(numbers.borne) + FAR
            if max(numbers.borne, default=0) <= allowed:
                continue
            held = {one.number for one in archive.numbers(project)}
            new = max(numbers.borne.keys() - held, default=0)
            here = highest(held, _read_filed_numbers(filed, project))
            if new > (most := min(here + allowed, NUMBER_MAX)):
                why = (
                    f"the record number {new:,} of {project!r} is far beyond the highest that is "
                    f"known here, {here:,}: expected at most {most:,}. Import it where the records "
                    "before it lie"
                )
                raise Refused(why, session=numbers.borne[new], why=why)


def _read_filed_numbers(filed: Filed, project: str) -> Collection[int]:
    try:
        return filed[project]() if project in filed else ()
    except ArtifactOutside:
        return ()  # no folder of this project


class _Numbers:
    """What a project's sessions in a file bear."""

    def __init__(self) -> None:
        self.borne: dict[int, str] = {}
        """By number: a session that bears it."""
