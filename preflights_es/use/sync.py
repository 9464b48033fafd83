"""Brings the log and its session files together."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from preflights_es.history.imports import Review, SessionChange
from preflights_es.history.transfer import TransferredSession
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.text import escaped_text
from preflights_es.projections.artifacts import decode_plan_row
from preflights_es.projections.decisions import decode_patch_row, filter_decisions_in_force
from preflights_es.records import files
from preflights_es.store import jsonl
from preflights_es.store.stored_events import erased_before, verified
from preflights_es.system.files import Unreadable
from preflights_es.use.archives import Agreement, Lines, SessionImported, imported_each, importer_of
from preflights_es.use.decisions import notice_clashes
from preflights_es.use.filed_sessions import FOREIGN, FiledSession, FiledSessions
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import Result
from preflights_es.use.stand_in import take_over_stand_in


class AbsentRecord(Result, frozen=True):
    """A record of a decision in force that does not lie in this work tree."""

    session_id: str
    name: str
    path: str

    @property
    def found(self) -> str:
        """What is so."""
        return f"{escaped_text(self.path)} is not here, and {self.name} holds all the same"


class Synced(Result, frozen=True, tag_field="format", tag="sync/1"):
    """What a synchronisation did, and what it could not do."""

    sessions: tuple[SessionImported, ...] = ()
    """Sessions of files that the log took over, or went on with."""
    written: tuple[str, ...] = ()
    """Ids of the sessions whose files were written."""
    waiting: tuple[FiledSession, ...] = ()
    """Files that erase a session of the log, which stays: `admin erase` erases it here."""
    apart: tuple[FiledSession, ...] = ()
    """Files that hold other events than the log, or that it does not take over."""
    absent: tuple[AbsentRecord, ...] = ()
    """Records of decisions in force that do not lie here; another branch may have them."""
    imported: bool = True
    """False where sessions of the log would change, and the caller did not agree."""
    changes: tuple[SessionChange, ...] = ()
    warnings: tuple[str, ...] = ()


def synced(
    request: Request,
    agrees: Callable[[Review], bool],
    tell: Callable[[TransferredSession], None] = lambda _: None,
    *,
    only: Collection[str] | None = None,
) -> Synced:
    """Take over what files say more than the log, and write files that lack something.

    Args:
        agrees: whether sessions of the log may change so; as for `Transfer.imported`.
        tell: takes every session as it is taken.
        only: the sessions that are brought together.

    Raises:
        Refused, StoreUnavailable: as for `Transfer.imported`.
    """
    process, taking, importer = request.process, Agreement(agrees), importer_of(request)
    taken = list(take_over_stand_in(process, taking, tell, importer)) if only is None else []
    if not taking.given:
        return _with_agreed_imports(Synced(), taking)
    found = [
        one
        for one in FiledSessions(process).files(whole=True)
        if only is None or one.file.session_id in only
    ]
    more = [one for one in found if one.file.compared in FOREIGN]
    waiting = [one.file for one in more if one.file.is_erased and one.file.here]
    coming = {one.file.session_id: one for one in more if one.file not in waiting}
    left = {file.session_id for file in waiting}
    if coming and importer.is_agent:
        text = "session files say more than the log, and an agent imports nothing"
        request.notice("files_not_imported", text)
        left |= coming.keys()
        coming = {}
    lines: Lines = {
        id_: partial(map, jsonl.encode_event_line, one.events) for id_, one in coming.items()
    }
    refused: dict[str, str] = {}
    where = process.session_folders.paths
    for one in imported_each(
        process.transfer, lines, where, agrees=taking, refused=refused, importer=importer
    ):
        taken.append(one)
        tell(one)
    if not taking.given:
        return _with_agreed_imports(Synced(), taking)
    process.forget_files()
    apart = [one.file for one in found if one.file.compared in ("diverged", "unread")]
    apart += [replace(coming[id_].file, compared="unread", why=why) for id_, why in refused.items()]
    left |= {file.session_id for file in apart}
    ids = [one.file.session_id for one in found if one.file.compared != "same"]
    if only is None:
        notice_clashes(request)
    done = Synced(
        sessions=tuple(map(SessionImported.of, taken)),
        written=_write_lacking_files(process, ids, left, everything=only is None),
        waiting=tuple(waiting),
        apart=tuple(apart),
        absent=list_absent_records(process) if only is None else (),
    )
    return _with_agreed_imports(done, taking)


def _with_agreed_imports(done: Synced, taking: Agreement) -> Synced:
    changes, warnings = tuple(taking.changes), tuple(taking.warnings)
    return replace(done, imported=taking.given, changes=changes, warnings=warnings)


def _write_lacking_files(
    process: Process, ids: Sequence[str], left: Collection[str], *, everything: bool
) -> tuple[str, ...]:
    """Files that were missing, behind, or held what the log has erased.

    Args:
        ids: sessions that have a file.
        left: sessions whose files stay as they are.
        everything: also writes files of sessions that have none, where their record or artifact
            lies here: other work trees share the log. Not where none are to be kept.
    """
    wanted = dict.fromkeys(ids)
    if everything and process.settings.keeps_sessions:
        root = process.settings.root
        filed = _session_document_paths(process)
        wanted |= dict.fromkeys(id_ for id_, path in filed if os.path.lexists(root / path))
    store = process.store
    with files.alone(process.settings.root):  # what another process keeps meanwhile is newer
        return tuple(
            session_id
            for session_id in sorted(wanted.keys() - left)
            if session_id and store.head(session_id) and process.session_files.keep(session_id)
        )


def _session_document_paths(process: Process) -> Iterator[tuple[str, str]]:
    """Pairs of a session and the path of its record or artifact, as it was written."""
    for row in map(decode_patch_row, process.projector.rows("decisions", process.project)):
        if row.decided.written:
            yield row.session_id, row.decided.written.path
    for made in map(decode_plan_row, process.projector.rows("artifacts", process.project)):
        if made.planned.path:
            yield made.session_id, made.planned.path


def list_absent_records(process: Process) -> tuple[AbsentRecord, ...]:
    """Records of decisions in force that the log says were written, and that do not lie here.

    Nothing is folded for it.
    """
    root = process.settings.root
    rows = process.following.rows("decisions", process.project, "in_force")
    return tuple(
        AbsentRecord(session_id=one.session_id, name=one.decided.name, path=written.path)
        for one in filter_decisions_in_force(rows)
        if (written := one.decided.written) and not os.path.lexists(root / written.path)
    )


def take_new(request: Request) -> None:
    """Take over the sessions that only files have, where a person or a script is at work.

    Raises:
        StoreUnavailable: as for `synced`.
    """
    if request.actor.kind == "agent":
        return
    filed = request.process.file_log.files.values()
    if new := {file.session_id for file in filed if file.compared == "new"}:
        synced(request, lambda review: not review.changes, only=new)


def erased_files(process: Process, session_id: str) -> Iterator[str]:
    """Write the files of a session that was erased anew, unless they are erased; their paths.

    Raises:
        ArtifactOutside, StoreUnavailable: it cannot be written.
    """
    name = f"{decision_uid(session_id)}.jsonl"
    for folder in process.session_folders:
        try:
            content = folder.content(name)
        except Unreadable:
            content = b""
        if content is not None and not _is_erased(content, name):
            with files.alone(process.settings.root):
                process.session_files.keep(session_id, over=True, folder=folder)
            yield f"{folder.path}/{name}"


def _is_erased(content: bytes, name: str) -> bool:
    """Whether a session file holds no text any more."""
    try:
        events = verified([*jsonl.stored(content.splitlines(keepends=True), name)])
    except PreflightsError:
        return False
    before = erased_before(events)
    return before > 0 and all(one.data is None for one in events[: before - 1])
