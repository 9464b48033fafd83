"""Labelled day plans: what a day is, and the plan that the specification gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from preflights_es.features.planning.domain.events import Busy, Task
from tests.features.planning.cases import NINE, SIX, task


class Labelled(NamedTuple):
    """One row of the table."""

    name: str
    tasks: Sequence[Task]
    plan: str
    """The blocks in order, `HH:MM-HH:MM id`, with `*` behind the focus and `/` behind a part."""
    buffer: int = 0
    warnings: tuple[str, ...] = ()
    too_long: tuple[str, ...] = ()
    day: dict[str, Any] = {}


def due(day: str) -> dict[str, Any]:
    return {"due": day}


BEFORE, TODAY, LATER = "2026-11-22", "2026-11-23", "2026-11-24"
HIGH: Final[dict[str, Any]] = {"importance": "high"}
LOW: Final[dict[str, Any]] = {"importance": "low"}
DEEP: Final[dict[str, Any]] = {"energy": "deep_work"}
ADMIN: Final[dict[str, Any]] = {"energy": "admin"}
CREATIVE: Final[dict[str, Any]] = {"energy": "creative"}


def until(end: int, **said: Any) -> dict[str, Any]:
    """A window that begins at nine."""
    return {"end": end, **said}


def taken(*spans: tuple[int, int], **said: Any) -> dict[str, Any]:
    return {"busy": tuple(Busy(start=start, end=end) for start, end in spans), **said}


FOCUS: Final = (
    Labelled("nothing", (), "", 0, ("no_tasks",)),
    Labelled("one of an hour", (task("a", 60),), "09:00-10:00 a*"),
    Labelled("one of two hours", (task("a", 120),), "09:00-11:00 a*"),
    Labelled("an average of an hour", (task("a", 30, 90),), "09:00-10:00 a*"),
    Labelled("an average is rounded up", (task("a", 60, 75),), "09:00-10:10 a*"),
    Labelled(
        "overdue before important",
        (task("a", 60, **HIGH), task("b", 60, **due(BEFORE))),
        "09:00-10:00 b*",
    ),
    Labelled(
        "due today is not overdue",
        (task("a", 60, **due(TODAY)), task("b", 60, **HIGH)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "due later is not overdue",
        (task("a", 60, **due(LATER)), task("b", 90)),
        "09:00-10:30 b*",
    ),
    Labelled(
        "overdue and too short for a focus",
        (task("a", 45, **due(BEFORE)), task("b", 60)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "overdue and too long for a day",
        (task("a", 150, **due(BEFORE)), task("b", 60)),
        "09:00-10:00 b*",
        too_long=("a",),
    ),
    Labelled(
        "of two overdue the more important",
        (task("a", 60, **due(BEFORE)), task("b", 60, **due(BEFORE), **HIGH)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "of two overdue the older",
        (task("a", 60, **due(BEFORE), created=2), task("b", 60, **due(BEFORE), created=1)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "important before deep work",
        (task("a", 90, **DEEP), task("b", 60, **HIGH)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "important and too short",
        (task("a", 45, **HIGH), task("b", 60, **LOW)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "of two important the older",
        (task("a", 60, **HIGH, created=2), task("b", 60, **HIGH, created=1)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "deep work before the longest",
        (task("a", 120), task("b", 60, **DEEP)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "deep work of low importance before the longest",
        (task("a", 120), task("b", 60, **DEEP, **LOW)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "deep work that is too short",
        (task("a", 50, **DEEP), task("b", 60)),
        "09:00-10:00 b*",
    ),
    Labelled("the longest", (task("a", 60), task("b", 115), task("c", 90)), "09:00-10:55 b*"),
    Labelled(
        "of two as long the more important",
        (task("a", 90, **LOW), task("b", 90)),
        "09:00-10:30 b*",
    ),
    Labelled(
        "creative is not deep work", (task("a", 60, **CREATIVE), task("b", 90)), "09:00-10:30 b*"
    ),
    Labelled("half an hour", (task("a", 30),), "09:00-09:30 a*", 0, ("short_focus",)),
    Labelled(
        "assumed durations",
        (task("a", 30, 60, assumed=True),),
        "09:00-09:45 a*",
        0,
        ("short_focus",),
    ),
    Labelled(
        "the first of the short ones, not the longest",
        (task("a", 30, created=1), task("b", 55, created=2)),
        "09:00-09:30 a*",
        0,
        ("short_focus",),
    ),
    Labelled(
        "of the short ones an overdue one",
        (task("a", 30, created=1), task("b", 55, created=2, **due(BEFORE))),
        "09:00-09:55 b*",
        0,
        ("short_focus",),
    ),
    Labelled(
        "an hour before half an hour", (task("a", 59, **HIGH), task("b", 60)), "09:00-10:00 b*"
    ),
    Labelled("just under an hour", (task("a", 59, 60),), "09:00-10:00 a*", 0, ("short_focus",)),
    Labelled(
        "just over two hours",
        (task("a", 120, 121), task("b", 60)),
        "09:00-10:00 b*",
        too_long=("a",),
    ),
    Labelled(
        "every task is too long",
        (task("a", 200), task("b", 180)),
        "09:00-10:30 b*/",
        too_long=("a", "b"),
    ),
    Labelled("one task, too long", (task("a", 480),), "09:00-10:30 a*/", too_long=("a",)),
    Labelled(
        "every task is too long, overdue or not",
        (task("a", 200, **due(BEFORE)), task("b", 180)),
        "09:00-10:30 b*/",
        too_long=("a", "b"),
    ),
    Labelled(
        "too long beside one that is too short",
        (task("a", 200), task("b", 29)),
        "",
        0,
        ("no_focus",),
        ("a",),
    ),
    Labelled("too short for a focus, too long for a mini", (task("a", 25),), "", 0, ("no_focus",)),
    Labelled("too short for a mini", (task("a", 4),), "", 0, ("no_focus",)),
)

MINIS: Final = (
    Labelled("a mini", (task("a", 60), task("b", 10)), "09:00-10:00 a*, 10:15-10:25 b", 15),
    Labelled(
        "two minis",
        (task("a", 60), task("b", 10, created=1), task("c", 20, created=2)),
        "09:00-10:00 a*, 10:15-10:25 b, 10:40-11:00 c",
        15,
    ),
    Labelled(
        "at most two minis",
        (task("a", 60), *(task(f"m{n}", 10, created=n) for n in range(1, 5))),
        "09:00-10:00 a*, 10:15-10:25 m1, 10:40-10:50 m2",
        15,
    ),
    Labelled("five minutes", (task("a", 60), task("b", 5)), "09:00-10:00 a*, 10:15-10:20 b", 15),
    Labelled("twenty minutes", (task("a", 60), task("b", 20)), "09:00-10:00 a*, 10:15-10:35 b", 15),
    Labelled("under five minutes", (task("a", 60), task("b", 4, 5)), "09:00-10:00 a*"),
    Labelled("over twenty minutes", (task("a", 60), task("b", 20, 21)), "09:00-10:00 a*"),
    Labelled(
        "an important one is no mini", (task("a", 60), task("b", 10, **HIGH)), "09:00-10:00 a*"
    ),
    Labelled(
        "administration first",
        (task("a", 60), task("b", 10, created=1), task("c", 10, **ADMIN, created=2)),
        "09:00-10:00 a*, 10:15-10:25 c, 10:40-10:50 b",
        15,
    ),
    Labelled(
        "of different kinds",
        (
            task("a", 60),
            task("b", 10, **ADMIN, created=1),
            task("c", 10, **ADMIN, created=2),
            task("d", 10, **CREATIVE, created=3),
        ),
        "09:00-10:00 a*, 10:15-10:25 b, 10:40-10:50 d",
        15,
    ),
    Labelled(
        "of one kind where there is no other",
        (task("a", 60), task("b", 10, **ADMIN, created=1), task("c", 10, **ADMIN, created=2)),
        "09:00-10:00 a*, 10:15-10:25 b, 10:40-10:50 c",
        15,
    ),
    Labelled(
        "of two kinds without administration",
        (
            task("a", 60),
            task("b", 10, created=1),
            task("c", 10, created=2),
            task("d", 10, **DEEP, created=3),
        ),
        "09:00-10:00 a*, 10:15-10:25 b, 10:40-10:50 d",
        15,
    ),
    Labelled(
        "an overdue mini first",
        (task("a", 60), task("b", 10, created=1), task("c", 10, created=2, **due(BEFORE))),
        "09:00-10:00 a*, 10:15-10:25 c, 10:40-10:50 b",
        15,
    ),
    Labelled(
        "minis alone",
        (task("b", 10, created=1), task("c", 20, created=2)),
        "09:00-09:10 b, 09:25-09:45 c",
        15,
        ("no_focus",),
    ),
    Labelled("one mini alone", (task("b", 10),), "09:00-09:10 b", 0, ("no_focus",)),
    Labelled(
        "minis beside a task that is too long",
        (task("a", 200), task("b", 10)),
        "09:00-09:10 b",
        0,
        ("no_focus",),
        ("a",),
    ),
    Labelled(
        "minis beside an important one that is short",
        (task("a", 15, **HIGH), task("b", 10)),
        "09:00-09:10 b",
        0,
        ("no_focus",),
    ),
)

THREE: Final = (task("a", 90), task("b", 10, created=1), task("c", 15, created=2))

TIME: Final = (
    Labelled(
        "all of it fits to the minute",
        THREE,
        "09:00-10:30 a*, 10:45-10:55 b, 11:10-11:25 c",
        15,
        day=until(NINE + 145),
    ),
    Labelled(
        "a shorter buffer",
        THREE,
        "09:00-10:30 a*, 10:40-10:50 b, 11:00-11:15 c",
        10,
        day=until(NINE + 144),
    ),
    Labelled(
        "one mini less",
        THREE,
        "09:00-10:30 a*, 10:40-10:50 b",
        10,
        ("mini_dropped",),
        day=until(NINE + 134),
    ),
    Labelled(
        "both minis less", THREE, "09:00-10:30 a*", 0, ("mini_dropped",), day=until(NINE + 109)
    ),
    Labelled(
        "the focus is cut",
        THREE,
        "09:00-10:00 a*/",
        0,
        ("focus_cut", "mini_dropped"),
        day=until(NINE + 89),
    ),
    Labelled("nothing today", THREE, "", 0, ("no_room",), day=until(NINE + 59)),
    Labelled("nothing is left of the day", THREE, "", 0, ("no_room",), day=until(NINE)),
    Labelled("the day is over", THREE, "", 0, ("no_room",), day=until(NINE - 60)),
    Labelled("an hour is not cut", (task("a", 60),), "", 0, ("no_room",), day=until(NINE + 55)),
    Labelled(
        "half an hour is not cut", (task("a", 40),), "", 0, ("no_room",), day=until(NINE + 35)
    ),
    Labelled(
        "another focus where the first does not fit",
        (task("a", 120, **HIGH), task("b", 40)),
        "09:00-09:40 b*",
        0,
        ("short_focus",),
        day=until(NINE + 45),
    ),
    Labelled(
        "the first focus is cut before another is taken",
        (task("a", 120, **HIGH), task("b", 70)),
        "09:00-10:00 a*/",
        0,
        ("focus_cut",),
        day=until(NINE + 80),
    ),
    Labelled(
        "a part is cut to an hour",
        (task("a", 200),),
        "09:00-10:00 a*/",
        0,
        ("focus_cut",),
        ("a",),
        until(NINE + 80),
    ),
    Labelled(
        "a part has no room", (task("a", 200),), "", 0, ("no_room",), ("a",), until(NINE + 55)
    ),
    Labelled(
        "minutes are fewer than the window",
        THREE,
        "09:00-10:30 a*, 10:40-10:50 b",
        10,
        ("mini_dropped",),
        day={"minutes": 120},
    ),
    Labelled(
        "more minutes than the window",
        THREE,
        "09:00-10:30 a*",
        0,
        ("mini_dropped",),
        day=until(NINE + 95, minutes=1_440),
    ),
    Labelled("one minute", THREE, "", 0, ("no_room",), day={"minutes": 1}),
    Labelled(
        "minis alone, with too little time",
        (task("b", 10, created=1), task("c", 20, created=2)),
        "09:00-09:10 b",
        0,
        ("no_focus", "mini_dropped"),
        day=until(NINE + 30),
    ),
    Labelled("one mini and no room", (task("b", 10),), "", 0, ("no_room",), day=until(NINE + 5)),
)

BUSY: Final = (
    Labelled("behind a meeting", (task("a", 60),), "10:00-11:00 a*", day=taken((NINE, 600))),
    Labelled("before a meeting", (task("a", 60),), "09:00-10:00 a*", day=taken((600, 660))),
    Labelled(
        "between two meetings",
        (task("a", 60),),
        "10:00-11:00 a*",
        day=taken((NINE, 600), (660, 900)),
    ),
    Labelled(
        "no gap is long enough",
        (task("a", 60),),
        "12:00-13:00 a*",
        day=taken((580, 600), (650, 720)),
    ),
    Labelled(
        "a mini before the meeting, the focus behind it",
        (task("a", 90), task("b", 10)),
        "09:00-09:10 b, 09:30-11:00 a*",
        15,
        day=taken((550, 570)),
    ),
    Labelled(
        "the buffer is kept over a meeting",
        (task("a", 60), task("b", 10)),
        "09:00-10:00 a*, 10:15-10:25 b",
        15,
        day=taken((600, 605)),
    ),
    Labelled(
        "meetings that overlap",
        (task("a", 60),),
        "11:00-12:00 a*",
        day=taken((NINE, 640), (560, 660)),
    ),
    Labelled(
        "a meeting within another",
        (task("a", 60),),
        "11:00-12:00 a*",
        day=taken((NINE, 660), (560, 600)),
    ),
    Labelled("a meeting all day", (task("a", 60),), "", 0, ("no_room",), day=taken((0, SIX))),
    Labelled(
        "a meeting out of the window",
        (task("a", 60),),
        "09:00-10:00 a*",
        day=taken((0, 500), (1_100, 1_200)),
    ),
    Labelled(
        "a meeting without a length", (task("a", 60),), "09:00-10:00 a*", day=taken((560, 560))
    ),
    Labelled(
        "the focus is cut to fit a gap",
        (task("a", 120),),
        "09:00-10:00 a*/",
        0,
        ("focus_cut",),
        day=taken((610, SIX)),
    ),
    Labelled(
        "free minutes in pieces are too few",
        (task("a", 60),),
        "",
        0,
        ("no_room",),
        day=taken((570, 600), (630, 660), (690, SIX)),
    ),
)

ORDER: Final = (
    Labelled(
        "due today before the older, of one importance",
        (
            task("a", 60, **HIGH, created=1),
            task("b", 60, **HIGH, **due(TODAY), created=2),
        ),
        "09:00-10:00 b*",
    ),
    Labelled(
        "of the short ones what is due today",
        (task("a", 30, created=1), task("b", 30, **due(TODAY), created=2)),
        "09:00-09:30 b*",
        0,
        ("short_focus",),
    ),
    Labelled(
        "of the minis what is due today",
        (
            *(task(name, 10, created=n) for n, name in enumerate("abc")),
            task("d", 10, **due(TODAY), created=9),
            task("e", 60),
        ),
        "09:00-10:00 e*, 10:15-10:25 d, 10:40-10:50 a",
        15,
    ),
    Labelled(
        "due today is of no higher class than importance",
        (task("a", 60, **LOW, **due(TODAY)), task("b", 60)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "a focus after a mini",
        (task("a", 90, after="b"), task("b", 10)),
        "09:00-09:10 b, 09:25-10:55 a*",
        15,
    ),
    Labelled(
        "a focus after two minis in their order",
        (task("a", 90, after="b"), task("b", 10, after="c"), task("c", 5), task("d", 5, **ADMIN)),
        "09:00-09:05 c, 09:20-09:30 b, 09:45-11:15 a*",
        15,
    ),
    Labelled(
        "a mini after the focus, which has no room before a meeting",
        (task("a", 90), task("b", 10, after="a")),
        "09:30-11:00 a*, 11:15-11:25 b",
        15,
        day=taken((550, 570)),
    ),
    Labelled(
        "a focus after another focus waits",
        (task("a", 120, **HIGH, after="b"), task("b", 60)),
        "09:00-10:00 b*",
    ),
    Labelled(
        "a mini after a focus that is not planned waits",
        (task("a", 60, **HIGH), task("b", 60), task("c", 10, **ADMIN, after="b"), task("d", 10)),
        "09:00-10:00 a*, 10:15-10:25 d",
        15,
    ),
    Labelled(
        "a mini after the other",
        (task("a", 60), task("b", 10, **ADMIN, after="c"), task("c", 15)),
        "09:00-10:00 a*, 10:15-10:30 c, 10:45-10:55 b",
        15,
    ),
    Labelled(
        "with too little time what the focus comes after stays",
        (task("a", 60, after="c"), task("b", 10, **ADMIN), task("c", 10)),
        "09:00-09:10 c, 09:20-10:20 a*",
        10,
        ("mini_dropped",),
        day=until(NINE + 85),
    ),
    Labelled(
        "without room for what it comes after another is the focus",
        (task("a", 60, **HIGH, after="c"), task("b", 60), task("c", 10)),
        "09:00-10:00 b*",
        0,
        ("mini_dropped",),
        day=until(NINE + 65),
    ),
    Labelled(
        "every focus comes after a task that is too long",
        (task("a", 60, after="b"), task("b", 300), task("c", 10)),
        "09:00-09:10 c",
        0,
        ("focus_waits",),
        too_long=("b",),
    ),
    Labelled(
        "of tasks that are all too long the first",
        (task("a", 150, after="b"), task("b", 300)),
        "09:00-10:30 b*/",
        too_long=("a", "b"),
    ),
)

PLANS: Final = (*FOCUS, *MINIS, *TIME, *BUSY, *ORDER)
