"""The artifacts of a project: where they stand, by which name, in which files; and how they are
approved, rejected and locked. An approval is one transaction with what gives way to it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.decide import IN_FORCE, OPEN
from preflights_es.features.compiler.domain.events import (
    PASSES,
    PlanApproved,
    PlanDrafted,
    PlanLocked,
    PlanRejected,
    PlanSuperseded,
)
from preflights_es.features.compiler.domain.state import (
    FILE,
    FOLDER,
    REPORT,
    CompilerState,
    envelope,
    payload_hash,
    subject_of,
)
from preflights_es.kernel import ids
from preflights_es.kernel.errors import ArtifactOutside, PreflightsError, Refused
from preflights_es.kernel.events import Actor, Input
from preflights_es.kernel.ids import SHORT, iso, iso_or_none
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.projections.artifacts import PlanRow, decode_plan_row
from preflights_es.records.files import checked_folder, found_hash
from preflights_es.runtime.finder import LAST
from preflights_es.runtime.runner import Handle, ProposedInput, Step
from preflights_es.use.acceptance import Acceptances, begin_acceptance, notice_agent
from preflights_es.use.answers import finish_due_documents
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import Result, Who
from preflights_es.use.use_cases import NewAcceptance
from preflights_es.words.items import Planned, ReadFileDigest
from preflights_es.words.workflow import View

DIGITS: Final = frozenset("0123456789abcdef-")
NAMED_MAX: Final = 5  # artifacts that a message names

TYPE: Final = "TestPlan"

FileState = Literal["same", "edited", "missing"]

FILED: Final = ("approved", "locked", "superseded")
"""Standings from which a file follows."""

ENDED: Final = ("rejected", "superseded", "abandoned", "failed")
"""Standings of what no pass and no person can use any more."""

_NAME: Final = re.compile(FILE)


# 1. The list ---------------------------------------------------------------------------------


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
    documents: tuple[ReadFileDigest, ...]
    """The versions of the documents that it was made from."""
    file: str | None = None
    """The session file that says so, where the log does not."""

    @classmethod
    def of(cls, row: PlanRow, files: PlanFiles) -> ArtifactRow:
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
            documents=one.files,
            file=row.file,
        )


class ProjectArtifacts(Result, frozen=True, tag_field="format", tag="artifacts/1"):
    """The artifacts of a project."""

    project: str
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    strays: tuple[str, ...] = ()
    """Paths of files in the folder of artifacts that no session speaks for."""
    artifacts: tuple[ArtifactRow, ...] = ()


class ArtifactListing(Result, frozen=True):
    """The artifacts, and how many more there are."""

    head: ProjectArtifacts
    """Without the rows."""
    rows: Iterator[ArtifactRow]
    """Made as they are taken, once."""
    ended: int
    """How many have ended, and are not among them."""


def artifacts(request: Request, *, everything: bool = False) -> ArtifactListing:
    """The artifacts that can be approved or are in force, oldest first.

    Args:
        everything: also those that have ended, reports among them.
    """
    rows = plan_rows(request)
    wanted = [row for row in rows if everything or row.planned.standing not in ENDED]
    process = request.process
    files = PlanFiles(process.settings.root)
    return ArtifactListing(
        head=ProjectArtifacts(
            project=process.project,
            behind=bool(process.projector.behind),
            strays=files.strays(row.planned for row in rows),
        ),
        rows=(ArtifactRow.of(row, files) for row in wanted),
        ended=len(rows) - len(wanted),
    )


# 2. One artifact -----------------------------------------------------------------------------


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
    row = row_named(plan_rows(request), typed)
    handle = request.reading.session(row.session_id).load()
    state: CompilerState = handle.session.state
    told = envelope(state, row.planned.id)
    files = PlanFiles(request.process.settings.root)
    return WholeArtifact(row=ArtifactRow.of(row, files), envelope=told)


# 3. Approving and rejecting ------------------------------------------------------------------


def approve(
    request: Request, typed: str, *, by: str | None = None, expect: int | None = None
) -> View:
    """Approve an artifact: a person does it, an agent or script proposes it.

    Args:
        typed: its id, or the beginning of it.
        by: the person, where the request is a script's.
        expect: the version of its session at which the person saw it.

    Raises:
        SessionMoved: its session is at another version.
        Refused: there is none, or it is no draft.
    """
    own = Approvals(request)
    own.refuse_relaying(by, typed)
    return _record_plan_approval(request, own, plan_named(request, typed), by, expect=expect)


def accept_pass(request: Request, new: NewAcceptance) -> View:
    """Approve the artifact of a session; as `approve`, by the session's id."""
    own = Approvals(request)
    return _record_plan_approval(request, own, new.session, new.by, expect=new.expect)


