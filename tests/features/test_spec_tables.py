"""Tables that specifications of workflows share, against the code: neither changes alone."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import pytest

from preflights_es.kernel.events import Decision, Input
from preflights_es.words.workflow import STATUSES
from tests.markdown import Row, tables, ticked

PAGES: Final = {
    **{name: name for name in ("compiler", "extraction", "metrics", "planning")},
    "recall": "memory",
}
KINDS: Final = {"Input": Input, "Decision": Decision}


def table(name: str, what: str) -> list[Row]:
    """The one of a workflow's specification whose heading ends so."""
    found = tables(f"docs/specs/{PAGES[name]}.md")
    (heading,) = (one for one in found if one.endswith(f" {what}"))
    return found[heading]


@pytest.mark.parametrize("name", PAGES)
def test_the_events_are_those_of_the_workflow(name: str) -> None:
    events: Any = import_module(f"preflights_es.features.{name}.domain.events")
    own = [cls for cls in events.EVENTS if cls.tag.startswith(f"{name}.")]
    rows = table(name, "Events")
    said = [(row["Event"], ticked(row["Tag"])[0]) for row in rows]
    assert said == [(cls.__name__, cls.tag) for cls in own]
    assert all(issubclass(cls, KINDS[row["Kind"]]) for row, cls in zip(rows, own, strict=True))


@pytest.mark.parametrize("name", PAGES)
def test_the_statuses_are_known_to_every_view(name: str) -> None:
    domain: Any = import_module(f"preflights_es.features.{name}.domain")
    found = {ticked(row["Status"])[0] for row in table(name, "Status")}
    assert (
        set(domain.WORKFLOW.shown.statuses) <= found <= {*STATUSES, *domain.WORKFLOW.shown.statuses}
    )
