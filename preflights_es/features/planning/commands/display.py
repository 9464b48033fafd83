"""How the plan of a day is shown in words."""

from __future__ import annotations

from typing import Final

from preflights_cli.common import Voice
from preflights_cli.rendering import Shown
from preflights_es.features.planning.domain.sentences import WARNINGS
from preflights_es.features.planning.domain.views import Entry
from preflights_es.features.planning.use.results import DayPlan
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import one_line, shown
from preflights_es.use.results import Session

PLANNED: Final = {
    "rules": "made by the rules",
    "model": "made by the model",
    "person": "chosen by hand",
}
"""How a plan came about, by its source."""

LEFT_SHOWN: Final = 5  # tasks that are left out; the rest with --json
FULL: Final = ("one_focus", "two_minis", "not_chosen")
"""Reasons of what is left for another day."""

LONGER: Final = "Plan until later: preflights today --replan --until HH:MM"

WAITING: Final = (
    "Ask the model again with: preflights resume {id}\n"
    "Or give it up, and plan anew: preflights abandon {id}"
)


def describe(voice: Voice, session: Session) -> None:
    """A plan as a timeline."""
    assert isinstance(session, DayPlan), "the caller checked the workflow"
    voice.say(voice.bold(f"{session.day}, {hours(*session.window)}"))
    stands = PLANNED.get(session.source or "") if session.status == "done" else None
    voice.say(f"  day plan {short(session.session_id)}, {stands or session.status}")
    width = max((len(entry.task_id or "") for entry in session.timeline), default=0)
    for entry in session.timeline:
        voice.say(f"  {shown(_line(entry, width))}")
    if session.reasoning:
        voice.say(f"  {shown(one_line(session.reasoning))}")
    for line in _left_out(session):
        voice.say(f"  {shown(line)}")


def _left_out(session: DayPlan) -> list[str]:
    """What is not planned, each with the reason; first what a person can do something about."""
    ordered = sorted(session.left_out, key=lambda one: one.code in FULL)
    lines = [
        f"left out: {one_line(one.title)} ({one_line(one.reason)})" for one in ordered[:LEFT_SHOWN]
    ]
    more = len(ordered) - LEFT_SHOWN
    return [*lines, f"left out: {more} more (--json names them)"] if more > 0 else lines


def hours(first: str, last: str) -> str:
    """The window of a plan; where it was over when the plan was made, its end alone."""
    return f"{first}-{last}" if first < last else f"after {last}"


def _line(entry: Entry, width: int) -> str:
    details = [
        "a part of it" if entry.part else "",
        "time assumed" if entry.assumed else "",
        "done" if entry.done else "",
    ]
    told = ", ".join(filter(None, details))
    line = f"{entry.start}-{entry.end}  {entry.kind:<5}  {entry.task_id or '':<{width}}"
    return f"{line}  {one_line(entry.title)}{f'  ({told})' if told else ''}".rstrip()


def hint(session: Session) -> str:
    """What may come next."""
    assert isinstance(session, DayPlan), "the caller checked the workflow"
    if session.status == "stopped":
        has_no_room = WARNINGS["no_room"][session.language] in session.warnings
        return LONGER if has_no_room else "See the open tasks: preflights note tasks"
    if session.status == "waiting":
        return WAITING.format(id=short(session.session_id))
    if session.status != "done":
        return ""
    left = [entry for entry in session.timeline if entry.task_id and not entry.done]
    return "When a task is done: preflights today --done" if left else "The plan is done."


SHOWN: Final = Shown(
    describe=describe,
    hint=hint,
    advice={
        "unknown_task": ": plan with it by `preflights today --replan`",
        "waits": ": `preflights note edit TASK --after none` takes the order away",
        "not_planned": ": close it with `preflights note done`",
        "replans_used_up": ": change the plan with --focus and --mini",
    },
)
