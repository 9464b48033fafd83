"""Sessions that leave the log, and those that come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from preflights_es.history.imports import Importer, Passes, Review, SessionChange
from preflights_es.history.transfer import Transfer, TransferredSession
from preflights_es.kernel.errors import LogDamaged, Refused
from preflights_es.kernel.events import Actor
from preflights_es.kernel.ids import iso
from preflights_es.kernel.ports import Arrival, Head, Stored
from preflights_es.projections.projection import Read
from preflights_es.runtime.finder import LAST
from preflights_es.store import jsonl
from preflights_es.store.sqlite import make_private
from preflights_es.store.stored_events import verified
from preflights_es.system.files import new_file
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import Drawn, Result, Update, undrawn
from preflights_es.use.usage import has_made_calls
from preflights_es.words.imports import NAME as IMPORTS
from preflights_es.words.imports import SessionsTaken, TakenSession, accepted_by, origin_of
from preflights_es.words.workflow import Workflow

PRIVATE: Final = 0o600
"""The permissions of a file with other people's words."""


class ImportedBy(Result, frozen=True):
    """One import of a session; times are ISO 8601, UTC."""

    session_id: str
    """Of the import's own session."""
    by: Actor
    at: str
    source: str
    """The file, as it was named."""
    before: int
    """The version of the session here before it."""
    version: int
    """Of the last event that came with it."""
    accepted_by: str | None = None
    """The person who accepted the session, as the file says; None where no person did."""

    @property
    def told(self) -> str:
        """`imported by claude-code; accepted by Ada, as the file says`."""
        return origin_of(self.by, self.accepted_by)

    def brought(self, version: int) -> bool:
        """Whether an event of the session came with it."""
        return self.before < version <= self.version


def imports_of(process: Process, read: Read) -> tuple[ImportedBy, ...]:
    """All of one session, oldest first; none of a session that began here."""
    came = [one for _, one in imports(process, read.head.session_id)]
    return add_import_acceptor(read.workflow, read.stored, came)


def add_import_acceptor(
    workflow: Workflow[Any] | None, stored: Sequence[Stored], came: Sequence[ImportedBy]
) -> tuple[ImportedBy, ...]:
    """Imports of a session, with the person who accepted it, as far as its workflow is here."""
    by = accepted_by(workflow, stored) if came and workflow else None
    return tuple(replace(one, accepted_by=by) for one in came)


def imports(process: Process, only: str = "") -> Iterator[tuple[str, ImportedBy]]:
    """Pairs of an imported session and an import of it, oldest import first.

    Args:
        only: of this session alone.
    """
    reader, store = process.projector.reader, process.following
    for head in process.store.heads_in(IMPORTS):
        for session, one in _imports(reader.read(store.stream(head))):
            if only in ("", session.session_id):
                yield session.session_id, one


def _imports(read: Read) -> Iterator[tuple[TakenSession, ImportedBy]]:
    for event in read.events:
        if isinstance(event, SessionsTaken):
            by, at = event.actor, iso(event.at)
            for one in event.sessions:
                of = (by, at, event.source, one.before, one.version)
                yield one, ImportedBy(read.head.session_id, *of)


COPY_MAX: Final = 4 * 1024**3  # bytes of a pipe that are copied to disk, to be read twice
COMPRESSED: Final = ".gz"


# 1. Out --------------------------------------------------------------------------------------


class Exported(Result, frozen=True, tag_field="format", tag="export/1"):
    """A file of sessions that was written."""

    session_id: str | None
    """None where several were asked for."""
    sessions: int
    events: int
    file: str
    """As it was named."""


class ExportedSite(Result, frozen=True, kw_only=True, tag_field="format", tag="view-export/1"):
    """A site as it was written."""

    folder: str
    decisions: int
    sessions: int
    names: int
    texts: int
    files: int
    """All that the site has, beside the list of them."""
    written: int
    """Those that were not there, or held something else."""
    removed: int
    """Those of an earlier export that the site has no more."""


class ExportedPart(msgspec.Struct, frozen=True, kw_only=True):
    """Which of all sessions are exported."""

    any_project: bool = False
    workflow: str = ""
    """Of one workflow alone; of all where it is empty."""
    is_judged: bool = False
    """Only those of which a person judged something."""

    def has(self, process: Process, head: Head) -> bool:
        """Whether a session is one of them; who imported what stays in its log."""
        if head.workflow == IMPORTS or self.workflow not in ("", head.workflow):
            return False
        if not self.is_judged:
            return True
        handle = process.runner.load(head.session_id)
        return bool(getattr(handle.view, "judged", 0)) and not handle.session.closed


WHOLE: Final = ExportedPart()


