"""What keeps a log in order: its database, its projections, documents that are rebuilt, and
erasing: what would go, and what went.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from msgspec.structs import asdict, replace

from preflights_es.history.erasure import Doomed, Quote, Quotes
from preflights_es.history.verification import walked
from preflights_es.kernel.errors import ErasedSession, LogDamaged, PreflightsError
from preflights_es.kernel.events import ArtifactDue
from preflights_es.runtime.derived_rows import reopened
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.finder import ANY
from preflights_es.runtime.projector import ProjectionState
from preflights_es.store import frozen
from preflights_es.store.audit_evidence import SqlAuditing
from preflights_es.store.sql import SqlStore
from preflights_es.store.urls import file_of, parse_log_address, shown_url
from preflights_es.system import clock_ids
from preflights_es.system.files import new_path
from preflights_es.use.decisions import is_unfolded
from preflights_es.use.filed_sessions import FiledSessions
from preflights_es.use.request import Request
from preflights_es.use.results import Drawn, Result, ticking, undrawn
from preflights_es.use.stand_in import refuse_erasing
from preflights_es.use.sync import erased_files, take_new


class Upgraded(Result, frozen=True, tag_field="format", tag="db-upgrade/1"):
    """A log whose tables are up to date."""

    database: str
    """Path, or URL without its password."""
    schema: str


class Status(Result, frozen=True, tag_field="format", tag="db-status/1"):
    """Where the log is, and how much it holds."""

    database: str
    engine: Literal["sqlite", "postgresql"]
    schema: str | None
    """None where there is no log yet."""
    schema_known: str
    bytes: int | None
    project: str | None
    """Of the current folder; None where a shared log asks for it. The counts are those of all."""
    sessions: int
    events: int
    open_calls: int


class BackedUp(Result, frozen=True, tag_field="format", tag="db-backup/1"):
    """A copy that verifies."""

    file: str
    bytes: int
    sessions: int
    events: int


def upgrade(request: Request) -> Upgraded:
    """Create the log, or bring its tables up to date."""
    store = request.process.store
    return Upgraded(database=shown_url(store.url), schema=str(store.schema()))


def read_log_status(request: Request) -> Status:
    """How the log stands.

    Raises:
        LogDamaged: its file is not intact.
    """
    store = request.process.store
    store.check()
    url = parse_log_address(request.process.settings.database)
    is_there = store.url == url
    return Status(
        database=shown_url(url),
        engine="sqlite" if file_of(url) else "postgresql",
        schema=store.schema() if is_there else None,
        schema_known=frozen.read_frozen_revision(),
        bytes=store.database.size() if is_there else None,
        project=request.process.known_project,
        **store.counts(),
    )


def backup(request: Request, file: str, drawn: Drawn = undrawn) -> BackedUp:
    """Copy the log to a new file, and verify the copy.

    Raises:
        Refused: the file exists.
        LogDamaged: a chain of the copy does not hold; then there is no copy.
    """
    from preflights_es.store.sqlite import blamed_on, copied

    log = request.process.settings.database
    with new_path(file) as path:
        copied(log, path)
        with (
            blamed_on(log, path),
            closing(SqlStore(str(path), clock_ids.now, clock_ids.salt)) as copy,
        ):
            copy.check()
            heads = copy.heads(None)
            with drawn(len(heads)) as update:
                found = walked(copy, ticking(heads, update))
        for broken in found.broken:
            raise LogDamaged(f"session {broken.session_id}", broken.version, broken.found)
    size = Path(file).stat().st_size
    return BackedUp(file=file, bytes=size, sessions=found.sessions, events=found.events)


class Rendered(Result, frozen=True, tag_field="format", tag="render/1"):
    """The document of a session."""

    session_id: str
    path: str
    """Of the document, or of the `.new` file beside it; relative to the project's root."""
    outcome: Literal["written", "same", "beside", "missing", "differs", "printed"]
    text: str | None
    """Where it is only printed."""


class InItsPlace(Result, frozen=True):
    """A document of another session that lies where this one belongs."""

    path: str
    session_id: str


