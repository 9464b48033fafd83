"""Days and tasks, and plans over a runner and a store in memory."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from preflights_es.features.planning.domain import WORKFLOW
from preflights_es.features.planning.domain.events import (
    BlockDone,
    Busy,
    Change,
    OpenTask,
    Plan,
    PlanAsked,
    PlanAskedAgain,
    Situation,
    Task,
    TasksChosen,
)
from preflights_es.features.planning.domain.state import DayView, State
from preflights_es.history.replayer import Replayer
from preflights_es.kernel import session as kernel
from preflights_es.kernel.events import Actor, Event, Input, Source
from preflights_es.kernel.lead import Lead, LeadChanged, Setup, StepRetried
from preflights_es.kernel.ports import Provider
from preflights_es.kernel.questions import Language
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner
from tests.fixed import PROJECT, memory_runner
from tests.scripted import Reply, Scripted

ADA: Final = Actor("user", "Ada Lovelace")
DAY: Final = "2026-11-23"
NINE: Final = 9 * 60
SIX: Final = 18 * 60


def task(id_: str, low: int, high: int | None = None, **said: Any) -> Task:
    """A task that takes so many minutes."""
    most = low if high is None else high
    return Task(id=id_, title=f"Task {id_}", duration_min=low, duration_max=most, **said)


def situation(*tasks: Task, **said: Any) -> Situation:
    """A day from nine to six."""
    listed = tuple(
        OpenTask(one, number, Source("s-1", 2, "00")) for number, one in enumerate(tasks, 1)
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


class Planned:
    """The session of one day; everything that is done to it is settled at once."""

    def __init__(
        self,
        *replies: Reply,
        day: Situation | None = None,
        language: Language = "en",
        strict: bool = False,
        rules: bool = False,
        provider: Provider | None = None,
    ) -> None:
        self.script = Scripted(*replies)
        self._asked: Provider = provider or self.script
        plain = memory_runner()

        async def waited(_seconds: float) -> None:
            pass

        self.runner = Runner(plain.store, WORKFLOWS, plain.now, plain.new_id, waited)
        self.lead = None if rules else Lead("script", "m-1", strict=strict)
        first = PlanAsked(
            at=self.runner.now(),
            actor=ADA,
            project=PROJECT,
            setup=Setup("0", "planning/1", "script", lead=self.lead),
            language=language,
            situation=situation(*THREE) if day is None else day,
        )
        new_id = self.runner.new_id
        opened = self.runner.open(WORKFLOW, PROJECT, first, new_id(), new_id())
        self.handle: Handle = opened.handle
        self.last: tuple[Event, ...] = opened.decisions
        self._settle()

    def submit(self, new: Input) -> Planned:
        step = self.runner.submit(self.handle, new, self.runner.new_id())
        self.handle, self.last = step.handle, step.decisions
        self._settle()
        return self

    def choose(self, focus: str | None = None, *minis: str) -> Planned:
        now = self.runner.now()
        return self.submit(TasksChosen(at=now, actor=ADA, focus=focus, minis=minis or None))

    def done(self, task_id: str) -> Planned:
        return self.submit(BlockDone(at=self.runner.now(), actor=ADA, task_id=task_id))

    def again(
        self,
        day: Situation | None = None,
        lead: Lead | None = None,
        changed: tuple[Change, ...] = (),
    ) -> Planned:
        found, now = day or situation(*THREE), self.runner.now()
        return self.submit(
            PlanAskedAgain(at=now, actor=ADA, situation=found, lead=lead, changed=changed)
        )

    def retry(self) -> Planned:
        return self.submit(StepRetried(at=self.runner.now(), actor=ADA))

    def led_by(self, lead: Lead | None) -> Planned:
        return self.submit(LeadChanged(at=self.runner.now(), actor=ADA, lead=lead))

    def _settle(self) -> None:
        self.handle = asyncio.run(self.runner.settle(self.handle, self._asked)).handle

    @property
    def state(self) -> State:
        state: State = self.handle.session.state
        return state

    @property
    def plan(self) -> Plan:
        assert self.state.plan is not None
        return self.state.plan

    @property
    def view(self) -> DayView:
        return WORKFLOW.view(self.state)  # type: ignore[return-value]  # it makes no other

    @property
    def status(self) -> str:
        return kernel.status(WORKFLOW, self.handle.session)

    @property
    def chosen(self) -> tuple[str | None, tuple[str, ...], int]:
        return self.plan.focus_task_id, self.plan.mini_task_ids, self.plan.buffer_minutes

    def events(self, of: type[Any]) -> list[Any]:
        codec = self.runner.codec(WORKFLOW)
        stored = self.runner.store.read(self.handle.session_id)
        return [codec.decode(one) for one in stored if one.type == of.tag]

    def replayed(self) -> str:
        stored = self.runner.store.read(self.handle.session_id)
        return Replayer(WORKFLOWS).replay(stored).status
