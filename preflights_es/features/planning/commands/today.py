"""`today`: the plan of the day."""

from __future__ import annotations

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
from preflights_cli.rendering import said
from preflights_es.features.planning.use.results import NothingToPlan
from preflights_es.features.planning.use.sessions import OLDER, done, today
from preflights_es.features.planning.use.situation import Wanted
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
