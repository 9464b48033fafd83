"""`today`: the plan of the day on the command line."""

from __future__ import annotations

from typing import Final

import click

from preflights_cli.common import (
    Voice,
    given,
    is_terminal,
    key_option,
    language_option,
    led,
    recording,
)
from preflights_cli.rendering import Shown, said
from preflights_es.features.planning.domain.schedule import WARNINGS
from preflights_es.features.planning.domain.state import DayView, Entry
from preflights_es.features.planning.situation import Wanted
from preflights_es.features.planning.use import OLDER, NothingToPlan, done, today
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import one_line, shown
from preflights_es.kernel.views import View
from preflights_es.use.request import Request

NEXT = "next"
"""What `--done` says where it names no task."""


@click.command()
@click.option("--minutes", type=int, metavar="N", help="The most that the plan may take.")
@click.option("--busy", multiple=True, metavar="FROM-TO", help="A time that is taken: 13:00-14:00.")
@click.option("--from", "start", metavar="TIME", callback=given, help="Begin at; default: now.")
@click.option("--until", "end", metavar="TIME", callback=given, help="End at; default: 18:00.")
@click.option("--replan", is_flag=True, help="Plan the rest of the day anew.")
@click.option("--focus", metavar="TASK", callback=given, help="Choose the focus by hand.")
@click.option("--mini", "minis", multiple=True, metavar="TASK", help="Choose a mini by hand.")
@click.option(
    "--done",
    "finished",
    is_flag=False,
    flag_value=NEXT,
    metavar="[TASK]",
    callback=given,
    help="Close a block and its task; default: the first open one.",
)
@language_option
@key_option
@led
@recording
def today_command(
    minutes: int | None,
    busy: tuple[str, ...],
    start: str | None,
    end: str | None,
    replan: bool,
    focus: str | None,
    minis: tuple[str, ...],
    finished: str | None,
    app: Request,
    voice: Voice,
) -> int:
    """Plan today: one focus, at most two small tasks, buffers between them.

    The plan is made once a day, and shown after that. Where a task or an event of it has changed
    since, it says so; a plan that is made anew for that reason does not count. The rules or a model
    choose from the open tasks; if the model fails, the rules do. You can choose yourself with
    --focus and --mini.

    \b
    Examples:
      preflights today
      preflights today --busy 13:00-14:00 --until 17:30
      preflights today --replan --minutes 90
      preflights today --focus 3f9a12c4.1 --mini 3f9a12c4.2
      preflights today --done
    """
    wanted = Wanted(minutes=minutes, busy=busy, start=start, end=end)
    if finished is not None:
        if replan or focus or minis or wanted.is_said:
            message = "--done stands alone: change the plan before or after it"
            raise click.UsageError(message)
        return said(voice, done(app, None if finished == NEXT else finished))
    found = today(app, wanted, again=replan, focus=focus, minis=minis)
    is_older = any(one.code == OLDER for one in app.notices)
    asks = is_older and not (focus or minis or voice.as_json) and is_terminal()
    if asks and click.confirm("Plan anew?"):
        found = today(app, wanted, again=True)
    if not isinstance(found, NothingToPlan):
        return said(voice, found)
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

LEFT_SHOWN: Final = 5  # tasks that are left out; the rest with --json
FULL: Final = ("one_focus", "two_minis", "not_chosen")
"""Reasons of what is left for another day."""

LONGER: Final = "Plan until later: preflights today --replan --until HH:MM"

WAITING: Final = (
    "Ask the model again with: preflights resume {id}\n"
    "Or give it up, and plan anew: preflights abandon {id}"
)


def describe(voice: Voice, session: View) -> None:
    """A plan as a timeline."""
    assert isinstance(session, DayView), "the caller checked the workflow"
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


def _left_out(session: DayView) -> list[str]:
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


def hint(session: View) -> str:
    """What may come next."""
    assert isinstance(session, DayView), "the caller checked the workflow"
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