def render(
    request: Request, session: str, *, write: bool = True, prints: bool = False
) -> tuple[Rendered, InItsPlace | None]:
    """Rebuild the document of a session, byte for byte.

    Args:
        write: else the file is only compared.
        prints: whether only its text is wanted.

    Raises:
        Refused: there is none, or it belongs to another project.
    """
    documents = request.process.documents
    handle = request.sessions.load(session)
    id_ = handle.session_id
    if prints:
        due, text = documents.text(id_)
        return Rendered(session_id=id_, path=due.path, outcome="printed", text=text), None
    request.sessions.refuse_elsewhere(handle)
    made = documents.rebuilt(handle, write=write)
    due, _ = documents.text(id_)
    is_record = handle.workflow.filed.filing is None  # no other file says whose it is
    other = documents.other_at(id_, due.path) if is_record else ""
    found = InItsPlace(path=due.path, session_id=other) if other else None
    return Rendered(session_id=id_, path=made.path, outcome=made.outcome, text=None), found


class ProjectionStatus(Result, frozen=True):
    """How one projection stands."""

    name: str
    version: int
    folded_version: int | None
    state: str
    """`complete`, `being rebuilt`, `of another version` or `never built`."""
    sessions: int
    """Folded so far."""


class Projections(Result, frozen=True, tag_field="format", tag="projections/1"):
    """How all of them stand."""

    sessions: int
    """In the log, of every project."""
    waiting: int
    """Appends that no projection has folded yet."""
    projections: tuple[ProjectionStatus, ...]


class ProjectionsRebuilt(Result, frozen=True, tag_field="format", tag="projections-rebuild/1"):
    """What a rebuild did, and how large the log is."""

    rebuilt: tuple[str, ...]
    reopened: int
    """Open calls that no row of `claims` had."""
    sessions: int
    events: int
    waiting: int


class Mended(Result, frozen=True):
    """What a rebuild found beside the projections."""

    owed: tuple[ArtifactDue, ...]
    """Documents that were never written."""
    unfolded: int
    """Sessions that could not be folded, as far as the projection `sessions` knows all."""


def projections(request: Request) -> Projections:
    """How far each projection is; no session is folded."""
    process = request.process
    counts = process.following.counts()
    return Projections(
        sessions=counts["sessions"],
        waiting=counts["waiting"],
        projections=tuple(map(_projection_status_of, process.projector.states())),
    )


def _projection_status_of(one: ProjectionState) -> ProjectionStatus:
    known, state = one.registered, "complete"
    if known is None:
        state = "never built"
    elif known.version != one.version:
        state = "of another version"
    elif not known.complete:
        state = "being rebuilt"
    return ProjectionStatus(
        name=one.name,
        version=one.version,
        folded_version=known.version if known else None,
        state=state,
        sessions=one.sessions,
    )


def rebuild(
    request: Request, names: Sequence[str] = (), drawn: Drawn = undrawn
) -> tuple[ProjectionsRebuilt, Mended]:
    """Fold every session again, for all or some projections; others may record meanwhile."""
    process = request.process
    names = tuple(dict.fromkeys(names)) or tuple(s.name for s in process.projector.states())
    with drawn(process.following.counts()["sessions"]) as update:
        process.projector.rebuild(names, update)
    process.projector.follow()
    lost = list(reopened(process.runner, SqlAuditing(process.store)))
    mended = Mended(
        owed=tuple(due for one in lost for due in one.documents), unfolded=_unfolded(request)
    )
    counts = process.following.counts()
    reopens = sum(len(one.calls) for one in lost)
    return ProjectionsRebuilt(rebuilt=names, reopened=reopens, **counts), mended


def _unfolded(request: Request) -> int:
    states = request.process.projector.states()
    if not any(state.name == "sessions" and state.is_current for state in states):
        return 0
    return sum(map(is_unfolded, request.process.following.rows("sessions", None, "unfolded")))


class ErasurePlan(Result, frozen=True):
    """What is to be erased, and what quotes it."""

    doomed: tuple[Doomed, ...]
    others: tuple[Doomed, ...]
    """The sessions that quote those, as far as they can be erased."""
    quotes: Quotes
    reason: str
    """As it will be recorded."""
    kept: tuple[PreflightsError, ...]
    """Why sessions that quote cannot be."""


class Stated(Quote, frozen=True, kw_only=True):
    """A session that quotes another one."""

    stays: bool
    """False where it is erased as well."""


