"""Whether the log is what was recorded, what remembers that outside of it, and whether each session
file of a clone holds one session that belongs there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from preflights_es.history import verification
from preflights_es.history.verification import (
    Broken,
    CheckpointComparison,
    CheckpointDifference,
    Comparison,
    SideTableCheck,
    Verified,
)
from preflights_es.kernel.errors import (
    AnotherVersion,
    LogDamaged,
    PreflightsError,
    Refused,
    UnreadableEvent,
    WorkflowMissing,
)
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Head, Stored
from preflights_es.projections.projection import Read
from preflights_es.records.session_files import SIZE_MAX, SessionFolder, name_session_file
from preflights_es.runtime.finder import ANY
from preflights_es.runtime.runner import EventReader
from preflights_es.settings.load import Settings
from preflights_es.store import audit_evidence as checkpoints
from preflights_es.store import jsonl
from preflights_es.store.audit_evidence import Checkpoint, SqlAuditing
from preflights_es.store.stored_events import unambiguous, verified
from preflights_es.system.files import Unreadable, new_file, regular
from preflights_es.use.filed_sessions import check_uid
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import Drawn, Result, ticking, undrawn
from preflights_es.words.signing import Signed, bears_signature

if TYPE_CHECKING:
    from preflights_es.use.signatures import Signatures, SignedAct


# 1. Verifying --------------------------------------------------------------------------------


class Verification(Verified, frozen=True, tag_field="format", tag="audit-verify/1"):
    """The log, its projections, the tables beside it, and where asked for a checkpoint."""

    against: CheckpointComparison | None = None
    signatures: SignatureCount | UnsetType = UNSET
    """What became of signatures; not written where there are none. One that does not verify is
    among `broken`."""
    files: FilesAlone | UnsetType = UNSET
    """The session files of a clone whose log has no session; not written where the log has any, or
    no file lies there."""


class FilesAlone(Result, frozen=True):
    """Session files that no log is beside."""

    sessions: int
    """Those that were verified."""
    events: int
    damage: tuple[FileDamage, ...]


class SignatureCount(Result, frozen=True):
    """Signatures of acts, each checked anew."""

    signed: int
    """Acts that allowed signers signed."""
    signers: tuple[str, ...]
    """Their principals, sorted."""
    unknown: int
    """Acts that other keys signed."""
    keys: tuple[str, ...]
    """The fingerprints of these keys, sorted."""
    unchecked: int
    """Signatures that could not be checked."""
    why: str
    """Why, of the first of them; empty without any."""


class SignatureCheck:
    """Counts signatures on the way through sessions; nothing is taken from a memory."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._found: list[Signed] = []
        self._unchecked = 0
        self._why = ""
        self.broken: list[Broken] = []

    @cached_property
    def _signatures(self) -> Signatures:
        from preflights_es.use.signatures import Signatures  # few logs have any

        return Signatures(self._settings, remembers=False)

    def look(self, reader: EventReader, stored: Sequence[Stored]) -> None:
        """Check those of a session whose chain holds."""
        borne = sum(map(bears_signature, stored))
        if not borne:
            return
        found: list[SignedAct] = []
        why = "it was signed for another repository"
        try:
            found += self._signatures.checked(reader, stored)
        except PreflightsError as error:
            why = str(error)
        if len(found) < borne:
            self._leave(borne - len(found), why)
        for act in found:
            if act.signed.verdict == "does_not_verify":
                said = f"its signature {act.signed}"
                code = "signature_does_not_verify"
                self.broken.append(Broken(stored[0].session_id, act.version, said, code))
            elif act.signed.verdict == "not_checked":
                self._leave(1, act.signed.why)
            else:
                self._found.append(act.signed)

    def _leave(self, count: int, why: str) -> None:
        self._unchecked += count
        self._why = self._why or why

    def result(self) -> SignatureCount | UnsetType:
        """What was found; unset where nothing bears a signature."""
        if not (self._found or self._unchecked or self.broken):
            return UNSET
        signed = [one for one in self._found if one.verdict == "signed"]
        unknown = [one for one in self._found if one.verdict == "unknown_signer"]
        return SignatureCount(
            signed=len(signed),
            signers=tuple(sorted({one.by for one in signed})),
            unknown=len(unknown),
            keys=tuple(sorted({one.key for one in unknown})),
            unchecked=self._unchecked,
            why=self._why,
        )


class Passed(Result, frozen=True):
    """How many sessions were not looked at, or not wholly, and which projections."""

    others: int
    """Of other projects."""
    unread: int
    """Those that cannot be folded: no projection was held against them."""
    unknown: int
    """Those of a workflow that is not known here, likewise."""
    unreadable: tuple[UnreadableEvent, ...]
    """Of each whose code cannot read one of its events, the first such event, likewise."""
    projections: tuple[str, ...]
    """Projections that were not compared, each with the reason, in words."""
    files: tuple[str, ...] = ()
    """Of a clone without a log: session files whose chain holds and which this version leaves out,
    each with the reason, in words."""


