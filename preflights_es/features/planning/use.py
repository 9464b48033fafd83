"""The plan of a day: made from the clock and the rows of the projection `items`, shown, changed by
hand, done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.extraction import domain as extraction
from preflights_es.features.planning.domain import WORKFLOW, schedule
from preflights_es.features.planning.domain.events import (
    ASSUMED,
    DAY_MINUTES,
    EVENT_ASSUMED,
    ROUNDED,
    TASKS_MAX,
    Busy,
    OpenTask,
    PlanAsked,
    PlanAskedAgain,
    PlanningChangeRefused,
    PlanTask,
    Shift,
    Situation,
)
from preflights_es.features.planning.domain.schedule import WARNINGS, Day
from preflights_es.features.planning.domain.state import DayTimelineEntry, NotPlanned, PlanningState
from preflights_es.kernel import ids
from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.events import Decision, Input, SourceSession
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.kernel.text import late_pattern
from preflights_es.runtime.inputs import Inputs
from preflights_es.runtime.runner import Handle, Step
from preflights_es.runtime.sessions import Sessions
from preflights_es.system import clock_ids
from preflights_es.system.clock_ids import LocalDay
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, Result, session_of
from preflights_es.words.items import item_id, item_named
from preflights_es.words.questions import Language
from preflights_es.words.workflow import View

BUSY_MAX: Final = 50  # intervals that are given at once
_TIME: Final = late_pattern(r"([01]?[0-9]|2[0-3]):[0-5][0-9]|24:00")
_DASH: Final = "\u2013"  # of a range, as people write it

Row = Mapping[str, Any]


class WantedDay(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of the day, as typed."""

    minutes: int | None = None
    busy: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None

    @property
    def is_said(self) -> bool:
        """Whether anything is."""
        return self != WantedDay()


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
    timeline: tuple[DayTimelineEntry, ...] = ()
    not_planned: tuple[NotPlanned, ...] = ()
    calls: int = 0
    warnings: tuple[str, ...]


# 1. Today ------------------------------------------------------------------------------------

NOTHING_SAID: Final = WantedDay()


def today(
    request: Request, wanted: WantedDay = NOTHING_SAID, *, focus: str | None = None
) -> View | NothingToPlan:
    """The plan of today, made where there is none, and anew where it is older than a change.

    Args:
        wanted: what the person says of the day; then it is planned anew, too.
        focus: id of the task that a person chooses; no model is asked.

    Raises:
        Refused: something said is no time, no interval or no open task; nothing is recorded.
    """
    day = clock_ids.local_day(clock_ids.now())
    own = days_of(request)
    first = None if request.key else own.first(day.day)
    begun, again = own.before(PlanAsked), own.before(PlanAskedAgain)
    if recorded := begun or again:  # the same command under its key
        return _plan_day(request, again, planned_for(recorded), first)
    handle = own.of(day.day)
    found = _read_day_situation(request, day, wanted, handle)
    if focus is not None:
        found = replace(found, focus=own.open_task(found, focus))
    is_said = wanted.is_said or focus is not None
    if handle is None and not found.tasks:
        language = request.process.settings.language
        return NothingToPlan(day=day.day, warnings=(WARNINGS["no_tasks"][language],))
    if handle is not None and not is_said and not _is_older(request, handle, found):
        return session_of(Step(handle, ()), request.notices)
    return _plan_day(request, handle, found, first)


def _read_day_situation(
    request: Request, day: LocalDay, wanted: WantedDay, handle: Handle | None
) -> Situation:
    """The day as it is now; what the person said of it before holds until they say otherwise.

    Raises:
        Refused: something said is no time or no interval.
    """
    was = None if handle is None else planned_for(handle)
    kept = None if was is None else kept_window(day, was)
    asked = window(day, wanted, request.process.settings.of(WORKFLOW), kept)
    found = compose_day_situation(day, asked, _read_item_rows(request))
    is_open = was is not None and any(one.task.id == was.focus for one in found.tasks)
    return replace(found, focus=was.focus) if was is not None and is_open else found


def _is_older(request: Request, handle: Handle, found: Situation) -> bool:
    """Whether a plan is to be made anew: a change, or a model that gave none."""
    state = state_of(handle)
    if state.led.request is not None or state.led.stalled:
        return False
    has_model = request.setup(WORKFLOW).lead is not None and found.focus is None
    is_fallback = state.plan is None or state.plan.source == "rules"
    is_better = has_model and is_fallback and bool(found.tasks)
    return is_better or is_changed(planned_for(handle), found)


