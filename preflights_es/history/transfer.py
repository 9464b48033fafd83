"""Sessions on their way out of a log and into another, byte for byte, and what is known of those
that come in. Little is held in memory: one session on the way out, and a few bytes of each on the
way in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import msgspec

from preflights_es.history.imports import (
    Digest,
    Importer,
    ImportRecord,
    Outline,
    Passes,
    Review,
    Reviewing,
    SessionChange,
    Source,
    relations_of,
)
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import (
    AnotherVersion,
    ArtifactOutside,
    Conflict,
    DuplicateInput,
    LogDamaged,
    Refused,
    StoreUnavailable,
    UnreadableEvent,
    WorkflowMissing,
)
from preflights_es.kernel.events import ArtifactDue
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.ports import Archive, Arrival, Head, Numbered, Stored
from preflights_es.kernel.session import Session
from preflights_es.records.record_names import FAR, NUMBER_MAX, highest
from preflights_es.runtime.runner import Runner
from preflights_es.store import jsonl, stored_events
from preflights_es.store.log_rows import head_of
from preflights_es.words.decisions import Relations
from preflights_es.words.workflow import numbered

NOTHING, WHOLE, TAIL = 0, 1, 2  # of a session, what is lacking here

Filed = Mapping[str, Callable[[], Collection[int]]]
"""By project: what looks up the numbers that its files bear."""


class VerifiedSessions:
    """What is known of the sessions of a file once they were verified, in their order."""

    def __init__(self) -> None:
        self.numbers: list[Numbered | None] = []
        self.workflows: set[str] = set()
        self.calls: dict[int, tuple[tuple[str, bool], ...]] = {}
        """Of those that have any, by their place: call, and whether it is a completion."""
        self.erased: dict[int, str] = {}
        """Ids of those that are erased, by their place."""
        self._related: dict[str, tuple[int, Relations]] = {}
        """Of those that are related to others, by their ids: place, and what they say."""
        self._borne: dict[str, dict[int, str]] = {}
        """Of each project, by number: a session of the file that bears it."""
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
        self.workflows.add(first.workflow)
        borne = self._borne.setdefault(first.project, {})
        if number is not None:
            borne[number.number] = first.session_id
        if relations is not None:
            self._related[first.session_id] = (place, relations)
        if session.calls:
            calls = ((one.call, isinstance(one, CompletionRequested)) for one in session.calls)
            self.calls[place] = tuple(calls)
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
        for project, borne in self._borne.items():
            allowed = len(borne) + FAR
            if max(borne, default=0) <= allowed:
                continue
            held = {one.number for one in archive.numbers(project)}
            new = max(borne.keys() - held, default=0)
            here = highest(held, _read_filed_numbers(filed, project))
            if new > (most := min(here + allowed, NUMBER_MAX)):
                why = (
                    f"the record number {new:,} of {project!r} is far beyond the highest that is "
                    f"known here, {here:,}: expected at most {most:,}. Import it where the records "
                    "before it lie"
                )
                raise Refused(why, session=borne[new], why=why)


def _read_filed_numbers(filed: Filed, project: str) -> Collection[int]:
    try:
        return filed[project]() if project in filed else ()
    except ArtifactOutside:
        return ()  # no folder of this project


TOGETHER: Final = 1024 * 1024  # bytes of a file in one transaction: some hundred sessions
OBJECT_BYTES: Final = 64  # about, of a hash and of a list
GRAVEST: Final = ("superseded_by", "closes")  # of changes, those that are named first
TRIES: Final = 10  # to import a session that another process imports at the same time


T = TypeVar("T", "_Seen", "_Arriving")


class TransferredSession(msgspec.Struct, frozen=True):
    """What came of one session of a file."""

    head: Head
    """In the file."""
    new: int
    """The number of its events that were new here."""
    erased: bool
    """Whether it was erased, there and therefore here."""


class _Seen(msgspec.Struct, frozen=True):
    """What has to be held of a session until the log was asked for it, with others."""

    session_id: str
    hashes: list[bytes]
    """Of its events, in their order."""

    @property
    def size(self) -> int:
        return OBJECT_BYTES * (1 + len(self.hashes))


class _Arriving(msgspec.Struct, frozen=True):
    """A session of a file, and what is known of it."""

    events: list[Stored]
    size: int
    """In the file, in bytes."""
    number: Numbered | None
    calls: tuple[tuple[str, bool], ...]
    erased: bool
    lacking: int = WHOLE

    @property
    def session_id(self) -> str:
        return self.events[0].session_id

    def taken(self, new: int) -> TransferredSession:
        return TransferredSession(head_of(self.events), new, self.erased)

    def whole(self) -> Arrival:
        return Arrival(self.events, self.open_calls(()), self.number, self.documents)

    @property
    def documents(self) -> list[str]:
        """Those that it has open, wherever their files are."""
        return sorted(call for call, is_completion in self.calls if not is_completion)

    def open_calls(self, known: Iterable[str]) -> list[str]:
        """Completions can be made here; documents only stay due, where they were.

        Importing a file writes no documents; they are rendered when a person asks.
        """
        here = set(known)
        return sorted(call for call, is_completion in self.calls if is_completion or call in here)


class Transfer:
    """Sessions of one log that go, and those that come."""

    def __init__(
        self,
        runner: Runner,
        archive: Archive,
        clear: Sequence[str] = (),
        filed: Filed | None = None,
    ) -> None:
        """Args:
        clear: tables of projections, from which goes what was erased elsewhere.
        filed: the numbers that files bear, by project, where they are known.
        """
        self._runner = runner
        self._archive = archive
        self._clear = clear
        self._filed = filed or {}
        self._reviewing = Reviewing(runner, archive)

    # 1. Out ----------------------------------------------------------------------------------

    def exported(self, session_id: str) -> bytes:
        """A session as lines, verified; without the first line of a file.

        Raises:
            LogDamaged: it does not verify.
        """
        head = self._archive.head(session_id)
        events = self._archive.read(session_id)
        verified = stored_events.verified(events, head.hash if head else None)
        return b"".join(map(jsonl.encode_event_line, verified))

    def all(self, heads: Sequence[Head]) -> Iterator[bytes]:
        """A file of sessions, one after the other, always in the same order: that of their ids.

        Raises:
            LogDamaged: one of them does not verify.
        """
        first = jsonl.FIRST
        for head in sorted(heads, key=lambda head: head.session_id):
            yield first + self.exported(head.session_id)
            first = b""

    # 2. In -----------------------------------------------------------------------------------

    def imported(
        self,
        source: Source,
        where: str,
        progress: Callable[[], None] = lambda: None,
        agrees: Callable[[Review], bool] = lambda review: not review.changes,
        importer: Importer | None = None,
    ) -> Iterator[TransferredSession]:
        """Take over the sessions of a file, each of them whole or not at all.

        What was taken before, by a process that was killed or from another file, is passed over.

        Args:
            where: the file's name, for messages.
            progress: is called after each session, when it is verified and when it is taken.
            agrees: whether sessions that are held here may change so; asked once, before anything
                is taken. Where it says no, nothing is.
            importer: whose import it is, which is recorded first; what it erases stays here. None
                where a log is mirrored.

        Raises:
            LogDamaged: an event does not verify; nothing of the file is taken.
            AnotherVersion: another version wrote it; likewise.
            Refused: a session has gone another way here, a number is far beyond the next one, or
                only one side says that a session held here is superseded; likewise. Or an Input of
                a session stands in another one here, or the file has changed since: says how many
                were taken.
            StoreUnavailable: the log cannot be written; likewise.
        """
        read = Digest(source)
        passes = Passes(read.lines, where)
        with _nothing_imported():
            known = self._checked(passes, where, progress)
            kept = () if importer is None else known.erasures_left_out()
            review = self._reviewed(passes, known, kept)
        record: ImportRecord | None = None
        if importer is not None:
            digest = read.hexdigest
            record = ImportRecord(self._runner, self._archive, importer, where, digest=digest)
        if not agrees(review):
            return
        taken = 0
        try:
            for some in _together(_arriving(passes, known)):
                if record is not None:
                    record.take([one.events for one in some if one.lacking != NOTHING])
                for one in self._taken(some):
                    taken += one.new > 0
                    yield one
                    progress()
        except (Refused, StoreUnavailable) as error:
            kind = Refused if isinstance(error, Refused) else StoreUnavailable
            message = f"{error} (sessions taken over before: {taken:,})"
            raise kind(message, code=error.code, **error.fields) from error

    def _checked(
        self, passes: Passes, where: str, progress: Callable[[], None]
    ) -> VerifiedSessions:
        """What is known of the sessions of a file, once all verify and fit those that are here."""
        known = VerifiedSessions()

        def folded() -> Iterator[_Seen]:
            for events, _ in passes.first():
                self._learn(known, events)
                progress()
                yield _collect_seen_hashes(events)

        for some in _together(folded()):
            heads = self._archive.heads_of([one.session_id for one in some])
            for one in some:
                here = self._here(one, heads.get(one.session_id))
                is_lacking = here < len(one.hashes)
                known.lacking.append(NOTHING if not is_lacking else TAIL if here else WHOLE)
        if not known.numbers:
            raise LogDamaged(where, 0, "it holds no events")
        return known

    def _reviewed(self, passes: Passes, known: VerifiedSessions, kept: Sequence[str]) -> Review:
        """What the file changes of sessions that are held here.

        Args:
            kept: those that it erases, and that stay.

        Raises:
            LogDamaged, Refused: as for `imported`.
        """
        known.refuse_far_numbers(self._archive, self._filed)
        one_sided = self._reviewing.one_sided(known.outlines(), known.erased.values())
        stays = "which stays until it is erased here"
        stay = (f"the file erases session {short_session(one)}, {stays}" for one in kept)
        warnings = (*one_sided, *stay)
        changes = list(self._changes(passes, known)) if TAIL in known.lacking else []
        gravest = sorted(changes, key=lambda one: [not getattr(one, what) for what in GRAVEST])
        return Review(tuple(gravest), warnings, frozenset(known.workflows))

    def _changes(self, passes: Passes, known: VerifiedSessions) -> Iterator[SessionChange]:
        for one in _arriving(passes, known):
            if one.lacking == TAIL and (change := self._reviewing.change(one.events)):
                yield change

    def _learn(self, known: VerifiedSessions, events: list[Stored]) -> None:
        stored_events.verified(events)
        workflow = self._runner.workflow(events[0].workflow)
        session = self._runner.folded(workflow, events)
        number = numbered(workflow, session.state)
        known.add(events[0], number, session, relations_of(workflow, session))

    def _here(self, seen: _Seen, head: Head | None) -> int:
        """How many events of a session this log has, if they are the same.

        Raises:
            Refused: the two copies differ.
        """
        if head is None:
            return 0
        # A hash stands for all that is before it.
        if head.version <= len(seen.hashes) and seen.hashes[head.version - 1] == head.hash:
            return head.version
        here = self._archive.read(head.session_id)
        for mine, theirs in zip(here, seen.hashes, strict=False):
            if mine.hash != theirs:
                then = f"at version {mine.version} this log and the file hold different events"
                why = f"session {mine.session_id} has diverged: {then}"
                raise Refused(why, session=mine.session_id, why=why)
        return len(here)

    def _taken(self, some: Sequence[_Arriving]) -> Iterator[TransferredSession]:
        """Those that are new in one transaction; where that is refused, one by one, to see why."""
        new = [one for one in some if one.lacking == WHOLE and not one.erased]
        done = {one.session_id for one in new} if self._are_taken(new) else set()
        for at, one in enumerate(some, 1):
            if one.lacking == NOTHING:
                yield one.taken(0)
            elif one.session_id in done:
                yield one.taken(len(one.events))
            else:
                try:
                    added = self._tail_taken(one)
                except (Refused, StoreUnavailable):
                    # The transaction above has taken them, wherever they stand in the file.
                    later = (late for late in some[at:] if late.session_id in done)
                    yield from (late.taken(len(late.events)) for late in later)
                    raise
                yield one.taken(added)

    def _are_taken(self, new: Sequence[_Arriving]) -> bool:
        try:
            return bool(new) and self._archive.insert_new([one.whole() for one in new])
        except Refused:
            return False

    def _tail_taken(self, one: _Arriving) -> int:
        """How many events of a session were added."""
        for _ in range(TRIES):
            here = self._here(_collect_seen_hashes(one.events), self._archive.head(one.session_id))
            new = one.events[here:]
            if here and new and one.lacking == WHOLE:
                # No person was asked whether it may go on: it was not here at that time.
                raise Refused(f"session {one.session_id} came in meanwhile: import the file again")
            try:
                if new:
                    self._insert(one, new)
            except Conflict:
                continue  # another process imports the same session
            return len(new)
        raise StoreUnavailable("the session changed while it was imported: import the file again")

    def _insert(self, one: _Arriving, new: list[Stored]) -> None:
        is_known = len(new) < len(one.events)
        calls = self._archive.open_calls(new[0].project) if is_known else ()
        known = [call for session_id, call in calls if session_id == one.session_id]
        brought = self._brought(new)
        try:
            self._archive.insert(
                new,
                number=one.number,
                open_calls=one.open_calls(known),
                clear=self._clear,
                imported=[call for call in one.documents if call in brought],
            )
        except DuplicateInput as error:
            why = f"an Input of session {one.session_id} stands in another session"
            raise Refused(f"{why}: it was not imported", session=one.session_id, why=why) from error

    def _brought(self, new: Sequence[Stored]) -> set[str]:
        """Documents that events ask for: those of before are owed here, or came before."""
        codec = self._runner.codec(self._runner.workflow(new[0].workflow))
        due = (codec.decode(one) for one in new if one.type == ArtifactDue.tag and one.data)
        return {one.call for one in due if isinstance(one, ArtifactDue)}


@contextmanager
def _nothing_imported() -> Iterator[None]:
    """Within it, what is refused says that nothing was imported."""
    said = "; nothing was imported"
    try:
        yield
    except LogDamaged as error:
        raise LogDamaged(error.where, error.version, f"{error.found}{said}") from error
    except WorkflowMissing as error:
        raise WorkflowMissing(error.name, f"{error.why}{said}") from error
    except Refused as error:
        raise Refused(f"{error}{said}", code=error.code, **error.fields) from error
    except UnreadableEvent as error:
        raise UnreadableEvent(
            session_id=error.session_id,
            version=error.version,
            workflow=error.workflow,
            tag=error.tag,
            why=error.why,
            also=said,
        ) from error
    except AnotherVersion as error:
        raise type(error)(f"{error}{said}") from error


def _collect_seen_hashes(events: Sequence[Stored]) -> _Seen:
    return _Seen(events[0].session_id, [event.hash for event in events])


def _arriving(passes: Passes, known: VerifiedSessions) -> Iterator[_Arriving]:
    for place, (events, size) in enumerate(passes.second()):
        number, calls = known.numbers[place], known.calls.get(place, ())
        erased, lacking = place in known.erased, known.lacking[place]
        yield _Arriving(events, size, number, calls, erased=erased, lacking=lacking)


def _together(sessions: Iterable[T]) -> Iterator[list[T]]:
    """Batches of sessions that fit in memory and are imported or queried at once."""
    some: list[T] = []
    size = 0
    for session in sessions:
        some.append(session)
        size += session.size
        if size >= TOGETHER:
            yield some
            some, size = [], 0
    if some:
        yield some
