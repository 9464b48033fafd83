"""What an import brings: a file read twice, what it changes here, and what is recorded."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from hashlib import sha256
from itertools import islice
from typing import Any, Final, Literal

import msgspec

from preflights_es.kernel.errors import AnotherVersion, LogDamaged, Refused
from preflights_es.kernel.events import Actor, Evidence
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.ports import Archive, Stored
from preflights_es.kernel.session import Session
from preflights_es.kernel.text import NAME_MAX, one_line, shortened
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store import jsonl, stored_events
from preflights_es.words import imports
from preflights_es.words.decisions import Related, Relations
from preflights_es.words.imports import SessionsTaken, TakenSession
from preflights_es.words.workflow import Workflow, compute_session_status

SESSIONS_MAX: Final = 1_000_000  # of a file: some hundred bytes are held of each
SESSION_MAX: Final = 128 * 1024 * 1024  # bytes of a session

Source = Callable[[], Iterable[bytes]]
"""The lines of a file with their ends, from the first one, each time it is called."""
_Line = tuple[int, int]
"""Its hash and its length in the file, in bytes."""
_Pairs = list[tuple[_Line, Stored]]
"""The lines of a session and its events; the text itself is not held."""
Run = tuple[list[Stored], int]
"""A session and its length in the file, in bytes."""


class Passes:
    """The sessions of a file, in the order in which they begin there, twice."""

    def __init__(self, source: Source, where: str) -> None:
        """Args:
        where: the file's name, for messages.
        """
        self._source = source
        self._where = where
        self._hashes = array("q")
        """Of every session, one after the other: a million of them have 8 MB."""

    def first(self) -> Iterator[Run]:
        """The sessions, each line of them an event; the caller verifies them.

        Raises:
            LogDamaged: a line is no event, or a session goes on after another one began.
            AnotherVersion: another version wrote it.
            Refused: a session is too large, or there are too many.
        """
        del self._hashes[:]
        pairs_of = jsonl.with_lines(self._source(), self._where)
        for pairs in _runs(pairs_of, self._where):
            self._hashes.append(_hash_session_lines(pairs))
            yield _build_event_run(pairs)

    def second(self) -> Iterator[Run]:
        """The same again, to the byte.

        Raises:
            Refused: they are not the same.
        """
        hashes = iter(self._hashes)
        try:
            pairs_of = jsonl.with_lines(self._source(), self._where, again=True)
            for pairs in _runs(pairs_of, self._where):
                if _hash_session_lines(pairs) != next(hashes, None):
                    raise self._changed()
                yield _build_event_run(pairs)
        except (LogDamaged, AnotherVersion) as error:
            raise self._changed() from error
        if next(hashes, None) is not None:
            raise self._changed()

    def _changed(self) -> Refused:
        return Refused(f"{self._where} has changed while it was imported: import it again")


def _runs(pairs: Iterable[tuple[bytes, Stored]], where: str) -> Iterator[_Pairs]:
    """Sessions as they follow each other.

    Raises:
        LogDamaged: an event does not follow the one before it, or one of another session does.
        Refused: a session is too large.
    """
    seen: set[str] = set()
    run: _Pairs = []
    session_id = ""
    size = 0
    for line, event in pairs:
        if event.session_id != session_id:
            if run:
                yield run
            session_id, run, size = event.session_id, [], 0
            if session_id in seen:
                found = f"session {session_id} goes on after another one began"
                raise LogDamaged(where, 0, f"{found}: sort the lines by session")
            seen.add(session_id)
            _refuse_many(seen, where)
        run.append(((hash(line), len(line)), event))
        size += len(line)
        if event.version != len(run):
            # It says so; all behind it would be held.
            stored_events.verified([event for _, event in run])
        if size > SESSION_MAX:
            held = f"session {session_id} has more than {SESSION_MAX:,} bytes"
            raise Refused(f"{held} in {where}: it cannot be held in memory")
    if run:
        yield run


def _refuse_many(sessions: Sized, where: str) -> None:
    if len(sessions) > SESSIONS_MAX:
        raise Refused(f"{where} has more than {SESSIONS_MAX:,} sessions: split it")


def _hash_session_lines(pairs: _Pairs) -> int:
    return hash(tuple([line for line, _ in pairs]))


def _build_event_run(pairs: _Pairs) -> Run:
    return [event for _, event in pairs], sum([size for (_, size), _ in pairs])


Side = Literal["supersedes", "superseded_by", "kept"]

TITLE_MAX: Final = 200  # characters that are held of a title: it is shown on one line
ID_MAX: Final = 36  # characters of an id; a file may have anything in its place
SAYS: Final[dict[Side, str]] = {
    "supersedes": "replaces",
    "superseded_by": "is replaced by",
    "kept": "is kept beside",
}
SAID_MAX: Final = 20  # kinds of Inputs that are held of a session: a tail may have a million


class ActorInputs(msgspec.Struct, frozen=True):
    """Inputs of one type by one actor."""

    type: str
    actor_kind: str
    actor_name: str
    """The name in the events; it is not verified."""
    events: int


class SessionChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a file does to one session that is held here."""

    session_id: str
    project: str
    title: str
    version: int
    """The version of the last event here."""
    new_events: int
    said: tuple[ActorInputs, ...]
    """The Inputs among the new events, `SAID_MAX` kinds of them at most."""
    status_before: str
    status_after: str
    closes: bool
    """Whether it takes no answers any more."""
    superseded_by: str | None
    """The session that takes its place; null where that does not change."""