def _read_item_rows(request: Request) -> Sequence[Row]:
    process = request.process
    rows = list(process.projector.rows("items", process.project))
    if behind := process.projector.behind:
        request.notice(behind.code, behind.text)
    return rows


def _plan_day(
    request: Request, handle: Handle | None, found: Situation, first: Inputs | None
) -> View:
    """A person who chooses needs no model."""
    setup = request.setup(WORKFLOW)
    if found.focus is not None:
        setup = replace(setup, lead=None, prompts=())
    return session_of(_step(request, handle, found, first, setup=setup), request.notices)


def _step(
    request: Request, handle: Handle | None, found: Situation, first: Inputs | None, setup: Setup
) -> Step:
    own, language = days_of(request), request.process.settings.language
    if handle is not None:
        return own.plan_again(handle, found, setup.lead, setup.prompts)
    try:
        return (own if first is None else DayPlans(first)).plan(found, setup, language)
    except Refused:
        if first is None or (other := own.of(found.day)) is None:
            raise
        return Step(other, ())  # another process planned the day in another way


# 2. The plans of a project: each thing that people do with one is one Input ------------------


def days_of(request: Request) -> DayPlans:
    """The plans of the project that a request is about."""
    return DayPlans(request.inputs)


def state_of(handle: Handle) -> PlanningState:
    """What the log of a plan folds to."""
    state: PlanningState = handle.session.state
    return state


def planned_for(handle: Handle) -> Situation:
    """The day, its window and its tasks, as the newest plan of a session knows them."""
    situation = state_of(handle).situation
    assert situation is not None, "its first Input holds one"
    return situation


class DayPlans(Sessions):
    """The plans of one project, as one actor meets them."""

    # 1. Finding ------------------------------------------------------------------------------

    def of(self, day: str) -> Handle | None:
        """The session of a day; None where there is none that goes on."""
        # At one moment the zones of a team have up to three days: two behind the newest of them.
        oldest = (date.fromisoformat(day) - timedelta(days=2)).isoformat()
        for head in self._runner.store.heads(self._project):
            if head.workflow != WORKFLOW.name:
                continue
            try:
                handle = self._runner.load(head.session_id)
            except PreflightsError:
                continue  # what is wrong with a plan is no reason to make none
            situation = None if handle.session.closed else state_of(handle).situation
            if situation is not None and situation.day == day:
                return handle
            if situation is not None and situation.day < oldest:
                return None
        return None

    def before(self, *kinds: type[Input]) -> Handle | None:
        """The plan to which the same command said one of these before, under its key."""
        session_id = self._inputs.recorded_in(*kinds)
        return self.load(session_id) if session_id else None

    def open_task(self, situation: Situation, typed: str) -> str:
        """The id of an open task, from what was typed.

        Raises:
            Refused: it cannot be the id of a task, or no such task is open.
            UnknownSession, AmbiguousSession: no session, or several match.
        """
        session, number = item_named(typed)
        text = typed.strip().lower()
        if any(one.task.id == text for one in situation.tasks):
            return text
        place = (self.resolved(session, extraction.WORKFLOW.name), number)
        found = (t for t in situation.tasks if (t.source.session_id, t.number) == place)
        if (task := next(found, None)) is None:
            refused = PlanningChangeRefused(reason="unknown_task", task_id=item_id(*place))
            code, words = planning_refusal(refused)
            raise Refused(words, code=code)
        return task.task.id

    # 2. Planning -----------------------------------------------------------------------------

    def plan(self, situation: Situation, setup: Setup, language: Language) -> Step:
        """Begin the session of a day, and have it planned.

        Raises:
            Refused: another process did, in another way.
        """
        said, more = {"language": language}, {"situation": situation}
        return self.opened(WORKFLOW, PlanAsked, said, setup, beside=lambda: more)

    def first(self, day: str) -> Inputs:
        """Of several processes that plan a day at once, one does; asked for before `of` is."""
        heads = self._runner.store.heads(self._project)
        former = sum(head.workflow == WORKFLOW.name for head in heads)
        return self._inputs.under(f"{WORKFLOW.name} {day} {former}")

    def plan_again(
        self,
        handle: Handle,
        situation: Situation,
        lead: Lead | None,
        prompts: Sequence[tuple[str, str]],
    ) -> Step:
        """Have the rest of the day planned anew."""

        def more_fields() -> dict[str, Any]:
            if state_of(handle).led.request is not None:
                id_ = ids.short_session(handle.session_id)
                message = "the model has not answered with today's plan yet"
                raise Refused(message, code="plan_waits", session=id_)
            return {"situation": situation}

        said = {"lead": lead, "prompts": tuple(prompts)}
        return self.submitted(handle, PlanAskedAgain, said, beside=more_fields, asks=True)


