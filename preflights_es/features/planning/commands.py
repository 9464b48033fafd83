"""`today`: the plan of the day on the command line."""

from __future__ import annotations

from typing import Final

import click

from preflights_cli.common import (
    Voice,
    creating_command,
    key_option,
    language_option,
    text_option,
    with_lead_options,
)
from preflights_cli.rendering import Shown, say_session_result
from preflights_es.features.planning.domain.schedule import WARNINGS
from preflights_es.features.planning.domain.state import DayTimelineEntry, DayView, NotPlanned
from preflights_es.features.planning.use import NothingToPlan, WantedDay, today
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.use.request import Request
from preflights_es.words.items import day_shown
from preflights_es.words.workflow import View


@click.command()
@click.option("--minutes", type=int, metavar="N", help="The most that the plan may take.")
@click.option("--busy", multiple=True, metavar="FROM-TO", help="A time that is taken: 13:00-14:00.")
@text_option("--from", "start", metavar="TIME", help="Begin at; default: now.")
@text_option("--until", "end", metavar="TIME", help="End at; default: 18:00.")
@text_option("--focus", metavar="TASK", help="Choose the focus yourself.")
@language_option
@key_option
@with_lead_options
@creating_command
def today_command(
    minutes: int | None,
    busy: tuple[str, ...],
    start: str | None,
    end: str | None,
    focus: str | None,
    app: Request,
    voice: Voice,
) -> int:
    """Plan today: one focus, at most two small tasks, everything else below.

    The order is: overdue, due today, importance, age. Where a task or an appointment of the day
    changed, it is planned anew. With --provider a model chooses from the open tasks; if it fails,
    the rules do. --focus is your own choice.

    \b
    Examples:
      preflights today
      preflights today --busy 13:00-14:00 --until 17:30
      preflights today --focus 3f9a12c4.1
    """
    wanted = WantedDay(minutes=minutes, busy=busy, start=start, end=end)
    found = today(app, wanted, focus=focus)
    if not isinstance(found, NothingToPlan):
        return say_session_result(voice, found)
    voice.json(found)
    voice.say(found.warnings[0])
    voice.hint('Write down what to do: preflights note "..."')
    return 0


PLANNED: Final = {
    "rules": "made by the rules",
    "model": "made by the model",
    "person": "chosen by hand",
}
"""How a plan came about, by its source."""

WAITING: Final = (
    "Ask the model again with: preflights resume {id}\n"
    "Or give it up, and plan anew: preflights abandon {id}"
)


def describe_planning(voice: Voice, session: View) -> None:
    """A plan as a timeline."""
    assert isinstance(session, DayView), "the caller checked the workflow"
    voice.say(voice.bold(f"{session.day}, {hours(*session.window)}"))
    stands = PLANNED.get(session.source or "") if session.status == "done" else None
    voice.say(f"  day plan {short_session(session.session_id)}, {stands or session.status}")
    width = max((len(entry.task_id or "") for entry in session.timeline), default=0)
    for entry in session.timeline:
        voice.say(f"  {escaped_text(_format_timeline_entry(entry, width))}")
    if session.reasoning:
        voice.say(f"  {escaped_text(one_line(session.reasoning))}")
    if session.status in ("done", "stopped"):
        voice.say(f"  {session.free_minutes} minutes stay free.")
        for line in _not_planned(session):
            voice.say(f"  {escaped_text(line)}")


def _not_planned(session: DayView) -> list[str]:
    """A line for each task that has no block, in the order of the rules."""
    width = max((len(one.task_id) for one in session.not_planned), default=0)
    lines = [_format_unplanned_task(one, session.day, width) for one in session.not_planned]
    lines = ["Not planned, beside a focus and two small tasks:", *lines] if lines else []
    more = f"  {session.more} more: preflights note list"
    return [*lines, more] if session.more else lines


def _format_unplanned_task(one: NotPlanned, today: str, width: int) -> str:
    due = f"  (due {day_shown(one.due, today)})" if one.due else ""
    return f"  {one.task_id:<{width}}  {one_line(one.title)}{due}"


def hours(first: str, last: str) -> str:
    """The window of a plan; where it was over when the plan was made, its end alone."""
    return f"{first}-{last}" if first < last else f"after {last}"


def _format_timeline_entry(entry: DayTimelineEntry, width: int) -> str:
    details = ["a part of it" if entry.part else "", "time assumed" if entry.assumed else ""]
    told = ", ".join(filter(None, details))
    line = f"{entry.start}-{entry.end}  {entry.kind:<5}  {entry.task_id or '':<{width}}"
    return f"{line}  {one_line(entry.title)}{f'  ({told})' if told else ''}".rstrip()


def planning_hint(session: View) -> str:
    """What may come next."""
    assert isinstance(session, DayView), "the caller checked the workflow"
    if session.status == "waiting":
        return WAITING.format(id=short_session(session.session_id))
    if session.status == "stopped":
        has_no_room = WARNINGS["no_room"][session.language] in session.warnings
        return "Plan until later: preflights today --until HH:MM" if has_no_room else ""
    return "When a task is done: preflights note done TASK" if session.status == "done" else ""


SHOWN: Final = Shown(describe=describe_planning, hint=planning_hint)