class Review(msgspec.Struct, frozen=True):
    """What a file changes here, the gravest first."""

    changes: tuple[SessionChange, ...] = ()
    warnings: tuple[str, ...] = ()
    """What its new sessions say of others, and those do not say; what it erases stays here."""
    workflows: frozenset[str] = frozenset()
    """Of the sessions of the file."""


class Outline(msgspec.Struct, frozen=True):
    """What has to be held of a session that the file brings, and that is related to others."""

    relations: Relations
    is_new: bool
    """Whether nothing of it is here."""


def said_by(event: Stored) -> tuple[str, str] | None:
    """Kind and name of the actor of an Input; None for a Decision and where they are gone."""
    if event.input_id is None or event.data is None:
        return None
    try:
        actor = _actors.decode(event.data).actor
    except (ValueError, RecursionError):
        return event.actor_kind or "", ""
    return actor.kind, shortened(actor.name, NAME_MAX)


class _ClaimedActor(msgspec.Struct, frozen=True):
    kind: str = ""
    name: str = ""


class _ClaimedActorPayload(msgspec.Struct, frozen=True):
    actor: _ClaimedActor = _ClaimedActor()


_actors: Final = msgspec.json.Decoder(_ClaimedActorPayload)


def relations_of(workflow: Workflow[Any], session: Session[Any]) -> Relations | None:
    """What a session says of others; None where it says nothing."""
    if workflow.filed.related is None:
        return None
    found = workflow.filed.related(session.state)
    return found if found != Relations() else None


class Reviewing:
    """Holds the sessions of a file against those that are here."""

    def __init__(self, runner: Runner, archive: Archive) -> None:
        self._runner = runner
        self._archive = archive

    def change(self, events: Sequence[Stored]) -> SessionChange | None:
        """What the tail of a session does; None where it has none any more.

        Args:
            events: of the whole session, in the file.
        """
        before = self._runner.load(events[0].session_id)
        tail = events[before.version :]
        if not tail:
            return None
        workflow = before.workflow
        after = self._runner.folded(workflow, events)
        was = self._relations(before).superseded_by
        now = (relations_of(workflow, after) or Relations()).superseded_by
        counts = Counter((one.type, *actor) for one in tail if (actor := said_by(one)))
        title = "" if before.session.closed == "erased" else one_line(before.view.intention)
        return SessionChange(
            session_id=before.session_id,
            project=before.project,
            title=shortened(title, TITLE_MAX),
            version=before.version,
            new_events=len(tail),
            said=tuple(ActorInputs(*who, n) for who, n in counts.most_common(SAID_MAX)),
            status_before=compute_session_status(workflow, before.session),
            status_after=compute_session_status(workflow, after),
            closes=_is_closed(workflow, after) and not _is_closed(workflow, before.session),
            superseded_by=shortened(self._id(now), ID_MAX) if now and now != was else None,
        )

    # Relations ---------------------------------------------------------------------------------

    def one_sided(self, file: Mapping[str, Outline], erased: Collection[str]) -> Iterator[str]:
        """Warnings: what new sessions say of others, and those do not say.

        Args:
            file: the sessions that it brings something of and that are related to others, by id.
            erased: ids of the sessions that are erased in the file.

        Raises:
            Refused: a session that is held here would be superseded or kept beside another one, and
                only one side says so, or it does not say by which session.
        """
        for session_id, outline in file.items():
            now = outline.relations
            before = Relations() if outline.is_new else self._held(session_id) or Relations()
            known = [*_claims(before)]
            for named, back in (claim for claim in _claims(now) if claim not in known):
                other = self._id(named)
                if other in erased and self._archive.head(session_id) is not None:
                    why = f"it cannot say whether it {SAYS[back]} {short_session(session_id)}"
                    yield f"{short_session(other)} is erased in the file: {why}"
                if other in erased:
                    continue
                theirs = file[other].relations if other in file else self._held(other)
                related = _pick_related_sessions(theirs, back) if theirs is not None else ()
                if theirs is None or session_id in map(self._id, related):
                    continue
                if back == "superseded_by" and theirs.superseded_by is not None:
                    first = short_session(self._id(theirs.superseded_by))
                    new, former = short_session(session_id), short_session(other)
                    yield f"{first} and {new} both replace {former}: both are in force"
                    continue
                yield self._claim(session_id, other, back)

    def _claim(self, by: str, silent: str, back: Side) -> str:
        """What only one of two says.

        Args:
            by: the session of the file that says it.
            silent: the other one, which should say `back`; empty where it is not named.

        Raises:
            Refused: a decision that is held here would be out of force, or kept beside another.
        """
        first, second = (silent, by) if back == "supersedes" else (by, silent)
        if not silent:
            other = f"the other session that {short_session(by)} is related to"
            claim = f"the file does not name {other}"
        else:
            says = "is kept beside" if back == "kept" else "replaces"
            claim = (
                f"the file says that {short_session(first)} {says} {short_session(second)}, and "
                f"{short_session(silent)} does not say so, neither here nor in the file"
            )
        touched = (first, second) if back == "kept" else (second,)
        if any(self._archive.head(one) is not None for one in touched if one):
            raise Refused(claim, code="other_session_missing", session=by, why=claim)
        return claim

    def _held(self, session_id: str) -> Relations | None:
        """What a session says here; None where it was erased, and cannot say anything."""
        if self._archive.head(session_id) is None:
            return Relations()
        handle = self._runner.load(session_id)
        return None if handle.session.closed == "erased" else self._relations(handle)

    def _relations(self, handle: Handle) -> Relations:
        return relations_of(handle.workflow, handle.session) or Relations()

    def _id(self, related: Related | None) -> str:
        """The session that is meant: by its id, or by the name of its decision in old logs."""
        if related is None or related.session_id:
            return related.session_id if related else ""
        return next(iter(self._archive.matching(related.uid)), related.uid)


