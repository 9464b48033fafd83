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
    ReadPlan,
)
from preflights_es.features.compiler.domain.state import CompilerState, PlanView, payload_hash
from preflights_es.kernel.events import Actor, SourceSession
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.testing import Reply
from preflights_es.words.questions import GivenAnswer
from tests.features.compiler.passes_read import GOAL, PLANS, TARGET
from tests.fixed import PROJECT
from tests.scripted_session import ADA, ScriptedSession

AGENT: Final = Actor("agent", "a coding agent")
ELSEWHERE: Final = SourceSession("01990000-0000-7000-8000-000000000001", 9, "0" * 64)
MISSING: Final = {"error": "missing_information", "details": "Who may cancel an order?"}

PAYLOADS: Final = {name: PLANS[row.writes] for name, row in PASSES.items()}
"""By pass: what meets its schema and its final checks."""
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
            json.dumps(PLANS[one.type]),
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
