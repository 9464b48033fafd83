"""Approving and rejecting artifacts: what takes another one's place does so in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from preflights_es.core import ids
from preflights_es.core.errors import PreflightsError, Refused
from preflights_es.core.events import Actor, Input
from preflights_es.core.plan_record import Cause, path_of
from preflights_es.core.text import one_line, shown
from preflights_es.runtime.finder import LAST
from preflights_es.runtime.runner import Handle, Proposed, Step
from preflights_es.services.acceptance import Acceptances, begun, notice_agent
from preflights_es.services.compiler.standing import PlanRow, Standings
from preflights_es.services.filing import filed
from preflights_es.services.request import Request
from preflights_es.services.results import Session
from preflights_es.workflows.compiler import WORKFLOW
from preflights_es.workflows.compiler.events import (
    PlanApproved,
    PlanDrafted,
    PlanRejected,
    PlanSuperseded,
)
from preflights_es.workflows.compiler.identity import payload_hash
from preflights_es.workflows.compiler.state import State
from preflights_es.workflows.compiler.views import subject_of

OPEN: Final = ("draft", "proposed")
DIGITS: Final = frozenset("0123456789abcdef-")
NAMED_MAX: Final = 5  # artifacts that a message names


def approve(
    request: Request,
    typed: str,
    *,
    by: str | None = None,
    expect: int | None = None,
    allow_stale: bool = False,
) -> Session:
    """Approve an artifact: a person does it, an agent or script proposes it.

    Args:
        typed: its id, or the beginning of it.
        by: the person, where the request is a script's.
        expect: the version of its session at which the person saw it.
        allow_stale: whether it may be stale; why it is, is recorded.

    Raises:
        SessionMoved: its session is at another version.
        Refused: there is none, it is no draft, or it is stale.
    """
    own = Approvals(request, allow_stale=allow_stale)
    own.refuse_relaying(by, typed)
    return _approved(request, own, plan_named(request, typed), by, expect)


def accept(
    request: Request, session: str, *, by: str | None = None, expect: int | None = None
) -> Session:
    """Approve the artifact of a session; as `approve`, by the session's id."""
    return _approved(request, Approvals(request), session, by, expect)


def reject(request: Request, typed: str, reason: str, *, by: str | None = None) -> Session:
    """Reject an artifact that is not approved.

    Raises:
        Refused: there is none, it is no draft, or no person rejects it.
    """
    own = Approvals(request)
    own.refuse_unless_person(by, "reject")
    session_id = plan_named(request, typed)
    request.finish_pending()
    handle = request.sessions.load(session_id)
    return filed(request, own.rejected(handle, reason, by))


def _approved(
    request: Request, own: Approvals, session: str, by: str | None, expect: int | None
) -> Session:
    handle, expect = begun(request, session, by, expect)
    step = own.acknowledged(handle.session_id, PlanApproved, {}, by=by, expect=expect)
    notice_agent(request, step)
    return filed(request, step)


# 1. Finding ----------------------------------------------------------------------------------


def plan_named(request: Request, typed: str) -> str:
    """The session of the artifact that is meant, which the log must have.

    Raises:
        Refused: none or several are, or it is a report.
    """
    row = row_named(Standings(request).rows, typed)
    if row.file is not None:
        message = f"only {row.file} has the {row.planned.type} {_short(row.planned.id)}"
        raise Refused(message, code="only_in_file", path=row.file)
    if row.planned.type == "FailureReport":
        message = f"{_short(row.planned.id)} is a FailureReport: nothing of it can be approved"
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


def _short(id_: str) -> str:
    return id_[: ids.SHORT]


# 2. Recording --------------------------------------------------------------------------------


