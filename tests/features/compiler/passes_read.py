"""First Inputs of passes, with what they read."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.compiler.domain.events import (
    PASSES,
    Document,
    PassBegun,
    PassName,
    PlanType,
    ReadPlan,
)
from preflights_es.kernel.events import Actor, SourceSession
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import Lead, Setup
from tests.fixed import NOON, PROJECT

SOURCE: Final = SourceSession("01900000-0000-7000-8000-000000000001", 3, "ab" * 32)
GOAL: Final = "Rename BasketService to CartService"
TARGET: Final = "src/orders.py"

PLANS: Final[dict[PlanType, dict[str, Any]]] = {
    "ProjectPlan": {
        "domains": [
            {"name": "Orders", "responsibility": "Takes orders and follows them to delivery."},
            {"name": "Stock", "responsibility": "Knows what is in the warehouse."},
        ],
        "modules": [{"name": "orders", "domain": "Orders"}, {"name": "stock", "domain": "Stock"}],
        "constraints": {"architecture": "clean", "languages": ["Python"]},
    },
    "ArchitecturePlan": {
        "layers": ["domain", "application", "infrastructure"],
        "rules": [{"rule": "domain_cannot_import_infrastructure"}],
    },
    "ScaffoldPlan": {
        "files": [
            {"path": TARGET, "description": "Takes orders.", "kind": "source"},
            {"path": "tests/test_orders.py", "description": "Tests of orders.", "kind": "test"},
            {"path": "README.md", "description": "Begins here.", "kind": "doc"},
        ]
    },
    "TestPlan": {
        "tests": [
            {"id": "orders_refuse_empty", "target": TARGET, "assertions": ["It is refused."]},
            {"id": "orders_add_up", "target": TARGET, "assertions": ["The total is right."]},
        ]
    },
    "ImplementationPlan": {
        "target": TARGET,
        "steps": ["Refuse an order without items.", "Add up the items."],
        "related_tests": ["orders_refuse_empty", "orders_add_up"],
    },
    "RefactorPlan": {
        "goal": GOAL,
        "operations": [
            {"type": "rename_symbol", "symbol": "BasketService", "to": "CartService"},
            {"type": "move_file", "from_path": "src/basket.py", "to_path": "src/cart.py"},
            {"type": "extract_interface", "symbol": "CartService", "to_path": "src/ports.py"},
            {"type": "enforce_dependency", "from": "application", "to": "domain", "symbol": None},
        ],
        "constraints": {"preserve_behavior": True},
    },
}
"""A plan of each type that meets its schema and the final checks."""


def read_plan(type_: PlanType, payload: dict[str, Any] | None = None) -> ReadPlan:
    """An approved plan of another session."""
    text = canonical_json(payload or PLANS[type_]).decode()
    return ReadPlan("0190-" + type_, type_, "approved", SOURCE, text)


def begun(name: PassName, **fields: Any) -> PassBegun:
    """A pass over the plans above; `fields` replace what it read."""
    one = PASSES[name]
    known = {"requirements": "## Orders\n\n## Stock", "constraints": "Python", "glossary": "-"}
    documents = [
        Document(f".preflights/{title}.md", "00" * 32, known[title]) for title in one.documents
    ]
    said: dict[str, Any] = {
        "documents": tuple(documents),
        "plans": tuple(read_plan(needed.type) for needed in one.plans),
        "target": TARGET if one.target else "",
        "goal": GOAL if one.goal else "",
        "layout": ("README.md", "src/basket.py"),
        **fields,
    }
    return PassBegun(
        at=NOON,
        actor=Actor("user", "Ada Lovelace"),
        pass_type=name,
        project=PROJECT,
        uid="01900000-0000-7000-8000-000000000009",
        setup=Setup("0", "compiler/1", "mock", lead=Lead("mock", "compiler/1")),
        **said,
    )
