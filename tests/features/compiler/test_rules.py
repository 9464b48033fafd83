"""The rules of plans: flaws, findings, and what contradicts a decision, each at its place."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.features.compiler.domain import rules
from preflights_es.features.compiler.domain.rules import contradictions, findings, mentions, perhaps
from preflights_es.features.compiler.domain.values import (
    FINDINGS_MAX,
    PASSES,
    DecidedField,
    Document,
    LeftOut,
    PassName,
    ReadDecision,
)
from preflights_es.kernel.completions import VIOLATIONS_MAX
from preflights_es.kernel.items import Finding
from tests.each import each
from tests.features.compiler.passes_read import GOAL, PLANS, TARGET, begun, decided, read_plan
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

NAMES = tuple(PASSES)


def changed(name: PassName, pointer: str, value: Any) -> dict[str, Any]:
    """The plan of a pass, with another value at a place."""
    payload = copy.deepcopy(PLANS[PASSES[name].writes])
    *path, last = [int(p) if p.isdigit() else p for p in pointer.split("/")[1:]]
    holder: Any = payload
    for part in path:
        holder = holder[part]
    if isinstance(holder, list) and last == len(holder):
        holder.append(value)
    else:
        holder[last] = value
    return payload


def found(name: PassName, payload: dict[str, Any], **read: Any) -> dict[str, str]:
    """Messages by their place."""
    return {one.pointer: one.message for one in rules.violations(begun(name, **read), payload)}


@each("name", NAMES)
def test_a_plan_that_keeps_all_rules_passes(name: PassName) -> None:
    assert found(name, PLANS[PASSES[name].writes]) == {}


# 1. A row each -------------------------------------------------------------------------------

RULE = {"rule": "domain_cannot_import_infrastructure"}
FILE = {"path": "x", "description": "x", "kind": "source"}

ROWS: list[tuple[PassName, str, Any, str]] = [
    ("project", "/modules/0/domain", "Order", "is no domain"),
    ("project", "/modules/0/domain", "orders", "is no domain"),
    ("project", "/domains/1/name", "Orders", "stands twice"),
    ("project", "/modules/1/name", "orders", "stands twice"),
    ("architecture", "/layers/2", "domain", "stands twice"),
    ("architecture", "/rules/1", RULE, "stands twice"),
    ("scaffold", "/files/1/path", TARGET, "stands twice"),
    ("scaffold", "/files/1/path", "SRC/Orders.py", "stands twice"),
    ("test", "/tests/1/id", "orders_refuse_empty", "stands twice"),
    ("implementation", "/target", "src/stock.py", "which was asked for"),
    ("refactor", "/goal", "Rename everything", "which was asked for"),
    ("refactor", "/operations/0/symbol", None, "is required for rename_symbol"),
    ("refactor", "/operations/0/to", "", "is required for rename_symbol"),
    ("refactor", "/operations/1/from_path", None, "is required for move_file"),
    ("refactor", "/operations/1/to_path", " ", "is required for move_file"),
    ("refactor", "/operations/2/symbol", None, "is required for extract_interface"),
    ("refactor", "/operations/2/to_path", None, "is required for extract_interface"),
    ("refactor", "/operations/3/from", None, "is required for enforce_dependency"),
    ("refactor", "/operations/3/to", None, "is required for enforce_dependency"),
    ("project", "/domains/0/responsibility", " \t", "expected words"),
    ("implementation", "/steps/0", "\u200b", "expected words"),
]


@each(("name", "pointer", "value", "message"), ROWS)
def test_a_plan_that_breaks_a_rule_is_refused_at_its_place(
    name: PassName, pointer: str, value: Any, message: str
) -> None:
    refused = found(name, changed(name, pointer, value))
    place, said = next(iter(refused.items()))
    assert place == (f"{pointer}/rule" if value is RULE else pointer)
    assert message in said


def test_a_field_that_an_operation_lacks_is_one_that_it_needs() -> None:
    payload = {"goal": GOAL, "operations": [{"type": one} for one in rules.OPERATIONS]}
    assert list(found("refactor", payload)) == [
        f"/operations/{n}/{name}"
        for n, names in enumerate(rules.OPERATIONS.values())
        for name in names
    ]


def test_the_goal_may_be_wrapped_in_another_way() -> None:
    assert found("refactor", changed("refactor", "/goal", GOAL.replace(" ", "\n"))) == {}


@each(
    "goal",
    [GOAL, "Rename get_user() to fetch_user()", "Move src/a.py to src/b.py", "Remove `import os`"],
)
def test_a_goal_in_words_can_be_repeated(goal: str) -> None:
    assert rules.why_no_goal(goal) == ""
    assert found("refactor", changed("refactor", "/goal", goal), goal=goal) == {}


@pytest.mark.parametrize("goal", ["rename def total() to sum_up()", "remove console.log(x)"])
def test_a_goal_that_is_code_is_refused_before_a_model_is_asked(goal: str) -> None:
    assert rules.why_no_goal(goal).endswith("say it in words")


# 2. Paths ------------------------------------------------------------------------------------

PATHS = FILED["PATHS"]
PLACES: list[tuple[PassName, str]] = [
    ("scaffold", "/files/0/path"),
    ("test", "/tests/0/target"),
    ("refactor", "/operations/1/from_path"),
    ("refactor", "/operations/1/to_path"),
    ("refactor", "/operations/2/to_path"),
]


@each(("name", "pointer"), PLACES)
@each("path", PATHS)
def test_a_path_that_leaves_the_repository_is_refused(
    name: PassName, pointer: str, path: str
) -> None:
    assert list(found(name, changed(name, pointer, path))) == [pointer]


@each("path", PATHS)
def test_a_target_that_leaves_the_repository_is_refused_though_asked_for(path: str) -> None:
    payload = changed("implementation", "/target", path)
    assert "/target" in found("implementation", payload, target=path)


@each("path", ["x", ".github/workflows/ci.yml", "src/größe.py", "a b/c.md", "a..b", "x/.gitignore"])
def test_a_path_within_the_repository_passes(path: str) -> None:
    assert found("scaffold", changed("scaffold", "/files/0/path", path)) == {}


def test_paths_are_one_where_a_file_system_takes_them_for_one() -> None:
    payload = changed("scaffold", "/files/0/path", "src/Größe.py")
    payload["files"][1]["path"] = "src/GRO\u0308SSE.py"
    assert list(found("scaffold", payload)) == ["/files/1/path"]


# 3. All together -----------------------------------------------------------------------------


def test_no_more_is_named_than_a_person_can_use() -> None:
    payload = {"files": [FILE] * 50}
    assert len(rules.violations(begun("scaffold"), payload)) == VIOLATIONS_MAX


STOCK = "src/stock.py"
SCAFFOLD = {
    "files": [
        *PLANS["ScaffoldPlan"]["files"],
        {"path": STOCK, "description": "Knows the warehouse.", "kind": "source"},
    ]
}
FIELDS = {
    name: DecidedField(label, value, tuple(options))
    for name, label, value, *options in FILED["FIELDS"]
}
DATABASE, DB, API, LANGUAGE = (FIELDS["DATABASE"], FIELDS["DB"], FIELDS["API"], FIELDS["LANGUAGE"])


def of_fields(table: str) -> list[tuple[DecidedField, str]]:
    return [(FIELDS[name], text) for name, text in FILED[table]]


def payload_of(name: PassName, **fields: Any) -> dict[str, Any]:
    """The plan of a pass, with other fields."""
    return {**copy.deepcopy(PLANS[PASSES[name].writes]), **fields}


def disagreeing(name: PassName, payload: dict[str, Any], **read: Any) -> list[tuple[str, str, str]]:
    """Kinds, places and messages; the plan itself is well formed."""
    first = begun(name, **{"layout": ("README.md", "src/basket.py"), **read})
    assert rules.violations(first, payload) == ()
    return [(one.kind, one.pointer, one.message) for one in findings(first, payload)]


@each("name", PASSES)
def test_plans_that_agree_have_no_findings(name: PassName) -> None:
    payload = SCAFFOLD if name == "scaffold" else PLANS[PASSES[name].writes]
    assert disagreeing(name, payload) == []


# 1. Names, layers, files, tests --------------------------------------------------------------


def test_a_module_that_no_file_is_of() -> None:
    ((kind, at, message),) = disagreeing("scaffold", PLANS["ScaffoldPlan"])
    assert (kind, at) == ("name", "/files")
    assert '"stock"' in message


@each("path", ["src/stocks.py", "src/Stock/api.py", "src/in_stock.py"])
def test_a_file_is_of_a_module_where_a_word_begins_like_it(path: str) -> None:
    files = [*PLANS["ScaffoldPlan"]["files"], {"path": path, "description": "x", "kind": "source"}]
    assert disagreeing("scaffold", {"files": files}) == []


@each(
    ("layers", "rule", "missing"),
    [
        (["domain"], "application_depends_on_domain", "application"),
        (["domain", "application"], "infrastructure_depends_on_application", "infrastructure"),
        (["application"], "domain_cannot_import_infrastructure", "domain"),
    ],
)
def test_a_rule_without_its_layer(layers: list[str], rule: str, missing: str) -> None:
    ((kind, at, message),) = disagreeing(
        "architecture", {"layers": layers, "rules": [{"rule": rule}]}
    )
    assert (kind, at) == ("layer", "/rules/0/rule")
    assert f'"{missing}"' in message


@each(
    ("layers", "rule"),
    [
        (["Domain", "Application"], "domain_cannot_import_infrastructure"),
        (["core", "use cases"], "application_depends_on_domain"),
        (["domain", "application", "adapters"], "infrastructure_depends_on_application"),
    ],
)
def test_a_layer_under_its_usual_names(layers: list[str], rule: str) -> None:
    assert disagreeing("architecture", {"layers": layers, "rules": [{"rule": rule}]}) == []


def test_a_test_of_a_file_that_is_nowhere() -> None:
    test = {"id": "t", "target": "src/nowhere.py", "assertions": ["It is there."]}
    ((kind, at, _),) = disagreeing("test", {"tests": [test]})
    assert (kind, at) == ("file", "/tests/0/target")
    assert disagreeing("test", {"tests": [test]}, layout=("src/nowhere.py",)) == []
    cut = (LeftOut("layout", 3),)
    assert disagreeing("test", {"tests": [test]}, left_out=cut) == [], "it may be among those"


def test_a_target_that_is_neither_planned_nor_listed() -> None:
    payload = payload_of("implementation", target="src/new.py")
    ((kind, at, message),) = disagreeing("implementation", payload, target="src/new.py")
    assert (kind, at) == ("file", "/target")
    assert "neither in the ScaffoldPlan" in message
    on_disk = (Document("src/new.py", "00" * 32, "x = 1"),)
    assert disagreeing("implementation", payload, target="src/new.py", documents=on_disk) == []
    assert disagreeing("implementation", payload, target="src/new.py", layout=("src/new.py",)) == []


def test_a_related_test_that_the_test_plan_does_not_have() -> None:
    payload = payload_of("implementation", related_tests=["orders_add_up", "orders_unknown"])
    ((kind, at, message),) = disagreeing("implementation", payload)
    assert (kind, at) == ("test", "/related_tests/1")
    assert "is no test of the TestPlan" in message


def test_a_move_of_a_file_that_is_not_there() -> None:
    there = disagreeing("refactor", PLANS["RefactorPlan"], layout=("README.md",))
    assert [(kind, at) for kind, at, _ in there] == [("file", "/operations/1/from_path")]
    twice = [
        {"type": "move_file", "from_path": "src/basket.py", "to_path": "src/a.py"},
        {"type": "move_file", "from_path": "src/a.py", "to_path": "src/b.py"},
    ]
    assert disagreeing("refactor", payload_of("refactor", operations=twice)) == []


def test_a_dependency_between_layers_that_are_not_planned() -> None:
    one = {"type": "enforce_dependency", "from": "Domain", "to": "storage"}
    ((kind, at, _),) = disagreeing("refactor", payload_of("refactor", operations=[one]))
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


@each("text", DEFINED)
def test_a_requirement_that_no_document_has(text: str) -> None:
    read = (Document("requirements.md", "00" * 32, text),)
    assert disagreeing("test", asserting("REQ-2 holds"), documents=read) == []
    ((kind, at, message),) = disagreeing("test", asserting("REQ-7 holds"), documents=read)
    assert (kind, at) == ("requirement", "/tests/0/assertions/0")
    assert '"REQ-7"' in message


@each(
    ("text", "assertion"),
    [
        ("A customer pays, see REQ-1.\n", "REQ-7 holds"),
        ("- REQ-1: a customer pays in UTF-8\n", "It is UTF-16 and ISO-8601"),
        ("No ids at all.\n", "REQ-7 holds"),
    ],
)
def test_other_words_with_numbers_are_no_requirements(text: str, assertion: str) -> None:
    read = (Document("requirements.md", "00" * 32, text),)
    assert disagreeing("test", asserting(assertion), documents=read) == []


# 3. Decisions --------------------------------------------------------------------------------


def test_a_step_that_contradicts_a_decision_names_it() -> None:
    decision = decided(DATABASE, uid="db-4")
    payload = payload_of("implementation", steps=["Use MySQL instead of PostgreSQL"])
    ((kind, at, message),) = disagreeing("implementation", payload, decisions=(decision,))
    assert (kind, at) == ("decision", "/steps/0")
    assert "db-4" in message


def test_a_step_that_only_mentions_is_told_and_does_not_count() -> None:
    payload = payload_of("implementation", steps=["Import the rows of the old MySQL database once"])
    assert disagreeing("implementation", payload, decisions=(decided(DATABASE),)) == []
    first = begun("implementation", decisions=(decided(DATABASE),))
    (one,) = perhaps(first, payload)
    assert (one.kind, one.pointer) == ("decision", "/steps/0")


def test_what_the_model_repeats_of_the_request_is_not_judged() -> None:
    goal = "Use MySQL instead of PostgreSQL"
    payload = payload_of("refactor", goal=goal)
    first = begun("refactor", goal=goal, decisions=(decided(DATABASE),))
    assert (findings(first, payload), perhaps(first, payload)) == ((), ())


# 4. Names of findings ------------------------------------------------------------------------


def named(name: PassName, payload: dict[str, Any], **read: Any) -> tuple[Finding, ...]:
    return findings(begun(name, **read), payload)


def test_a_finding_keeps_its_name_whatever_else_is_found() -> None:
    payload = payload_of("implementation", related_tests=["a", "b"])
    first, second = named("implementation", payload)
    payload = payload_of("implementation", related_tests=["a", "b"], steps=["Use MySQL"])
    disagreeing = named("implementation", payload, decisions=(decided(DATABASE),))
    assert [one.name for one in disagreeing][:2] == [first.name, second.name]
    assert first.name != second.name
    assert first.name.startswith("test-")
    assert len(first.name) == len("test-") + 6


def test_more_than_a_person_can_waive_are_told_as_one() -> None:
    names = [f"t{n}" for n in range(3 * FINDINGS_MAX)]
    disagreeing = named("implementation", payload_of("implementation", related_tests=names))
    assert len(disagreeing) == FINDINGS_MAX
    assert disagreeing[-1].kind == "more"
    assert "101 more findings" in disagreeing[-1].message


def test_a_plan_that_is_read_and_is_no_plan_is_found_nothing_of() -> None:
    forged = (read_plan("TestPlan", {"tests": "none"}), read_plan("ScaffoldPlan", {"files": 1}))
    first = begun("implementation", plans=forged, layout=(TARGET,))
    disagreeing = findings(first, PLANS["ImplementationPlan"])
    assert {one.kind for one in disagreeing} == {"test"}


def stated(texts: list[tuple[str, str]], *rules: ReadDecision) -> list[tuple[str, str]]:
    return list(contradictions(texts, rules))


@each(("field", "text"), of_fields("STATING"))
def test_a_text_that_states_another_value_contradicts(field: DecidedField, text: str) -> None:
    ((pointer, message),) = stated([("/steps/0", text)], decided(field))
    assert pointer == "/steps/0"
    assert message.startswith("states ")
    assert "auth-7" in message


@each(("field", "text"), of_fields("STATING_NOTHING"))
def test_whatever_else_a_text_says_contradicts_nothing(field: DecidedField, text: str) -> None:
    assert stated([("/steps/0", text)], decided(field)) == []


def test_the_decided_value_elsewhere_does_not_excuse_a_statement() -> None:
    texts = [("/a", "Use MySQL for the orders"), ("/b", "Import the rows into PostgreSQL")]
    assert [at for at, _ in stated(texts, decided(DB))] == ["/a"]


@each("value", ["Go", "go", "Java", "Golang"])
def test_a_language_of_the_plan_is_a_value_as_it_stands(value: str) -> None:
    assert len(stated([("/constraints/languages/1", value)], decided(LANGUAGE))) == 1
    assert stated([("/modules/1/name", value)], decided(LANGUAGE)) == []
    assert stated([("/constraints/languages/1", "Python")], decided(LANGUAGE)) == []


def test_each_value_is_found_where_it_is_stated_first() -> None:
    texts = [("/a", "Use MySQL"), ("/b", "Use MySQL for the carts"), ("/c", "Use gRPC")]
    found = stated(texts, decided(DB, uid="db-1"), decided(API, uid="api-2"))
    assert [at for at, _ in found] == ["/a", "/c"]
    assert [what.split("decision ")[1].split()[0] for _, what in found] == ["db-1", "api-2"]


@each(
    ("text", "contradicts"),
    [
        ("Use MySQL for the orders", True),
        ("Use MySQL for orders", True),
        ("Use MySQL for an order", True),
        ("Use MySQL instead of PostgreSQL", True),
        ("Use MySQL for the carts", False),
        ("Use MySQL instead of PostgreSQL for the carts", False),
        ("Use MySQL", False),
    ],
)
def test_a_decision_holds_for_its_scope(text: str, contradicts: bool) -> None:
    scoped = replace(decided(DB), scope="orders")
    found = stated([("/a", text)], scoped)
    assert bool(found) == contradicts
    assert all('of "orders"' in message for _, message in found)
    said = list(mentions([("/a", text)], [scoped]))
    is_told = not contradicts and "PostgreSQL" not in text
    assert bool(said) == is_told, "nothing is lost: what does not block is told"


# Mentions ------------------------------------------------------------------------------------


@each(("field", "text"), of_fields("MENTIONING"))
def test_a_text_that_names_another_option_mentions_it(field: DecidedField, text: str) -> None:
    ((pointer, message),) = mentions([("/steps/0", text)], [decided(field)])
    assert pointer == "/steps/0"
    assert message.startswith("names ")
    assert "auth-7" in message


@each(("field", "text"), of_fields("INNOCENT"))
def test_a_text_that_names_no_other_option_or_the_value_too_does_not(
    field: DecidedField, text: str
) -> None:
    assert list(mentions([("/steps/0", text)], [decided(field)])) == []


def test_there_are_enough_of_both() -> None:
    assert len(FILED["MENTIONING"]) >= 25
    assert len(FILED["INNOCENT"]) >= 25


def test_the_decided_value_may_stand_in_any_text() -> None:
    texts = [("/a", "Reads from MySQL."), ("/b", "Writes to PostgreSQL.")]
    assert list(mentions(texts, [decided(DB)])) == []


def test_each_option_is_found_where_it_is_named_first() -> None:
    texts = [("/a", "MongoDB"), ("/b", "MySQL, then MongoDB")]
    found = mentions(texts, [decided(DB), decided(API)])
    assert [at for at, _ in found] == ["/a", "/b"]


def test_what_is_stated_is_not_told_as_a_mention_too() -> None:
    assert list(mentions([("/a", "Use MySQL")], [decided(DB)])) == []


def test_a_decision_without_other_options_is_contradicted_only_where_it_is_replaced() -> None:
    field = DecidedField("Name", "Orders")
    assert stated([("/a", "Use Anything")], decided(field)) == []
    assert list(mentions([("/a", "Anything")], [decided(field)])) == []