# 3. A day as a person wants it ---------------------------------------------------------------


class Window(msgspec.Struct, frozen=True):
    """The day as it was wanted, in minutes since it began."""

    start: int
    end: int
    minutes: int | None
    busy: tuple[Busy, ...]


def window(day: LocalDay, wanted: WantedDay, until: str, kept: Window | None = None) -> Window:
    """What is wanted of a day.

    Args:
        until: when the day ends, where the person does not say.
        kept: what was wanted of it before, which holds where the person says nothing.

    Raises:
        Refused: something is no time, no interval, or no number of minutes.
    """
    if wanted.minutes is not None and not 1 <= wanted.minutes <= DAY_MINUTES:
        message = f"found {wanted.minutes} minutes, expected 1 to {DAY_MINUTES:,}"
        raise Refused(message, code="no_minutes")
    if len(wanted.busy) > BUSY_MAX:
        raise Refused(f"at most {BUSY_MAX} intervals are taken", code="too_many_intervals")
    if kept is None:
        kept = Window(_soon(day), find_ending_minute(day, _clock_minutes(until)), None, ())
    start = kept.start if wanted.start is None else starting(day, _clock_minutes(wanted.start))
    end = kept.end if wanted.end is None else find_ending_minute(day, _clock_minutes(wanted.end))
    if (wanted.start, wanted.end) != (None, None) and end <= start:
        said = (wanted.start or _clock_words(day, start), wanted.end or _clock_words(day, end))
        message = f"found {' to '.join(said)}, expected an end after the beginning"
        if None in (wanted.start, wanted.end):
            message += ": say both"
        raise Refused(message, code="no_interval")
    busy = tuple(_interval(day, typed) for typed in wanted.busy)
    return Window(start, end, wanted.minutes or kept.minutes, busy or kept.busy)


def kept_window(day: LocalDay, was: Situation) -> Window:
    """The window of an older plan, from now on."""
    busy = tuple(one for one in was.busy if one.source is None)
    return Window(max(was.start, _soon(day)), was.end, was.minutes, busy)