def _claims(said: Relations) -> Iterator[tuple[Related, Side]]:
    """Sessions that one names, each with what that one has to say of it."""
    if said.superseded_by is not None:
        yield said.superseded_by, "supersedes"
    for one in said.supersedes:
        yield one, "superseded_by"
    for one in said.kept:
        yield one, "kept"


def _pick_related_sessions(of: Relations, side: Side) -> tuple[Related, ...]:
    """The sessions that it names in one respect."""
    if side == "superseded_by":
        return () if of.superseded_by is None else (of.superseded_by,)
    return of.supersedes if side == "supersedes" else of.kept


def _is_closed(workflow: Workflow[Any], session: Session[Any]) -> bool:
    return bool(session.closed) or workflow.is_terminal(session.state)


class Importer(msgspec.Struct, frozen=True):
    """Whose import it is."""

    project: str
    actor: Actor
    evidence: Evidence

    @property
    def is_agent(self) -> bool:
        """Whether nothing is imported."""
        return self.actor.kind == "agent"

    def refuse_agent(self) -> None:
        """See that no agent imports.

        Raises:
            Refused: one would.
        """
        if self.is_agent:
            name = f"an agent ({self.actor.name})" if self.actor.name else "an agent"
            why = f"{name} imports nothing: in a terminal of their own, a person can"
            raise Refused(why, code="agent_cannot_import")


class Digest:
    """The lines of a file, and the SHA-256 of all of them once they were read to their end."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.hexdigest = ""

    def lines(self) -> Iterator[bytes]:
        """Another pass; the first whole one tells the digest."""
        if self.hexdigest:
            yield from self._source()
            return
        read = sha256()
        for line in self._source():
            read.update(line)
            yield line
        self.hexdigest = read.hexdigest()


class ImportRecord:
    """Records what is about to be taken: a crash behind it leaves nothing without its import."""

    def __init__(
        self, runner: Runner, archive: Archive, importer: Importer, source: str, digest: str
    ) -> None:
        self._runner = runner
        self._archive = archive
        self._importer = importer
        self._source = runner.sanitizer.cleaned_text(
            "the name of the file", source[: imports.SOURCE_MAX], imports.SOURCE_MAX
        )[0]
        self._digest = digest
        self._handle: Handle | None = None

    def take(self, some: Sequence[Sequence[Stored]]) -> None:
        """Record that sessions are taken, each with its events in the file."""
        heads = self._archive.heads_of([events[0].session_id for events in some])
        taken = []
        for events in some:
            head, last = heads.get(events[0].session_id), events[-1]
            before = head.version if head else 0
            workflow = self._runner.workflow(last.workflow)
            accepted = imports.accepted_by(workflow, events) is not None
            id_, hash_ = last.session_id, last.hash.hex()
            taken.append(TakenSession(id_, before, last.version, hash_, accepted=accepted))
        rest = iter(taken)
        while portion := tuple(islice(rest, imports.TOGETHER)):
            self._record(SessionsTaken(**self._known(), sessions=portion))

    def _known(self) -> dict[str, Any]:
        of = self._importer
        return {
            "at": self._runner.now(),
            "actor": Actor(of.actor.kind, self._runner.sanitizer.cleaned_name(of.actor.name)),
            "evidence": of.evidence,
            "source": self._source,
            "digest": self._digest,
        }

    def _record(self, new: SessionsTaken) -> None:
        runner, project = self._runner, self._importer.project
        if self._handle is None:
            session_id, input_id = runner.new_session_id(project), runner.new_id()
            step = runner.open(imports.WORKFLOW, project, new, session_id, input_id=input_id)
        else:
            step = runner.submit(self._handle, new, runner.new_id())
        self._handle = step.handle
