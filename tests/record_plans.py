"""Golden plans: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from preflights_es.features.planning.domain import WORKFLOW
from preflights_es.features.planning.domain.events import (
    BlockDone,
    Busy,
    Change,
    OpenTask,
    Shift,
    Situation,
    Task,
)
from preflights_es.features.planning.use import Days
from preflights_es.kernel.events import Source
from preflights_es.kernel.lead import Lead, Setup, StepRetried
from preflights_es.kernel.questions import Language
from preflights_es.runtime.runner import Handle
from tests.record_goldens import ADA, Recorder, inputs, sim


def days(r: Recorder) -> Days:
    """The plans of the project."""
    return Days(inputs(r))


TASKS = (
    Task(
        id="3f9a12c4.1", title="Präsentation", duration_min=60, duration_max=120, importance="high"
    ),
    Task(id="3f9a12c4.2", title="Email an Chef", duration_min=10, duration_max=15, energy="admin"),
    Task(id="3f9a12c4.3", title="Blumen", duration_min=20, duration_max=20),
    Task(
        id="3f9a12c4.4",
        title="Steuer",
        duration_min=30,
        duration_max=60,
        assumed=True,
        due="2026-11-01",
    ),
    Task(id="3f9a12c4.5", title="Keller", duration_min=300, duration_max=480, importance="low"),
    Task(id="3f9a12c4.6", title="Buch", duration_min=90, duration_max=90, energy="deep_work"),
)
NOTE = Source("01a0c450-6c01-7000-8000-00003f9a12c4", 9, "ab" * 32)


def day(
    start: int = 540, end: int = 1_080, *, tasks: tuple[Task, ...] = TASKS, **said: object
) -> Situation:
    """A day with these tasks."""
    listed = tuple(OpenTask(one, n, NOTE) for n, one in enumerate(tasks, 1))
    clock = {"day": "2026-11-23", "now": "2026-11-23T08:58+01:00", "time_zone": "Europe/Berlin"}
    return Situation(**{**clock, "start": start, "end": end, "tasks": listed, **said})  # type: ignore[arg-type]  # what the caller says of it


def plan(
    r: Recorder, situation: Situation, lead: Lead | None = None, language: Language = "de"
) -> Handle:
    provider = lead.provider if lead else "mock"
    prompts = WORKFLOW.prompts if lead else ()
    setup = Setup("0.2.0", "planning/1", provider, prompts, lead)
    step = days(r).plan(situation, setup, language)
    r.order.append(step.handle.session_id)
    return step.handle


def the_rules_plan_a_day(r: Recorder) -> None:
    meeting = Busy(start=600, end=660, title="Meeting", assumed=True, source=NOTE)
    plan(r, day(busy=(meeting, Busy(start=780, end=840))))
    plan(r, day(), language="en")


def too_little_time_in_every_degree(r: Recorder) -> None:
    for end in (650, 640, 625, 605, 595):
        plan(r, day(end=end, tasks=TASKS[:3]))


def a_day_has_no_task_for_a_focus(r: Recorder) -> None:
    creative = replace(TASKS[5], energy="creative", created=1_700_000_000_000_000)
    waits = replace(creative, after="3f9a12c4.5")
    short = replace(creative, duration_min=40, duration_max=40)
    for tasks in ((), (creative,), (short,), (TASKS[1],), (TASKS[4], waits)):
        handle = plan(r, day(tasks=tasks, minutes=240))
    r.submitted(handle, StepRetried(at=r.runner.now(), actor=ADA))


def a_day_has_23_or_25_hours(r: Recorder) -> None:
    plan(r, day(60, 300, shifts=(Shift(120, 60),)))
    plan(r, day(60, 300, shifts=(Shift(180, -60),)))


def a_person_chooses_and_finishes(r: Recorder) -> None:
    handle = plan(r, day())
    handle = days(r).choose(handle, "3f9a12c4.6", None).handle
    handle = days(r).choose(handle, None, ("3f9a12c4.3",)).handle
    handle = days(r).choose(handle, "3f9a12c4.5", None).handle
    handle = days(r).choose(handle, None, ("3f9a12c4.9",)).handle
    handle = days(r).choose(handle, None, ("3f9a12c4.3", "3f9a12c4.3")).handle
    for task in ("3f9a12c4.6", "3f9a12c4.6", "3f9a12c4.1"):
        # The note is in no log here: the block alone is closed.
        done = BlockDone(at=r.runner.now(), actor=ADA, task_id=task)
        handle = r.runner.submit(handle, done, r.runner.new_id()).handle


def a_day_is_planned_again_three_times(r: Recorder) -> None:
    handle = plan(r, day())
    for start in (600, 700, 800, 900):
        handle = days(r).plan_again(handle, day(start), None, ()).handle


def a_plan_is_made_anew_for_a_change_and_in_an_order(r: Recorder) -> None:
    first = replace(TASKS[0], after="3f9a12c4.3")
    tasks = (first, *TASKS[1:])
    handle = plan(r, day(tasks=tasks))
    changed = (Change("3f9a12c4.2", "task", "edited"), Change("3f9a12c4.7", "event", "new"))
    dentist = Busy(start=600, end=660, title="Zahnarzt", source=NOTE, number=7)
    for _ in range(4):
        situation = day(tasks=tasks, busy=(dentist,))
        handle = days(r).plan_again(handle, situation, None, (), changed).handle
    handle = days(r).choose(handle, None, ("3f9a12c4.2",)).handle
    done = BlockDone(at=r.runner.now(), actor=ADA, task_id="3f9a12c4.3")
    handle = r.runner.submit(handle, done, r.runner.new_id()).handle
    days(r).choose(handle, None, ("3f9a12c4.2",))
    plan(r, day(tasks=tasks), sim(3))


def a_model_varies_within_the_rules(r: Recorder) -> None:
    for seed in range(6):
        plan(r, day(), sim(seed))


def a_model_is_asked_once_more(r: Recorder) -> None:
    plan(r, day(), sim(5, "malformed=0.5"))


def the_rules_stand_in_for_one_plan(r: Recorder) -> None:
    handle = plan(r, day(), sim(1, "malformed=1"))
    days(r).plan_again(handle, day(600), sim(1), WORKFLOW.prompts)


def a_strict_plan_waits_and_is_resumed(r: Recorder) -> None:
    handle = plan(r, day(), sim(2, "error=1", strict=True))
    days(r).resume(handle)


GOLDENS: tuple[Callable[[Recorder], None], ...] = (
    the_rules_plan_a_day,
    too_little_time_in_every_degree,
    a_day_has_no_task_for_a_focus,
    a_day_has_23_or_25_hours,
    a_person_chooses_and_finishes,
    a_day_is_planned_again_three_times,
    a_plan_is_made_anew_for_a_change_and_in_an_order,
    a_model_varies_within_the_rules,
    a_model_is_asked_once_more,
    the_rules_stand_in_for_one_plan,
    a_strict_plan_waits_and_is_resumed,
)
