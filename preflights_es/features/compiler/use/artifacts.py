"""The artifacts of a project: where they stand, what is stale, by which name, in which files."""

from __future__ import annotations

import os
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from preflights_es.features.compiler.domain.decide import IN_FORCE
from preflights_es.features.compiler.domain.state import State
from preflights_es.features.compiler.domain.views import FILE, FOLDER, envelope
from preflights_es.features.compiler.use.documents import digest
from preflights_es.kernel import ids
from preflights_es.kernel.errors import ArtifactOutside, Refused
from preflights_es.kernel.events import Source
from preflights_es.kernel.ids import SHORT, iso, iso_or_none
from preflights_es.kernel.items import Cause, Planned
from preflights_es.kernel.json import ABSENT, differences
from preflights_es.kernel.text import one_line, shown
from preflights_es.projections.artifacts import PlanRow, plan
from preflights_es.records.files import checked_folder, found_hash
from preflights_es.runtime.finding import LAST
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import Result, Who

What = Literal["changed", "gone", "replaced", "erased"]


class Standings:
    """The plans of a project as they stand; every file is read once."""

    def __init__(self, request: Request, rows: Iterable[PlanRow] | None = None) -> None:
        """Args:
        rows: all that there are; those of the project, unless said.
        """
        self._request = request
        self._root = request.process.settings.root
        self._digests: dict[str, str | None] = {}
        self.rows = tuple(request.reading.rows(_rows) if rows is None else rows)

    @cached_property
    def in_force(self) -> tuple[PlanRow, ...]:
        """Those that are approved or locked, the one that was approved last behind.

        Of a type there may be several: a locked TestPlan beside an approved one, an
        ImplementationPlan for every target.
        """
        found = [row for row in self.rows if row.planned.standing in IN_FORCE]
        found.sort(key=lambda row: (row.planned.changed_at or 0, row.session_id))
        return tuple(found)

    def causes(self, row: PlanRow) -> tuple[Cause, ...]:
        """Why a plan is stale: what it read, and what that had read, the nearest first."""
        return self._stale.get(row.planned.id, ())

    def causes_of(
        self,
        files: Iterable[tuple[str, str]],
        plans: Sequence[tuple[str, Source]],
        decisions: Iterable[tuple[str, Source]],
    ) -> tuple[Cause, ...]:
        """The same of something that read files (path, SHA-256), plans and decisions."""
        found = [*self._own(files, plans, decisions)]
        known = {(one.kind, one.path[0]) for one in found}
        for id_, _ in plans:
            for cause in self._stale.get(id_, ()) if self._counts(id_) else ():
                if (cause.kind, cause.path[0]) not in known:
                    known.add((cause.kind, cause.path[0]))
                    found.append(Cause(cause.kind, (*cause.path, id_), cause.what))
        return tuple(found)

    # 1. What is stale ------------------------------------------------------------------------

    @cached_property
    def _stale(self) -> dict[str, tuple[Cause, ...]]:
        """By id: what is wrong with what a plan read, each by its shortest path.

        Breadth first from what changed to what read it, so that neither a long chain nor one that
        a forged log closes to a ring takes long.
        """
        found: dict[str, dict[tuple[str, str], Cause]] = defaultdict(dict)
        readers: dict[str, list[str]] = defaultdict(list)
        turns: deque[tuple[str, Cause]] = deque()
        for row in self.rows:
            one = row.planned
            plans = [(read.id, read.source) for read in one.records if read.kind == "plan"]
            decisions = ((read.id, read.source) for read in one.records if read.kind == "decision")
            files = ((file.path, file.sha256) for file in one.files)
            for id_, _ in plans:
                readers[id_].append(one.id)
            turns.extend((one.id, cause) for cause in self._own(files, plans, decisions))
        while turns:
            id_, cause = turns.popleft()
            key = cause.kind, cause.path[0]
            if key in found[id_]:
                continue
            found[id_][key] = cause
            if self._counts(id_):
                further = Cause(cause.kind, (*cause.path, id_), cause.what)
                turns.extend((reader, further) for reader in readers[id_])
        return {id_: tuple(each.values()) for id_, each in found.items()}

    def _own(
        self,
        files: Iterable[tuple[str, str]],
        plans: Iterable[tuple[str, Source]],
        decisions: Iterable[tuple[str, Source]],
    ) -> Iterator[Cause]:
        """What changed of that which was read itself."""
        for path, sha256 in files:
            now = self._digest(path)
            if now != sha256:
                yield Cause("document", (path,), "gone" if now is None else "changed")
        for id_, source in plans:
            if not self._counts(id_):
                yield Cause("plan", (id_,), self._lost(source, is_there=id_ in self._by_id))
        for uid, source in decisions:
            if not self._decided.get(uid, False):
                yield Cause("decision", (uid,), self._lost(source, is_there=uid in self._decided))

    def _lost(self, source: Source, *, is_there: bool) -> What:
        """What became of something that is not in force any more."""
        if is_there:
            return "replaced"
        return "erased" if source.session_id in self._erased else "gone"

    # 2. What there is ------------------------------------------------------------------------

    @cached_property
    def _by_id(self) -> dict[str, PlanRow]:
        return {row.planned.id: row for row in self.rows}

    def _counts(self, id_: str) -> bool:
        row = self._by_id.get(id_)
        return row is not None and row.planned.standing in IN_FORCE

    def _digest(self, path: str) -> str | None:
        """Of a file as it lies there now; None where it is gone, empty where it is not read."""
        if path not in self._digests:
            try:
                self._digests[path] = digest(self._root, path)
            except FileNotFoundError:
                self._digests[path] = None
            except Refused:
                self._digests[path] = ""
        return self._digests[path]

    @cached_property
    def _decided(self) -> dict[str, bool]:
        """By uid: whether the decision is in force."""
        found: dict[str, bool] = {}
        for process in reversed(self._request.reading.logs):
            for row in process.projector.rows("decisions", process.project):
                is_in_force = row["accepted_at"] is not None and row["superseded_at"] is None
                found[row["uid"]] = is_in_force or found.get(row["uid"], False)
        return found

    @cached_property
    def _erased(self) -> frozenset[str]:
        """Sessions of the project of which nothing is left."""
        process = self._request.process
        rows = process.projector.rows("sessions", process.project, "unfolded")
        return frozenset(row["session_id"] for row in rows if row["status"] == "erased")


