"""Records that have no session here: read where they lie, and shown as the words of strangers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec.structs import replace

from preflights_es.kernel.errors import (
    RecordWithoutSession,
    Refused,
)
from preflights_es.kernel.reach import pattern_problem
from preflights_es.records import files
from preflights_es.records.record_header import RECORD_MAX, ForeignRecord, RecordHeader, Said
from preflights_es.records.record_list import RecordIndex, Records, Unread, records_in
from preflights_es.runtime.features import FEATURES
from preflights_es.system.files import Unreadable, regular
from preflights_es.use.process import Process
from preflights_es.use.results import Result


class ForeignRow(Result, frozen=True):
    """A record without a session, in a list."""

    path: str
    """Relative to the project's root."""
    number: int | None
    title: str
    status: str
    """`proposed`, `accepted`, `rejected`, `deprecated`, `superseded` or `unknown`."""
    superseded_by: str
    """As the record names it; empty where it names none."""
    date: str
    """ISO 8601; empty where the record names no day."""
    tool: str
    category: str
    """That its title states, by the forms in which an intention states a value; else empty."""
    value: str
    scope: str
    paths: tuple[str, ...]
    """Patterns of the files that it says it holds for; everywhere where there are none."""

    @property
    def is_held(self) -> bool:
        """Whether it is in force, as far as it says."""
        return self.status in ("accepted", "unknown")

    def is_called(self, named: int | str) -> bool:
        """Whether it bears the number, or its file the name, also without folder and ending."""
        path = PurePosixPath(self.path)
        return named in (self.number, self.path, path.name, path.stem)


class ForeignShown(ForeignRow, frozen=True, tag_field="format", tag="record/1"):
    """The whole of one; each text is on one line, and empty where the record does not say it."""

    context: str
    chosen: str
    because: str
    considered: tuple[str, ...]
    supersedes: tuple[str, ...]


class Foreign(Result, frozen=True):
    """The records without a session, by name, and what cannot be read."""

    rows: tuple[ForeignRow, ...]
    unread: tuple[Unread, ...] = ()


def foreign(process: Process, *, everything: bool = True) -> Foreign:
    """Records of the project's folder that have no session, neither in the log nor in a file.

    Args:
        everything: also those that are not in force.
    """
    found = _records(process)
    rows = (ForeignRow(**_row(process, one)) for _, one in _others_of_records(process, found))
    return Foreign(
        rows=tuple(row for row in rows if everything or row.is_held), unread=found.unread
    )


def called(process: Process, named: int | str) -> list[str]:
    """Paths of the project's records without a session that bear a number or a name."""
    return [row.path for row in foreign(process).rows if row.is_called(named)]


def with_words(process: Process) -> tuple[dict[int, ForeignRow], RecordIndex]:
    """The records without a session by their place in an index, and the index of their words.

    Raises:
        ArtifactOutside: the folder cannot be used.
    """
    found = _records(process)
    others = _others_of_records(process, found)
    return {place: ForeignRow(**_row(process, one)) for place, one in others}, found.index


def _records(process: Process) -> Records:
    """What lies in the folder of records."""
    folder = process.settings.decisions
    lies = files.checked_folder(process.settings.root, folder)
    return records_in(lies, _cache(process), _said)


def _said(title: str) -> Said:
    """What a title states, by the forms of intentions."""
    found: Said = FEATURES.port("said")(title)
    return found


def _others_of_records(process: Process, found: Records) -> Iterator[tuple[int, RecordHeader]]:
    ours = set(process.store.numbers(process.project).values())
    for place, header in enumerate(found.records):
        if not _is_ours(process, ours, header):
            yield place, header


def record(process: Process, named: RecordWithoutSession) -> ForeignShown:
    """The record that a person named by its number or file.

    Raises:
        Refused: several are called so, or it cannot be read.
    """
    if len(named.paths) > 1:
        paths = ", ".join(map(repr, named.paths))
        message = f"several records are called {named.typed!r}: {paths}"
        raise Refused(message, code="ambiguous_record")
    return _shown(process, named.paths[0])


def _cache(process: Process) -> Path | None:
    """Beside a log in a file; a command that only reads makes no folder for it."""
    log = process.settings.database
    return Path(f"{log}.records") if "://" not in log and Path(log).parent.is_dir() else None


def _is_ours(process: Process, ours: set[str], one: RecordHeader) -> bool:
    return bool(one.session) and (
        one.session in ours
        or process.store.head(one.session) is not None
        or one.session in process.file_log.files
    )


def _read(process: Process, name: str) -> ForeignRecord:
    from preflights_es.records.foreign_records import foreign_record

    folder = files.checked_folder(process.settings.root, process.settings.decisions)
    try:
        return foreign_record(name, regular(folder / name, RECORD_MAX, follows=False))
    except (OSError, Unreadable) as error:
        raise Refused(
            f"the record {name!r} cannot be read: {error}", code="unreadable_record"
        ) from error


def _shown(process: Process, path: str) -> ForeignShown:
    one = _read(process, PurePosixPath(path).name)
    one = replace(one, said=_said(one.title))
    return ForeignShown(
        **_row(process, one),
        context=one.context,
        chosen=one.chosen,
        because=one.because,
        considered=one.considered,
        supersedes=tuple(reference.text for reference in one.supersedes),
    )


def _is_path(root: Path, entry: str) -> bool:
    """Whether an entry of a list means files, and no team, service or sentence."""
    if pattern_problem(entry):
        return False
    means_path = ("/" in entry or "*" in entry) and " " not in entry
    return means_path or os.path.lexists(root / entry)


def _row(process: Process, one: RecordHeader) -> dict[str, Any]:
    folder, root = process.settings.decisions, process.settings.root
    return {
        "path": PurePosixPath(folder, one.path).as_posix(),
        "number": one.number,
        "title": one.title,
        "status": one.status,
        "superseded_by": one.superseded_by.text if one.superseded_by else "",
        "date": one.date,
        "tool": one.tool,
        "category": one.said.category,
        "value": one.said.value,
        "scope": one.said.scope,
        "paths": tuple(entry for entry in one.applies_to if _is_path(root, entry)),
    }
