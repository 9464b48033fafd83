"""docs/specs/calls.md holds the limits and the events of the code."""

from __future__ import annotations

from preflights_es.features.calls import intake, writer
from preflights_es.features.calls.domain import events
from tests.markdown import tables, ticked

SPEC = "docs/specs/calls.md"


def test_each_limit_is_the_code_s() -> None:
    rows = tables(SPEC)["1.1 Limits"]
    assert rows
    for row in rows:
        (name,) = ticked(row["Constant"])
        home = next(one for one in (events, intake, writer) if hasattr(one, name))
        assert getattr(home, name) == int(row["Value"]), name


def test_each_event_is_told() -> None:
    told = {
        tag
        for heading, kind in (("2.1 Inputs", "Input"), ("2.2 Decisions", "Decision"))
        for row in tables(SPEC)[heading]
        for tag in ticked(row[kind])
    }
    assert told == {event.tag for event in events.EVENTS}
