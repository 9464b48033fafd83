"""What a day plan records: Inputs first, then Decisions, then the list of all."""

from __future__ import annotations

from typing import ClassVar, Literal

from preflights_es.features.planning.domain.values import Change, ClosedTask, Plan, Situation
from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.events import Decision, Event, Input
from preflights_es.kernel.lead import LED_EVENTS, Lead, Setup
from preflights_es.kernel.questions import Language, Refusal

# 1. Inputs -----------------------------------------------------------------------------------


class PlanAsked(Input, frozen=True):
    """The actor asks for the plan of a day; opens the session, with all that it follows from."""

    tag: ClassVar[str] = "planning.plan_asked.v1"
    verb: ClassVar[str] = "asked for the plan of"
    project: str
    setup: Setup
    language: Language
    situation: Situation


class PlanAskedAgain(Input, frozen=True):
    """The actor asks for another plan of the same day."""

    tag: ClassVar[str] = "planning.plan_asked_again.v1"
    verb: ClassVar[str] = "asked again for the plan of"
    situation: Situation
    lead: Lead | None = None
    """Who makes this plan; None for the rules."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of prompt name and version."""
    changed: tuple[Change, ...] = ()
    """What is another than when the plan was made; where something is, no plan is used up."""


class TasksChosen(Input, frozen=True):
    """The actor chooses by hand what to do."""

    tag: ClassVar[str] = "planning.tasks_chosen.v1"
    verb: ClassVar[str] = "chose the tasks of"
    focus: str | None = None
    """Id of a task; None keeps the focus."""
    minis: tuple[str, ...] | None = None
    """Ids of tasks; None keeps the minis."""
    closed: tuple[ClosedTask, ...] = ()
    """Tasks that are named, planned or go before one of these, and are over by now."""


class BlockDone(Input, frozen=True):
    """The task of a block is done."""

    tag: ClassVar[str] = "planning.block_done.v1"
    verb: ClassVar[str] = "finished a block of"
    task_id: str


# 2. Decisions --------------------------------------------------------------------------------


class PlanMade(Decision, frozen=True):
    """The plan from now on; takes the place of the one before."""

    tag: ClassVar[str] = "planning.plan_made.v1"
    plan: Plan


class BlockClosed(Decision, frozen=True):
    """The block is done."""

    tag: ClassVar[str] = "planning.block_closed.v1"
    task_id: str


class ChangeRefused(Refusal, frozen=True):
    """The plan stays as it is."""

    tag: ClassVar[str] = "planning.change_refused.v1"
    reason: Literal[
        "unknown_task",
        "closed",
        "named_twice",
        "too_many_minis",
        "no_focus_task",
        "no_mini_task",
        "waits",
        "no_room",
        "not_planned",
        "replans_used_up",
        "not_expected",
    ]
    task_id: str = ""
    """The one that is wrong, where one is."""
    other_id: str = ""
    """The task that goes before it, where that is the reason."""


# 3. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    PlanAsked,
    PlanAskedAgain,
    TasksChosen,
    BlockDone,
    PlanMade,
    BlockClosed,
    ChangeRefused,
    *COMPLETION_EVENTS,
    *LED_EVENTS,
)
