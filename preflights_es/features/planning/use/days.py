"""The plans of one project: each thing that people do with one is one Input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from preflights_es.features.extraction import domain as extraction
from preflights_es.features.extraction.domain.events import TaskClosed
from preflights_es.features.planning import domain as planning
from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.events import (
    BlockClosed,
    BlockDone,
    PlanAsked,
    PlanAskedAgain,
    TasksChosen,
)
from preflights_es.features.planning.domain.state import State
from preflights_es.features.planning.domain.values import Change, ClosedTask, OpenTask, Situation
from preflights_es.kernel import ids
from preflights_es.kernel.errors import Conflict, PreflightsError, Refused, StoreUnavailable
from preflights_es.kernel.events import Input
from preflights_es.kernel.items import item_id, item_named
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.kernel.questions import Language
from preflights_es.runtime.idempotency import Once, WantedInput
from preflights_es.runtime.runner import CONFLICTS_MAX, Handle, Proposed, Step
from preflights_es.runtime.sessions import Sessions
from preflights_es.use.request import Request

NO_PLAN: Final = "there is no plan of today"


def days_of(request: Request) -> Days:
    """The plans of the project that a request is about."""
    return Days(request.desk)


def state_of(handle: Handle) -> State:
    """What the log of a plan folds to."""
    state: State = handle.session.state
    return state


def planned_for(handle: Handle) -> Situation:
    """The day, its window and its tasks, as the newest plan of a session knows them."""
    situation = state_of(handle).situation
    assert situation is not None, "its first Input holds one"
    return situation


class Days(Sessions):
    """The plans of one project, as one actor meets them."""

    # 1. Finding ------------------------------------------------------------------------------

    def of(self, day: str) -> Handle | None:
        """The session of a day; None where there is none that goes on."""
        # At one moment the zones of a team have up to three days: two behind the newest of them.
        oldest = (date.fromisoformat(day) - timedelta(days=2)).isoformat()
        for head in self._runner.store.heads(self._project):
            if head.workflow != planning.WORKFLOW.name:
                continue
            try:
                handle = self._runner.load(head.session_id)
            except PreflightsError:
                continue  # what is wrong with a plan is no reason to make none
            situation = None if handle.session.closed else state_of(handle).situation
            if situation is not None and situation.day == day:
                return handle
            if situation is not None and situation.day < oldest:
                return None
        return None

    def before(self, *kinds: type[Input]) -> Handle | None:
        """The plan to which the same command said one of these before, under its key."""
        session_id = self._once.recorded_in(*kinds)
        return self.load(session_id) if session_id else None

    def named(self, situation: Situation, typed: str) -> str:
        """The id of a task, from what was typed, whether the plan has such a task or not.

        Raises:
            Refused: it cannot be the id of a task.
            UnknownSession, AmbiguousSession: no session, or several match.
        """
        session, number = item_named(typed)
        text = typed.strip().lower()
        if any(one.task.id == text for one in situation.tasks):
            return text
        place = (self.resolved(session, extraction.WORKFLOW.name), number)
        found = (t for t in situation.tasks if (t.source.session_id, t.number) == place)
        return next((one.task.id for one in found), item_id(*place))

    # 2. Planning -----------------------------------------------------------------------------

    def plan(
        self,
        situation: Situation,
        setup: Setup,
        language: Language,
        once: Once | None = None,
    ) -> Step:
        """Begin the session of a day, and have it planned.

        Args:
            once: as `first` made it, where the caller has no key.

        Raises:
            Refused: another process did, in another way.
        """
        if once is not None:
            self._once = once
        said: Mapping[str, Any] = {"language": language}
        beside = {"situation": situation}
        workflow = planning.WORKFLOW
        step = self.opened(workflow, PlanAsked, said, setup, beside=lambda: beside)
        if once is not None:
            self.end_key()
        return step

    def first(self, day: str, log_id: Callable[[], str]) -> Once:
        """Of several processes that plan a day at once, one does; asked for before `of` is."""
        heads = self._runner.store.heads(self._project)
        former = sum(head.workflow == planning.WORKFLOW.name for head in heads)
        return Once(self._runner, self._project, f"{planning.WORKFLOW.name} {day} {former}", log_id)

    def plan_again(
        self,
        handle: Handle,
        situation: Situation,
        lead: Lead | None,
        prompts: Sequence[tuple[str, str]],
        changed: Sequence[Change] = (),
    ) -> Step:
        """Have the rest of the day planned anew.

        Args:
            changed: what is another than when the plan was made.
        """

        def beside() -> dict[str, Any]:
            _refuse_waiting(handle)
            return {"situation": situation, "changed": tuple(changed)}

        said = {"lead": lead, "prompts": tuple(prompts)}
        return self.submitted(handle, PlanAskedAgain, said, beside=beside, asks=True)

    def choose(self, handle: Handle, focus: str | None, minis: tuple[str, ...] | None) -> Step:
        """Change the plan by hand; None keeps what is planned."""

        def beside() -> dict[str, Any]:
            _refuse_waiting(handle)
            over = (self._over(handle, id_) for id_ in _concerned(handle, focus, *(minis or ())))
            return {"closed": tuple(one for one in over if one is not None)}

        return self.submitted(handle, TasksChosen, {"focus": focus, "minis": minis}, beside=beside)

    def _over(self, handle: Handle, task_id: str | None) -> ClosedTask | None:
        """What says that a task of the plan is over; None where nothing does."""
        if task_id is None or (task := _task_of(handle, task_id)) is None:
            return None
        try:
            note = self._runner.load(task.source.session_id)
        except PreflightsError:
            return None  # a note that is damaged, or in another log, says nothing
        if _is_open(note, task.number):
            return None
        return ClosedTask(task_id, note.source)

    # 3. Finishing ----------------------------------------------------------------------------

    def finish(self, handle: Handle, task_id: str | None) -> Step:
        """Close a block, and its task in the note that holds it, in one transaction.

        Args:
            task_id: None for the first block that is open.

        Raises:
            Refused: no block is open.
            StoreUnavailable: the log is too busy.
        """

        def record(input_id: str) -> Step:
            for _ in range(CONFLICTS_MAX):
                current = self._runner.resume(self._runner.refreshed(handle)).handle
                self._refuse_ended(current)
                _refuse_waiting(current)
                try:
                    both = self._both(current, task_id or _first_open(current), input_id)
                    return self._runner.submit_all(both)[0]
                except Conflict:
                    continue
            raise StoreUnavailable(f"the log is too busy: {CONFLICTS_MAX} tries to append failed")

        def is_said(before: BlockDone) -> bool:
            return task_id in (None, before.task_id)

        wanted = WantedInput((BlockDone,), self._actor, handle.session_id, is_said)
        return self._once.recorded(wanted, record)

    def _both(self, handle: Handle, task_id: str, input_id: str) -> tuple[Proposed, ...]:
        """The block's Input; and the task's, where the block closes and the task is open still."""
        new = BlockDone(at=self._runner.now(), actor=self._actor, task_id=task_id)
        block = Proposed(handle, new, input_id)
        decided = planning.WORKFLOW.decide(handle.session.state, new)
        task = _task_of(handle, task_id)
        if task is None or not any(isinstance(one, BlockClosed) for one in decided):
            return (block,)
        note = self._runner.load(task.source.session_id)
        if not _is_open(note, task.number):
            return (block,)
        closed = TaskClosed(
            at=self._runner.now(), actor=self._actor, number=task.number, status="done"
        )
        return block, Proposed(note, closed, self._runner.new_id())


def _refuse_waiting(handle: Handle) -> None:
    """Raises:
    Refused: a model was asked for the plan, and has not answered.
    """
    if state_of(handle).led.request is not None:
        message = "the model has not answered with today's plan yet"
        raise Refused(message, code="plan_waits", session=ids.short(handle.session_id))


def _first_open(handle: Handle) -> str:
    """The task of the first block that is not done."""
    state = state_of(handle)
    blocks = state.plan.blocks if state.plan else ()
    left = [block.task_id for block in blocks if block.task_id not in state.done]
    if not left:
        raise Refused("every block of today's plan is done", code="nothing_left")
    return left[0]


def _is_open(note: Handle, number: int) -> bool:
    """Whether a note holds a task that is open."""
    if note.workflow.name != extraction.WORKFLOW.name or note.session.closed:
        return False
    items = note.session.state.items
    return any(one.number == number and one.status == "open" for one in items)


def _concerned(handle: Handle, *named: str | None) -> tuple[str, ...]:
    """Ids of tasks that are named or planned, and of those that go before one of them."""
    state = state_of(handle)
    planned = [block.task_id for block in state.plan.blocks] if state.plan else []
    day = schedule.day_of(planned_for(handle))
    ids = {*filter(None, named), *planned}
    before = (schedule.ahead(day, task) for task in day.tasks if task.id in ids)
    return tuple(sorted(ids.union(*before)))


def _task_of(handle: Handle, task_id: str) -> OpenTask | None:
    return next((one for one in planned_for(handle).tasks if one.task.id == task_id), None)
