"""The flaws of plans, each at its place; documents that are refused by their names."""

from __future__ import annotations

import copy
from typing import Any

from preflights_es.features.compiler.domain import rules
from preflights_es.features.compiler.domain.events import PASSES, PassName
from preflights_es.kernel.completions import VIOLATIONS_MAX
from tests.each import each
from tests.features.compiler.passes_read import GOAL, PLANS, TARGET, begun
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
    return {
        one.pointer: one.message for one in rules.find_pass_violations(begun(name, **read), payload)
    }


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


@each(
    "goal",
    [GOAL, "Rename get_user() to fetch_user()", "Move src/a.py to src/b.py", "Remove `import os`"],
)
def test_a_goal_in_words_is_repeatable_and_code_is_refused_before_a_call(goal: str) -> None:
    assert rules.why_no_goal(goal) == ""
    for again in (goal, goal.replace(" ", "\n")):
        assert found("refactor", changed("refactor", "/goal", again), goal=goal) == {}
    for code in ("rename def total() to sum_up()", "remove console.log(x)"):
        assert rules.why_no_goal(code).endswith("say it in words")


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
def test_a_path_out_of_the_repository_is_refused(name: PassName, pointer: str, path: str) -> None:
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
    assert len(rules.find_pass_violations(begun("scaffold"), payload)) == VIOLATIONS_MAX


# 4. Forbidden documents ----------------------------------------------------------------------


SOURCE = [
    *(
        "src/Orders.PY",
        "orders.py.bak",
        "orders.rs~",
        "orders.sql .",
        "a/Makefile",
        "Dockerfile.j2",
    ),
    *("test_orders.md", "orders_test.txt", "orders.spec.md", "tests/orders.md", "a/__tests__/b.md"),
]
DOCUMENTS = [
    *("requirements.md", "requirements.txt", "docs/latest.md", "specifications.md", "contest.md"),
    *("orders.yaml", "orders.json", "a.b/py.md", "README", "inspector.rst"),
]


def test_a_source_or_test_file_is_refused_and_a_document_taken() -> None:
    assert [path for path in SOURCE if not rules.why_forbidden(path)] == []
    assert [path for path in DOCUMENTS if rules.why_forbidden(path)] == []


@each("suffix", sorted(rules.SUFFIXES))
def test_a_suffix_counts_in_any_case_and_behind_a_copy(suffix: str) -> None:
    for path in (f"a/b.{suffix}", f"a/B.{suffix.upper()}", f"b.{suffix}.bak", f"b.{suffix} ."):
        assert rules.why_forbidden(path)
    assert rules.why_forbidden(f"docs/{suffix}.md") == ""


@each("name", sorted(rules.NAMES))
def test_a_build_file_is_known_by_its_name(name: str) -> None:
    assert rules.why_forbidden(f"a/{name.upper()}")