def _soon(day: LocalDay) -> int:
    return -(-day.minute // ROUNDED) * ROUNDED


def _interval(day: LocalDay, typed: str) -> Busy:
    first, dash, last = typed.strip().replace(_DASH, "-").partition("-")
    if not dash:
        message = f"found {typed!r}, expected an interval such as 13:00-14:00"
        raise Refused(message, code="no_interval")
    start, end = _clock_minutes(first), _clock_minutes(last)
    if end <= start:
        message = f"found {typed!r}, expected an interval that ends after it begins"
        raise Refused(message, code="no_interval")
    return Busy(start=starting(day, start), end=find_ending_minute(day, end))


def _clock_minutes(typed: str) -> int:
    text = typed.strip()
    if not _TIME.fullmatch(text):
        raise Refused(f"found {typed!r}, expected a time such as 13:00", code="no_time")
    hours, _, minutes = text.partition(":")
    return int(hours) * 60 + int(minutes)


# 4. The clock on the wall --------------------------------------------------------------------


def starting(day: LocalDay, clock: int) -> int:
    """The first minute of the day at which the clock shows a time, or a later one."""
    return next((m for m in range(day.length) if _wall_clock_minute(day, m) >= clock), day.length)


def find_ending_minute(day: LocalDay, clock: int) -> int:
    """The minute behind the last one at which the clock shows less than a time."""
    back = reversed(range(day.length))
    return next((m + 1 for m in back if _wall_clock_minute(day, m) < clock), 0)


def _clock_words(day: LocalDay, minute: int) -> str:
    clock = _wall_clock_minute(day, minute)
    return f"{clock // 60:02d}:{clock % 60:02d}"


def _wall_clock_minute(day: LocalDay, minute: int) -> int:
    return minute + sum(by for at, by in day.shifts if at <= minute)


# 5. What notes hold --------------------------------------------------------------------------


def compose_day_situation(day: LocalDay, asked: Window, rows: Sequence[Row]) -> Situation:
    """The day with the open tasks, and the events that are on it.

    Args:
        rows: all of the projection `items`.
    """
    events = (_busy_from_event_row(day, row) for row in rows if _is_of(day, row))
    tasks = open_tasks(day.day, rows)
    return Situation(
        day=day.day,
        now=day.now,
        time_zone=day.time_zone,
        start=asked.start,
        end=asked.end,
        minutes=asked.minutes,
        busy=tuple(sorted((*asked.busy, *events), key=lambda one: (one.start, one.end))),
        shifts=tuple(Shift(at, by) for at, by in day.shifts),
        tasks=tasks[:TASKS_MAX],
        more=max(len(tasks) - TASKS_MAX, 0),
    )


def is_changed(was: Situation, now: Situation) -> bool:
    """Whether a task or an event of the day is another than when a plan was made."""
    return _comparable_day_content(was) != _comparable_day_content(now)


def _comparable_day_content(day: Situation) -> tuple[object, ...]:
    """What counts of a day, wherever it was read."""
    events = (replace(one, source=None) for one in day.busy if one.source is not None)
    return tuple(one.task for one in day.tasks), tuple(events), day.more


def open_tasks(day: str, rows: Iterable[Row]) -> tuple[OpenTask, ...]:
    """The open tasks, in the order of the rules."""
    tasks = [row for row in rows if row["type"] == "task" and row["status"] == "open"]
    named = [item_id(row["session_id"], row["number"]) for row in tasks]
    twice = {name for name in named if named.count(name) > 1} if len({*named}) < len(named) else ()
    found = {
        id_: OpenTask(_task(row, id_), row["number"], _source_from_item_row(row))
        for row, name in zip(tasks, named, strict=True)
        for id_ in (f"{row['session_id']}.{row['number']}" if name in twice else name,)
    }
    listed = tuple(one.task for one in found.values())
    whole = Day(day, start=0, end=0, minutes=None, busy=(), tasks=listed)
    return tuple(found[task.id] for task in schedule.sort_open_tasks(whole))


def _task(row: Row, id_: str) -> PlanTask:
    low, high = row["duration_min"], row["duration_max"]
    assumed = low is None and high is None
    least, most = (ASSUMED, ASSUMED) if assumed else (low or high, high or low)
    told: dict[str, Any] = {
        "id": id_,
        "title": row["title"],
        "duration_min": least,
        "duration_max": most,
        "assumed": assumed,
        "importance": row["importance"] or "normal",
        "energy": row["energy"],
        "due": row["due"],
        "created": max(row["began_at"], 0),
    }
    # Converted, a "normal" of the database is the default, and so is left out as in a replay.
    return msgspec.convert(told, PlanTask)


def _is_of(day: LocalDay, row: Row) -> bool:
    is_event = row["type"] == "event" and row["status"] == "open"
    if not is_event or row["start_time"] is None:
        return False
    return bool(row["date"] == day.day) or _is_of_last_night(day, row)


def _is_of_last_night(day: LocalDay, row: Row) -> bool:
    """Whether an event began the day before, and ends on this one."""
    yesterday = (date.fromisoformat(day.day) - timedelta(days=1)).isoformat()
    if row["date"] != yesterday or not row["end_time"]:
        return False
    return 0 < _clock_minutes(row["end_time"]) < _clock_minutes(row["start_time"])


def _busy_from_event_row(day: LocalDay, row: Row) -> Busy:
    start = 0 if _is_of_last_night(day, row) else _clock_minutes(row["start_time"])
    assumed = min(start + EVENT_ASSUMED, DAY_MINUTES)
    end = _clock_minutes(row["end_time"]) if row["end_time"] else assumed
    end = end if end > start else DAY_MINUTES  # it ends on another day
    return Busy(
        start=starting(day, start),
        end=find_ending_minute(day, end),
        title=row["title"],
        assumed=row["end_time"] is None,
        source=_source_from_item_row(row),
        number=row["number"],
    )


def _source_from_item_row(row: Row) -> SourceSession:
    return SourceSession(row["session_id"], row["version"], row["hash"])


# 6. What is refused --------------------------------------------------------------------------

_CHANGES: Final = {"unknown_task": "no task {} is open", "not_expected": NOT_EXPECTED}


def planning_refusal(decision: Decision) -> tuple[str, str]:
    """Why a plan was not made, as a code and in words."""
    assert isinstance(decision, PlanningChangeRefused), "the only refusal"
    return decision.reason, _CHANGES[decision.reason].format(decision.task_id)
