"""A day plan as services return it: `day/1` (docs/api.md)."""

from __future__ import annotations

from typing import Final

from preflights_es.features.planning.domain.events import ChangeRefused
from preflights_es.features.planning.domain.values import REPLANS_MAX, Planner
from preflights_es.features.planning.domain.views import Entry, NotPlanned
from preflights_es.kernel.errors import Notice
from preflights_es.kernel.events import Decision
from preflights_es.kernel.questions import Language
from preflights_es.use.results import NOT_EXPECTED, Result, Session

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


class DayPlan(Session, frozen=True, kw_only=True):
    """`day/1`."""

    FORMAT = "day/1"

    day: str
    window: tuple[str, str]
    focus_task_id: str | None
    mini_task_ids: tuple[str, ...]
    buffer_minutes: int
    reasoning: str
    source: Planner | None
    timeline: tuple[Entry, ...]
    too_long: tuple[str, ...]
    left_out: tuple[NotPlanned, ...]
    replans: int
    calls: int
    language: Language
    notices: tuple[Notice, ...]

    @classmethod
    def refusal(cls, decision: Decision) -> tuple[str, str]:
        assert isinstance(decision, ChangeRefused), "the only refusal"
        return decision.reason, _CHANGES[decision.reason].format(
            decision.task_id, decision.other_id
        )


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


SESSION: Final = DayPlan
