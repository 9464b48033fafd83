"""The reference: what the rules plan, as section 6 of the specification has it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.compiler.domain import reference
from preflights_es.features.compiler.domain.reference import REFERENCES
from preflights_es.features.compiler.domain.values import PASSES, Document, PassName
from preflights_es.kernel.completions import Accepted, CompletionRequested, Message, Rejected
from tests.each import each
from tests.features.compiler.chain import (
    GOAL,
    by_rules,
    chained,
    sample,
    sampled,
    text_of,
    verdict,
)
from tests.features.compiler.passes_read import PLANS, begun, read_plan

NAMES = tuple(PASSES)
DOMAINS = [
    "Parcels",
    "Shelves",
    "Pickup",
    "Couriers",
    "Notifications",
    "Payments",
    "Returns",
    "Staff",
    "Reports",
    "Privacy",
    "Complaints",
    "Devices",
]


def project(requirements: str, constraints: str = "", *conversation: str) -> dict[str, Any]:
    """What the rules plan for two texts."""
    texts = {"requirements": requirements, "constraints": constraints, "glossary": ""}
    documents = tuple(Document(name, "00" * 32, text) for name, text in texts.items())
    found: dict[str, Any] = json.loads(
        by_rules(begun("project", documents=documents), *conversation)
    )
    return found


def domains(requirements: str, *conversation: str) -> list[str]:
    planned = project(requirements, "", *conversation)
    return [one["name"] for one in planned.get("domains", ())]


# 1. The chain --------------------------------------------------------------------------------


def test_all_six_passes_chain_over_the_sample_project() -> None:
    plans = chained(by_rules)
    assert [one["name"] for one in plans["ProjectPlan"]["domains"]] == DOMAINS
    assert plans["ProjectPlan"]["constraints"] == {
        "architecture": "hexagonal",
        "languages": ["Python", "TypeScript"],
    }
    assert plans["ArchitecturePlan"]["layers"] == ["domain", "application", "ports", "adapters"]
    paths = [one["path"] for one in plans["ScaffoldPlan"]["files"]]
    assert paths[:2] == ["src/parcels.py", "tests/test_parcels.py"]
    assert paths[-1] == "README.md"
    assert len(paths) == 2 * len(DOMAINS) + 1
    assert len(plans["TestPlan"]["tests"]) == len(DOMAINS)
    assert plans["ImplementationPlan"]["related_tests"] == ["parcels_keeps_its_word"]
    assert plans["RefactorPlan"]["operations"] == [
        {
            "type": "move_file",
            "from_path": "src/parcels.py",
            "to_path": "src/domain/parcels.py",
        }
    ]


def test_documents_of_the_sample_are_those_of_a_real_project() -> None:
    assert all(
        len(sample(d).splitlines()) > 150 for d in ("requirements", "constraints", "glossary")
    )


def test_the_reference_is_a_pure_function_of_the_request() -> None:
    assert chained(by_rules) == chained(by_rules)


@each("name", NAMES)
def test_the_reference_answers_the_plans_of_a_model(name: PassName) -> None:
    first = begun(name)
    assert isinstance(verdict(first, by_rules(first)), Accepted)


# 2. Project ----------------------------------------------------------------------------------


@each(
    ("requirements", "expected"),
    [
        ("## Orders\ntext\n## Stock", ["Orders", "Stock"]),
        ("# Title\n### Detail\n## Orders ##\n", ["Orders"]),
        ("Orders\n------\n\ntext\n", ["Orders"]),
        ("text\n\n---\n\n## Orders", ["Orders"]),
        ("---\ntitle: x\n---\n## Orders", ["Orders"]),
        ("```\n## Code\n```\n## Orders", ["Orders"]),
        ("~~~~\n## Code\n~~~\n## Code\n~~~~\n## Orders", ["Orders"]),
        ("| a |\n| --- |\n## Orders", ["Orders"]),
        ("## 1. Orders\n## 2.3 Stock", ["Orders", "Stock"]),
        ("## [Orders](#orders)\n## `Stock`", ["Orders", "Stock"]),
        ("## Orders\n## orders", ["Orders"]),
        ("## Größe & Gewicht", ["Größe & Gewicht"]),
        ("## ???\n## Orders", ["Orders"]),
        ("## import os, sys\n", ["import os sys"]),
        ("\ufeff## Orders\r\n## Stock\r\n", ["Orders", "Stock"]),
        ("## " + "x" * 200, ["x" * 79 + "…"]),
        ("    ## Code", []),
        ("# Orders", []),
        ("", []),
    ],
)
def test_there_is_a_domain_for_every_second_level_heading(
    requirements: str, expected: list[str]
) -> None:
    assert domains(requirements) == expected


def test_there_is_a_module_for_every_domain() -> None:
    planned = project("## Order Lines\n## Order-lines!\n## Stock\n## Größe")
    assert planned["modules"] == [
        {"name": "order_lines", "domain": "Order Lines"},
        {"name": "order_lines_2", "domain": "Order-lines"},
        {"name": "stock", "domain": "Stock"},
        {"name": "grösse", "domain": "Größe"},
    ]


@each(
    ("constraints", "languages"),
    [
        ("Written in Python and TypeScript.", ["Python", "TypeScript"]),
        ("TypeScript, then python 3.12", ["TypeScript", "Python"]),
        ("Go on and go to the shop in Go.", ["Go"]),
        ("JavaScript only", ["JavaScript"]),
        ("C++ and C#", ["C++", "C#"]),
        ("C, C99 or Rust.", ["C", "Rust"]),
        ("Plan C is rusty.", ["unspecified"]),
        ("Pythonic", ["unspecified"]),
        ("", ["unspecified"]),
    ],
)
def test_languages_are_those_that_the_constraints_name(
    constraints: str, languages: list[str]
) -> None:
    assert project("## Orders", constraints)["constraints"]["languages"] == languages


@each(
    ("constraints", "architecture"),
    [
        ("a Clean Architecture", "clean"),
        ("clean rooms", "custom"),
        ("Hexagonal.", "hexagonal"),
        ("ports and adapters", "hexagonal"),
        ("domain-driven design", "ddd"),
        ("DDD, hexagonal", "ddd"),
        ("", "custom"),
    ],
)
def test_the_architecture_is_the_one_that_the_constraints_name(
    constraints: str, architecture: str
) -> None:
    assert project("## Orders", constraints)["constraints"]["architecture"] == architecture


def test_requirements_without_a_heading_lack_information_until_an_answer_names_domains() -> None:
    reply = project("No heading.")
    assert reply["error"] == "missing_information"
    assert domains("No heading.", text_of(reply), "Orders, Stock and Staff") == [
        "Orders",
        "Stock",
        "Staff",
    ]
    assert project("No heading.", "", text_of(reply), "???")["error"] == "missing_information"
    again = (text_of(reply), "???", text_of(reply), "Orders")
    assert domains("No heading.", *again) == ["Orders"]


# 3. The passes behind it ---------------------------------------------------------------------


@each("architecture", ["clean", "hexagonal", "ddd", "custom"])
def test_layers_and_rules_follow_the_architecture(architecture: str) -> None:
    constraints = {"architecture": architecture, "languages": ["Rust"]}
    plan = {**PLANS["ProjectPlan"], "constraints": constraints}
    first = begun("architecture", plans=(read_plan("ProjectPlan", plan),))
    found = verdict(first, by_rules(first))
    assert isinstance(found, Accepted), found
    assert found.payload["layers"][0] == "domain"
    assert {"rule": "domain_cannot_import_infrastructure"} in found.payload["rules"]


def test_files_are_in_the_first_language() -> None:
    for language, suffix in (("Rust", ".rs"), ("unspecified", ".txt"), ("Befunge", ".txt")):
        constraints = {"architecture": "clean", "languages": [language, "Python"]}
        plan = {**PLANS["ProjectPlan"], "constraints": constraints}
        plans = (read_plan("ProjectPlan", plan), read_plan("ArchitecturePlan"))
        files = json.loads(by_rules(begun("scaffold", plans=plans)))["files"]
        assert [one["path"] for one in files] == [
            f"src/orders{suffix}",
            f"tests/test_orders{suffix}",
            f"src/stock{suffix}",
            f"tests/test_stock{suffix}",
            "README.md",
        ]


def test_there_is_a_test_for_every_source_file() -> None:
    paths = ["src/a/orders.py", "src/b/orders.py", "orders.py", "src/A/orders.rs", ".x"]
    files = [{"path": path, "description": "x", "kind": "source"} for path in paths]
    plans = [read_plan("ScaffoldPlan", {"files": files})]
    first = begun("test", plans=(*plans, read_plan("ProjectPlan"), read_plan("ArchitecturePlan")))
    found = verdict(first, by_rules(first))
    assert isinstance(found, Accepted), found
    assert [one["target"] for one in found.payload["tests"]] == paths


def test_a_scaffold_without_source_files_lacks_information() -> None:
    files = [{"path": "README.md", "description": "x", "kind": "doc"}]
    first = begun("test", plans=(read_plan("ScaffoldPlan", {"files": files}),))
    assert json.loads(by_rules(first))["error"] == "missing_information"


def test_steps_follow_from_the_tests_of_the_target() -> None:
    planned = json.loads(by_rules(begun("implementation")))
    assert planned["related_tests"] == ["orders_refuse_empty", "orders_add_up"]
    assert planned["steps"][1] == "Make the test orders_refuse_empty pass: It is refused."
    untested = json.loads(by_rules(begun("implementation", target="src/stock.py")))
    assert untested["related_tests"] == []
    assert untested["steps"]


# 4. Refactoring ------------------------------------------------------------------------------

LAYOUT = ["README.md", "src/basket.py", "src/orders/rules.py", "../outside.py"]
LAYERS = ["domain", "application", "infrastructure"]


@each(
    ("goal", "operations"),
    [
        (
            "Rename BasketService to CartService",
            [("rename_symbol", "BasketService", "CartService")],
        ),
        ("rename `basket_of` into `cart_of`.", [("rename_symbol", "basket_of", "cart_of")]),
        ("Rename the class Basket to Cart", [("rename_symbol", "Basket", "Cart")]),
        ("Rename src/basket.py to cart.py", [("move_file", "src/basket.py", "src/cart.py")]),
        ("Rename basket.py to src/cart.py", [("move_file", "src/basket.py", "src/cart.py")]),
        (
            "Move basket.py to src/shop/cart.py",
            [("move_file", "src/basket.py", "src/shop/cart.py")],
        ),
        (
            "Move basket.py and rules.py to src/shop/",
            [
                ("move_file", "src/basket.py", "src/shop/basket.py"),
                ("move_file", "src/orders/rules.py", "src/shop/rules.py"),
            ],
        ),
        (
            "Give src/basket.py an interface",
            [("extract_interface", "Basket", "src/basket_interface.py")],
        ),
        (
            "Hide OrderRules behind an interface in rules.py",
            [("extract_interface", "OrderRules", "src/orders/order_rules_interface.py")],
        ),
        ("Hide OrderRules", [("extract_interface", "OrderRules", "src/order_rules_interface.py")]),
        (
            "The infrastructure depends on the application",
            [("enforce_dependency", "infrastructure", "application")],
        ),
        ("Tidy the Domain.", [("enforce_dependency", "domain", "application")]),
        ("Rename src/basket.py to ../cart.py", []),
        ("Move src/basket.py to /tmp/cart.py", []),
        ("Make everything better", []),
        ("Rename it", []),
        ("../outside.py", []),
        ("", []),
    ],
)
def test_operations_follow_from_the_goal_and_the_layout(
    goal: str, operations: list[tuple[str, ...]]
) -> None:
    found = reference.operations(goal, LAYOUT, LAYERS)
    assert [tuple(one.values())[:3] for one in found] == operations


@each("goal", ["Move basket.py to src/shop/", "Tidy the domain", GOAL])
def test_what_a_goal_comes_to_passes(goal: str) -> None:
    first = begun("refactor", goal=goal, layout=("src/basket.py", "src/parcels.py"))
    assert isinstance(verdict(first, by_rules(first)), Accepted)


def test_a_goal_that_names_nothing_known_lacks_information_until_an_answer_does() -> None:
    first = begun("refactor", goal="Make everything better")
    reply = by_rules(first)
    assert json.loads(reply)["error"] == "missing_information"
    found = verdict(first, by_rules(first, reply, "Begin with src/basket.py"))
    assert isinstance(found, Accepted), found
    assert found.payload["goal"] == "Make everything better"


# 5. Whatever it is asked ---------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3)
    ),
    max_leaves=8,
)
TOLD = st.fixed_dictionaries(
    {},
    optional={
        "documents": st.lists(st.fixed_dictionaries({"name": st.text(), "text": st.text()})),
        "artifacts": st.lists(
            st.fixed_dictionaries({"type": st.sampled_from(list(PLANS)), "payload": JSON})
        ),
        "layout": st.lists(st.text()),
        "goal": st.text(),
        "target": st.text(),
    },
)


@given(told=TOLD | JSON, name=st.sampled_from(NAMES), answer=st.text())
def test_any_request_gets_a_plan_or_a_failure_object(
    told: Any, name: PassName, answer: str
) -> None:
    messages = (
        Message("user", json.dumps(told)),
        Message("assistant", "{}"),
        Message("user", answer),
    )
    asked = CompletionRequested(call="x", provider="mock", model="m", messages=messages)
    found = json.loads(REFERENCES[PASSES[name].schema](asked))
    assert isinstance(found, dict)


@given(requirements=st.text(), constraints=st.text())
def test_any_document_gets_a_plan_that_passes_or_a_question(
    requirements: str, constraints: str
) -> None:
    texts = {"requirements": f"## A\n{requirements}", "constraints": constraints, "glossary": "x"}
    documents = tuple(Document(name, "00" * 32, text) for name, text in texts.items())
    first = begun("project", documents=documents)
    assert isinstance(verdict(first, by_rules(first)), Accepted)


def test_a_conversation_that_is_none_gets_a_failure_object() -> None:
    empty = CompletionRequested(call="x", provider="mock", model="m", messages=())
    for name in ("project_plan", "scaffold_plan", "test_plan", "refactor_plan"):
        assert json.loads(REFERENCES[name](empty))["error"] == "missing_information"
    assert isinstance(verdict(sampled("project"), '{"error": "x"}'), Rejected)


def test_headings_are_found_in_time_that_grows_with_the_text() -> None:
    text = "## A " + "#" * 50_000 + "\n" + "[" * 50_000 + "\n" + "- " * 20_000
    assert reference.headings(text) == ["A"]