def verify(
    request: Request,
    named: Sequence[str] = (),
    *,
    everything: bool = False,
    against: Checkpoint | None = None,
    drawn: Drawn = undrawn,
) -> tuple[Verification, Passed]:
    """Verify the chains of this project's sessions, of all, or of the named ones.

    Args:
        against: a checkpoint; its sessions are verified.

    Raises:
        LogDamaged: the database as a whole cannot be read.
    """
    process = request.process
    project = against.project if against else None if everything else process.project
    scope = None if everything else project
    comparison = Comparison(against) if against else None
    heads = _resolve_session_heads(request, named) if named else _heads(request, scope)
    side_tables, others = process.side_table_check(), 0
    files: FilesAlone | UnsetType = UNSET
    signatures = SignatureCheck(process.settings)
    with process.projection_check() as check:

        def look(head: Head, stored: Sequence[Stored]) -> Read | None:
            signatures.look(process.runner, stored)
            return check.look(head, stored)

        with drawn(len(heads)) as update:
            looked_at = ticking(heads, update)
            found = verification.walked(
                process.store, looked_at, comparison, look, beside=side_tables.look
            )
        if not (named or heads) and process.known_project:
            files = _files_alone(process, signatures)
        astray = list(check.differences())
        if not named:
            known = {head.session_id for head in heads}
            astray += [one for one in check.strays(scope) if one.session_id not in known]
    ours = project or process.known_project
    broken = tuple(verification.told_if_moved(process.store, one, ours) for one in found.broken)
    if not named:
        broken = _all(request, side_tables, broken, scope)
        others = process.store.counts()["sessions"] - len(heads)
    broken = (*broken, *signatures.broken)
    if against and (other := _find_renamed_log(request, against)):
        broken = (*broken, other)
    unwritten = tuple(side_tables.unwritten)
    found = replace(found, broken=broken, projections=tuple(astray), unwritten=unwritten)
    compared = comparison.result() if comparison else None
    passed = Passed(
        others=others,
        unread=check.unread,
        unknown=check.unknown,
        unreadable=tuple(check.unreadable),
        projections=check.left_out,
        files=_files_left_out(process, files) if files else (),
    )
    return Verification(
        **asdict(found), against=compared, signatures=signatures.result(), files=files
    ), passed


def _files_alone(process: Process, signatures: SignatureCheck) -> FilesAlone | UnsetType:
    """The session files of a clone, and the signatures in them."""
    found, files = checked_files(process), process.file_log
    for head in () if files.is_empty else files.store.heads(process.project):
        signatures.look(files.runner, files.store.read(head.session_id))
    return found if found.sessions or found.damage else UNSET


def _files_left_out(process: Process, found: FilesAlone) -> tuple[str, ...]:
    """What no reader here shows, and is no damage: this version does not know how to."""
    damaged = {one.file for one in found.damage}
    return tuple(one.told for one in process.file_log.others if one.path not in damaged)


def _all(
    request: Request, side_tables: SideTableCheck, found: Sequence[Broken], project: str | None
) -> tuple[Broken, ...]:
    """With what is left of sessions that are not there, and what belongs to none."""
    broken = list(found)
    headless = verification.headless(request.process.store) if project is None else ()
    for more in (headless, side_tables.gone(project), side_tables.rest(project)):
        said = {one.session_id for one in broken if one.session_id}
        broken += [one for one in more if one.session_id not in said]
    return (*broken, *verification.unnamed(request.process.log_id))


def _find_renamed_log(request: Request, remembered: Checkpoint) -> Broken | None:
    """Says that the log's name differs from the checkpoint's."""
    try:
        now = request.process.log_id()
    except LogDamaged:
        return None  # it is named already
    if remembered.log == now:
        return None
    found = (
        f"its id is {now!r}, and the checkpoint was made of {remembered.log!r}: this is another "
        "log, or its id was changed and keys (`--key`) are recorded again: restore the table 'log' "
        "from a copy, or name a new file for this log's checkpoint"
    )
    return Broken("", 0, found)


def _heads(request: Request, project: str | None) -> Sequence[Head]:
    """All of a project (of the log: None), and those whose head alone names another one."""
    heads = request.process.store.heads(project)
    if project is None:
        return heads
    moved = SqlAuditing(request.process.store).moved(project)
    return (*heads, *request.process.store.heads_of(moved).values()) if moved else heads


def _resolve_session_heads(request: Request, typed: Sequence[str]) -> Sequence[Head]:
    heads = (request.process.store.head(request.sessions.resolved(one, ANY)) for one in typed)
    return [head for head in heads if head is not None]


# 2. Checkpoints ------------------------------------------------------------------------------


