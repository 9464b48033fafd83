"""Records that have no session here: read where they lie, and shown as the words of strangers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from preflights_es.kernel.errors import ArtifactOutside, RecordWithoutSession, Refused
from preflights_es.kernel.text import escaped_text, late_pattern
from preflights_es.records import files
from preflights_es.records.record_folder import folder_of, said_folders
from preflights_es.records.record_list import (
    RecordNames,
    Records,
    UnreadRecord,
    form_of,
    list_record_paths,
    template_of,
)
from preflights_es.records.record_names import (
    HELD,
    RECORD_MAX,
    ForeignRecord,
    NumberClash,
    RecordHeader,
    is_year,
    number_clashes,
    number_of,
    numbered_name,
    of_own_folder,
)
from preflights_es.runtime.features import FEATURES
from preflights_es.system.files import Unreadable, regular
from preflights_es.use.process import Process
from preflights_es.use.results import Result
from preflights_es.words.decisions import Hold, RecordForm
from preflights_es.words.path_patterns import pattern_problem

NAMED_MAX: Final = 5  # records that a line names
LOOKED_AT_MAX: Final = 50  # records that are read for the form of a new one, the last by name


class ForeignRow(Result, frozen=True):
    """A record without a session, in a list."""

    path: str
    """Relative to the project's root."""
    number: int | None
    title: str
    status: str
    """`proposed`, `accepted`, `rejected`, `deprecated`, `partly_superseded` or `superseded`; `none`
    where none is written, `unknown` where one is and it is not understood."""
    status_text: str
    """The status as the record writes it."""
    superseded_by: str
    """As the record names it; empty where it names none."""
    is_one_sided: bool
    """Whether only the newer record says that it replaced this one."""
    date: str
    """ISO 8601; empty where the record names no day."""
    tool: str
    category: str
    """That its title states, by the forms in which an intention states a value; else empty."""
    value: str
    scope: str
    paths: tuple[str, ...]
    """Patterns of the files that it says it holds for; everywhere where there are none."""
    chosen: str
    """What its text says was chosen; in a list, its beginning."""
    could_mean: tuple[str, ...]
    """Paths of the records that it could mean by a number; empty where it is clear."""
    loop: tuple[str, ...]
    """Paths of the records that replace each other in a loop, this one among them; else empty."""

    session_id: ClassVar = ""
    """It has none, as it has no session file."""
    file: ClassVar = None
    hold: ClassVar[Hold] = "tell"

    @property
    def name(self) -> str:
        """What people call it: its path, which no other record has."""
        return self.path

    @property
    def uid(self) -> str:
        """The same, in place of a decision's uid."""
        return self.path

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """What its title states: the topic stands for the field."""
        return ((self.category, self.value),) if self.value else ()

    @property
    def is_held(self) -> bool:
        """Whether it is in force, as far as it says; one without a status is."""
        return self.status in HELD

    @property
    def doubt(self) -> str:
        """Why it is not in force, or which record it means is not clear, and what to do; else
        empty.
        """
        if self.status == "unknown":
            return (
                f"the status {escaped_text(self.status_text)!r} is not understood, so this record "
                "is not in force: write accepted, proposed, rejected, deprecated or superseded"
            )
        if self.loop:
            others = ", ".join(
                escaped_text(one) for one in self.loop[:NAMED_MAX] if one != self.path
            )
            return (
                f"this record and {others} replace each other in a loop, so none of them is in "
                "force: write accepted as the status of the one that holds"
            )
        if self.is_one_sided:
            return (
                f"only {escaped_text(self.superseded_by)} says that it replaces this record, which "
                "is not in force any more: write superseded as its status, too"
            )
        if self.could_mean:
            paths = ", ".join(map(escaped_text, self.could_mean[:NAMED_MAX]))
            return f"the number by which it names another record means several, {paths}: name one"
        return ""

    @property
    def label(self) -> str:
        """How a list names it: `ADR-0007`, `ADR-2026-007`, or its path."""
        name = numbered_name(self.path.rpartition("/")[2])
        if name is not None and name.number == self.number:
            return name.label
        return self.path if self.number is None else f"ADR-{self.number:04}"

    def is_called(self, named: int | str) -> bool:
        """Whether it bears the number, or its file the name, also without folder and ending."""
        path = PurePosixPath(self.path)
        if named in (self.number, self.path, path.name, path.stem):
            return True
        return isinstance(named, str) and named.casefold() == self.label.casefold()


