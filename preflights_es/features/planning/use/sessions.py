"""The plan of today: made, shown, changed by hand, done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from preflights_es.features.planning.domain import WORKFLOW
from preflights_es.features.planning.domain.events import (
    BlockDone,
    ChangeRefused,
    PlanAsked,
    PlanAskedAgain,
    TasksChosen,
)
from preflights_es.features.planning.domain.sentences import WARNINGS
from preflights_es.features.planning.domain.values import Change, Situation
from preflights_es.features.planning.use import situation as made
from preflights_es.features.planning.use.changes import changes, words
from preflights_es.features.planning.use.days import NO_PLAN, days_of, planned_for, state_of
from preflights_es.features.planning.use.results import DayPlan, NothingToPlan
from preflights_es.features.planning.use.situation import Row, Wanted
from preflights_es.kernel.errors import Refused
from preflights_es.runtime.idempotency import Once
from preflights_es.runtime.runner import Handle, Step
from preflights_es.system import clock_ids
from preflights_es.system.clock_ids import LocalDay
from preflights_es.use.request import Request
from preflights_es.use.results import Session, session_of

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
) -> Session | NothingToPlan:
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
    once = None if request.has_key else own.first(day.day, request.process.log_id)
    handle, found = _looked_up(request, day, wanted, again=again)
    changed = _changes(request, day, handle)
    # What was typed wrong is refused before a plan is recorded.
    focus_id = None if focus is None else own.named(found, focus)
    mini_ids = tuple(own.named(found, one) for one in minis)
    if not found.tasks and (handle is None or again):
        return _nothing(request, day.day, (focus_id, *mini_ids))
    if handle is None or again:
        step = _planned(request, handle, found, once, changed, by_hand=is_chosen)
    else:
        step = Step(handle, ())
        if changed:
            request.notice(OLDER, f"the plan is older than a change: {words(changed)}")
    if is_chosen:
        step = own.choose(step.handle, focus_id, mini_ids or None)
    return _told(request, step)


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
        return handle, _situation(request, day, asked)
    if wanted.is_said:
        raise Refused("today is planned already", code="planned_already")
    return handle, planned_for(handle)


def _nothing(request: Request, day: str, named: tuple[str | None, ...]) -> NothingToPlan:
    """What is said of a day without open tasks.

    Raises:
        Refused: a task was named, which is not open.
    """
    for id_ in filter(None, named):
        code, message = DayPlan.refusal(ChangeRefused(reason="unknown_task", task_id=id_))
        raise Refused(message, code=code)
    language = request.process.settings.language
    return NothingToPlan(day=day, warnings=(WARNINGS["no_tasks"][language],))


def done(request: Request, task: str | None = None) -> Session:
    """Close a block of today's plan, and its task.

    Args:
        task: None for the first block that is open.

    Raises:
        Refused: there is no plan of today, or no block that is open.
    """
    own = days_of(request)
    handle = own.before(BlockDone) or own.of(clock_ids.local_day(clock_ids.now()).day)
    if handle is None:
        raise Refused(NO_PLAN, code="no_plan")
    task_id = None if task is None else own.named(planned_for(handle), task)
    return _told(request, own.finish(handle, task_id))


def _situation(request: Request, day: LocalDay, asked: made.Window) -> Situation:
    return made.situation(day, asked, _rows(request))


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
    once: Once | None,
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
        return own.plan(found, setup, language, once)
    except Refused:
        if once is None or (handle := own.of(found.day)) is None:
            raise
        return Step(handle, ())  # another process planned the day in another way


def _told(request: Request, step: Step) -> Session:
    found = session_of(step, request.notices)
    assert isinstance(found, DayPlan), "a plan"
    return found
