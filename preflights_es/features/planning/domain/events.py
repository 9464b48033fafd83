"""What a day plan is made of, and what it records (docs/specs/planning.md).

Values and limits first, then Inputs, Decisions, and the list of all."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal

import msgspec

from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.events import Decision, Event, Input, SourceSession, Value, Whole
from preflights_es.kernel.lead import LED_EVENTS, Lead, NamesLead, Setup
from preflights_es.kernel.ports import SettingsSource, SettingsTable
from preflights_es.kernel.text import late_pattern
from preflights_es.words.questions import Language, Refusal

# 1. What a plan is made of -------------------------------------------------------------------

Importance = Literal["low", "normal", "high"]
Energy = Literal["deep_work", "admin", "creative"]
Planner = Literal["rules", "model", "person"]
Warned = Literal["no_tasks", "no_room"]
"""What a person should know of a plan; its sentence stands in `schedule.py`."""

DAY_MINUTES: Final = 1_440  # the most that `--minutes` takes
UNTIL: Final = "18:00"  # where no setting says when the day ends
ROUNDED: Final = 5  # minutes: the beginning of a day from now is a whole multiple
MINI_MAX: Final = 30  # minutes of a mini, on average
MINIS_MAX: Final = 2
BUFFER: Final = 15  # minutes between two blocks
ASSUMED: Final = 45  # minutes of a task whose duration is unknown
EVENT_ASSUMED: Final = 60  # minutes of an event whose end is unknown
TASKS_MAX: Final = 500  # of one plan: the first in the order
REASONING_MAX: Final = 2_000  # characters


class PlanTask(Value, frozen=True, kw_only=True, omit_defaults=True):
    """An open task, as the plan knows it."""

    id: str
    """As a person types it."""
    title: str
    duration_min: Whole
    """Minutes."""
    duration_max: Whole
    assumed: bool = False
    """Whether the durations are assumed."""
    importance: Importance = "normal"
    energy: Energy | None = None
    due: str | None = None
    """YYYY-MM-DD."""
    created: Whole = 0
    """Microseconds since 1970 UTC."""

    @property
    def twice(self) -> int:
        """Twice the average of its durations, in minutes: a whole number."""
        return self.duration_min + self.duration_max


class OpenTask(Value, frozen=True):
    """A task, and the session that holds it."""

    task: PlanTask
    number: Whole
    """Of the item in that session."""
    source: SourceSession


class Busy(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A time that is taken, in minutes since the day began."""

    start: Whole
    end: Whole
    title: str = ""
    assumed: bool = False
    """Whether the end is assumed."""
    source: SourceSession | None = None
    """The session that holds the event; None where the person gave the interval."""
    number: Whole = 0
    """Of the event in that session."""


class Shift(Value, frozen=True):
    """A moment at which the clock on the wall is moved."""

    at: Whole
    """Minutes since the day began."""
    by: Whole
    """Minutes."""


class Situation(Value, frozen=True, kw_only=True, omit_defaults=True):
    """All that a plan follows from. Times are real minutes since the local day began."""

    day: str
    """YYYY-MM-DD."""
    now: str
    """Local date and time, ISO 8601 with the offset, to the minute."""
    time_zone: str
    start: Whole
    """Of the window."""
    end: Whole
    minutes: Whole | None = None
    """The most that the plan may take; None for the whole window."""
    busy: tuple[Busy, ...] = ()
    shifts: tuple[Shift, ...] = ()
    """Of days that have no 24 hours."""
    tasks: tuple[OpenTask, ...] = ()
    more: Whole = 0
    """Open tasks behind these, which the plan does not look at."""
    focus: str | None = None
    """Id of the task that a person chose as the focus."""


class PlanBlock(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A task at a time, in minutes since the day began."""

    task_id: str
    kind: Literal["focus", "mini"]
    start: Whole
    end: Whole
    part: bool = False
    """Whether the block holds only a part of the task."""


class PlannedDay(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What to do today, in the words of seed 3."""

    focus_task_id: str | None = None
    mini_task_ids: tuple[str, ...] = ()
    buffer_minutes: Whole = 0
    """Between two blocks; 0 where there are none to keep apart."""
    reasoning: str = ""
    source: Planner = "rules"
    blocks: tuple[PlanBlock, ...] = ()
    """By time."""
    warnings: tuple[Warned, ...] = ()


# 2. Settings, and the clock on the wall ------------------------------------------------------

CLOCK = late_pattern(r"([01][0-9]|2[0-3]):[0-5][0-9]|24:00")
"""A time of day as people write it; the end of a day is 24:00."""


class PlanningTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Its keys."""

    until: str = UNTIL


def planning_settings_table() -> SettingsTable:
    """What the table comes to: the time as HH:MM."""
    return SettingsTable(PlanningTable, _until, UNTIL)


def _until(source: SettingsSource, given: Any) -> str:
    until: str = given.until
    if not CLOCK.fullmatch(until):
        raise source.wrong(("planning", "until"), f"found {until!r}, expected a time such as 18:00")
    return until


def format_wall_clock(situation: Situation, at: int) -> str:
    """HH:MM; the end of a day is 24:00."""
    shown = at + sum(shift.by for shift in situation.shifts if shift.at <= at)
    shown = shown if shown == DAY_MINUTES else shown % DAY_MINUTES
    return f"{shown // 60:02d}:{shown % 60:02d}"


# 3. Inputs -----------------------------------------------------------------------------------


class PlanAsked(Input, frozen=True):
    """The actor asks for the plan of a day; opens the session, with all that it follows from."""

    tag: ClassVar[str] = "planning.plan_asked.v1"
    verb: ClassVar[str] = "asked for the plan of"
    project: str
    setup: Setup
    language: Language
    situation: Situation


class PlanAskedAgain(NamesLead, frozen=True):
    """The actor asks for another plan of the same day."""

    tag: ClassVar[str] = "planning.plan_asked_again.v1"
    verb: ClassVar[str] = "asked again for the plan of"
    situation: Situation
    lead: Lead | None = None
    """Who makes this plan; None for the rules."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of prompt name and version."""


# 4. Decisions --------------------------------------------------------------------------------


class PlanMade(Decision, frozen=True):
    """The plan from now on; takes the place of the one before."""

    tag: ClassVar[str] = "planning.plan_made.v1"
    plan: PlannedDay


class PlanningChangeRefused(Refusal, frozen=True):
    """The plan stays as it is."""

    tag: ClassVar[str] = "planning.change_refused.v1"
    reason: Literal["unknown_task", "not_expected"]
    task_id: str = ""
    """The one that is wrong, where one is."""


# 5. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    PlanAsked,
    PlanAskedAgain,
    PlanMade,
    PlanningChangeRefused,
    *COMPLETION_EVENTS,
    *LED_EVENTS,
)