class Checkpointed(Result, frozen=True, tag_field="format", tag="audit-checkpoint/1"):
    """A checkpoint that was made."""

    project: str | None
    """None for every project."""
    sessions: int
    root: str
    file: str | None
    """As it was named; None where it was not written."""


def checkpoint(
    request: Request, file: str | None = None, *, everything: bool = False, drawn: Drawn = undrawn
) -> tuple[Checkpointed, bytes]:
    """Verify every chain, and remember how far each session came; also the content of the file.

    Args:
        file: a new file to write.

    Raises:
        Refused: the file is there.
        LogDamaged: a chain does not hold.
    """
    process = request.process
    project = None if everything else process.project
    heads = process.store.heads(project)
    with drawn(len(heads)) as update:
        looked_at = ticking(heads, update)
        made = verification.make_verified_checkpoint(
            process.store, project, looked_at, process.log_id()
        )
    content = checkpoints.encode_checkpoint(made)
    if file is not None:
        with new_file(file) as new:
            new.write(content)
    tips = len(made.tips)
    return Checkpointed(project=project, sessions=tips, root=made.root, file=file), content


def read_checkpoint(file: str) -> Checkpoint:
    """A checkpoint from a file.

    Raises:
        Refused: it cannot be read, or is too large.
        LogDamaged, AnotherVersion: it is no checkpoint of this version.
    """
    try:
        raw = regular(Path(file), checkpoints.FILE_MAX)
    except (Unreadable, OSError) as error:
        raise Refused(f"{file} cannot be read: {getattr(error, 'strerror', error)}") from error
    return checkpoints.parse_checkpoint(raw, file)


def differs(found: CheckpointDifference) -> str:
    """What became of a session that a checkpoint remembers, in words."""
    match found.kind:
        case "missing":
            return f"is missing: the checkpoint has it at version {found.remembered}"
        case "cut":
            then, now = found.remembered, found.version
            return f"was cut: the checkpoint has it at version {then}, {now} are left"
        case _:
            return f"was recomputed: event {found.remembered} has another hash than it had"


class FileDamage(msgspec.Struct, frozen=True):
    """A session file that does not hold, or cannot be read."""

    file: str
    """Relative to the project's root; of a folder that cannot be read, its path."""
    found: str


def checked_files(process: Process) -> FilesAlone:
    """Verify the session files of a project; those of other projects are left alone."""
    lengths, damage, seen = list[int](), list[FileDamage](), set[str]()
    for path, content in _contents(process, damage):
        try:
            events = verified(tuple(jsonl.stored(content.splitlines(keepends=True), path)))
            if events and events[0].project != process.project:
                continue
            _check_place(process, path, events)
            if events[0].session_id in seen:
                raise Unreadable(f"session {events[0].session_id} has another file")
        except (Unreadable, PreflightsError) as error:
            damage.append(FileDamage(path, getattr(error, "found", "") or str(error)))
        else:
            seen.add(events[0].session_id)
            lengths.append(len(events))
    return FilesAlone(sessions=len(lengths), events=sum(lengths), damage=tuple(damage))


def _contents(process: Process, damage: list[FileDamage]) -> Iterator[tuple[str, bytes]]:
    """The path and the bytes of each session file; what cannot be read is added to the damage."""
    for place in process.session_folders:
        try:
            names = place.names()
        except Unreadable as error:
            damage.append(FileDamage(place.path, str(error)))
            continue
        yield from _of_folder(place, names, damage)


def _of_folder(
    place: SessionFolder, names: Sequence[str], damage: list[FileDamage]
) -> Iterator[tuple[str, bytes]]:
    with place.reading() as folder:
        for name in names if folder else ():
            assert folder is not None, "names are of one that is there"
            try:
                yield f"{place.path}/{name}", folder.content(name, SIZE_MAX)
            except (Unreadable, OSError) as error:
                why = getattr(error, "strerror", None) or str(error)
                damage.append(FileDamage(f"{place.path}/{name}", why))


def _check_place(process: Process, path: str, events: Sequence[Stored]) -> None:
    """See that a file holds one session, which belongs there.

    Raises:
        Unreadable: it does not.
        LogDamaged: a reader could take an event for another.
    """
    if not events:
        raise Unreadable("it holds no events")
    for event in events:
        unambiguous(event)
    home, _, name = path.rpartition("/")
    first = events[0]
    if name != name_session_file(decision_uid(first.session_id)):
        raise Unreadable(f"it holds session {first.session_id}, and its name says another")
    try:
        workflow = process.runner.workflow(first.workflow)
    except WorkflowMissing:
        return  # where its sessions lie is not known here
    homes = [one.path for one in process.session_homes(first.workflow)]
    if home not in homes:
        raise Unreadable(f"its place is {homes[0]}")
    with suppress(UnreadableEvent, AnotherVersion):  # another version of the code: no damage
        check_uid(first, process.runner.codec(workflow).decode)