class ForeignShown(ForeignRow, frozen=True, tag_field="format", tag="record/1"):
    """The whole of one; each text is on one line, and empty where the record does not say it."""

    context: str
    because: str
    considered: tuple[str, ...]
    supersedes: tuple[str, ...]


class Foreign(Result, frozen=True):
    """The records without a session, by name, and what cannot be read."""

    rows: tuple[ForeignRow, ...]
    unread: tuple[UnreadRecord, ...] = ()
    doubtful: tuple[ForeignRow, ...] = ()
    """Those of which `doubt` says what is not clear, whatever was asked for."""


def read_foreign_records(process: Process, *, everything: bool = True) -> Foreign:
    """Records of the project's folders that have no session, neither in the log nor in a file.

    Args:
        everything: also those that are not in force.
    """
    found = process.records()
    rows = tuple(foreign_rows(process, found).values())
    return Foreign(
        rows=tuple(row for row in rows if everything or row.is_held),
        unread=found.unread,
        doubtful=tuple(row for row in rows if row.doubt and row.path not in row.loop[1:]),
    )


def number_clashes_of(process: Process) -> tuple[NumberClash, ...]:
    """Numbers that several records of a folder bear; none where the folder cannot be used."""
    try:
        places = process.record_places
        paths = list_record_paths(process.settings.root, places.folders, places.new)
        return tuple(number_clashes(paths))
    except ArtifactOutside:
        return ()


def find_foreign_paths(process: Process, named: int | str) -> list[str]:
    """Paths of the project's records without a session that bear a number or a name."""
    return [row.path for row in read_foreign_records(process).rows if row.is_called(named)]


def with_words(process: Process) -> tuple[dict[int, ForeignRow], Records]:
    """The records without a session by their place, and all with the index of their words.

    Raises:
        ArtifactOutside: a folder that is named cannot be used.
    """
    found = process.records()
    return foreign_rows(process, found), found


def record_form(process: Process, folder: str) -> RecordForm:
    """How the records of a folder look; some may have a folder of their own, or one of a year.

    The log knows ours, which follow the others: they need not be read.
    """
    root, at = process.settings.root, PurePosixPath(folder)
    every = [PurePosixPath(path) for path in process.documents.record_paths()]
    paths = [path for path in every if _lies_in(path, at)]
    ours = {one.number for one in process.store.numbers(process.project) if one.folder == folder}
    others = [path for path in paths if number_of(of_own_folder(path).name) not in ours]
    read = (_read_listed_header(root, str(path)) for path in others[-LOOKED_AT_MAX:])
    records = [*filter(None, read)]
    of_adr_tools = {one.path for one in said_folders(root, "")}
    template = template_of(records, by_adr_tools=at.as_posix() in of_adr_tools)
    return form_of((path.relative_to(at).as_posix() for path in paths), template)


def _lies_in(path: PurePosixPath, folder: PurePosixPath) -> bool:
    own = of_own_folder(path).parent
    return own == folder or (own.parent == folder and is_year(own.name))


def _read_listed_header(root: Path, path: str) -> RecordHeader | None:
    from preflights_es.records.foreign_records import listed_header

    try:
        return listed_header(path, regular(root / path, RECORD_MAX, follows=False))
    except (OSError, Unreadable):
        return None


