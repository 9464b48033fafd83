"""Labelled day plans: what a day is, and the plan that the specification gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from preflights_es.features.planning.domain.events import Busy, PlanTask
from tests.features.planning.cases import task
from tests.filed_cases import filed_cases


class Labelled(NamedTuple):
    """One row of the table."""

    name: str
    tasks: Sequence[PlanTask]
    plan: str
    """The blocks in order, `HH:MM-HH:MM id`, with `*` behind the focus and `/` behind a part."""
    buffer: int = 0
    warnings: tuple[str, ...] = ()
    day: dict[str, Any] = {}


def _task(id_: str, *said: Any) -> PlanTask:
    minutes = [one for one in said if isinstance(one, int)]
    return task(id_, *minutes, **next((one for one in said if isinstance(one, dict)), {}))


def _of(row: dict[str, Any]) -> Labelled:
    day = dict(row.get("day", {}))
    if "busy" in day:
        day["busy"] = tuple(Busy(start=start, end=end) for start, end in day["busy"])
    return Labelled(**{**row, "tasks": tuple(_task(*one) for one in row["tasks"]), "day": day})


FILED: Final = filed_cases(__file__)
PLANS: Final = tuple(_of(row) for table in FILED.values() for row in table)
