"""The tables of docs/specs/metrics.md and docs/metrics.md against the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

import yaml

from preflights_es.features.extraction.domain.events import Energy, Importance, ItemStatus
from preflights_es.features.metrics import catalogue
from preflights_es.features.metrics.catalogue import BUILT_IN, DIMENSIONS, check_for, metrics_of
from preflights_es.features.metrics.domain import events, sql_check, sql_tree
from preflights_es.features.metrics.domain.events import POLICY
from preflights_es.kernel import errors
from preflights_es.kernel.completions import FlawKind
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.use.session_lists import TROUBLES
from preflights_es.words.decisions import Standing
from preflights_es.words.workflow import STATUSES
from tests import markdown
from tests.each import each
from tests.markdown import ticked

SPEC: Final = markdown.tables("docs/specs/metrics.md")


def test_the_limits_are_those_of_the_code() -> None:
    rooms = (events, sql_check, sql_tree)
    for row in SPEC["1.1 Limits"]:
        name = row["Constant"].strip("`")
        if name == "POLICY.calls_max":
            assert int(row["Value"]) == POLICY.calls_max
            continue
        assert int(row["Value"]) == next(getattr(r, name) for r in rooms if hasattr(r, name))


def test_the_reasons_of_a_refusal_are_those_of_the_code() -> None:
    reasons = get_args(get_type_hints(events.NotTaken)["reason"])
    table = SPEC["5. Answers that do not count"]
    assert tuple(ticked(row["Reason"])[0] for row in table) == reasons


def test_the_columns_of_the_log_are_those_that_are_promised() -> None:
    table = markdown.tables("docs/metrics.md")["The tables of the log"]
    promised = {ticked(row["table"])[0]: tuple(ticked(row["columns"])) for row in table}
    assert promised == {one.name: one.columns for one in catalogue.queryable_log_tables()}


def test_the_metrics_of_the_log_are_those_that_are_listed() -> None:
    listed = markdown.tables("docs/metrics.md")["What you can ask about the log"]
    held = metrics_of(BUILT_IN, check_for("sqlite", catalogue.queryable_log_tables()))
    assert [(row["metric"], dimensions_of(row["dimensions"])) for row in listed] == [
        (one.name, {*one.dimensions}) for one in held
    ]
    for row, one in zip(listed, held, strict=True):
        assert row["in German"].casefold() in one.aliases


def dimensions_of(cell: str) -> set[str]:
    """Those of a cell, also where it names those of a decision or of a call."""
    page = (markdown.ROOT / "docs/metrics.md").read_text("utf-8")
    (sentence,) = re.findall(r"^The dimensions (\*of a decision.*)$", page, re.MULTILINE)
    decision, call = (set(ticked(part)) for part in sentence.split(";"))
    shared = decision if "of a decision" in cell else call if "of a call" in cell else set()
    return {*ticked(cell), *shared}


FAILURES = {
    one.kind
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, errors.PreflightsError)
} - {"", "error", "output_error"}
FLAWS = set(get_args(FlawKind))
SESSIONS = {
    *STATUSES,
    *TROUBLES,
    *(status for one in WORKFLOWS.values() for status in one.shown.statuses),
}
STORED: dict[tuple[str, str], set[str]] = {
    ("decisions", "standing"): set(get_args(Standing)),
    ("decisions", "kind"): {"adr", "task"},
    ("decisions", "decided_by_kind"): {"person", "agent", "script"},
    ("decisions", "asked_by_kind"): {"person", "agent", "script"},
    ("sessions", "workflow"): set(WORKFLOWS),
    ("sessions", "status"): SESSIONS,
    ("sessions", "fell_back"): FAILURES,
    ("usage", "workflow"): set(WORKFLOWS),
    ("usage", "outcome"): {"open", "received", "late", *(FAILURES - FLAWS)},
    ("usage", "judged"): {"accepted", *FLAWS},
    ("items", "status"): set(get_args(ItemStatus)),
    ("items", "importance"): set(get_args(Importance)),
    ("items", "energy"): set(get_args(Energy)),
    ("items", "filed"): {"by hand", "from a note"},
}
"""By table and column: what the program writes there."""

FILES = [one for one in sorted(BUILT_IN[0].glob("*.yaml")) if one.name != DIMENSIONS]
SHARED = yaml.safe_load((BUILT_IN[0] / DIMENSIONS).read_text("utf-8"))


def read(path: Path) -> dict[str, Any]:
    """A metric with what is said of its dimensions for all metrics."""
    said: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    for key in ("words", "values"):
        held = {name: one for name, one in SHARED[key].items() if name in said["dimensions"]}
        said[key] = held | said.get(key, {})
    return said


def columns_of(said: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The table that a metric reads, and its columns."""
    table = str(said["sql"]).partition(" FROM ")[2].split()[0]
    return table, next(one.columns for one in catalogue.queryable_log_tables() if one.name == table)


@each("path", FILES)
def test_a_metric_of_the_log_speaks_of_what_its_table_has(path: Any) -> None:
    said = read(path)
    table, columns = columns_of(said)
    assert {*said["dimensions"], said["date"]} <= set(columns)
    assert {*said.get("words", ()), *said.get("values", ())} <= set(said["dimensions"])
    for column, known in said.get("values", {}).items():
        # A dimension takes its values alone: all that there are, or those of the query.
        is_narrowed = all(f"'{value}'" in said["sql"] for value in known)
        if table == "usage" and "judged NOT IN" in said["sql"] and column == "judged":
            assert set(known) == FLAWS
        else:
            assert set(known) == STORED[table, column] or is_narrowed, column


@each("path", FILES)
def test_a_metric_of_the_log_is_one_number_or_a_list(path: Any) -> None:
    said = read(path)
    words = f" {' '.join(said['sql'].split())} "
    assert words.count("SELECT ") == 1
    assert " GROUP BY " not in words
    assert (" ORDER BY " in words) == said["name"].startswith("list of ")
    assert ("unit" in said) != said["name"].startswith("list of ")


def test_no_name_is_that_of_two_metrics_or_of_two_columns() -> None:
    names: list[str] = []
    for path in FILES:
        said = read(path)
        own = [said["name"], *said["aliases"]]
        names += [name.casefold() for name in own]
        for groups in (said.get("words", {}), *said.get("values", {}).values()):
            listed = [name.casefold() for group in groups.values() for name in group]
            assert len(listed) == len(set(listed)), (path.stem, listed)
    assert sorted(names) == sorted(set(names))
