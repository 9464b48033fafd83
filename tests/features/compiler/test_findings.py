"""Where a plan disagrees with what was read: found at its place, under a name that stays."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from preflights_es.features.compiler.domain import checks
from preflights_es.features.compiler.domain.findings import findings, perhaps
from preflights_es.features.compiler.domain.passes import PASSES
from preflights_es.features.compiler.domain.values import (
    FINDINGS_MAX,
    DecidedField,
    Document,
    LeftOut,
    PassName,
)
from preflights_es.kernel.items import Finding
from tests.features.compiler.passes_read import PLANS, TARGET, begun, decided, read_plan

STOCK = "src/stock.py"
SCAFFOLD = {
    "files": [
        *PLANS["ScaffoldPlan"]["files"],
        {"path": STOCK, "description": "Knows the warehouse.", "kind": "source"},
    ]
}
DB = DecidedField("Database", "PostgreSQL", ("MySQL", "MongoDB"))


def payload_of(name: PassName, **fields: Any) -> dict[str, Any]:
    """The plan of a pass, with other fields."""
    return {**copy.deepcopy(PLANS[PASSES[name].writes]), **fields}


def found(name: PassName, payload: dict[str, Any], **read: Any) -> list[tuple[str, str, str]]:
    """Kinds, places and messages; the plan itself is well formed."""
    first = begun(name, **{"layout": ("README.md", "src/basket.py"), **read})
    assert checks.violations(first, payload) == ()
    return [(one.kind, one.pointer, one.message) for one in findings(first, payload)]


@pytest.mark.parametrize("name", PASSES)
def test_plans_that_agree_have_no_findings(name: PassName) -> None:
    payload = SCAFFOLD if name == "scaffold" else PLANS[PASSES[name].writes]
    assert found(name, payload) == []


# 1. Names, layers, files, tests --------------------------------------------------------------


def test_a_module_that_no_file_is_of() -> None:
    ((kind, at, message),) = found("scaffold", PLANS["ScaffoldPlan"])
    assert (kind, at) == ("name", "/files")
    assert '"stock"' in message


@pytest.mark.parametrize("path", ["src/stocks.py", "src/Stock/api.py", "src/in_stock.py"])
def test_a_file_is_of_a_module_where_a_word_begins_like_it(path: str) -> None:
    files = [*PLANS["ScaffoldPlan"]["files"], {"path": path, "description": "x", "kind": "source"}]
    assert found("scaffold", {"files": files}) == []


@pytest.mark.parametrize(
    ("layers", "rule", "missing"),
    [
        (["domain"], "application_depends_on_domain", "application"),
        (["domain", "application"], "infrastructure_depends_on_application", "infrastructure"),
        (["application"], "domain_cannot_import_infrastructure", "domain"),
    ],
)
def test_a_rule_without_its_layer(layers: list[str], rule: str, missing: str) -> None:
    ((kind, at, message),) = found("architecture", {"layers": layers, "rules": [{"rule": rule}]})
    assert (kind, at) == ("layer", "/rules/0/rule")
    assert f'"{missing}"' in message


@pytest.mark.parametrize(
    ("layers", "rule"),
    [
        (["Domain", "Application"], "domain_cannot_import_infrastructure"),
        (["core", "use cases"], "application_depends_on_domain"),
        (["domain", "application", "adapters"], "infrastructure_depends_on_application"),
    ],
)
def test_a_layer_under_its_usual_names(layers: list[str], rule: str) -> None:
    assert found("architecture", {"layers": layers, "rules": [{"rule": rule}]}) == []


def test_a_test_of_a_file_that_is_nowhere() -> None:
    test = {"id": "t", "target": "src/nowhere.py", "assertions": ["It is there."]}
    ((kind, at, _),) = found("test", {"tests": [test]})
    assert (kind, at) == ("file", "/tests/0/target")
    assert found("test", {"tests": [test]}, layout=("src/nowhere.py",)) == []
    cut = (LeftOut("layout", 3),)
    assert found("test", {"tests": [test]}, left_out=cut) == [], "it may be among those"


def test_a_target_that_is_neither_planned_nor_listed() -> None:
    payload = payload_of("implementation", target="src/new.py")
    ((kind, at, message),) = found("implementation", payload, target="src/new.py")
    assert (kind, at) == ("file", "/target")
    assert "neither in the ScaffoldPlan" in message
    on_disk = (Document("src/new.py", "00" * 32, "x = 1"),)
    assert found("implementation", payload, target="src/new.py", documents=on_disk) == []
    assert found("implementation", payload, target="src/new.py", layout=("src/new.py",)) == []


def test_a_related_test_that_the_test_plan_does_not_have() -> None:
    payload = payload_of("implementation", related_tests=["orders_add_up", "orders_unknown"])
    ((kind, at, message),) = found("implementation", payload)
    assert (kind, at) == ("test", "/related_tests/1")
    assert "is no test of the TestPlan" in message


def test_a_move_of_a_file_that_is_not_there() -> None:
    there = found("refactor", PLANS["RefactorPlan"], layout=("README.md",))
    assert [(kind, at) for kind, at, _ in there] == [("file", "/operations/1/from_path")]
    twice = [
        {"type": "move_file", "from_path": "src/basket.py", "to_path": "src/a.py"},
        {"type": "move_file", "from_path": "src/a.py", "to_path": "src/b.py"},
    ]
    assert found("refactor", payload_of("refactor", operations=twice)) == []


def test_a_dependency_between_layers_that_are_not_planned() -> None:
    one = {"type": "enforce_dependency", "from": "Domain", "to": "storage"}
    ((kind, at, _),) = found("refactor", payload_of("refactor", operations=[one]))
    assert (kind, at) == ("layer", "/operations/0/to")


# 2. Requirements -----------------------------------------------------------------------------

DEFINED = [
    "## REQ-1 Pay\n\n## REQ-2 Search\n",
    "- REQ-1: a customer pays\n- **REQ-2**: and searches\n",
    "| REQ-1 | a customer pays |\n| REQ-2 | and searches |\n",
    "REQ-1 A customer pays.\n\nREQ-2 A customer searches.\n",
]


def asserting(assertion: str) -> dict[str, Any]:
    test = {"id": "t", "target": TARGET, "assertions": [assertion]}
    return {"tests": [test]}


@pytest.mark.parametrize("text", DEFINED)
def test_a_requirement_that_no_document_has(text: str) -> None:
    read = (Document("requirements.md", "00" * 32, text),)
    assert found("test", asserting("REQ-2 holds"), documents=read) == []
    ((kind, at, message),) = found("test", asserting("REQ-7 holds"), documents=read)
    assert (kind, at) == ("requirement", "/tests/0/assertions/0")
    assert '"REQ-7"' in message


@pytest.mark.parametrize(
    ("text", "assertion"),
    [
        ("A customer pays, see REQ-1.\n", "REQ-7 holds"),
        ("- REQ-1: a customer pays in UTF-8\n", "It is UTF-16 and ISO-8601"),
        ("No ids at all.\n", "REQ-7 holds"),
    ],
)
def test_other_words_with_numbers_are_no_requirements(text: str, assertion: str) -> None:
    read = (Document("requirements.md", "00" * 32, text),)
    assert found("test", asserting(assertion), documents=read) == []


# 3. Decisions --------------------------------------------------------------------------------


def test_a_step_that_contradicts_a_decision_names_it() -> None:
    decision = decided(DB, uid="db-4")
    payload = payload_of("implementation", steps=["Use MySQL instead of PostgreSQL"])
    ((kind, at, message),) = found("implementation", payload, decisions=(decision,))
    assert (kind, at) == ("decision", "/steps/0")
    assert "db-4" in message


def test_a_step_that_only_mentions_is_told_and_does_not_count() -> None:
    payload = payload_of("implementation", steps=["Import the rows of the old MySQL database once"])
    assert found("implementation", payload, decisions=(decided(DB),)) == []
    first = begun("implementation", decisions=(decided(DB),))
    (one,) = perhaps(first, payload)
    assert (one.kind, one.pointer) == ("decision", "/steps/0")


def test_what_the_model_repeats_of_the_request_is_not_judged() -> None:
    goal = "Use MySQL instead of PostgreSQL"
    payload = payload_of("refactor", goal=goal)
    first = begun("refactor", goal=goal, decisions=(decided(DB),))
    assert (findings(first, payload), perhaps(first, payload)) == ((), ())


# 4. Names of findings ------------------------------------------------------------------------


def named(name: PassName, payload: dict[str, Any], **read: Any) -> tuple[Finding, ...]:
    return findings(begun(name, **read), payload)


def test_a_finding_keeps_its_name_whatever_else_is_found() -> None:
    payload = payload_of("implementation", related_tests=["a", "b"])
    first, second = named("implementation", payload)
    payload = payload_of("implementation", related_tests=["a", "b"], steps=["Use MySQL"])
    found = named("implementation", payload, decisions=(decided(DB),))
    assert [one.name for one in found][:2] == [first.name, second.name]
    assert first.name != second.name
    assert first.name.startswith("test-")
    assert len(first.name) == len("test-") + 6


def test_more_than_a_person_can_waive_are_told_as_one() -> None:
    names = [f"t{n}" for n in range(3 * FINDINGS_MAX)]
    found = named("implementation", payload_of("implementation", related_tests=names))
    assert len(found) == FINDINGS_MAX
    assert found[-1].kind == "more"
    assert "101 more findings" in found[-1].message


def test_a_plan_that_is_read_and_is_no_plan_is_found_nothing_of() -> None:
    forged = (read_plan("TestPlan", {"tests": "none"}), read_plan("ScaffoldPlan", {"files": 1}))
    first = begun("implementation", plans=forged, layout=(TARGET,))
    found = findings(first, PLANS["ImplementationPlan"])
    assert {one.kind for one in found} == {"test"}
