"""Compares the tables beside the chains with the log: numbers, open calls, stray rows, guards."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, Final

from preflights_es.history.verification import Broken, Unwritten
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import OutsideRequest
from preflights_es.kernel.ports import Head, Numbered
from preflights_es.projections.projection import Read
from preflights_es.runtime.lost_calls import ends_too_late, find_lost_calls
from preflights_es.runtime.performer import CLAIM_MAX_MS
from preflights_es.runtime.runner import Runner
from preflights_es.store.side_tables import SqlAuditing
from preflights_es.words.workflow import numbered

CURES: Final = {
    "": "delete them, nothing needs them",
    "outbox": "events may be gone, compare with a copy or a checkpoint",
    "claims": "delete it, nothing needs it",
}
"""What to do, by the table that has a stray row."""


class SideTableCheck:
    """Looks at sessions that were folded, then at what belongs to none of them."""

    def __init__(
        self,
        runner: Runner,
        auditing: SqlAuditing,
        read: Callable[[Head], Read],
        versions: Mapping[str, int],
    ) -> None:
        """Args:
        read: reads a session and folds it.
        versions: of the projections that this program keeps, by name.
        """
        self._runner = runner
        self._auditing = auditing
        self._read = read
        self._versions = versions
        self.unwritten: list[Unwritten] = []
        """Documents of the sessions that were looked at, which this log does not owe."""
        self._borne = 0
        """Numbers of which the session that holds them says that it bears, or bore, them."""

    def look(self, head: Head, read: Read) -> Iterator[Broken]:
        """What is wrong beside one session."""
        session = read.sessions[-1]
        borne = _borne(read)
        holders = {number: self._auditing.holder(head.project, number) for number in borne}
        self._borne += sum(holder == head.session_id for holder in holders.values())
        number = numbered(read.workflow, session.state)
        if number is not None and holders[number] is None:
            found = f"its record bears the number {number.number}"
            found += ", which the log does not know as given"
            yield Broken(head.session_id, 0, found, "number_not_given")
        yield from self._calls(head, session.calls)

    def _calls(self, head: Head, calls: Sequence[OutsideRequest]) -> Iterator[Broken]:
        """Open calls of a session that have no row, or a wrong one."""
        if calls:
            yield from self._wrong(head, {call.call for call in calls})
        found = find_lost_calls(self._runner.store, head.session_id, calls, self._auditing)
        if found is None:
            return
        waits = [f"it waits for {call!r}" for call in found.completions]
        owes = [f"it owes the document {due.path!r}" for due in found.documents]
        for one in (*waits, *owes):
            said = f"{one}, which no row of 'claims' has"
            yield Broken(head.session_id, 0, said, "call_without_row")
        self.unwritten += [Unwritten(head.session_id, due.path) for due in found.imported]

    def _wrong(self, head: Head, calls: Container[str]) -> Iterator[Broken]:
        """Rows of open calls that say what no command writes."""
        for row in self._auditing.claims(head.session_id):
            if row.call not in calls:
                continue  # `rest` names it
            said = f"the row of 'claims' for {row.call!r} says"
            if row.project != head.project:
                found = f"{said} the project {row.project!r}, expected {head.project!r}"
                yield Broken(head.session_id, 0, found, "call_of_other_project")
            if ends_too_late(row, self._runner.now()):
                found = f"{said} that a process has it until {row.until!r}"
                most = f"expected at most {CLAIM_MAX_MS // 1_000} seconds from now"
                yield Broken(head.session_id, 0, f"{found}, {most}", "claim_too_long")

    def rest(self, project: str | None) -> Iterator[Broken]:
        """What is wrong with the log, whatever its sessions are, once they were looked at.

        Args:
            project: None for all of them.
        """
        for found in self._auditing.guards():
            yield Broken("", 0, found)
        for session_id, version in self._auditing.untyped(project):
            found = "its payload is stored as another kind than text: restore it from a copy"
            yield Broken(session_id, version, found)
        for session_id, table, found in self._auditing.strays(project):
            said = f"{found}: {CURES[table]}" if table in CURES else found
            yield Broken(session_id, 0, said, f"stray_{table}" if table else "stray")
        yield from self._claims(project)
        for name, version in self._auditing.newer(self._versions):
            ours = self._versions.get(name)
            code = "unknown_projection" if ours is None else "newer_projection_row"
            yield Broken("", 0, _newer(name, version, ours), code)
        yield from self._numbers(project)

    def _claims(self, project: str | None) -> Iterator[Broken]:
        store = self._runner.store
        for session_id in self._auditing.claimed():
            head = store.head(session_id)
            if head is None or project not in (None, head.project):
                continue
            try:
                calls = self._runner.load(session_id).session.calls
            except PreflightsError:
                continue  # it is named already, or is of a newer program
            for call in sorted(store.calls_of(session_id) - {call.call for call in calls}):
                found = f"a row of 'claims' has {call!r}, which the session does not have open"
                yield Broken(session_id, 0, f"{found}: delete it, nothing needs it")

    def gone(self, project: str | None) -> Iterator[Broken]:
        """Sessions of a project (of all: None) that were given numbers, and are not there."""
        for of, number, session_id in self._auditing.gone():
            if project in (None, of):
                found = f"it was given the number {number} of {of}, and is gone: it was removed"
                yield Broken(session_id, 0, found)

    def _numbers(self, project: str | None) -> Iterator[Broken]:
        """Numbers that a session was given and never bore; asked for one by one only if any is."""
        if self._auditing.count_numbers(project) == self._borne:
            return
        for session_id, of, number in self._auditing.numbers(project):
            head = self._runner.store.head(session_id)
            try:
                read = self._read(head) if head is not None else None
            except PreflightsError:
                continue  # it is named already, or is of a newer program
            if read and read.sessions and (number not in _borne(read) or read.head.project != of):
                found = f"the number {number.number} of {of} is given to it"
                found += ", and its record never had it"
                yield Broken(session_id, 0, f"{found}: delete the row of 'numbers'")


def _borne(read: Read) -> set[Numbered]:
    """The numbers that a session's record ever bore."""
    numbers = (numbered(read.workflow, session.state) for session in read.sessions)
    return {number for number in numbers if number is not None}


def _newer(name: str, version: Any, ours: int | None) -> str:
    found = f"the projection {name!r} is of version {version!r}"
    if ours is None:
        known, cure = "this program does not know it", "delete its row of 'projections'"
    else:
        known = f"this program knows {ours}"
        cure = f"set it to {ours} in 'projections'"
    return f"{found}, {known}: upgrade preflights; where no newer version was ever used, {cure}"