def export_session_lines(
    request: Request, session: str | None = LAST, part: ExportedPart = WHOLE
) -> Iterator[bytes]:
    """A session, or all of this project or of all, as JSON Lines; one session at a time.

    Args:
        session: None for all.
        part: which of all.

    Raises:
        Refused: there is none.
        LogDamaged: one of them does not verify.
    """
    process, heads = _select_exported_heads(request, session, part)
    return process.transfer.all(heads)


def export(
    request: Request,
    file: str,
    session: str | None = LAST,
    part: ExportedPart = WHOLE,
    *,
    drawn: Drawn = undrawn,
) -> Exported:
    """The same in a new file, compressed where its name ends with `.gz`.

    One with calls of other programs is its owner's alone, as their log is.
    """
    process, heads = _select_exported_heads(request, session, part)
    events = -1  # the first line is none
    mode = PRIVATE if any(has_made_calls(head.workflow) for head in heads) else None
    with (
        new_file(file, mode=mode) as raw,
        _packed(raw, file) as packed,
        drawn(len(heads)) as update,
    ):
        for content in process.transfer.all(heads):
            packed.write(content)
            events += content.count(b"\n")
            update(1)
    session_id = None if session is None else heads[0].session_id
    return Exported(session_id=session_id, sessions=len(heads), events=events, file=file)


def _select_exported_heads(
    request: Request, session: str | None, part: ExportedPart
) -> tuple[Process, Sequence[Head]]:
    process = request.process
    if session is None:
        every = process.store.heads(None if part.any_project else process.project)
        heads = [head for head in every if part.has(process, head)]
        if not heads:
            raise Refused("there is no session to export")
        return process, heads
    found = request.reading.session(session)
    return found.process, [found.head_there]


@contextmanager
def _packed(raw: BinaryIO, name: str) -> Iterator[BinaryIO]:
    if not name.endswith(COMPRESSED):
        yield raw
        return
    with jsonl.packed(raw) as file:
        yield file


# 2. In ---------------------------------------------------------------------------------------


class SessionImported(Result, frozen=True):
    """What came of one session of a file."""

    session_id: str
    version: int
    """Of its last event in the file."""
    new_events: int
    erased: bool

    @classmethod
    def of(cls, one: TransferredSession) -> SessionImported:
        """The same of a session as it was taken."""
        head = one.head
        return cls(
            session_id=head.session_id, version=head.version, new_events=one.new, erased=one.erased
        )


class Agreement:
    """Remembers what reviews found and whether the caller agreed; yes where none was needed."""

    def __init__(self, agrees: Callable[[Review], bool]) -> None:
        self._agrees = agrees
        self.given = True
        self.changes: list[SessionChange] = []
        self.warnings: list[str] = []

    def __call__(self, review: Review) -> bool:
        self.given = self._agrees(review)
        self.changes += review.changes
        self.warnings += review.warnings
        return self.given


Lines = dict[str, Callable[[], Iterable[bytes]]]
"""What gives the lines of each session, by its id."""


def imported_each(
    transfer: Transfer,
    coming: Lines,
    where: str,
    agrees: Callable[[Review], bool],
    refused: dict[str, str],
    importer: Importer | None,
) -> Iterator[TransferredSession]:
    """As `Transfer.imported`, where a session that is refused holds up no other.

    Args:
        coming: those that were refused are taken out.
        refused: takes why a session was refused, by its id.
    """

    def lines() -> Iterator[bytes]:
        yield jsonl.FIRST
        for one in coming.values():
            yield from one()

    while coming:
        try:
            came = transfer.imported(lines, where, agrees=agrees, importer=importer)
            yield from (one for one in came if one.new)
            return
        except Refused as error:
            session_id = error.fields.get("session", "")
            if session_id not in coming:
                raise
            del coming[session_id]
            refused[session_id] = error.fields.get("why", str(error))


class Imported(Result, frozen=True, tag_field="format", tag="import/1"):
    """What came of a file."""

    sessions: tuple[SessionImported, ...]
    """In the order of the file."""
    imported: bool
    changes: tuple[SessionChange, ...]
    warnings: tuple[str, ...]


class SessionFile(NamedTuple):
    """A file of sessions: a path, or a stream under a name."""

    name: str
    stream: BinaryIO | None = None