def _rows(process: Process) -> Iterator[PlanRow]:
    """Those of one log."""
    return map(plan, process.projector.rows("artifacts", process.project))


DIGITS: Final = frozenset("0123456789abcdef-")
NAMED_MAX: Final = 5  # artifacts that a message names


def plan_named(request: Request, typed: str) -> str:
    """The session of the artifact that is meant, which the log must have.

    Raises:
        Refused: none or several are, or it is a report.
    """
    row = row_named(Standings(request).rows, typed)
    if row.file is not None:
        message = f"only {row.file} has the {row.planned.type} {short_id(row.planned.id)}"
        raise Refused(message, code="only_in_file", path=row.file)
    if row.planned.type == "FailureReport":
        message = f"{short_id(row.planned.id)} is a FailureReport: nothing of it can be approved"
        raise Refused(message, code="is_report", id=row.planned.id)
    return row.session_id


def row_named(rows: Iterable[PlanRow], typed: str) -> PlanRow:
    """The artifact whose id is, or begins with, what was typed; `last` is the newest.

    The id of its session, or the end of that, means it as well: `inbox` and `sessions` show those.

    Raises:
        Refused: none or several.
    """
    wanted, rows = typed.strip().lower(), tuple(rows)
    if wanted == LAST and rows:
        return rows[-1]
    fits = len(wanted) >= ids.TYPED_MIN and set(wanted) <= DIGITS
    found = [row for row in rows if fits and row.planned.id.startswith(wanted)]
    found = found or [row for row in rows if fits and row.session_id.endswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        message = f"no artifact matches {shown(one_line(typed))!r}"
        message = "this project has no artifact" if wanted == LAST else message
        raise Refused(message, code="unknown_artifact", typed=typed)
    named = ", ".join(f"{row.planned.id} ({row.planned.type})" for row in found[:NAMED_MAX])
    more = f" and {len(found) - NAMED_MAX} more" if len(found) > NAMED_MAX else ""
    message = f"{wanted!r} matches {len(found)} artifacts: {named}{more}"
    raise Refused(message, code="ambiguous_artifact", typed=typed)


def short_id(id_: str) -> str:
    """The beginning of an id, by which people call an artifact."""
    return id_[: ids.SHORT]


FileState = Literal["same", "edited", "missing"]

FILED: Final = ("approved", "locked", "superseded")
"""Standings from which a file follows."""


class PlanFiles:
    """The folder of artifacts as it lies there now."""

    def __init__(self, root: Path) -> None:
        """Args:
        root: of the project.
        """
        try:
            self._folder = checked_folder(root, FOLDER)
            self._names = frozenset(filter(_NAME.fullmatch, os.listdir(self._folder)))
        except (OSError, ArtifactOutside):
            self._names = frozenset()

    def state(self, one: Planned) -> FileState | None:
        """How the file of an artifact compares with what the log says; None where it has none.

        A `.new` file beside an edited one counts for nothing: the edited one is named.
        """
        name = _name_of(one)
        if not name:
            return None
        lies = found_hash(self._folder / name) if name in self._names else None
        if lies is None:
            return "missing"
        return "same" if lies == one.sha256 else "edited"

    def strays(self, known: Iterable[Planned]) -> tuple[str, ...]:
        """Paths of files that look like artifacts, of which no session that verifies says so.

        They come with a branch, by hand, or stay behind when their session is erased.
        """
        return tuple(f"{FOLDER}/{name}" for name in sorted(self._names - {*map(_name_of, known)}))


_NAME: Final = re.compile(FILE)


def _name_of(one: Planned) -> str:
    """What the file of an artifact is called; empty of one that has none."""
    name = f"{one.type}-{one.id}.json"
    return name if one.standing in FILED and _NAME.fullmatch(name) else ""


ENDED: Final = ("rejected", "superseded", "abandoned", "failed")
"""Standings of what no pass and no person can use any more."""
NAMES: Final = ("name", "id", "path")
"""Fields by which an item of a list is the same in two artifacts, the first that all items have."""


class ArtifactRow(Result, frozen=True):
    """An artifact and what became of it; times are ISO 8601, UTC."""

    id: str
    type: str
    subject: str
    """The target of an ImplementationPlan, the goal of a RefactorPlan."""
    standing: str
    depends_on: tuple[str, ...]
    session_id: str
    version: int
    created_at: str
    created_by: str
    changed_at: str | None
    changed_by: Who | None
    superseded_by: str
    reason: str
    artifact: str | None
    """Path of its file."""
    artifact_state: FileState | None
    """How the file compares with what the log says; None where it has none."""
    stale: tuple[Cause, ...]
    """From what changed to what it read; of what has ended, nothing."""
    file: str | None = None
    """The session file that says so, where the log does not."""

    @classmethod
    def of(cls, row: PlanRow, stale: tuple[Cause, ...], files: PlanFiles) -> ArtifactRow:
        """As the projection `artifacts` keeps it, and as its file lies there."""
        one = row.planned
        return cls(
            id=one.id,
            type=one.type,
            subject=one.subject,
            standing=one.standing,
            depends_on=one.depends_on,
            session_id=row.session_id,
            version=one.version,
            created_at=iso(one.created_at),
            created_by=one.created_by,
            changed_at=iso_or_none(one.changed_at),
            changed_by=Who.of(one.changed_by),
            superseded_by=one.superseded_by,
            reason=one.reason,
            artifact=one.path or None,
            artifact_state=files.state(one),
            stale=() if one.standing in ENDED else stale,
            file=row.file,
        )


class Artifacts(Result, frozen=True, tag_field="format", tag="artifacts/1"):
    """The artifacts of a project."""

    project: str
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    strays: tuple[str, ...] = ()
    """Paths of files in the folder of artifacts that no session speaks for."""
    artifacts: tuple[ArtifactRow, ...] = ()


class Listing(Result, frozen=True):
    """The artifacts, and how many more there are."""

    head: Artifacts
    """Without the rows."""
    rows: Iterator[ArtifactRow]
    """Made as they are taken, once."""
    ended: int
    """How many have ended, and are not among them."""


def artifacts(request: Request, *, everything: bool = False) -> Listing:
    """The artifacts that can be approved or are in force, oldest first.

    Args:
        everything: also those that have ended, reports among them.
    """
    found = Standings(request)
    wanted = [row for row in found.rows if everything or row.planned.standing not in ENDED]
    process = request.process
    files = PlanFiles(process.settings.root)
    return Listing(
        head=Artifacts(
            project=process.project,
            behind=bool(process.projector.behind),
            strays=files.strays(row.planned for row in found.rows),
        ),
        rows=(ArtifactRow.of(row, found.causes(row), files) for row in wanted),
        ended=len(found.rows) - len(wanted),
    )


# 1. One artifact -----------------------------------------------------------------------------


class WholeArtifact(Result, frozen=True, tag_field="format", tag="artifact/1"):
    """An artifact, and what it holds."""

    row: ArtifactRow
    envelope: dict[str, Any]
    """As its file holds it, once it is approved."""


def artifact(request: Request, typed: str) -> WholeArtifact:
    """An artifact by its id, or the beginning of it.

    Raises:
        Refused: none or several match.
    """
    found = Standings(request)
    return _whole(request, found, row_named(found.rows, typed))


def _whole(request: Request, found: Standings, row: PlanRow) -> WholeArtifact:
    handle = request.reading.session(row.session_id).load()
    state: State = handle.session.state
    told = envelope(state, row.planned.id)
    files = PlanFiles(request.process.settings.root)
    return WholeArtifact(row=ArtifactRow.of(row, found.causes(row), files), envelope=told)


# 2. Two artifacts ----------------------------------------------------------------------------


class Difference(Result, frozen=True, omit_defaults=True):
    """Where two artifacts differ; a side without a value has none here."""

    at: str
    """A JSON Pointer into the payload; an item of a list stands by its name, id or path."""
    before: Any = msgspec.UNSET
    after: Any = msgspec.UNSET


class Compared(Result, frozen=True, tag_field="format", tag="artifact-diff/1"):
    """How two artifacts of one type differ."""

    type: str
    before: str
    """Its id."""
    after: str
    differences: tuple[Difference, ...]


def compared(request: Request, before: str, after: str) -> Compared:
    """How the payloads of two artifacts differ; the order of named items does not count.

    Raises:
        Refused: none or several match, or they are of different types.
    """
    found = Standings(request)
    rows = [row_named(found.rows, typed) for typed in (before, after)]
    (one, other), types = rows, [row.planned.type for row in rows]
    if types[0] != types[1]:
        which = [f"{row.planned.id[:SHORT]} is a {row.planned.type}" for row in rows]
        raise Refused(f"{which[0]}, {which[1]}: name two of one type", code="other_type")
    a, b = (_whole(request, found, row).envelope["payload"] for row in rows)
    return Compared(
        type=types[0],
        before=one.planned.id,
        after=other.planned.id,
        differences=tuple(_differences(a, b)),
    )


def _differences(before: Any, after: Any) -> Iterator[Difference]:
    for at, a, b in differences(*_by_name(before, after)):
        yield Difference(
            at=at,
            before=msgspec.UNSET if a is ABSENT else a,
            after=msgspec.UNSET if b is ABSENT else b,
        )


def _by_name(one: Any, other: Any) -> tuple[Any, Any]:
    """Two values whose lists of named items are objects, by name."""
    if isinstance(one, dict) and isinstance(other, dict):
        shared = {key: _by_name(one[key], other[key]) for key in one if key in other}
        return (
            {key: shared[key][0] if key in shared else value for key, value in one.items()},
            {key: shared[key][1] if key in shared else value for key, value in other.items()},
        )
    if isinstance(one, list) and isinstance(other, list):
        for name in NAMES:
            sides = [_named(side, name) for side in (one, other)]
            if sides[0] is not None and sides[1] is not None:
                return _by_name(*sides)
    return one, other


def _named(items: list[Any], name: str) -> dict[str, Any] | None:
    """The items of a list by a field that every one of them has for itself; else None."""
    keys = [item.get(name) if isinstance(item, dict) else None for item in items]
    named = [key for key in keys if isinstance(key, str)]
    if len(set(named)) < len(items):
        return None
    return dict(zip(named, items, strict=True))