def reject(request: Request, typed: str, reason: str, *, by: str | None = None) -> View:
    """Reject an artifact that is not approved.

    Raises:
        Refused: there is none, it is no draft, or no person rejects it.
    """
    own = Approvals(request)
    own.refuse_unless_person(by, "reject an artifact")
    handle = request.sessions.load(plan_named(request, typed))
    return finish_due_documents(request, own.rejected(handle, reason, by))


def _record_plan_approval(
    request: Request, own: Approvals, session: str, by: str | None, expect: int | None
) -> View:
    handle, expect = begin_acceptance(request, session, expect)
    step = own.acknowledged(handle.session_id, PlanApproved, {}, by=by, expect=expect)
    notice_agent(request, step)
    return finish_due_documents(request, step)


# 4. Recording --------------------------------------------------------------------------------


class Approvals(Acceptances):
    """The artifacts of one project, as one actor approves them."""

    gives_way: ClassVar[tuple[str, ...]] = ("approved",)
    """Standings of others of the type and subject that end with what is recorded."""
    holds: ClassVar[tuple[str, ...]] = OPEN
    """Standings of those which must not change meanwhile."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.inputs, request.process.documents, {})
        self._request = request
        self._former: list[Handle] = []
        self._held: list[Handle] = []

    def refuse_relaying(self, by: str | None, session: str = "SESSION") -> None:  # noqa: ARG002  of any
        """An agent passes no approval on: the log could not show whether there was one."""
        if by is not None:
            self.refuse_unless_person(by, "approve an artifact")

    def rejected(self, handle: Handle, reason: str, by: str | None) -> Step:
        """Reject the draft of a session."""
        self._refuse_unfit(handle, PlanRejected)
        self.refuse_elsewhere(handle)
        state: CompilerState = handle.session.state
        # Under a key, the same command may have rejected it before.
        is_again = bool(self._request.key) and state.standing == "rejected"
        plan = state.plan if state.plan and is_again else drafted(state)
        said = {"id": plan.id, "reason": reason}
        return self.submitted(handle, PlanRejected, said, by=by)

    def _acknowledgement(
        self, handle: Handle, cls: type[Input], said: Mapping[str, Any], actor: Actor, input_id: str
    ) -> ProposedInput:
        state: CompilerState = handle.session.state
        plan = drafted(state)
        if state.standing == "proposed" and actor.kind != "user":
            what = f"the {plan.type} {short_id(plan.id)}"
            message = f"{what} is proposed already: a person approves it"
            raise Refused(message, code="already_proposed", id=plan.id)
        self._find_others(handle, is_person=actor.kind == "user")
        fields = {**said, "sha256": payload_hash(plan.payload)}
        return self._replacing(handle, cls, fields, actor, input_id=input_id)

    def _replacing(
        self, handle: Handle, cls: type[Input], said: Mapping[str, Any], actor: Actor, input_id: str
    ) -> ProposedInput:
        """An Input by which the session's artifact takes the place of others."""
        former = tuple(one.source for one in self._former)
        fields = {**said, "id": handle.session.state.plan.id, "former": former}
        return ProposedInput(handle, self._inputs.made(cls, fields, actor), input_id)

    def _find_others(self, handle: Handle, *, is_person: bool) -> None:
        """Find what gives way and what is held, as their own logs have them."""
        self._former, self._held = [], []
        state: CompilerState = handle.session.state
        same = (state.plan.type if state.plan else "", subject_of(state))
        for row in plan_rows(self._request) if is_person else ():
            one = row.planned
            ends = one.standing in self.gives_way
            if (one.type, one.subject) != same or row.session_id == handle.session_id:
                continue
            if ends and row.file is not None:
                message = f"only {row.file} has the {one.type} that is {one.standing}"
                raise Refused(message, code="only_in_file", path=row.file)
            if row.file is None and one.standing in (*self.gives_way, *self.holds):
                self._take(row.session_id, ends=ends)

    def _take(self, session_id: str, *, ends: bool) -> None:
        try:
            other = self._runner.resume(self._runner.load(session_id)).handle
        except PreflightsError:
            if ends:
                raise
            return  # a draft that cannot be read is approved by no other process
        is_former = other.session.state.standing in self.gives_way
        (self._former if is_former else self._held).append(other)

    def _others(self, first: ProposedInput) -> list[ProposedInput]:
        """That what was in force is superseded."""
        new: Any = first.input
        return [
            ProposedInput(
                former,
                PlanSuperseded(
                    at=new.at,
                    actor=new.actor,
                    id=former.session.state.plan.id,
                    by=new.id,
                    session=first.handle.session_id,
                ),
                self._runner.new_id(),
            )
            for former in self._former
        ]

    def _unmoved(self, first: ProposedInput) -> list[Handle]:  # noqa: ARG002  found before
        """Drafts that another process could approve at the same time."""
        return self._held

    def _refuse_unfit(self, handle: Handle, cls: type[Input]) -> None:  # noqa: ARG002  of any
        self.refuse_other(handle, WORKFLOW, "only artifacts are approved")

    def _refuse_ended(self, handle: Handle) -> None:
        """An artifact's standing says more than that no answer is taken any more."""
        if handle.session.closed:
            super()._refuse_ended(handle)


