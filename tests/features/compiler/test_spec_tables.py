"""The tables of docs/specs/compiler.md against the code: neither changes alone."""

from __future__ import annotations

from typing import Final, get_args, get_type_hints

from preflights_es.features.compiler.domain import events, lead
from preflights_es.features.compiler.domain.events import PASSES
from preflights_es.features.compiler.domain.rules import OPERATIONS
from tests import markdown
from tests.markdown import ticked

SPEC: Final = markdown.tables("docs/specs/compiler.md")


def test_the_limits_are_those_of_the_code() -> None:
    for row in SPEC["1.1 Limits"]:
        name = row["Constant"].strip("`")
        policy = events.POLICY.calls_max
        found = policy if name == "POLICY.calls_max" else getattr(events, name)
        assert found == int(row["Value"])


def test_the_passes_are_those_of_the_code() -> None:
    table = SPEC["1.2 The passes"]
    assert [ticked(row["Pass"])[0] for row in table] == list(PASSES)
    for row, one in zip(table, PASSES.values(), strict=True):
        assert ticked(row["Command"])[0].split()[0] == one.command
        assert row["Documents"] == ", ".join(one.documents)
        plans = [f"{need.type} ({need.standing})" for need in one.plans]
        assert row["Artifacts"] == ", ".join(plans)
        besides = {"target file": one.target, "goal": one.goal, "layout": one.layout}
        assert row["Besides"] == ", ".join(name for name, is_read in besides.items() if is_read)
        assert row["Forbidden"] == ", ".join(one.forbidden)
        assert row["Writes"] == one.writes


def test_the_standings_are_those_of_the_code() -> None:
    changed = get_args(get_type_hints(events.StandingChanged)["standing"])
    found = {ticked(row["Standing"])[0] for row in SPEC["3.2 Standing"]}
    assert found == {*changed, "draft", "failed"}


def test_the_reasons_of_a_refusal_are_those_of_the_code() -> None:
    reasons = get_args(get_type_hints(events.PassChangeRefused)["reason"])
    found = [ticked(row["Reason"])[0] for row in SPEC["Refusals"]]
    assert sorted(found) == sorted(reasons)


def test_the_categories_of_reports_are_those_of_the_code() -> None:
    table = {
        kind: (ticked(row["`category`"])[0], ticked(row["`recovery_action`"])[0])
        for row in SPEC["4. Failure reports"]
        for kind in ticked(row["Kind"])
    }
    assert table.keys() == {*lead.CATEGORY, "api_error"}
    for kind, (category, recovery) in table.items():
        assert category == lead.CATEGORY.get(kind, "api_error")
        assert recovery == lead.RECOVERY[category]


def test_the_fields_of_operations_are_those_of_the_code() -> None:
    found = SPEC["5.1 Operations"]
    table = {ticked(row["Operation"])[0]: ticked(row["Fields it needs"]) for row in found}
    assert table == OPERATIONS