def imported(
    request: Request,
    file: SessionFile,
    agrees: Callable[[Review], bool],
    tell: Callable[[TransferredSession], None] = lambda _: None,
    *,
    lists: bool = True,
    drawn: Drawn = undrawn,
) -> Imported:
    """Take over the sessions of a file; every chain is verified first.

    Args:
        agrees: whether sessions that are held here may change so; if not, nothing is taken.
        tell: takes every session as it is taken.
        lists: whether the result names every session: a file may have a million.

    Raises:
        Refused: an agent imports.
        LogDamaged, AnotherVersion, Refused, StoreUnavailable: as `Transfer.imported` says.
    """
    importer = importer_of(request)
    importer.refuse_agent()
    process = request.process

    def agrees_in_private(review: Review) -> bool:
        is_given = agrees(review)
        if is_given and any(map(has_made_calls, review.workflows)):
            process.store.heads(None, 1)  # the log is made where it is not
            make_private(process.settings.database)
        return is_given

    agreed = Agreement(agrees_in_private)
    came: list[SessionImported] = []
    with _open_rereadable_file(file, drawn) as source:
        for session in process.transfer.imported(
            source.lines, file.name, source.progress, agrees=agreed, importer=importer
        ):
            tell(session)
            if lists:
                came.append(SessionImported.of(session))
    return Imported(
        sessions=tuple(came),
        imported=agreed.given,
        changes=tuple(agreed.changes),
        warnings=tuple(agreed.warnings),
    )


def importer_of(request: Request) -> Importer:
    """Whose import a request's is."""
    return Importer(request.process.project, request.actor, request.evidence)


def sessions_of(file: SessionFile, drawn: Drawn = undrawn) -> Iterator[Sequence[Stored]]:
    """The sessions of a file, one after the other, as they come there.

    Raises:
        Refused: it cannot be read, or is too large.
        LogDamaged: a line is no event, or there is none.
        AnotherVersion: another version wrote it.
    """
    with _open_rereadable_file(file, drawn) as source:
        passes = Passes(source.lines, file.name)
        is_empty = True
        for events, _ in passes.first():
            is_empty = False
            source.progress()
            yield events
        if is_empty:
            raise LogDamaged(file.name, 0, "it holds no events")


TOGETHER: Final = 100  # sessions that are read before they are taken into a log


@contextmanager
def opened_file(request: Request, file: SessionFile) -> Iterator[tuple[Request, str]]:
    """A request to the sessions of a file alone, as a log of their own; and the newest of them.

    A session of which the chain does not hold is there, and shows its damage.

    Raises:
        Refused, LogDamaged, AnotherVersion: as of `sessions_of`; or a session is there twice.
    """
    with ExitStack() as stack:
        root = Path(stack.enter_context(TemporaryDirectory(prefix="preflights-")))
        coming = sessions_of(file)
        first = next(coming)
        settings = replace(
            request.process.settings,
            root=root,
            project=first[0].project,
            database=str(root / "log.db"),
            stand_in=None,
            project_file=None,
            git_folder=None,
        )
        process = stack.enter_context(closing(Process(settings)))
        newest, waiting = "", chain([first], coming)
        while some := [Arrival(events) for events in islice(waiting, TOGETHER)]:
            if not process.store.insert_new(some):
                for one in some:
                    verified(one.events)
                raise Refused(f"{file.name} has a session or an Input twice")
            newest = max(newest, *(one.events[0].session_id for one in some))
        yield request.at(process), newest


class _RereadableFile:
    """A file that is read from its beginning more than once, and how far that went."""

    def __init__(self, file: BinaryIO, where: str, update: Update) -> None:
        self._file = file
        self._where = where
        self._update = update
        self._at = 0

    def lines(self) -> Iterable[bytes]:
        """Another pass."""
        return jsonl.lines_in(self._file, self._where)

    def progress(self) -> None:
        """Move the bar along."""
        at = self._file.tell()
        if at > self._at:
            self._update(at - self._at)
        self._at = at


@contextmanager
def _open_rereadable_file(file: SessionFile, drawn: Drawn) -> Iterator[_RereadableFile]:
    """A file that can be read twice; what cannot is copied to disk.

    Raises:
        Refused: it cannot be read.
    """
    with ExitStack() as stack:
        try:
            source = file.stream or stack.enter_context(Path(file.name).open("rb", jsonl.BLOCK))
            if file.stream or not source.seekable():
                copy: BinaryIO = stack.enter_context(TemporaryFile("w+b"))
                _copy(source, copy, file.name)
                source = copy
            size = source.seek(0, 2)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise Refused(f"{file.name} cannot be read: {why}") from error
        yield _RereadableFile(source, file.name, stack.enter_context(drawn(2 * size)))


def _copy(source: BinaryIO, copy: BinaryIO, name: str) -> None:
    size = 0
    while block := source.read(jsonl.BLOCK):
        size += len(block)
        if size > COPY_MAX:
            found = f"{name} has more than {COPY_MAX:,} bytes"
            raise Refused(f"{found}: save it in a file and name that")
        copy.write(block)