class Approvals(Acceptances):
    """The artifacts of one project, as one actor approves them."""

    gives_way: ClassVar[tuple[str, ...]] = ("approved",)
    """Standings of others of the type and subject that end with what is recorded."""
    holds: ClassVar[tuple[str, ...]] = OPEN
    """Standings of those which must not change meanwhile."""

    def __init__(self, request: Request, *, allow_stale: bool = False) -> None:
        super().__init__(request.desk, request.process.documents, {})
        self._request = request
        self._allow_stale = allow_stale
        self._former: list[Handle] = []
        self._held: list[Handle] = []

    def refuse_relaying(self, by: str | None, session: str = "SESSION") -> None:  # noqa: ARG002  of any
        """An agent passes no approval on: the log could not show whether there was one."""
        if by is not None:
            self.refuse_unless_person(by, "approve")

    def refuse_unless_person(self, by: str | None, what: str) -> None:
        """Refuse an agent, and a script that passes no person's word on.

        Raises:
            Refused: no person does it.
        """
        self.refuse_agent(f"{what} an artifact")
        if self._actor.kind == "script" and by is None:
            name = f" ({self._actor.name})" if self._actor.name else ""
            message = f"a script{name} cannot {what} an artifact, only a person can"
            raise Refused(message, code="person_needed")

    def rejected(self, handle: Handle, reason: str, by: str | None) -> Step:
        """Reject the draft of a session."""
        self._refuse_unfit(handle, PlanRejected)
        self.refuse_elsewhere(handle)
        state: State = handle.session.state
        # Under a key, the same command may have rejected it before.
        is_again = self._request.has_key and state.standing == "rejected"
        plan = state.plan if state.plan and is_again else drafted(state)
        said = {"id": plan.id, "reason": reason}
        return self.submitted(handle, PlanRejected, said, by=by)

    def _acknowledgement(
        self, handle: Handle, cls: type[Input], said: Mapping[str, Any], actor: Actor, input_id: str
    ) -> Proposed:
        state: State = handle.session.state
        plan = drafted(state)
        if state.standing == "proposed" and actor.kind != "user":
            message = f"the {plan.type} {_short(plan.id)} is proposed already: a person approves it"
            raise Refused(message, code="already_proposed", id=plan.id)
        found = Standings(self._request)
        stale = _stale(found, state)
        if stale and not self._allow_stale:
            message = f"the {plan.type} {_short(plan.id)} is stale: {path_of(stale[0])}"
            message += f", and {len(stale) - 1} more" if stale[1:] else ""
            raise Refused(message, code="artifact_stale", id=plan.id)
        fields = {"sha256": payload_hash(plan.payload), "stale": stale}
        self._look_beside(handle, found, is_person=actor.kind == "user")
        return self._replacing(handle, cls, {**said, **fields}, actor, input_id)

    def _replacing(
        self, handle: Handle, cls: type[Input], said: Mapping[str, Any], actor: Actor, input_id: str
    ) -> Proposed:
        """An Input by which the session's artifact takes the place of others."""
        relayed_by = None if actor == self._actor else self._actor
        former = tuple(one.source for one in self._former)
        fields = {**said, "id": handle.session.state.plan.id, "former": former}
        new = self._input(cls, fields, actor=actor, relayed_by=relayed_by)
        return Proposed(handle, new, input_id)

    def _look_beside(self, handle: Handle, found: Standings, *, is_person: bool) -> None:
        """Find what gives way and what is held, as their own logs have them."""
        self._former, self._held = [], []
        state: State = handle.session.state
        same = (state.plan.type if state.plan else "", subject_of(state))
        for row in found.rows if is_person else ():
            one = row.planned
            ends = one.standing in self.gives_way
            if (one.type, one.subject) != same or row.session_id == handle.session_id:
                continue
            if ends and row.file is not None:
                message = f"only {row.file} has the {one.type} that is {one.standing}"
                raise Refused(message, code="only_in_file", path=row.file)
            if row.file is None and one.standing in (*self.gives_way, *self.holds):
                self._beside(row.session_id, ends=ends)

    def _beside(self, session_id: str, *, ends: bool) -> None:
        try:
            other = self._runner.resume(self._runner.load(session_id)).handle
        except PreflightsError:
            if ends:
                raise
            return  # a draft that cannot be read is approved by no other process
        is_former = other.session.state.standing in self.gives_way
        (self._former if is_former else self._held).append(other)

    def _others(self, first: Proposed) -> list[Proposed]:
        """That what was in force is superseded."""
        new: Any = first.input
        return [
            Proposed(
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

    def _unmoved(self, first: Proposed) -> list[Handle]:  # noqa: ARG002  found before
        """Drafts that another process could approve at the same time."""
        return self._held

    def _refuse_unfit(self, handle: Handle, cls: type[Input]) -> None:  # noqa: ARG002  of any
        self.refuse_other(handle, WORKFLOW, "only artifacts are approved")

    def _refuse_ended(self, handle: Handle) -> None:
        """An artifact's standing says more than that no answer is taken any more."""
        if handle.session.closed:
            super()._refuse_ended(handle)


def drafted(state: State) -> PlanDrafted:
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
    by = f" by {_short(state.superseded_by)}" if state.superseded_by else ""
    why = f": {one_line(shown(state.reason))}" if state.reason else ""
    message = f"the {plan.type} {_short(plan.id)} is {state.standing} already{by}{why}"
    raise Refused(message, code="not_a_draft", id=plan.id, standing=state.standing)


def _stale(found: Standings, state: State) -> tuple[Cause, ...]:
    """Why the artifact of a session is stale now."""
    read = state.begun
    assert read is not None, "an artifact follows from what was read"
    return found.causes_of(
        ((one.path, one.sha256) for one in read.documents),
        [(one.id, one.source) for one in read.plans],
        ((one.uid, one.source) for one in read.decisions),
    )
