"""What decisions say of a change: the gate of a pull request.

It needs no log: in a fresh clone, records and session files say what is decided. What needs no base
is checked without one.

A new kind of finding is a name in `Rule`, a generator beside the others, and a row in
docs/check.md.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec.structs import replace

from preflights_es.features.govern.base_side import path_with_parents
from preflights_es.features.govern.brought_in import find_brought_in
from preflights_es.features.govern.changes import (
    ChangedFile,
    ChangeSet,
    SessionChanges,
    contents,
    printable,
    read_change_set,
    was_there,
    with_linked_files,
)
from preflights_es.features.govern.decision_changes import BothSides
from preflights_es.features.govern.edited_records import (
    describe_differing_record,
    differing_records,
)
from preflights_es.features.govern.findings import (
    LEVELS,
    NAMED_MAX,
    NEWER,
    Finding,
    Level,
    alias_findings,
    change_findings,
    converted_findings,
    files_said,
    finding,
    gate_findings,
    lost_findings,
    signatures_at,
    signer_findings,
    unsigned_findings,
)
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import escaped_text
from preflights_es.records.foreign_records import record_header
from preflights_es.records.record_folder import folder_of
from preflights_es.records.record_names import HELD, RecordHeader, is_page
from preflights_es.system.files import Unreadable
from preflights_es.use.conflicts import list_conflicts
from preflights_es.use.foreign import Foreign, ForeignRow, number_clashes_of
from preflights_es.use.holding import as_held, describe_holding_decision, is_counted, unused_of
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, Drawn, Result, ticking, undrawn
from preflights_es.use.turned_down import former_of
from preflights_es.use.work_tree import WorkTree, project_path
from preflights_es.words.decisions import describe_conflict
from preflights_es.words.path_patterns import find_pattern_prefix

NOT_WRITTEN: Final = "none"  # instead of a digest
FINDING, UNVERIFIED, NO_BASE = 1, 4, 6
COMPARED_MAX: Final = 1_000_000
"""How often patterns of records without a session are held against paths: strangers may write any
number of them, and they only tell. Those of decisions are all compared."""


class Checked(Result, frozen=True, kw_only=True, tag_field="format", tag="check/1"):
    """What decisions say of a change."""

    project: str
    base: str | None
    """The commit with which the change was compared."""
    changed: int
    """How many files were checked."""
    findings: tuple[Finding, ...]
    left_out: tuple[str, ...]
    """What could not be checked, and what to do."""
    codes: tuple[int, ...]
    """Every exit code that applies; the first one counts."""

    @property
    def code(self) -> int:
        """The exit code."""
        return self.codes[0] if self.codes else 0


def check_change(
    request: Request,
    *,
    base: str = "",
    staged: bool = False,
    files: Sequence[str] = (),
    require_signed: bool = False,
    cwd: Path | None = None,
    compared_max: int = COMPARED_MAX,
    drawn: Drawn = undrawn,
) -> Checked:
    """Check the work tree against HEAD, or another change.

    Args:
        base: a revision: what was done since it parted from HEAD.
        staged: what the next commit holds.
        files: these, whatever changed in them.
        require_signed: whether a signer of the base, or else of HEAD, has to sign what is accepted.
        compared_max: how often patterns of records without a session are held against paths.

    Raises:
        Refused: several of them, or a file outside of the project.
    """
    root = request.process.settings.root
    if bool(base) + staged + bool(files) > 1 or base.startswith("-"):
        message = "give one of a base, what is staged, and files; a base does not begin with -"
        raise Refused(message, code="which_change")
    if require_signed and files:
        message = "signatures are required of a change: leave the files out"
        raise Refused(message, code="which_change")
    whole = WorkTree(root)
    if files:
        change = _change_of_named_files(whole, files, cwd)
    else:
        change = read_change_set(root, base, staged=staged)
    sides = BothSides(request, change)
    rows = [*sides.in_force()]
    own = [one for one in rows if isinstance(one, DecisionRow)]
    former = former_of(one for one in sides.counted if isinstance(one, DecisionRow))
    others = [one for one in rows if isinstance(one, ForeignRow)]
    linked = with_linked_files(root, change)
    tree = WorkTree(root, (one.path for one in linked.files))
    sessions = SessionChanges(request, change, sides.woken)
    naming = _naming(request, sides.here, change)
    doubt: Level = "error" if require_signed else "warning"
    signatures, unknown = None, ""
    if require_signed and not change.trouble:
        signatures, unknown = signatures_at(request.process.settings, change.tip, base or "HEAD")
    with drawn(len(rows)) as update:
        found = [*lost_findings(sides)]
        found += _differing_record_findings(request, sides.here, change, naming)
        found += converted_findings(request, change)
        found += _clashes(request, change if base else None)
        unsigned: list[Finding] = []
        if signatures is not None:
            alone = [one.path for one in sides.new_records]
            alone += [one.path for one in naming if one.says_accepted and one.row is None]
            unsigned += unsigned_findings(request, signatures, sides, sessions, alone=alone)
        paths = [one.file for one in unsigned]
        found += [*unsigned, *change_findings(request, sides, sessions, signatures, unsigned=paths)]
        found += signer_findings(change, is_required=require_signed)
        found += gate_findings(request, change, is_required=require_signed)
        found += alias_findings(root, change, doubt)
        filed = _files_of_sessions(request, sides.counted, sessions)
        found += _of_places(ticking(own, update), tree, former, filed=filed)
        found += find_brought_in(rows, sides.counted, tree, linked, level=doubt)
        found += [*_contradictions(request, own, others), *_unused(own, whole, tree, level=doubt)]
        changed = {one.decision for one in found if one.rule == "decision-changed"}
        found += _unclear(sides.beside, change, is_whole=not base, told=changed)
        before = tree.compared, whole.compared
        found += _of_places(ticking(others, update), tree, former, compared_max)
        found += _unused(others, whole, tree, level=doubt, compared_max=compared_max)
    unread = ", ".join(map(printable, sides.base.unread[:NAMED_MAX]))
    lacking = f"{unread} of the base: too large, or not in this clone" if unread else ""
    left_out = [*filter(None, (change.trouble, change.doubt, unknown, lacking))]
    doubtful = change.doubt if require_signed else ""
    if max(tree.compared - before[0], whole.compared - before[1]) > compared_max:
        left_out.append("some patterns of records without a session: there are too many")
    found.sort(key=lambda one: (LEVELS.index(one.level), one.file))
    return Checked(
        project=request.process.project,
        base=change.base or None,
        changed=len(change.files),
        findings=tuple(found),
        left_out=tuple(left_out),
        codes=tuple(_codes(found, change.trouble or unknown or lacking or doubtful)),
    )


def _codes(found: Iterable[Finding], trouble: str) -> Iterator[int]:
    rules = {one.rule for one in found if one.level == "error"}
    if "unverified-session" in rules:
        yield UNVERIFIED
    if rules - {"unverified-session"}:
        yield FINDING
    if trouble:
        yield NO_BASE


def _change_of_named_files(tree: WorkTree, typed: Iterable[str], cwd: Path | None) -> ChangeSet:
    """The files that are named, and those in a folder that is."""
    root, paths = tree.root, dict[str, None]()
    for named in typed:
        is_root = os.path.realpath((cwd or root) / named) == os.path.realpath(root)
        path = "" if is_root else project_path(root, named, cwd)
        inside = tree.below(path) if is_root or path.endswith("/") else [path]
        if not inside:
            raise Refused(f"{named!r} holds no file: name one that is there", code="no_file")
        is_there = os.path.lexists(root / path) or path in tree.files or was_there(root, path)
        if not is_there:
            message = f"{named!r} is no file here, and was none at HEAD: name one that is there"
            raise Refused(message, code="no_file")
        paths |= dict.fromkeys(inside)
    lies = {path: root / path for path in paths}
    return ChangeSet(
        tuple(
            ChangedFile(path, is_gone=not (at.exists() or at.is_symlink()))
            for path, at in lies.items()
        )
    )


# 1. Places ------------------------------------------------------------------------------------


def _of_places(
    rows: Iterable[DecisionRow | ForeignRow],
    tree: WorkTree,
    former: Mapping[str, DecisionRow],
    compared_max: float = inf,
    filed: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Finding]:
    """The decisions that hold for changed files, and those that refuse the change.

    Args:
        filed: by path of a record or session of ours, the folder of records: a decision is
            recorded also in a package that is closed, unless a pattern names that folder.
    """
    most = tree.compared + compared_max
    for row in rows:
        paths = {
            path: pattern
            for pattern in (row.paths if tree.compared <= most else ())
            for path in tree.matching(pattern)
            if path not in filed or find_pattern_prefix(pattern).startswith(filed[path])
        }
        if not paths:
            continue
        touched = sorted(paths)
        one = as_held(row, paths[touched[0]], former)
        line = describe_holding_decision(one)
        newer, files = NEWER.format(escaped_text(one.name)), files_said(touched)
        more = {"decision": one.name, "session_id": one.session_id}
        if one.hold == "deny":
            then = f"and this change touches {files}. Undo that, or {newer}"
            text = f"{line}. What `{one.pattern}` matches is not to be changed, {then}"
            yield finding("denied", "error", text, touched, **more)
            continue
        asks = " Ask a person before you go on." if one.hold == "ask" else ""
        text = f"{line}. It holds for {files} (`{one.pattern}`): keep to it, or {newer}.{asks}"
        yield finding("holds", "warning" if asks else "note", text, touched, **more)


def _files_of_sessions(
    request: Request, rows: Iterable[DecisionRow | ForeignRow], sessions: SessionChanges
) -> Mapping[str, str]:
    """Records of sessions and the files of these sessions, each with its folder of records."""
    folders = request.process.record_places.folders
    records = (row.artifact for row in rows if isinstance(row, DecisionRow) and row.artifact)
    ours = (*filter(is_page, records), *(one.path for one in sessions.now))
    return {path: folder.path for path in ours if (folder := folder_of(path, folders))}


def _unused(
    rows: Sequence[DecisionRow | ForeignRow],
    tree: WorkTree,
    changed: WorkTree,
    *,
    level: Level,
    compared_max: float = inf,
) -> Iterator[Finding]:
    """Patterns of decisions in force that match no file, also where the change took the last."""
    own = {row.session_id: row.artifact or "" for row in rows if isinstance(row, DecisionRow)}
    for unused in unused_of(rows, tree, compared_max):
        name = escaped_text(unused.name)
        todo = f"Restore the files, or {NEWER.format(name)} and says where it holds now"
        text = f"{name}: its pattern `{escaped_text(unused.pattern)}` matches no file. {todo}"
        more = {"decision": unused.name, "session_id": unused.session_id}
        record = [*filter(None, [own.get(unused.session_id, unused.name)])]
        is_new = changed.has_match(unused.pattern)
        yield finding("unused-pattern", level if is_new else "note", text, record, **more)


# 2. Decisions among themselves ----------------------------------------------------------------


def _contradictions(
    request: Request, rows: Sequence[DecisionRow], others: Sequence[ForeignRow]
) -> Iterator[Finding]:
    """Two values in force for one field at one place, of which at least one is a decision's."""
    records = {row.name: row.artifact for row in rows}
    newest_first = sorted(rows, key=lambda row: row.accepted_at or "", reverse=True)
    for conflict in list_conflicts(request.process, [*newest_first, *others]):
        newest = conflict.values[0][1].partition(" ")[0]
        every, other = ("both", "the other") if len(conflict.values) == 2 else ("all", "another")
        todo = f"{NEWER.format(newest)}, or {other}, or keep one as an exception"
        text = f"{describe_conflict(conflict)} are {every} in force. Undo one: {todo}"
        record = records.get(newest) or ""
        names = (name.partition(" ")[0] for _, name in conflict.values)
        # A record of another tool may only name the value in its title.
        level: Level = "error" if records.keys() >= {*names} else "warning"
        yield finding("contradiction", level, text, [record] if record else [], decision=newest)