def drafted(state: CompilerState) -> PlanDrafted:
    """The artifact of a session that waits for a person.

    Raises:
        Refused: there is none, or it does not wait.
    """
    plan = state.plan
    if plan is None:
        message = "the pass has brought no artifact: nothing of it can be approved"
        raise Refused(message, code="no_artifact")
    if state.standing in OPEN:
        return plan
    by = f" by {short_id(state.superseded_by)}" if state.superseded_by else ""
    why = f": {one_line(escaped_text(state.reason))}" if state.reason else ""
    message = f"the {plan.type} {short_id(plan.id)} is {state.standing} already{by}{why}"
    raise Refused(message, code="not_a_draft", id=plan.id, standing=state.standing)


# 5. Locking ----------------------------------------------------------------------------------


def lock_tests(request: Request, typed: str | None = None, *, by: str | None = None) -> View:
    """Lock an approved TestPlan; a formerly locked one gives way.

    Args:
        typed: its id, or the beginning of it; the one that is approved, unless said.
        by: the person, where the request is a script's.

    Raises:
        Refused: no such TestPlan is approved, or no person locks it.
    """
    own = Locks(request)
    own.refuse_unless_person(by, "lock an artifact")
    session_id = plan_named(request, typed) if typed else _approved(request)
    handle, expect = begin_acceptance(request, session_id, None)
    step = own.acknowledged(handle.session_id, PlanLocked, {}, by=by, expect=expect)
    return finish_due_documents(request, step)


def _approved(request: Request) -> str:
    """The session of the TestPlan that is approved and not locked."""
    found = [row for row in plans_in_force(plan_rows(request)) if row.planned.type == TYPE]
    waiting = [row for row in found if row.planned.standing == "approved" and row.file is None]
    if len(waiting) == 1:
        return waiting[0].session_id
    if waiting:
        named = ", ".join(row.planned.id for row in waiting)
        raise Refused(f"{len(waiting)} TestPlans are approved ({named}): name one", code="several")
    locked = [row for row in found if row.planned.standing == "locked"]
    if locked:
        message = f"the {TYPE} {locked[-1].planned.id[:SHORT]} is locked, and no other is approved"
        raise Refused(message, code="already_locked", id=locked[-1].planned.id)
    message = f"no {TYPE} is approved: nothing can be locked"
    raise plan_missing(message, plan_rows(request), TYPE)


