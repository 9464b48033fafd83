"""The tables of docs/specs/metrics.md and docs/metrics.md against the code."""

from __future__ import annotations

from functools import cache
from typing import get_args, get_type_hints

from preflights_es.core.events import Decision, Input
from preflights_es.core.session import STATUSES
from preflights_es.services.metrics import log_views
from preflights_es.services.metrics.catalogue_files import BUILT_IN, check_for, metrics
from preflights_es.workflows.metrics import WORKFLOW, events, lead, sql_check, sql_tree, values
from tests import markdown
from tests.markdown import Row, ticked


@cache
def spec() -> dict[str, list[Row]]:
    return markdown.tables("docs/specs/metrics.md")


def test_the_limits_are_those_of_the_code() -> None:
    rooms = (values, sql_check, sql_tree)
    for row in spec()["1.1 Limits"]:
        name = row["Constant"].strip("`")
        if name == "POLICY.calls_max":
            assert int(row["Value"]) == lead.POLICY.calls_max
            continue
        assert int(row["Value"]) == next(getattr(r, name) for r in rooms if hasattr(r, name))


def test_the_reasons_of_a_refusal_are_those_of_the_code() -> None:
    reasons = get_args(get_type_hints(events.NotTaken)["reason"])
    table = spec()["5. Answers that do not count"]
    assert tuple(ticked(row["Reason"])[0] for row in table) == reasons


def test_the_events_are_those_of_the_workflow() -> None:
    kinds = {"Input": Input, "Decision": Decision}
    own = [cls for cls in events.EVENTS if cls.tag.startswith("metrics.")]
    table = spec()["7.1 Events"]
    assert [(row["Event"], ticked(row["Tag"])[0]) for row in table] == [
        (cls.__name__, cls.tag) for cls in own
    ]
    for row, cls in zip(table, own, strict=True):
        assert issubclass(cls, kinds[row["Kind"]])


def test_the_statuses_are_known_to_every_view() -> None:
    found = {ticked(row["Status"])[0] for row in spec()["7.2 Status"]}
    assert found <= {*STATUSES, *WORKFLOW.statuses}
    assert set(WORKFLOW.statuses) <= found


def test_the_columns_of_the_log_are_those_that_are_promised() -> None:
    table = markdown.tables("docs/metrics.md")["The tables of the log"]
    promised = {ticked(row["table"])[0]: tuple(ticked(row["columns"])) for row in table}
    assert promised == {one.name: one.columns for one in log_views.tables()}


def test_the_metrics_of_the_log_are_those_that_are_listed() -> None:
    listed = markdown.tables("docs/metrics.md")["What you can ask about the log"]
    held = metrics(BUILT_IN, check_for("sqlite", log_views.tables()))
    assert [(row["metric"], tuple(ticked(row["dimensions"]))) for row in listed] == [
        (one.name, one.dimensions) for one in held
    ]
    for row, one in zip(listed, held, strict=True):
        assert row["in German"].casefold() in one.aliases
