"""Which plans are in force, and why one is stale: derived from one look at the rows."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, Literal

from preflights_es.features.compiler.use.inputs import digest
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Source
from preflights_es.kernel.items import Cause
from preflights_es.projections.artifacts import PlanRow, plan
from preflights_es.use.reading import with_files
from preflights_es.use.request import Request

__all__ = ["IN_FORCE", "PlanRow", "Standings", "in_force"]

IN_FORCE: Final = ("approved", "locked")
What = Literal["changed", "gone", "replaced", "erased"]


def in_force(request: Request) -> tuple[PlanRow, ...]:
    """The plans of the project that are approved or locked, the one that was approved last behind.

    Of a type there may be several: a locked TestPlan beside an approved one, an ImplementationPlan
    for every target.
    """
    return Standings(request).in_force


class Standings:
    """The plans of a project as they stand; every file is read once."""

    def __init__(self, request: Request, rows: Iterable[PlanRow] | None = None) -> None:
        """Args:
        rows: all that there are; those of the project, unless said.
        """
        self._request = request
        self._root = request.process.settings.root
        self._digests: dict[str, str | None] = {}
        self.rows = tuple(with_files(request, _rows) if rows is None else rows)

    @cached_property
    def in_force(self) -> tuple[PlanRow, ...]:
        """As the function of this name."""
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
        for asked in filter(None, (self._request.at_files(), self._request)):
            process = asked.process
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


def _rows(request: Request) -> Iterator[PlanRow]:
    """Those of one log."""
    process = request.process
    return map(plan, process.projector.rows("artifacts", process.project))