def _unclear(
    found: Foreign, change: ChangeSet, *, is_whole: bool, told: Collection[str]
) -> Iterator[Finding]:
    """What looks like a record and is not read; records that are not in force although a person may
    think so.

    Args:
        is_whole: whether also those are told that the change does not touch.
        told: records of which it is said already that the change replaces them.
    """
    touched = {part for one in change.files for part in path_with_parents(one.path)}
    for unread in found.unread:
        why = f"{escaped_text(unread.why)}. What it decides is not checked"
        text = f"{escaped_text(unread.path)} looks like a record and is not read: {why}"
        if is_whole or unread.path in touched:
            yield finding("unread-record", "note", text, [unread.path])
    for record in found.doubtful:
        is_new = not touched.isdisjoint((record.path, record.superseded_by, *record.loop))
        if (is_new or is_whole) and not (record.is_one_sided and record.path in told):
            level: Level = "warning" if is_new else "note"
            path = record.path
            yield finding("unclear-record", level, record.doubt, [path], decision=path)


# 3. Records and sessions ----------------------------------------------------------------------


def _differing_record_findings(
    request: Request,
    rows: Iterable[DecisionRow],
    change: ChangeSet,
    naming: Iterable[RecordNamingSession],
) -> Iterator[Finding]:
    own = [
        replace(row, artifact=row.artifact and posixpath.normpath(row.artifact))
        for row in rows
        if is_counted(row)
    ]
    others = (
        replace(one.row, artifact=one.path, sha256=one.row.sha256 or NOT_WRITTEN)
        for one in naming
        if one.row
    )
    gone = (one.path for one in change.files if one.is_gone)
    touched = (one.path for one in change.files)
    for differing in differing_records(request, [*own, *others], gone, touched):
        more = {"decision": differing.row.name, "session_id": differing.row.session_id}
        text, paths = describe_differing_record(differing), [differing.path]
        yield finding("record-differs", "error", text, paths, line=differing.line, **more)


