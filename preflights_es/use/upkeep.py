"""What keeps a log in order: its database, its projections, documents that are rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from preflights_es.history.verification import walked
from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.events import ArtifactDue
from preflights_es.runtime.lost_calls import reopened
from preflights_es.runtime.projector import ProjectionState
from preflights_es.store import frozen
from preflights_es.store.side_tables import SqlAuditing
from preflights_es.store.sql import SqlStore
from preflights_es.store.urls import file_of, parse_log_address, shown_url
from preflights_es.system import clock_ids
from preflights_es.system.files import new_path
from preflights_es.use.decisions import is_unfolded
from preflights_es.use.progress import Drawn, ticking, undrawn
from preflights_es.use.request import Request
from preflights_es.use.results import Result


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
    request: Request,
    names: Sequence[str] = (),
    drawn: Drawn = undrawn,
) -> tuple[ProjectionsRebuilt, Mended]:
    """Fold every session again, for all or some projections; others may record meanwhile."""
    process = request.process
    names = tuple(dict.fromkeys(names)) or tuple(s.name for s in process.projector.states())
    with drawn(process.following.counts()["sessions"]) as update:
        process.projector.rebuild(names, update)
    process.projector.follow()
    lost = list(reopened(process.runner, SqlAuditing(process.store)))
    mended = Mended(
        owed=tuple(due for one in lost for due in one.documents),
        unfolded=_unfolded(request),
    )
    counts = process.following.counts()
    reopens = sum(len(one.calls) for one in lost)
    return ProjectionsRebuilt(rebuilt=names, reopened=reopens, **counts), mended


def _unfolded(request: Request) -> int:
    states = request.process.projector.states()
    if not any(state.name == "sessions" and state.is_current for state in states):
        return 0
    return sum(map(is_unfolded, request.process.following.rows("sessions", None, "unfolded")))
