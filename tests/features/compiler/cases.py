"""Passes over a runner and a store in memory, with payloads that their schemas take."""

from __future__ import annotations

import json
from typing import Any, Final

from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.events import (
    PASSES,
    Document,
    PassAnswersGiven,
    PassBegun,
    PassName,
    PlanApproved,
    PlanLocked,
    PlanRejected,
    PlanSuperseded,
    PlanType,
    ReadPlan,
)
from preflights_es.features.compiler.domain.state import CompilerState, PlanView, payload_hash
from preflights_es.kernel.events import Actor, SourceSession
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.testing import Reply
from preflights_es.words.questions import GivenAnswer
from tests.fixed import PROJECT
from tests.scripted_session import ADA, ScriptedSession

AGENT: Final = Actor("agent", "a coding agent")
ELSEWHERE: Final = SourceSession("01990000-0000-7000-8000-000000000001", 9, "0" * 64)
MISSING: Final = {"error": "missing_information", "details": "Who may cancel an order?"}
TARGET: Final = "src/orders.py"
GOAL: Final = "Move src/orders.py to src/sales/orders.py"

PAYLOADS: Final[dict[PassName, dict[str, Any]]] = {
    "project": {
        "domains": [{"name": "Orders", "responsibility": "keeps orders"}],
        "modules": [{"name": "orders", "domain": "Orders"}],
        "constraints": {"architecture": "clean", "languages": ["python"]},
    },
    "architecture": {
        "layers": ["domain", "application", "infrastructure"],
        "rules": [{"rule": "domain_cannot_import_infrastructure"}],
    },
    "scaffold": {
        "files": [
            {"path": TARGET, "description": "the orders", "kind": "source"},
            {"path": "tests/test_orders.py", "description": "their tests", "kind": "test"},
        ]
    },
    "test": {"tests": [{"id": "t-1", "target": TARGET, "assertions": ["an order has an id"]}]},
    "implementation": {
        "target": TARGET,
        "steps": ["give an order its id"],
        "related_tests": ["t-1"],
    },
    "refactor": {
        "goal": GOAL,
        "operations": [
            {"type": "move_file", "from_path": TARGET, "to_path": "src/sales/orders.py"}
        ],
        "constraints": {"preserve_behavior": True},
    },
}
"""By pass: what meets its schema and its final checks."""
BY_TYPE: Final[dict[PlanType, dict[str, Any]]] = {
    one.writes: PAYLOADS[one.name] for one in PASSES.values()
}
TEXTS: Final = {
    "requirements": "# Shop\n\n## Orders\n\nA customer orders.\n",
    "constraints": "Python, clean architecture.\n",
    "glossary": "Order: what a customer wants.\n",
}


def begun(name: PassName = "project", **said: Any) -> PassBegun:
    """The first Input of a pass, with all that it requires."""
    row = PASSES[name]
    documents = [Document(f"docs/{one}.md", "0" * 64, TEXTS[one]) for one in row.documents]
    if row.target:
        documents.append(Document(TARGET, "1" * 64, "orders = []\n"))
    plans = tuple(
        ReadPlan(
            f"01990000-0000-8000-8000-00000000000{n}",
            one.type,
            one.standing,
            ELSEWHERE,
            json.dumps(BY_TYPE[one.type]),
        )
        for n, one in enumerate(row.plans)
    )
    fields: dict[str, Any] = {
        "at": 1,
        "actor": ADA,
        "pass_type": name,
        "project": PROJECT,
        "uid": "0123456789ab",
        "setup": Setup("0", "compiler/1", "script", lead=Lead("script", "m-1")),
        "documents": tuple(documents),
        "plans": plans,
        "target": TARGET if row.target else "",
        "goal": GOAL if row.goal else "",
        "layout": (TARGET, "tests/test_orders.py"),
    }
    return PassBegun(**{**fields, **said})


class Compiled(ScriptedSession[CompilerState]):
    """A session of one pass."""

    workflow = WORKFLOW

    def __init__(self, *replies: Reply, name: PassName = "project", **said: Any) -> None:
        super().__init__(*replies or (PAYLOADS[name],))
        self.open(begun(name, **{"at": self.runner.now(), **said}))

    def answer(self, *values: str, key: str = "missing_1") -> Compiled:
        given = (GivenAnswer(key, values),)
        return self.submit(PassAnswersGiven(at=self.runner.now(), actor=ADA, answers=given))

    def approve(self, actor: Actor = ADA, **said: Any) -> Compiled:
        fields = {"id": self.id, "sha256": self.sha256, **said}
        return self.submit(PlanApproved(at=self.runner.now(), actor=actor, **fields))

    def reject(self, actor: Actor = ADA, **said: Any) -> Compiled:
        fields = {"id": self.id, "reason": "too many modules", **said}
        return self.submit(PlanRejected(at=self.runner.now(), actor=actor, **fields))

    def lock(self, actor: Actor = ADA, **said: Any) -> Compiled:
        fields = {"id": self.id, **said}
        return self.submit(PlanLocked(at=self.runner.now(), actor=actor, **fields))

    def supersede(self, **said: Any) -> Compiled:
        fields = {"id": self.id, "by": "a newer one", "session": "s-2", **said}
        return self.submit(PlanSuperseded(at=self.runner.now(), actor=ADA, **fields))

    # What came of it -------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self.state.plan.id if self.state.plan else "none"

    @property
    def sha256(self) -> str:
        return payload_hash(self.state.plan.payload) if self.state.plan else ""

    @property
    def payload(self) -> Any:
        return json.loads(self.state.plan.payload) if self.state.plan else None

    @property
    def report(self) -> dict[str, Any]:
        """The payload of the last report."""
        found: dict[str, Any] = json.loads(self.state.reports[-1].payload)
        return found

    @property
    def view(self) -> PlanView:
        view = WORKFLOW.shown.view(self.state)
        assert isinstance(view, PlanView)
        return view
