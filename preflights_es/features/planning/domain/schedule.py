"""The deterministic day plan: candidates, focus, minis, and where they fit (seed 3).

It keeps no state and knows no clock: times are minutes since the day began. What a person reads of
it stands here in two languages, and so does what the simulator answers around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from preflights_es.features.planning.domain.events import (
    BUFFER,
    BUFFER_MIN,
    FOCUS_MAX,
    FOCUS_MIN,
    MINI_MAX,
    MINI_MIN,
    MINIS_MAX,
    PART_MAX,
    ROUNDED,
    SHORT_MIN,
    Block,
    Plan,
    Reason,
    Situation,
    Task,
    Warned,
)
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.questions import Language
from preflights_es.kernel.simulation import Bank, Draws, References, Route

_RANK: Final = {"high": 0, "normal": 1, "low": 2}
Span = tuple[int, int]
"""Beginning and end, in minutes since the day began."""


class Day(msgspec.Struct, frozen=True):
    """What the schedule looks at."""

    day: str
    start: int
    end: int
    minutes: int | None
    busy: tuple[Span, ...]
    tasks: tuple[Task, ...]


class Laid(msgspec.Struct, frozen=True):
    """Blocks that fit into the day."""

    blocks: tuple[Block, ...]
    buffer: int
    warnings: tuple[Warned, ...] = ()


def day_of(situation: Situation) -> Day:
    """The day, without the sources of what it holds."""
    busy = tuple((one.start, one.end) for one in situation.busy)
    tasks = tuple(one.task for one in situation.tasks)
    window = (situation.start, situation.end, situation.minutes)
    return Day(situation.day, *window, busy, tasks)


def planned(day: Day, language: Language) -> Plan:
    """The plan that the rules make."""
    too_long = tuple(task.id for task in rejected(day))
    if not day.tasks:
        return Plan(warnings=("no_tasks",))
    has_focus = False
    for focus, why in focuses(day):
        has_focus = True
        if found := laid(day, focus, minis(day, focus), BUFFER):
            reasoning = why_focus(language, focus, why)
            plan = plan_of(found, reasoning, too_long)
            short = ("short_focus",) if why == "short" else ()
            return msgspec.structs.replace(plan, warnings=(*short, *plan.warnings))
    waits = any(can_be_focus(day, task) for task in day.tasks)
    none: Warned = "focus_waits" if waits else "no_focus"
    chosen = () if has_focus else minis(day, None)
    found = laid(day, None, chosen, BUFFER) if chosen else None
    if found is None:
        warned: Warned = "no_room" if has_focus or chosen else none
        return Plan(too_long=too_long, warnings=(warned,))
    sentence = MINIS_FIRST if waits else MINIS_ALONE
    plan = plan_of(found, sentence[language], too_long)
    return msgspec.structs.replace(plan, warnings=(none, *plan.warnings))


def plan_of(found: Laid, reasoning: str, too_long: tuple[str, ...]) -> Plan:
    """A plan of blocks that fit."""
    by_kind = {
        kind: tuple(b.task_id for b in found.blocks if b.kind == kind) for kind in ("focus", "mini")
    }
    return Plan(
        focus_task_id=next(iter(by_kind["focus"]), None),
        mini_task_ids=by_kind["mini"],
        buffer_minutes=found.buffer if len(found.blocks) > 1 else 0,
        reasoning=reasoning,
        blocks=tuple(sorted(found.blocks, key=lambda block: block.start)),
        too_long=too_long,
        warnings=found.warnings,
    )


# 1. Choosing ---------------------------------------------------------------------------------


def candidates(day: Day) -> list[Task]:
    """The open tasks: overdue first, the more important, what is due today, the older."""
    return sorted(
        day.tasks,
        key=lambda t: (
            *(not is_overdue(day, t), _RANK[t.importance], t.due != day.day),
            *(t.created, t.id),
        ),
    )


def is_overdue(day: Day, task: Task) -> bool:
    """Whether it was due before the day of the plan."""
    return bool(task.due) and str(task.due) < day.day


def focuses(day: Day) -> Iterator[tuple[Task, Why]]:
    """Tasks that can be the focus, in the order of the rules, each with the rule that found it."""
    ordered = [task for task in candidates(day) if leading(day, task) is not None]
    if are_all_too_long(day):
        yield from ((task, "part") for task in sorted(ordered, key=lambda t: t.twice))
        return
    whole = [t for t in ordered if 2 * FOCUS_MIN <= t.twice <= 2 * FOCUS_MAX]
    short = [t for t in ordered if 2 * SHORT_MIN <= t.twice < 2 * FOCUS_MIN]
    named: list[tuple[Task, Why]] = [
        *((t, "overdue") for t in whole if is_overdue(day, t)),
        *((t, "important") for t in whole if t.importance == "high"),
        *((t, "deep_work") for t in whole if t.energy == "deep_work"),
        *((t, "longest") for t in sorted(whole, key=lambda t: -t.twice)),
        *((t, "short") for t in short),
    ]
    seen: set[str] = set()
    for task, why in named:
        if task.id not in seen:
            yield task, why
        seen.add(task.id)


def are_all_too_long(day: Day) -> bool:
    """Whether every task is too long for a focus."""
    return bool(day.tasks) and all(task.twice > 2 * FOCUS_MAX for task in day.tasks)


def rejected(day: Day) -> list[Task]:
    """Tasks that are too long: a person should split them."""
    return [task for task in candidates(day) if task.twice > 2 * FOCUS_MAX]


def can_be_focus(day: Day, task: Task) -> bool:
    """Whether the rules allow a task as the focus."""
    if are_all_too_long(day):
        return task.twice == min((one.twice for one, _ in focuses(day)), default=0)
    return 2 * SHORT_MIN <= task.twice <= 2 * FOCUS_MAX


def can_be_mini(task: Task) -> bool:
    """Whether the rules allow a task as a mini."""
    return 2 * MINI_MIN <= task.twice <= 2 * MINI_MAX and task.importance != "high"


def minis(day: Day, focus: Task | None) -> tuple[Task, ...]:
    """At most two: administration first, then another kind where there is one."""
    chosen = list(leading(day, focus) or ()) if focus else []
    ids = [task.id for task in (focus, *chosen) if task]
    found = [t for t in candidates(day) if can_be_mini(t) and t.id not in ids]
    found.sort(key=lambda task: task.energy != "admin")
    while len(chosen) < MINIS_MAX:
        ready = [t for t in found if t.id not in ids and {*ids}.issuperset(ahead(day, t))]
        if not ready:
            break
        others = [task for task in ready if chosen and task.energy != chosen[0].energy]
        chosen.append((others or ready)[0])
        ids.append(chosen[-1].id)
    return tuple(chosen)


# 2. The order that a person gave -------------------------------------------------------------


def ahead(day: Day, task: Task) -> tuple[str, ...]:
    """Ids of the open tasks that go before one, the nearest first."""
    if task.after is None:
        return ()
    after = {one.id: one.after for one in day.tasks}
    found: list[str] = []
    at: str | None = task.after
    while at is not None and at != task.id and at not in found:
        found.append(at)
        at = after.get(at)
    return tuple(found)


def leading(day: Day, task: Task) -> tuple[Task, ...] | None:
    """The minis that go before a focus, in their order; None where not all that do can be minis."""
    if task.after is None:
        return ()
    by_id = {one.id: one for one in day.tasks}
    found = [by_id.get(id_) for id_ in reversed(ahead(day, task))]
    small = tuple(one for one in found if one is not None and can_be_mini(one))
    return small if len(small) == len(found) <= MINIS_MAX else None


def unmet(day: Day, tasks: Iterable[Task]) -> list[tuple[Task, str]]:
    """Tasks that these alone do not allow, each with the id of one that goes before it."""
    planned = list(tasks)
    ids = {task.id for task in planned}
    lacking = ((task, [id_ for id_ in ahead(day, task) if id_ not in ids]) for task in planned)
    return [(task, others[0]) for task, others in lacking if others]


def fits(day: Day, focus: Task) -> bool:
    """Whether a focus has room, with what goes before it."""
    first = leading(day, focus)
    return first is not None and laid(day, focus, first, BUFFER) is not None


# 3. Placing ----------------------------------------------------------------------------------


def laid(day: Day, focus: Task | None, small: Sequence[Task], buffer: int) -> Laid | None:
    """Blocks of the tasks, with less of them the less time there is; None where nothing fits."""
    first = ahead(day, focus) if focus else ()
    # What is left out with too little time stands last; the focus never goes before its turn.
    small = sorted(small, key=lambda task: (task.id not in first, len(ahead(day, task))))
    small = tuple(small[:MINIS_MAX])
    is_part = focus is not None and focus.twice > 2 * FOCUS_MAX
    length = PART_MAX if is_part else minutes_of(focus) if focus else 0
    tries: list[tuple[int, tuple[Task, ...], int]] = [(length, small, buffer)]
    if small:
        tries += [(length, small[:count], BUFFER_MIN) for count in range(len(small), -1, -1)]
    if length > FOCUS_MIN:
        tries.append((FOCUS_MIN, (), BUFFER_MIN))
    for minutes, kept, between in tries:
        if not (minutes or kept):
            continue
        lengths = {focus: minutes} if focus else {}
        lengths |= {task: minutes_of(task) for task in kept}
        if spans := _spans(day, lengths, between):
            is_cut = minutes < length
            blocks = _blocks(focus, spans, is_part or is_cut)
            cut: tuple[Warned, ...] = ("focus_cut",) if is_cut else ()
            dropped: tuple[Warned, ...] = ("mini_dropped",) if len(kept) < len(small) else ()
            return Laid(blocks, between, (*cut, *dropped))
    return None


def minutes_of(task: Task) -> int:
    """The average of its durations, rounded up."""
    return -(-task.twice // (2 * ROUNDED)) * ROUNDED


def _blocks(focus: Task | None, spans: Mapping[Task, Span], is_part: bool) -> tuple[Block, ...]:
    return tuple(
        Block(
            task_id=task.id,
            kind="focus" if task is focus else "mini",
            start=start,
            end=end,
            part=is_part and task is focus,
        )
        for task, (start, end) in spans.items()
    )


def _spans(day: Day, lengths: Mapping[Task, int], buffer: int) -> dict[Task, Span]:
    """The earliest place of each task, the first before all others; empty where one has no room.

    What goes before a task is placed before it.
    """
    gaps = free(day)
    available = sum(end - start for start, end in gaps)
    if day.minutes is not None:
        available = min(available, day.minutes)
    if sum(lengths.values()) + buffer * (len(lengths) - 1) > available:
        return {}
    taken: dict[Task, Span] = {}
    while len(taken) < len(lengths):
        placed = {task.id: end for task, (_, end) in taken.items()}
        left = (task for task in lengths if task not in taken)
        task = next((t for t in left if all(id_ in placed for id_ in ahead(day, t))), None)
        if task is None:  # what goes before it is not among them
            return {}
        since = max((placed[id_] for id_ in ahead(day, task)), default=0)
        start = _earliest(gaps, list(taken.values()), (lengths[task], buffer, since))
        if start is None:
            return {}
        taken[task] = (start, start + lengths[task])
    return {task: taken[task] for task in lengths}


def free(day: Day) -> list[Span]:
    """What is left of the window between the busy intervals."""
    found: list[Span] = []
    at = day.start
    for start, end in sorted(day.busy):
        if start >= end:
            continue
        if min(start, day.end) > at:
            found.append((at, min(start, day.end)))
        at = max(at, end)
    if day.end > at:
        found.append((at, day.end))
    return found


def _earliest(
    gaps: Sequence[Span], taken: Sequence[Span], wanted: tuple[int, int, int]
) -> int | None:
    """Where so many minutes have room, so far from what is taken, and not before a time."""
    length, buffer, since = wanted
    for begin, end in gaps:
        at = max(begin, since)
        for start, stop in sorted(taken):
            if at + length + buffer <= start:
                break
            at = max(at, stop + buffer)
        if at + length <= end:
            return at
    return None


# 4. Sentences --------------------------------------------------------------------------------

Why = Literal["overdue", "important", "deep_work", "longest", "short", "part"]
"""The rule that found the focus."""

UNAVAILABLE: Final[dict[Language, str]] = {
    "en": "AI not available. Choose yourself?",
    "de": "KI nicht verfügbar. Selbst auswählen?",
}
CHOSEN: Final[dict[Language, str]] = {
    "en": "Chosen by hand.",
    "de": "Von Hand gewählt.",
}
MINIS_ALONE: Final[dict[Language, str]] = {
    "en": "No task is long enough for a focus: small ones fill the time.",
    "de": "Keine Aufgabe ist lang genug für einen Fokus: kleine füllen die Zeit.",
}
MINIS_FIRST: Final[dict[Language, str]] = {
    "en": "Small tasks fill the time: the longer ones come after others.",
    "de": "Kleine Aufgaben füllen die Zeit: die längeren kommen erst nach anderen.",
}
SPLIT: Final[dict[Language, str]] = {
    "en": "“{}” takes more than two hours: split it.",
    "de": "„{}“ dauert mehr als zwei Stunden: teile sie auf.",
}
QUOTED: Final[dict[Language, str]] = {"en": "“{}”", "de": "„{}“"}
WARNINGS: Final[dict[Warned, dict[Language, str]]] = {
    "no_tasks": {"en": "No open tasks.", "de": "Keine offenen Aufgaben."},
    "no_focus": {
        "en": "No task is long enough for a focus.",
        "de": "Keine Aufgabe ist lang genug für einen Fokus.",
    },
    "focus_waits": {
        "en": "Each task that is long enough for a focus comes after another.",
        "de": "Jede Aufgabe, die lang genug für einen Fokus ist, kommt erst nach einer anderen.",
    },
    "no_room": {
        "en": "No room for new tasks today.",
        "de": "Heute ist kein Platz für neue Aufgaben.",
    },
    "short_focus": {
        "en": "The focus takes less than an hour: no task of an hour fits.",
        "de": "Der Fokus dauert weniger als eine Stunde: keine Aufgabe von einer Stunde passt.",
    },
    "focus_cut": {
        "en": "Too little time: the focus is cut to an hour.",
        "de": "Zu wenig Zeit: der Fokus ist auf eine Stunde gekürzt.",
    },
    "mini_dropped": {
        "en": "Too little time: a small task is left out.",
        "de": "Zu wenig Zeit: eine kleine Aufgabe entfällt.",
    },
}
LEFT_OUT: Final[dict[Reason, dict[Language, str]]] = {
    "no_room": {
        "en": "{minutes} minutes do not fit into {room}",
        "de": "{minutes} Minuten passen nicht in {room}",
    },
    "no_time": {"en": "too little time", "de": "zu wenig Zeit"},
    "waits": {"en": "it comes after {other}", "de": "kommt erst nach {other}"},
    "too_short": {
        "en": "it takes less than 5 minutes",
        "de": "dauert weniger als 5 Minuten",
    },
    "between": {
        "en": "{minutes} minutes are too long for a small task, and too short for a focus",
        "de": "{minutes} Minuten sind zu lang für eine kleine Aufgabe und zu kurz für einen Fokus",
    },
    "important": {
        "en": "it is important, and too short for a focus",
        "de": "wichtig, und zu kurz für einen Fokus",
    },
    "one_focus": {"en": "a plan has one focus", "de": "ein Plan hat einen Fokus"},
    "two_minis": {
        "en": "a plan has two small tasks",
        "de": "ein Plan hat zwei kleine Aufgaben",
    },
    "no_focus": {
        "en": "nothing is planned where no focus fits",
        "de": "ohne Fokus wird nichts geplant",
    },
    "not_chosen": {"en": "it was not chosen", "de": "nicht ausgewählt"},
}
REASONS: Final[dict[Why, dict[Language, str]]] = {
    "overdue": {"en": "{} comes first: it is overdue.", "de": "{} zuerst: überfällig."},
    "important": {"en": "{} comes first: it is important.", "de": "{} zuerst: wichtig."},
    "deep_work": {
        "en": "{} comes first: it needs deep work.",
        "de": "{} zuerst: braucht Konzentration.",
    },
    "longest": {
        "en": "{} comes first: it is the longest that fits a focus.",
        "de": "{} zuerst: die längste Aufgabe, die in einen Fokus passt.",
    },
    "short": {
        "en": "{} comes first: no task takes an hour or more.",
        "de": "{} zuerst: keine Aufgabe dauert eine Stunde.",
    },
    "part": {
        "en": "A part of {}: every task is too long for one day.",
        "de": "Ein Teil von {}: jede Aufgabe ist zu lang für einen Tag.",
    },
}


def why_focus(language: Language, focus: Task, why: Why) -> str:
    """Why the rules chose the focus."""
    return REASONS[why][language].format(QUOTED[language].format(focus.title))


# 5. The simulator ----------------------------------------------------------------------------

_DAY = re.compile(
    r"^Language: (?P<language>en|de)\n.*?^Day:\n(?P<day>\{.*)\Z", re.DOTALL | re.MULTILINE
)
_PROSE = ("Here is a plan:\n", "Hier ist der Plan:\n", "")
_NOTHING = Day("", 0, 0, None, (), ())


def by_rules(request: CompletionRequested) -> str:
    """The plan of the rules, as a model would answer it."""
    day, language = _parts(request)
    return encoded(_payload(day, language)).decode()


def varied(draws: Draws, request: CompletionRequested) -> str:
    """A `planning.v1` around the plan of the rules."""
    day, language = _parts(request)
    payload = _payload(day, language)
    others = [task for task, _ in focuses(day) if can_be_focus(day, task)]
    fitting = [task for task in others if fits(day, task)]
    if fitting and draws.chance(0.3):
        focus = draws.pick(tuple(fitting))
        payload["focus_task_id"] = focus.id
        payload["mini_task_ids"] = [task.id for task in minis(day, focus)]
        payload["reasoning"] = CHOSEN[language]
    if payload["mini_task_ids"] and draws.chance(0.3):
        fewer = payload["mini_task_ids"][:-1]
        named = [task for task in day.tasks if task.id in (payload["focus_task_id"], *fewer)]
        payload["mini_task_ids"] = payload["mini_task_ids"] if unmet(day, named) else fewer
    if draws.chance(0.4):
        payload["buffer_minutes"] = draws.between(10, 30)
    if draws.chance(0.1):
        payload["mood"] = draws.pick(("busy", "calm"))  # a property that no contract knows yet
    text = encoded(payload).decode()
    if draws.chance(0.15):
        return draws.pick(_PROSE) + text
    return f"```json\n{text}\n```" if draws.chance(0.2) else text


def _payload(day: Day, language: Language) -> dict[str, Any]:
    plan = planned(day, language)
    return {
        "focus_task_id": plan.focus_task_id,
        "mini_task_ids": list(plan.mini_task_ids),
        "buffer_minutes": plan.buffer_minutes,
        "reasoning": plan.reasoning or WARNINGS["no_room"][language],
    }


def _parts(request: CompletionRequested) -> tuple[Day, Language]:
    """The day and the language, as the request says them; nothing where it says none."""
    said = next((m.content for m in request.messages if m.role == "user"), "")
    found = _DAY.search(said)
    if found is None:
        return _NOTHING, "en"
    try:
        day = msgspec.json.decode(found["day"], type=Day)
    except msgspec.MsgspecError:
        return _NOTHING, "en"
    return day, "de" if found["language"] == "de" else "en"


BANK: Bank = {
    "planning": Route(varied, ("plan a day",)),
}
REFERENCES: References = {"planning": by_rules}