def foreign_rows(
    process: Process, found: Records, is_there: Callable[[str], bool] | None = None
) -> dict[int, ForeignRow]:
    """The records without a session by their place; what only a newer one says counts as well.

    Args:
        is_there: whether a file lies at a path of the project; as it lies here without it.
    """
    numbered = {*process.store.numbers(process.project).values()}
    names = RecordNames(found.records)
    later, ambiguous, loops = names.replaced_unsaid(), names.ambiguous(), names.loops()
    return {
        place: ForeignRow(
            **_foreign_row_fields(process, one, later.get(one.path), is_there),
            could_mean=ambiguous.get(one.path, ()),
            loop=loops.get(one.path, ()),
        )
        for place, one in enumerate(found.records)
        if not _is_ours(process, numbered, one)
    }


def show_foreign_record(process: Process, named: RecordWithoutSession) -> ForeignShown:
    """The record that a person named by its number or file.

    Raises:
        Refused: it cannot be read.
    """
    path = named.paths[0]
    one = _load_foreign_record(process, path)
    names = RecordNames(process.records().records)
    later = names.replaced_unsaid().get(path)
    one = replace(one, path=path, said=FEATURES.port("said")(one.title))
    return ForeignShown(
        **_foreign_row_fields(process, one, later),
        context=one.context,
        because=one.because,
        considered=one.considered,
        supersedes=tuple(reference.text for reference in one.supersedes),
        could_mean=names.ambiguous().get(path, ()),
        loop=names.loops().get(path, ()),
    )


def _is_ours(process: Process, numbered: set[str], one: RecordHeader) -> bool:
    # The log has nearly all; session files are read last, each of them.
    return bool(one.session) and (
        one.session in numbered
        or process.store.head(one.session) is not None
        or one.session in process.file_log.files
    )


def _load_foreign_record(process: Process, path: str) -> ForeignRecord:
    from preflights_es.records.foreign_records import foreign_record

    root = process.settings.root
    folder = folder_of(path, process.record_places.folders)
    within = path.removeprefix(f"{folder.path}/") if folder else path
    lies = files.checked_folder(root, path.rpartition("/")[0] or ".") / path.rpartition("/")[2]
    try:
        return foreign_record(within, regular(lies, RECORD_MAX, follows=False))
    except (OSError, Unreadable) as error:
        message = f"the record {path!r} cannot be read: {error}"
        raise Refused(message, code="unreadable_record") from error


def _is_path(is_there: Callable[[str], bool], entry: str) -> bool:
    """Whether an entry of a list means files, and no package, team, service or sentence."""
    if pattern_problem(entry):
        return False
    first, slash, _ = entry.partition("/")
    if slash and _SCOPE_OR_HOST.fullmatch(first) and not is_there(first):
        return False  # `@acme/forms`, `github.com/acme/forms`
    means_path = ("/" in entry or "*" in entry) and " " not in entry
    return means_path or is_there(entry)


_SCOPE_OR_HOST = late_pattern(r"@[\w~][\w.~-]*|[a-z0-9-]+(?:\.[a-z0-9-]+)+", re.ASCII)


def _foreign_row_fields(
    process: Process,
    one: RecordHeader,
    later: RecordHeader | None,
    is_there: Callable[[str], bool] | None = None,
) -> dict[str, Any]:
    """Args:
    later: the record that alone says that it replaced this one.
    """
    root = process.settings.root
    by = one.superseded_by.text if one.superseded_by else ""
    lies = is_there or (lambda entry: os.path.lexists(root / entry))
    return {
        "path": one.path,
        "number": one.number,
        "title": one.title,
        "status": "superseded" if later else one.status,
        "status_text": one.status_text,
        "superseded_by": later.path if later else by,
        "is_one_sided": later is not None,
        "date": one.date,
        "tool": one.tool,
        "category": one.said.category,
        "value": one.said.value,
        "scope": one.said.scope,
        "paths": tuple(entry for entry in one.applies_to if _is_path(lies, entry)),
        "chosen": one.chosen,
    }
