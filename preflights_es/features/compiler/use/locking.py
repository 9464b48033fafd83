"""Locking the tests of a TestPlan: its test files, as they lay there, are recorded with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import msgspec

from preflights_es.features.compiler.domain.events import PlanLocked
from preflights_es.features.compiler.domain.state import State
from preflights_es.features.compiler.domain.values import LockedFile, ReadPlan
from preflights_es.features.compiler.use.approval import Approvals
from preflights_es.features.compiler.use.inputs import digest
from preflights_es.features.compiler.use.naming import plan_named
from preflights_es.features.compiler.use.standing import Standings
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Actor, Input
from preflights_es.kernel.ids import SHORT
from preflights_es.kernel.json import decoded
from preflights_es.kernel.text import shown
from preflights_es.runtime.runner import Handle, Proposed
from preflights_es.use.acceptance import begun
from preflights_es.use.answers import filed
from preflights_es.use.reading import looking
from preflights_es.use.request import Request
from preflights_es.use.results import Result, Session

TYPE: Final = "TestPlan"
NAMED_MAX: Final = 20  # files that a message names


def lock_tests(request: Request, typed: str | None = None, *, by: str | None = None) -> Session:
    """Lock an approved TestPlan together with its test files; a formerly locked one gives way.

    Args:
        typed: its id, or the beginning of it; the one that is approved, unless said.
        by: the person, where the request is a script's.

    Raises:
        Refused: no such TestPlan is approved, a test file is missing, or no person locks it.
    """
    own = Locks(request)
    own.refuse_unless_person(by, "lock")
    session_id = plan_named(request, typed) if typed else _approved(request)
    handle, expect = begun(request, session_id, None)
    step = own.acknowledged(handle.session_id, PlanLocked, {}, by=by, expect=expect)
    return filed(request, step)


def _approved(request: Request) -> str:
    """The session of the TestPlan that is approved and not locked."""
    found = [row for row in Standings(request).in_force if row.planned.type == TYPE]
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
    raise Refused(message, code="plan_missing", type=TYPE, name="tests")


class Locks(Approvals):
    """The TestPlans of one project, as one actor locks them."""

    gives_way: ClassVar[tuple[str, ...]] = ("locked",)
    holds: ClassVar[tuple[str, ...]] = ("approved",)

    def _acknowledgement(
        self, handle: Handle, cls: type[Input], said: Mapping[str, Any], actor: Actor, input_id: str
    ) -> Proposed:
        state: State = handle.session.state
        plan = state.plan
        if plan is None or plan.type != TYPE:
            what = "report" if plan is None else plan.type
            raise Refused(f"it is a {what}: only a {TYPE} is locked", code="not_a_test_plan")
        if state.standing != "approved":
            message = f"the {TYPE} {plan.id[:SHORT]} is {state.standing}: an approved one is locked"
            raise Refused(message, code="not_approved", id=plan.id, standing=state.standing)
        scaffold = _scaffold(state)
        files = locked_files(self._request.process.settings.root, scaffold)
        self._look_beside(handle, Standings(self._request), is_person=True)
        fields = {"files": files, "scaffold": scaffold.source}
        return self._replacing(handle, cls, {**said, **fields}, actor, input_id)


def _scaffold(state: State) -> ReadPlan:
    read = state.begun.plans if state.begun is not None else ()
    for one in read:
        if one.type == "ScaffoldPlan":
            return one
    raise Refused(f"the {TYPE} depends on no ScaffoldPlan: no file is known", code="no_scaffold")


def locked_files(root: Path, scaffold: ReadPlan) -> tuple[LockedFile, ...]:
    """The test files that a ScaffoldPlan names, as they lie there.

    Raises:
        Refused: it names none, or one is missing or cannot be read.
    """
    files = decoded(scaffold.payload.encode())["files"]
    paths = [one["path"] for one in files if one["kind"] == "test"]
    if not paths:
        message = f"the ScaffoldPlan {scaffold.id[:SHORT]} names no test file: nothing is locked"
        raise Refused(message, code="no_tests", id=scaffold.id)
    found, missing = list[LockedFile](), list[str]()
    for path in paths:
        try:
            found.append(LockedFile(path, digest(root, path)))
        except FileNotFoundError:
            missing.append(path)
    if missing:
        raise Refused(f"{_named(missing)}: nothing is locked", code="tests_missing", paths=missing)
    return tuple(found)


def _named(missing: Sequence[str]) -> str:
    named = ", ".join(map(shown, missing[:NAMED_MAX]))
    more = f" and {len(missing) - NAMED_MAX:,} more" if len(missing) > NAMED_MAX else ""
    is_one = len(missing) == 1
    return f"{'a test file is' if is_one else 'test files are'} missing ({named}{more})"


# Verifying -----------------------------------------------------------------------------------


class FileState(msgspec.Struct, frozen=True):
    """A test file, and whether it is as it was locked."""

    path: str
    state: Literal["same", "changed", "gone"]


class LockVerified(Result, frozen=True, tag_field="format", tag="lock-verify/1"):
    """How the test files compare with what was locked."""

    id: str
    session_id: str
    files: tuple[FileState, ...]

    @property
    def holds(self) -> bool:
        """Whether all are as they were locked."""
        return all(one.state == "same" for one in self.files)


def verify_lock(request: Request) -> LockVerified:
    """Compare the test files with the locked TestPlan in force.

    Raises:
        Refused: none is locked.
    """
    found = [row for row in Standings(request).in_force if row.planned.standing == "locked"]
    if not found:
        raise Refused(f"no {TYPE} is locked", code="plan_not_locked", type=TYPE)
    row, root = found[-1], request.process.settings.root
    handle = looking(request, row.session_id).sessions.load(row.session_id)
    state: State = handle.session.state
    files = tuple(FileState(one.path, _compared(root, one)) for one in state.files)
    return LockVerified(id=row.planned.id, session_id=row.session_id, files=files)


def _compared(root: Path, locked: LockedFile) -> Literal["same", "changed", "gone"]:
    try:
        return "same" if digest(root, locked.path) == locked.sha256 else "changed"
    except FileNotFoundError:
        return "gone"
    except Refused:  # it is no file of the repository any more
        return "changed"