def plan_missing(message: str, rows: Iterable[PlanRow], type_: str) -> Refused:
    """That no plan of a type is in force, with the newest that waits for a person, if one does."""
    of_type = (row.planned for row in rows if row.planned.type == type_)
    if waiting := [one for one in of_type if one.standing in OPEN]:
        return Refused(message, code="plan_not_approved", name=short_id(waiting[-1].id))
    name = next(one.command for one in PASSES.values() if one.writes == type_)
    return Refused(message, code="plan_missing", type=type_, name=name)


class Locks(Approvals):
    """The TestPlans of one project, as one actor locks them."""

    gives_way: ClassVar[tuple[str, ...]] = ("locked",)
    holds: ClassVar[tuple[str, ...]] = ("approved",)

    def _acknowledgement(
        self, handle: Handle, cls: type[Input], said: Mapping[str, Any], actor: Actor, input_id: str
    ) -> ProposedInput:
        state: CompilerState = handle.session.state
        plan = state.plan
        if plan is None or plan.type != TYPE:
            what = "report" if plan is None else plan.type
            raise Refused(f"it is a {what}: only a {TYPE} is locked", code="not_a_test_plan")
        if state.standing != "approved":
            message = f"the {TYPE} {plan.id[:SHORT]} is {state.standing}: an approved one is locked"
            raise Refused(message, code="not_approved", id=plan.id, standing=state.standing)
        self._find_others(handle, is_person=True)
        return self._replacing(handle, cls, said, actor, input_id=input_id)


# 6. Rows, and how people name them -----------------------------------------------------------


def plan_rows(request: Request) -> tuple[PlanRow, ...]:
    """The plans of a project, oldest first, those of session files among them."""
    return tuple(request.reading.rows(_read_logged_plan_rows))


def _read_logged_plan_rows(process: Process) -> Iterator[PlanRow]:
    """Those of one log."""
    return map(decode_plan_row, process.projector.rows("artifacts", process.project))


def plans_in_force(rows: Iterable[PlanRow]) -> list[PlanRow]:
    """Those that are approved or locked, the one that was approved last behind.

    Of a type there may be several: a locked TestPlan beside an approved one, an ImplementationPlan
    for every target.
    """
    found = [row for row in rows if row.planned.standing in IN_FORCE]
    return sorted(found, key=lambda row: (row.planned.changed_at or 0, row.session_id))


def plan_named(request: Request, typed: str) -> str:
    """The session of the artifact that is meant, which the log must have.

    `last` is the newest that is no report, of which nothing can be approved or rejected.

    Raises:
        Refused: none or several are, or it is a report.
    """
    rows = plan_rows(request)
    if typed.strip().lower() == LAST:
        rows = tuple(row for row in rows if row.planned.type != REPORT) or rows
    row = row_named(rows, typed)
    if row.file is not None:
        message = f"only {row.file} has the {row.planned.type} {short_id(row.planned.id)}"
        raise Refused(message, code="only_in_file", path=row.file)
    if row.planned.type == REPORT:
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
        message = f"no artifact matches {escaped_text(one_line(typed))!r}"
        message = "this project has no artifact" if wanted == LAST else message
        raise Refused(message, code="unknown_artifact", typed=typed)
    named = ", ".join(f"{row.planned.id} ({row.planned.type})" for row in found[:NAMED_MAX])
    more = f" and {len(found) - NAMED_MAX} more" if len(found) > NAMED_MAX else ""
    message = f"{wanted!r} matches {len(found)} artifacts: {named}{more}"
    raise Refused(message, code="ambiguous_artifact", typed=typed)


def short_id(id_: str) -> str:
    """The beginning of an id, by which people call an artifact."""
    return id_[: ids.SHORT]


# 7. Files ------------------------------------------------------------------------------------


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
        name = _artifact_file_name(one)
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
        strays = self._names - {*map(_artifact_file_name, known)}
        return tuple(f"{FOLDER}/{name}" for name in sorted(strays))


def _artifact_file_name(one: Planned) -> str:
    """What the file of an artifact is called; empty of one that has none."""
    name = f"{one.type}-{one.id}.json"
    return name if one.standing in FILED and _NAME.fullmatch(name) else ""