class RecordNamingSession(NamedTuple):
    """A record of the change that names a session as its own, which does not name it."""

    path: str
    row: DecisionRow | None
    """The decision of that session; None where it has none here."""
    says_accepted: bool


def _naming(
    request: Request, rows: Sequence[DecisionRow], change: ChangeSet
) -> tuple[RecordNamingSession, ...]:
    root, folders = request.process.settings.root, request.process.record_places.folders
    named = (row.artifact for row in rows if is_counted(row))
    own = {posixpath.normpath(one or "") for one in named}
    found = dict[str, RecordHeader]()
    pages = [one for one in change.files if is_page(one.path) and folder_of(one.path, folders)]
    for one, content in contents(root, [page for page in pages if page.path not in own]):
        with suppress(Unreadable):  # no list reads it either
            header = record_header(one.name, content or b"")
            found |= {one.path: header} if header.session else {}
    if not found:
        return ()
    every = {row.session_id: row for row in rows}
    return tuple(
        RecordNamingSession(path, every.get(one.session), one.status in HELD)
        for path, one in found.items()
    )


# 4. Numbers -----------------------------------------------------------------------------------


def _clashes(request: Request, change: ChangeSet | None) -> Iterator[Finding]:
    """Numbers that two records of a folder bear.

    Args:
        change: since a base; what the base has is not said again.
    """
    added = {one.path for one in change.files if not one.old} if change else set()
    for clash in number_clashes_of(request.process):
        if change is None or added & {*clash.paths}:
            level: Level = "note" if change is None else "warning"
            text = f"{escaped_text(clash.text)}. Give the younger one another number"
            yield finding("number-clash", level, text, clash.paths)