class Erased(Result, frozen=True, tag_field="format", tag="erase/1"):
    """What went; of a dry run, what would go."""

    erased: bool
    sessions: tuple[Doomed, ...]
    quotes: tuple[Stated, ...]
    unread: tuple[str, ...]
    """Sessions that could not be looked at, and may quote."""
    scrubbed: bool | None
    """Whether the database's journal is empty of it; None where nothing was erased."""


def resolve_erasure_targets(
    request: Request, named: Sequence[str], *, looks: bool
) -> tuple[Request, list[str]]:
    """The ids of sessions, and the request that can erase them.

    The log first takes over every session that only files have, since each may quote what goes.
    What a branch brought back of one that is erased goes again.

    Args:
        looks: whether nothing will be erased, and so nothing is taken over.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        ReadOnlyLog: the text would stay in a log that cannot be written.
    """
    if looks:
        if len(named) != 1 and request.reading.filed is not None:
            text = "session files say more than the log: erasing takes over what only they have"
            request.notice("files_not_listed", text)
        if len(named) != 1:
            return request, [request.sessions.resolved(one, ANY) for one in named]
        found = request.reading.find(named[0])
        return request.at(found.process), [found.session_id]
    refuse_erasing(request.process.settings)
    for one in named:
        request.reading.find(one)
    take_new(request)
    ids = [*dict.fromkeys(request.sessions.resolved(one, ANY) for one in named)]
    for session_id in ids:
        file = FiledSessions(request.process).file_of(session_id)
        if file is not None and file.compared == "restored":
            _erase_files(request, [session_id])
    return request, ids


def _erase_files(request: Request, session_ids: Sequence[str]) -> None:
    """Take the text out of the files of sessions, and what features keep beside the log; say what
    that does not reach.
    """
    paths: list[str] = []
    for session_id in session_ids:
        try:
            FEATURES.port("erased")(request.process, session_id)
            paths.extend(erased_files(request.process, session_id))
        except PreflightsError as error:
            request.notice("session_file_stays", str(error), session=session_id)
    if paths:
        more = f" and {len(paths) - 1:,} more session files" if paths[1:] else ""
        text = f"{paths[0]}{more} erased: commit this. Git's history keeps the text"
        request.notice("session_files_erased", text, paths=paths)


def plan_erasure(request: Request, named: Sequence[str], reason: str = "") -> ErasurePlan:
    """What erasing means for the named sessions.

    Raises:
        UnknownSession, ErasedSession, LogDamaged: one cannot be erased.
        Refused: likewise; or the reason repeats what is to be erased.
    """
    erasure = request.erasure
    ids = dict.fromkeys(request.sessions.resolved(one, ANY) for one in named)
    doomed = tuple(erasure.doomed(session_id) for session_id in ids)
    quotes = erasure.quoting(doomed)
    quoting = dict.fromkeys(quote.session_id for quote in quotes.found)
    each = list(erasure.each_doomed(quoting))
    others = tuple(one for one in each if isinstance(one, Doomed))
    return ErasurePlan(
        doomed=doomed,
        others=others,
        quotes=quotes,
        reason=erasure.reason(reason, [*doomed, *others]),
        kept=tuple(one for one in each if isinstance(one, PreflightsError)),
    )


def erase(
    request: Request,
    planned: ErasurePlan,
    doomed: Sequence[Doomed],
    tell: Callable[[Doomed | PreflightsError], None] = lambda _: None,
) -> Erased:
    """Erase sessions of a plan for good.

    Args:
        tell: takes each session that went, or why it did not: another process was first.
    """
    gone: list[Doomed] = []
    for one in doomed:
        try:
            request.erasure.erase(one.session_id, planned.reason)
        except ErasedSession as error:
            tell(error)
            continue
        gone.append(one)
        tell(one)
    _erase_files(request, [one.session_id for one in gone])
    untitled = [replace(one, title=None) for one in gone]
    return report_erasure(planned, untitled, scrubbed=request.process.store.scrubbed())


def report_erasure(
    planned: ErasurePlan, doomed: Sequence[Doomed], scrubbed: bool | None = None
) -> Erased:
    """What went; where nothing was scrubbed, what would go."""
    quotes = planned.quotes
    ids = {one.session_id for one in doomed}
    return Erased(
        erased=scrubbed is not None,
        sessions=tuple(doomed),
        quotes=tuple(Stated(**asdict(q), stays=q.session_id not in ids) for q in quotes.found),
        unread=quotes.unread,
        scrubbed=scrubbed,
    )
