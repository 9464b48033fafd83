"""What a day plan is made of (docs/specs/planning.md)."""

from __future__ import annotations

from typing import Final, Literal

from preflights_es.kernel.events import Source, Value, Whole

Importance = Literal["low", "normal", "high"]
Energy = Literal["deep_work", "admin", "creative"]
Planner = Literal["rules", "model", "person"]
Warned = Literal[
    "no_tasks", "no_focus", "focus_waits", "no_room", "short_focus", "focus_cut", "mini_dropped"
]
"""What a person should know of a plan; its sentence stands in `sentences.py`."""
Reason = Literal[
    "no_room",
    "no_time",
    "waits",
    "too_short",
    "between",
    "important",
    "one_focus",
    "two_minis",
    "no_focus",
    "not_chosen",
]
"""Why a task is left out; its words stand in `sentences.py`."""

DAY_MINUTES: Final = 1_440  # the most that `--minutes` takes
UNTIL: Final = "18:00"  # where no setting says when the day ends
ROUNDED: Final = 5  # minutes: blocks and the time from now are whole multiples
FOCUS_MIN: Final = 60  # minutes of a focus task, on average
FOCUS_MAX: Final = 120
SHORT_MIN: Final = 30  # minutes of a task that is the focus where none is longer
PART_MAX: Final = 90  # minutes of a task that is too long, where every task is
MINI_MIN: Final = 5
MINI_MAX: Final = 20
MINIS_MAX: Final = 2
BUFFER: Final = 15  # minutes between two blocks
BUFFER_MIN: Final = 10
BUFFER_MAX: Final = 30
ASSUMED: Final = (30, 60)  # minutes of a task whose duration is unknown
EVENT_ASSUMED: Final = 60  # minutes of an event whose end is unknown
REPLANS_MAX: Final = 3  # of one day
TASKS_MAX: Final = 500  # of one plan: the overdue, the important and the oldest
REASONING_MAX: Final = 2_000  # characters


class Task(Value, frozen=True, kw_only=True, omit_defaults=True):
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
    after: str | None = None
    """Id of the open task that goes before it."""

    @property
    def twice(self) -> int:
        """Twice the average of its durations, in minutes: a whole number."""
        return self.duration_min + self.duration_max


class OpenTask(Value, frozen=True):
    """A task, and the session that holds it."""

    task: Task
    number: Whole
    """Of the item in that session."""
    source: Source


class ClosedTask(Value, frozen=True):
    """A task of the plan that is over by now."""

    task_id: str
    source: Source


class Change(Value, frozen=True):
    """What is another with an item than when a plan was made."""

    id: str
    """As a person types it."""
    type: Literal["task", "event"]
    what: Literal["done", "cancelled", "edited", "new", "gone"]


class Busy(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A time that is taken, in minutes since the day began."""

    start: Whole
    end: Whole
    title: str = ""
    assumed: bool = False
    """Whether the end is assumed."""
    source: Source | None = None
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


class Block(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A task at a time, in minutes since the day began."""

    task_id: str
    kind: Literal["focus", "mini"]
    start: Whole
    end: Whole
    part: bool = False
    """Whether the block holds only a part of the task."""


class Plan(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What to do today, in the words of seed 3."""

    focus_task_id: str | None = None
    mini_task_ids: tuple[str, ...] = ()
    buffer_minutes: Whole = 0
    """Between two blocks; 0 where there are none to keep apart."""
    reasoning: str = ""
    source: Planner = "rules"
    blocks: tuple[Block, ...] = ()
    """By time."""
    too_long: tuple[str, ...] = ()
    """Ids of tasks to split: too long for one day."""
    warnings: tuple[Warned, ...] = ()


class LeftOut(Value, frozen=True):
    """A task that is not planned."""

    task: Task
    reason: Reason
    minutes: Whole = 0
    """How long it takes."""
    room: Whole = 0
    """The longest time that was free for it, in minutes."""
    other_id: str = ""
    """The task that goes before it."""
