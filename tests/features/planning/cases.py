"""Days and tasks, and plans over a runner and a store in memory."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.planning.domain import WORKFLOW
from preflights_es.features.planning.domain.events import (
    Busy,
    OpenTask,
    PlanAsked,
    PlanAskedAgain,
    PlannedDay,
    PlanTask,
    Situation,
)
from preflights_es.features.planning.domain.state import DayView, PlanningState
from preflights_es.kernel.events import SourceSession
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.kernel.ports import Provider
from preflights_es.testing import Reply
from preflights_es.words.questions import Language
from tests.fixed import PROJECT
from tests.scripted_session import ADA, ScriptedSession

DAY: Final = "2026-11-23"
NINE: Final = 9 * 60
SIX: Final = 18 * 60


def task(id_: str, low: int, high: int | None = None, **said: Any) -> PlanTask:
    """A task that takes so many minutes."""
    most = low if high is None else high
    return PlanTask(id=id_, title=f"Task {id_}", duration_min=low, duration_max=most, **said)


def situation(*tasks: PlanTask, **said: Any) -> Situation:
    """A day from nine to six."""
    listed = tuple(
        OpenTask(one, number, SourceSession("s-1", 2, "00")) for number, one in enumerate(tasks, 1)
    )
    whole = {"start": NINE, "end": SIX, "now": f"{DAY}T08:58+01:00", "time_zone": "Europe/Berlin"}
    return Situation(**{"day": DAY, "tasks": listed, **whole, **said})


def busy(start: int, end: int) -> tuple[Busy, ...]:
    return (Busy(start=start, end=end, title="Meeting"),)


REPORT: Final = task("a.1", 90, importance="high")
CALL: Final = task("a.2", 10, energy="admin")
BILL: Final = task("a.3", 15)
THREE: Final = (REPORT, CALL, BILL)


def answer(focus: str | None = "a.1", *minis: str, **said: Any) -> dict[str, Any]:
    """A `planning.v1`."""
    whole = {"buffer_minutes": 15, "reasoning": "First things first."}
    return {"focus_task_id": focus, "mini_task_ids": list(minis), **whole, **said}


class Planned(ScriptedSession[PlanningState]):
    """The session of one day."""

    workflow = WORKFLOW

    def __init__(
        self,
        *replies: Reply,
        day: Situation | None = None,
        language: Language = "en",
        strict: bool = False,
        rules: bool = False,
        provider: Provider | None = None,
    ) -> None:
        super().__init__(*replies, provider=provider)
        self.lead = None if rules else Lead("script", "m-1", strict=strict)
        first = PlanAsked(
            at=self.runner.now(),
            actor=ADA,
            project=PROJECT,
            setup=Setup("0", "planning/1", "script", lead=self.lead),
            language=language,
            situation=situation(*THREE) if day is None else day,
        )
        self.open(first)

    def again(self, day: Situation | None = None, lead: Lead | None = None) -> Planned:
        found, now = day or situation(*THREE), self.runner.now()
        return self.submit(PlanAskedAgain(at=now, actor=ADA, situation=found, lead=lead))

    @property
    def plan(self) -> PlannedDay:
        assert self.state.plan is not None
        return self.state.plan

    @property
    def view(self) -> DayView:
        return WORKFLOW.shown.view(self.state)  # type: ignore[return-value]  # it makes no other

    @property
    def chosen(self) -> tuple[str | None, tuple[str, ...], int]:
        return self.plan.focus_task_id, self.plan.mini_task_ids, self.plan.buffer_minutes
