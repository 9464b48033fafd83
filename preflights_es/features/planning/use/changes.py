"""What changed since a plan was made: the tasks and events that it was made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from preflights_es.features.planning.domain.values import TASKS_MAX, Change, OpenTask, Situation
from preflights_es.features.planning.use.situation import Row, busy_of, tasks_of
from preflights_es.kernel.items import item_id
from preflights_es.system.clock_ids import LocalDay

Place = tuple[str, int]
"""The session of an item, and its number."""


def changes(
    was: Situation, done: frozenset[str], day: LocalDay, rows: Sequence[Row]
) -> tuple[Change, ...]:
    """What is another than when a plan was made.

    A new task counts where it is due by today: what is noted for later changes no day.

    Args:
        done: ids of tasks that were finished in the plan, which changes nothing of it.
        rows: all of the projection `items`, as they are now.
    """
    by_place = {(row["session_id"], row["number"]): row for row in rows}
    return (*_of_tasks(was, done, rows, by_place), *_of_events(was, day, rows, by_place))


def words(found: Sequence[Change]) -> str:
    """The first change in words, and how many there are besides."""
    first, *others = found
    named = (
        f"{first.type} {first.id} {'is' if first.what in ('new', 'gone') else 'was'} {first.what}"
    )
    return f"{named}, and {len(others)} more" if others else named


def _of_tasks(
    was: Situation, done: frozenset[str], rows: Sequence[Row], by_place: Mapping[Place, Row]
) -> Iterator[Change]:
    now = {_place(one): one for one in tasks_of(rows)}
    ids = {one.task.id for one in now.values()}
    for one in was.tasks:
        place = _place(one)
        if place not in now:
            row: Mapping[str, Any] = by_place.get(place, {})
            if one.task.id not in done:
                yield Change(one.task.id, "task", row.get("status", "gone"))
            continue
        # What went before it and is over changes nothing.
        after = one.task.after if one.task.after in ids else None
        if replace(one.task, after=after) != replace(now[place].task, id=one.task.id):
            yield Change(one.task.id, "task", "edited")
    known = {_place(one) for one in was.tasks}
    for place, one in now.items():
        is_due = one.task.due is not None and one.task.due <= was.day
        if place not in known and is_due and len(known) < TASKS_MAX:
            yield Change(one.task.id, "task", "new")


def _of_events(
    was: Situation, day: LocalDay, rows: Sequence[Row], by_place: Mapping[Place, Row]
) -> Iterator[Change]:
    before = {
        (one.source.session_id, one.number): one for one in was.busy if one.source is not None
    }
    now = {
        (one.source.session_id, one.number): one
        for one in busy_of(day, rows)
        if one.source is not None
    }
    for place, one in before.items():
        if place not in now:
            yield Change(item_id(*place), "event", "edited" if place in by_place else "gone")
        elif replace(now[place], source=one.source) != one:
            yield Change(item_id(*place), "event", "edited")
    for place in now:
        if place not in before:
            yield Change(item_id(*place), "event", "new")


def _place(one: OpenTask) -> Place:
    return one.source.session_id, one.number
