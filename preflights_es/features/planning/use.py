"""The plan of a day: made, shown, changed by hand, done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.features.extraction import domain as extraction
from preflights_es.features.extraction.domain.events import TaskClosed
from preflights_es.features.planning import situation as made
from preflights_es.features.planning.domain import WORKFLOW, schedule
from preflights_es.features.planning.domain.events import (
    REPLANS_MAX,
    BlockClosed,
    BlockDone,
    Change,
    ChangeRefused,
    ClosedTask,
    OpenTask,
    PlanAsked,
    PlanAskedAgain,
    Situation,
    TasksChosen,
)
from preflights_es.features.planning.domain.schedule import WARNINGS
from preflights_es.features.planning.domain.state import Entry, State
from preflights_es.features.planning.situation import Row, Wanted, changes, changes_in_words
from preflights_es.kernel import ids
from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.events import Decision, Input
from preflights_es.kernel.items import item_id, item_named
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.kernel.questions import Language
from preflights_es.kernel.views import View
from preflights_es.runtime.inputs import Inputs, WantedInput
from preflights_es.runtime.runner import Handle, Proposed, Step
from preflights_es.runtime.sessions import Sessions
from preflights_es.system import clock_ids
from preflights_es.system.clock_ids import LocalDay
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, Result, session_of

# 1. What is not done, and a day without a plan -----------------------------------------------

_CHANGES: Final = {
    "unknown_task": "no task {} was open when the day was planned",
    "closed": "{} is over already",
    "named_twice": "{} would stand twice in the plan",
    "too_many_minis": "a plan has at most two minis",
    "no_focus_task": "{} cannot be the focus: it takes 30 to 120 minutes on average",
    "no_mini_task": "{} cannot be a mini: it takes 5 to 20 minutes, and is not of high importance",
    "waits": "{} comes after {}, which is open",
    "no_room": "it does not fit into the time",
    "not_planned": "{} is not in the plan",
    "replans_used_up": f"a day is planned again at most {REPLANS_MAX} times",
    "not_expected": NOT_EXPECTED,
}


def refusal(decision: Decision) -> tuple[str, str]:
    """Why a plan was not made or changed, as a code and in words."""
    assert isinstance(decision, ChangeRefused), "the only refusal"
    return decision.reason, _CHANGES[decision.reason].format(decision.task_id, decision.other_id)


class NothingToPlan(Result, frozen=True, kw_only=True):
    """`day/1` of a day without open tasks: nothing is recorded."""

    format: str = "day/1"
    session_id: None = None
    status: str = "stopped"
    day: str
    focus_task_id: None = None
    mini_task_ids: tuple[str, ...] = ()
    buffer_minutes: int = 0
    reasoning: str = ""
    source: None = None
    timeline: tuple[Entry, ...] = ()
    calls: int = 0
    warnings: tuple[str, ...]


# 2. Today ------------------------------------------------------------------------------------

NOTHING_SAID: Final = Wanted()
OLDER: Final = "plan_older"
"""Code of the notice that the plan is older than a change."""


def today(
    request: Request,
    wanted: Wanted = NOTHING_SAID,
    *,
    again: bool = False,
    focus: str | None = None,
    minis: tuple[str, ...] = (),
) -> View | NothingToPlan:
    """The plan of today, made where there is none.

    Args:
        wanted: what the person says of the day.
        again: whether it is planned anew.
        focus: id of the task that a person chooses; with `minis`, no model is asked.

    Raises:
        Refused: something said is no time, no interval or no task; nothing is recorded.
    """
    day = clock_ids.local_day(clock_ids.now())
    own, is_chosen = days_of(request), bool(focus or minis)
    first = None if request.key else own.first(day.day)
    handle, found = _looked_up(request, day, wanted, again=again)
    changed = _changes(request, day, handle)
    # What was typed wrong is refused before a plan is recorded.
    focus_id = None if focus is None else own.named(found, focus)
    mini_ids = tuple(own.named(found, one) for one in minis)
    if not found.tasks and (handle is None or again):
        return _nothing(request, day.day, (focus_id, *mini_ids))
    if handle is None or again:
        step = _planned(request, handle, found, first, changed, by_hand=is_chosen)
    else:
        step = Step(handle, ())
        if changed:
            request.notice(OLDER, f"the plan is older than a change: {changes_in_words(changed)}")
    if is_chosen:
        step = own.choose(step.handle, focus_id, mini_ids or None)
    return session_of(step, request.notices)


def _looked_up(
    request: Request, day: LocalDay, wanted: Wanted, *, again: bool
) -> tuple[Handle | None, Situation]:
    """The plan to go on with, None where one is to be made; and the day that is planned.

    Raises:
        Refused: something said is no time or no interval; or the day is planned already.
    """
    own = days_of(request)
    if begun := own.before(PlanAsked):
        return None, planned_for(begun)
    if changed := own.before(PlanAskedAgain, TasksChosen):
        return changed, planned_for(changed)
    asked = made.window(day, wanted, request.process.settings.of(WORKFLOW))
    handle = own.of(day.day)
    if handle is None or again:
        return handle, made.situation(day, asked, _rows(request))
    if wanted.is_said:
        raise Refused("today is planned already", code="planned_already")
    return handle, planned_for(handle)


def _nothing(request: Request, day: str, named: tuple[str | None, ...]) -> NothingToPlan:
    """What is said of a day without open tasks.

    Raises:
        Refused: a task was named, which is not open.
    """
    for id_ in filter(None, named):
        code, message = refusal(ChangeRefused(reason="unknown_task", task_id=id_))
        raise Refused(message, code=code)
    language = request.process.settings.language
    return NothingToPlan(day=day, warnings=(WARNINGS["no_tasks"][language],))


def done(request: Request, task: str | None = None) -> View:
    """Close a block of today's plan, and its task.

    Args:
        task: None for the first block that is open.

    Raises:
        Refused: there is no plan of today, or no block that is open.
    """
    own = days_of(request)
    handle = own.before(BlockDone) or own.of(clock_ids.local_day(clock_ids.now()).day)
    if handle is None:
        raise Refused("there is no plan of today", code="no_plan")
    task_id = None if task is None else own.named(planned_for(handle), task)
    return session_of(own.finish(handle, task_id), request.notices)


def _rows(request: Request) -> Sequence[Row]:
    process = request.process
    rows = list(process.projector.rows("items", process.project))
    if behind := process.projector.behind:
        request.notice(behind.code, behind.text)
    return rows


def _changes(request: Request, day: LocalDay, handle: Handle | None) -> tuple[Change, ...]:
    """What changed since the plan of today was made; nothing of a plan of another day."""
    if handle is None or planned_for(handle).day != day.day:
        return ()
    return changes(planned_for(handle), state_of(handle).done, day, _rows(request))


def _planned(
    request: Request,
    handle: Handle | None,
    found: Situation,
    first: Inputs | None,
    changed: tuple[Change, ...],
    *,
    by_hand: bool,
) -> Step:
    """A person who chooses needs no model."""
    own, language = days_of(request), request.process.settings.language
    setup = request.setup(WORKFLOW)
    lead, prompts = (None, ()) if by_hand else (setup.lead, setup.prompts)
    if handle is not None:
        return own.plan_again(handle, found, lead, prompts, changed)
    setup = replace(setup, lead=lead, prompts=prompts)
    try:
        return (own if first is None else Days(first)).plan(found, setup, language)
    except Refused:
        if first is None or (handle := own.of(found.day)) is None:
            raise
        return Step(handle, ())  # another process planned the day in another way


# 3. The plans of a project: each thing that people do with one is one Input ------------------


def days_of(request: Request) -> Days:
    """The plans of the project that a request is about."""
    return Days(request.inputs)


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
            if head.workflow != WORKFLOW.name:
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
        session_id = self._inputs.recorded_in(*kinds)
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

    def plan(self, situation: Situation, setup: Setup, language: Language) -> Step:
        """Begin the session of a day, and have it planned.

        Raises:
            Refused: another process did, in another way.
        """
        said, more = {"language": language}, {"situation": situation}
        return self.opened(WORKFLOW, PlanAsked, said, setup, beside=lambda: more)

    def first(self, day: str) -> Inputs:
        """Of several processes that plan a day at once, one does; asked for before `of` is."""
        heads = self._runner.store.heads(self._project)
        former = sum(head.workflow == WORKFLOW.name for head in heads)
        return self._inputs.under(f"{WORKFLOW.name} {day} {former}")

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

        def more_fields() -> dict[str, Any]:
            _refuse_waiting(handle)
            return {"situation": situation, "changed": tuple(changed)}

        said = {"lead": lead, "prompts": tuple(prompts)}
        return self.submitted(handle, PlanAskedAgain, said, beside=more_fields, asks=True)

    def choose(self, handle: Handle, focus: str | None, minis: tuple[str, ...] | None) -> Step:
        """Change the plan by hand; None keeps what is planned."""

        def more_fields() -> dict[str, Any]:
            _refuse_waiting(handle)
            over = (self._over(handle, id_) for id_ in _concerned(handle, focus, *(minis or ())))
            return {"closed": tuple(one for one in over if one is not None)}

        return self.submitted(
            handle, TasksChosen, {"focus": focus, "minis": minis}, beside=more_fields
        )

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
            current = self._runner.resume(self._runner.refreshed(handle)).handle
            self._refuse_ended(current)
            _refuse_waiting(current)
            both = self._both(current, task_id or _first_open(current), input_id)
            return self._runner.submit_all(both)[0]

        def is_said(before: BlockDone) -> bool:
            return task_id in (None, before.task_id)

        wanted = WantedInput((BlockDone,), self._actor, handle.session_id, is_said)
        return self._inputs.recorded(wanted, record)

    def _both(self, handle: Handle, task_id: str, input_id: str) -> tuple[Proposed, ...]:
        """The block's Input; and the task's, where the block closes and the task is open still."""
        new = BlockDone(at=self._runner.now(), actor=self._actor, task_id=task_id)
        block = Proposed(handle, new, input_id)
        decided = WORKFLOW.decide(handle.session.state, new)
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
