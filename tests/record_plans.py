"""Golden plans: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

from msgspec.structs import replace

from preflights_es.features.planning.domain import WORKFLOW
from preflights_es.features.planning.domain.events import Busy, OpenTask, PlanTask, Shift, Situation
from preflights_es.features.planning.use import DayPlans
from preflights_es.kernel.events import SourceSession
from preflights_es.kernel.lead import Lead, Setup, StepRetried
from preflights_es.runtime.runner import Handle
from preflights_es.words.questions import Language
from tests.record_goldens import ADA, Recorder, inputs, sim


def days(r: Recorder) -> DayPlans:
    """The plans of the project."""
    return DayPlans(inputs(r))


TASKS = (
    PlanTask(
        id="3f9a12c4.1", title="Präsentation", duration_min=60, duration_max=120, importance="high"
    ),
    PlanTask(
        id="3f9a12c4.2", title="Email an Chef", duration_min=10, duration_max=15, energy="admin"
    ),
    PlanTask(id="3f9a12c4.3", title="Blumen", duration_min=20, duration_max=20),
    PlanTask(
        id="3f9a12c4.4",
        title="Steuer",
        duration_min=30,
        duration_max=60,
        assumed=True,
        due="2026-11-01",
    ),
    PlanTask(id="3f9a12c4.5", title="Keller", duration_min=300, duration_max=480, importance="low"),
    PlanTask(id="3f9a12c4.6", title="Buch", duration_min=90, duration_max=90, energy="deep_work"),
)
NOTE = SourceSession("01a0c450-6c01-7000-8000-00003f9a12c4", 9, "ab" * 32)


def day(
    start: int = 540, end: int = 1_080, *, tasks: tuple[PlanTask, ...] = TASKS, **said: object
) -> Situation:
    """A day with these tasks."""
    listed = tuple(OpenTask(one, n, NOTE) for n, one in enumerate(tasks, 1))
    clock = {"day": "2026-11-23", "now": "2026-11-23T08:58+01:00", "time_zone": "Europe/Berlin"}
    return Situation(**{**clock, "start": start, "end": end, "tasks": listed, **said})  # type: ignore[arg-type]  # what the caller says of it


def plan(
    r: Recorder, situation: Situation, lead: Lead | None = None, language: Language = "de"
) -> Handle:
    provider = lead.provider if lead else "mock"
    prompts = WORKFLOW.led.prompts if lead else ()
    setup = Setup("0.2.0", "planning/1", provider, prompts, lead)
    step = days(r).plan(situation, setup, language)
    r.order.append(step.handle.session_id)
    return step.handle


def the_rules_plan_a_day(r: Recorder) -> None:
    meeting = Busy(start=600, end=660, title="Meeting", assumed=True, source=NOTE)
    plan(r, day(busy=(meeting, Busy(start=780, end=840))))
    plan(r, day(), language="en")


def too_little_time(r: Recorder) -> None:
    for end in (700, 610, 540):
        plan(r, day(end=end, tasks=TASKS[:3], minutes=100))


def a_day_has_no_task(r: Recorder) -> None:
    plan(r, day(tasks=(replace(TASKS[5], energy="creative", created=1_700_000_000_000_000),)))
    handle = plan(r, day(tasks=()))
    r.submitted(handle, StepRetried(at=r.runner.now(), actor=ADA))


def a_day_has_23_or_25_hours(r: Recorder) -> None:
    plan(r, day(60, 300, shifts=(Shift(120, 60),)))
    plan(r, day(60, 300, shifts=(Shift(180, -60),)))


def a_person_chooses(r: Recorder) -> None:
    handle = plan(r, day())
    for focus in ("3f9a12c4.6", "3f9a12c4.3", "3f9a12c4.9"):
        handle = days(r).plan_again(handle, day(focus=focus), None, ()).handle


def a_day_is_planned_anew(r: Recorder) -> None:
    handle = plan(r, day(more=2))
    dentist = Busy(start=600, end=660, title="Zahnarzt", source=NOTE, number=7)
    handle = days(r).plan_again(handle, day(600, tasks=TASKS[1:], busy=(dentist,)), None, ()).handle
    days(r).plan_again(handle, day(700, tasks=()), None, ())


def a_model_varies_within_the_rules(r: Recorder) -> None:
    for seed in range(6):
        plan(r, day(), sim(seed))


def a_model_is_asked_once_more(r: Recorder) -> None:
    plan(r, day(), sim(0, "malformed=0.5"))


def the_rules_stand_in_for_one_plan(r: Recorder) -> None:
    handle = plan(r, day(), sim(1, "malformed=1"))
    days(r).plan_again(handle, day(600), sim(1), WORKFLOW.led.prompts)


def a_strict_plan_waits_and_is_resumed(r: Recorder) -> None:
    handle = plan(r, day(), sim(2, "error=1", strict=True))
    days(r).resume(handle)
