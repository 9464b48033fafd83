"""Golden passes: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import count
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.features.compiler.artifacts import approve, lock_tests, reject
from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.events import (
    PASSES,
    DecidedField,
    OmittedFromRequest,
    PassBegun,
    PassName,
    PlanApproved,
    PlanLocked,
    PlanRejected,
    PlanSuperseded,
    ReadDecision,
)
from preflights_es.features.compiler.domain.state import CompilerState
from preflights_es.features.compiler.passes import WantedPass, run_pass
from preflights_es.kernel import errors
from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.events import Actor, Input, SourceSession
from preflights_es.kernel.lead import Lead, StepRetried
from preflights_es.kernel.ports import Arrival
from preflights_es.providers.base import LLMProvider
from preflights_es.redaction.patterns import PERSONAL
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.settings.load import load_settings
from preflights_es.store.sql import SqlStore
from preflights_es.use import sessions
from preflights_es.use.leads import CODE as OWN
from preflights_es.use.leads import Leads
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.words.simulation import GENERATION
from preflights_es.words.workflow import View, Workflow
from tests.record_goldens import ADA, Recorder, taking

MOCK: Final = Lead("mock", "compiler/1")
MODEL: Final = Lead("anthropic", "claude-sonnet-5-5", (("max_tokens", "16384"),))
BOT: Final = Actor("script", "nightly")
DOCUMENTS: Final = {
    "requirements": "# Shop\n\n## Orders\n\nA customer orders a book.\n",
    "constraints": "# Constraints\n\nPython, hexagonal. Questions: ada@example.org\n",
    "glossary": "# Glossary\n\nOrder: what a customer wants.\n",
}
TARGET: Final = "src/orders.py"
GOAL: Final = "Move src/orders.py to src/sales/orders.py"
GOOD: Final = {
    "domains": [{"name": "Orders", "responsibility": "Takes orders"}],
    "modules": [{"name": "orders", "domain": "Orders"}],
    "constraints": {"architecture": "hexagonal", "languages": ["Python"]},
}
LACKS: Final = {"error": "missing_information", "details": "Who may cancel an order?"}
Reply = str | dict[str, Any] | errors.LLMError


class Told(LLMProvider):
    """Answers like a model, with what it is told."""

    name = "anthropic"

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = iter(replies)

    async def respond(self, request: CompletionRequested) -> Completion:
        """The next reply."""
        reply = next(self._replies)
        if isinstance(reply, errors.LLMError):
            raise reply
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return Completion(text, model=request.model, stop_reason="end_turn")


class By(Leads):
    """One lead, and the provider that answers for it."""

    def __init__(self, leads: Leads, lead: Lead, replies: Sequence[Reply]) -> None:
        super().__init__(replace(leads.settings, provider=lead.provider))
        self._lead = lead
        self._told = None if lead.provider in OWN else Told(replies)

    def configured(self, workflow: Workflow[Any], *, strict: bool = False) -> Lead:
        return self._lead

    def lead(self, workflow: Workflow[Any], *, strict: bool = False) -> Lead:
        return self._lead

    def provider_for(self, lead: Lead) -> LLMProvider:
        return self._told or super().provider_for(lead)


class House:
    """A repository with the three documents, and a log whose clock and ids count."""

    def __init__(self, r: Recorder) -> None:
        self.r, self.root = r, r.root
        for name, text in DOCUMENTS.items():
            self.write(f".preflights/{name}.md", text)
        settings = load_settings(
            r.root, {"HOME": str(r.root), "GIT_AUTHOR_NAME": "-", "PREFLIGHTS_PROJECT": "golden"}
        )
        self.process = Process(replace(settings, redact=PERSONAL))
        now, new_id, salts = r.runner.now, r.runner.new_id, count(1)
        store = SqlStore(str(r.root / "log.db"), now, lambda: next(salts).to_bytes(16, "big"))
        self.runner = Runner(store, WORKFLOWS, now, new_id, sanitizer=self.process.sanitizer)
        self.process.__dict__.update(store=store, runner=self.runner, project="golden")
        self.ids: dict[PassName, str] = {}
        """Of the newest artifact of each pass."""
        self.sessions: dict[PassName, str] = {}

    def write(self, path: str, text: str) -> None:
        """A file, which git lists from now on."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        begun = [] if (self.root / ".git").exists() else [("init", "--quiet", "--template=")]
        for words in (*begun, ("add", path)):
            subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)

    def request(self, actor: Actor = ADA, lead: Lead = MOCK, *replies: Reply) -> Request:
        """One call."""
        leads = Leads(self.process.settings)
        return Request(self.process, lambda: actor, leads=By(leads, lead, replies))

    def plan(self, name: PassName, lead: Lead = MOCK, *replies: Reply, **said: Any) -> View:
        """Run a pass."""
        row = PASSES[name]
        asked = {"target": TARGET} if row.target else {"goal": GOAL} if row.goal else {}
        found = run_pass(self.request(ADA, lead, *replies), WantedPass(name, **{**asked, **said}))
        self.sessions[name] = found.session_id
        if made := self.state(name).plan:
            self.ids[name] = made.id
        return found

    def approve(self, name: PassName, actor: Actor = ADA, **said: Any) -> View:
        """Approve the newest artifact of a pass."""
        return approve(self.request(actor), self.ids[name], **said)

    def upto(self, last: PassName) -> None:
        """All passes before one, each approved, the tests locked."""
        for name in PASSES:
            if name == last:
                return
            self.plan(name)
            self.approve(name)
            if name == "test":
                self.write(TARGET, "orders = []\n")
                lock_tests(self.request())

    def keep(self, name: PassName) -> None:
        """Record the newest session of a pass."""
        self.r.order.append(self.sessions[name])

    def state(self, name: PassName) -> CompilerState:
        """How the newest session of a pass stands."""
        state: CompilerState = self.runner.load(self.sessions[name]).session.state
        return state

    def submit(self, name: PassName, new: type[Input], actor: Actor = ADA, **said: Any) -> None:
        """Something that no service would record, as it might come from another program."""
        handle = self.runner.load(self.sessions[name])
        made = new(at=self.runner.now(), actor=actor, **said)
        self.runner.submit(handle, made, self.runner.new_id())


Golden = Callable[[House], None]


def _recording(golden: Golden) -> Callable[[Recorder], None]:
    def record(r: Recorder) -> None:
        house = House(r)
        with closing(house.process):
            golden(house)
            assert r.store.insert_new([Arrival(house.runner.store.read(id_)) for id_ in r.order])

    record.__name__ = golden.__name__
    return record


# 1. Each pass --------------------------------------------------------------------------------


def _of_a_pass(name: PassName) -> Golden:
    def golden(h: House) -> None:
        h.upto(name)
        h.plan(name)
        h.approve(name)
        h.keep(name)

    golden.__name__ = f"the_pass_{name}"
    return golden


def a_model_answers_a_pass(h: House) -> None:
    h.plan("project", MODEL, f"```json\n{json.dumps(GOOD)}\n```")
    h.keep("project")


def a_model_varies_every_pass(h: House) -> None:
    lead = Lead("sim", GENERATION, (("seed", "5"), ("faults", "none")))
    h.upto("refactor")
    for name in PASSES:
        h.plan(name, lead)
        h.keep(name)


# 2. Each rejection ---------------------------------------------------------------------------

CODE: Final = {**GOOD, "domains": [{"name": "O", "responsibility": "def f(x):\n    return x\n"}]}
UNKNOWN: Final = {**GOOD, "modules": [{"name": "orders", "domain": "Payments"}]}
REJECTED: Final[dict[str, Reply]] = {
    "a_response_that_is_no_json": "I cannot do that.",
    "a_response_that_was_cut": json.dumps(GOOD)[:-9],
    "two_artifacts_in_a_response": json.dumps(GOOD) * 2,
    "a_response_that_misses_its_schema": {"domains": []},
    "a_plan_that_only_the_final_checks_refuse": UNKNOWN,
    "code_in_a_response": CODE,
    "text_around_an_artifact": f"Here is the plan:\n{json.dumps(GOOD)}",
    "a_model_refuses_the_request": {"error": "invalid_request", "details": "No software"},
}


def _of_a_rejection(name: str, reply: Reply) -> Golden:
    def golden(h: House) -> None:
        h.plan("project", MODEL, reply)
        h.keep("project")

    golden.__name__ = name
    return golden


def missing_information_is_asked_and_answered(h: House) -> None:
    first = h.plan("project", MODEL, LACKS)
    for answer in ("", "tbd"):
        sessions.answer_session(h.request(ADA, MODEL), first.session_id, {"missing_1": answer})
    sessions.answer_session(h.request(ADA, MODEL), first.session_id, {"missing_9": "A clerk"})
    sessions.answer_session(h.request(ADA, MODEL, GOOD), first.session_id, {"missing_1": "A clerk"})
    h.keep("project")


def missing_information_is_asked_three_times(h: House) -> None:
    first = h.plan("project", MODEL, LACKS)
    for number in (1, 2, 3):
        asked = h.request(ADA, MODEL, LACKS)
        sessions.answer_session(
            asked, first.session_id, {f"missing_{number}": "Look at the glossary"}
        )
    h.keep("project")


def a_provider_is_late_twice_and_asked_again(h: House) -> None:
    late = errors.LLMTimeoutError("no response within 120 s")
    first = h.plan("project", MODEL, late, late)
    sessions.resume(h.request(ADA, MODEL, GOOD), first.session_id)
    h.keep("project")


def a_provider_fails_once(h: House) -> None:
    h.plan("project", MODEL, errors.LLMAPIError("500"), GOOD)
    h.keep("project")


def a_provider_limits_its_calls(h: House) -> None:
    busy = errors.LLMRateLimitError("too many requests", retry_after_ms=2_000)
    h.plan("project", MODEL, busy, busy)
    h.keep("project")


def a_server_refuses_a_parameter(h: House) -> None:
    refused = errors.LLMRequestRejectedError("400: no temperature")
    refused.untaken = ("temperature",)
    heated = replace(MODEL, parameters=(*MODEL.parameters, ("temperature", "0.0")))
    h.plan("project", heated, refused, GOOD)
    h.keep("project")


def a_provider_fails_twice(h: House) -> None:
    h.plan("project", MODEL, errors.LLMAPIError("500"), errors.LLMAPIError("502"))
    h.keep("project")


# 3. Each standing ----------------------------------------------------------------------------


def a_draft_waits(h: House) -> None:
    h.plan("project")
    h.keep("project")


def a_script_proposes_a_plan_and_a_person_approves_it(h: House) -> None:
    h.plan("project")
    h.approve("project", BOT)
    h.approve("project")
    h.keep("project")


def a_person_rejects_a_plan(h: House) -> None:
    h.plan("project")
    reject(h.request(), h.ids["project"], "Orders are no domain; ask ada@example.org")
    h.keep("project")


def one_plan_supersedes_another(h: House) -> None:
    for _ in range(2):
        h.plan("project")
        h.approve("project")
        h.keep("project")


def tests_are_locked_and_give_way_to_others(h: House) -> None:
    h.upto("implementation")
    h.keep("test")
    h.plan("test")
    h.approve("test")
    lock_tests(h.request(), h.ids["test"])
    h.keep("test")


def a_person_edited_the_file_of_a_plan(h: House) -> None:
    h.upto("implementation")
    (path,) = (h.root / ".preflights" / "artifacts").glob("TestPlan-*.json")
    path.write_text("{}\n")
    h.plan("test")
    h.approve("test")
    h.keep("test")


def what_does_not_fit_a_plan_changes_nothing(h: House) -> None:
    h.plan("project", MODEL, "no")
    h.submit("project", PlanApproved, id="none", sha256="0" * 64)
    h.keep("project")
    h.plan("project")
    held = h.ids["project"]
    h.submit("project", PlanApproved, id="another", sha256="0" * 64)
    h.submit("project", PlanApproved, id=held, sha256="0" * 64)
    h.submit("project", PlanSuperseded, id=held, by="x", session="y")
    h.approve("project")
    h.submit("project", PlanRejected, id=held, reason="too late")
    h.submit("project", PlanLocked, id=held)
    h.submit("project", StepRetried)
    h.keep("project")
    h.plan("project")
    h.submit("project", PlanRejected, Actor("script"), id=h.ids["project"], reason="a script")
    h.keep("project")
    h.upto("implementation")
    h.plan("test")
    h.submit("test", PlanLocked, id=h.ids["test"])
    h.keep("test")


def a_pass_reads_decisions_and_not_all_of_them(h: House) -> None:
    h.plan("project")
    stored = h.runner.store.read(h.sessions["project"])
    begun = h.runner.codec(WORKFLOW).decode(stored[0])
    assert isinstance(begun, PassBegun)
    decision = ReadDecision(
        uid="0123456789ab",
        title="Use PostgreSQL for the database",
        source=SourceSession(stored[0].session_id, 1, stored[0].hash.hex()),
        fields=(DecidedField("Type", "PostgreSQL"),),
        because="It is here",
        scope="orders",
    )
    left_out = (OmittedFromRequest("decisions", 2), OmittedFromRequest("layout", 300))
    session_id = h.runner.new_session_id("golden")
    with_them = replace(begun, decisions=(decision,), left_out=left_out)
    step = h.runner.open(WORKFLOW, "golden", with_them, session_id, h.runner.new_id())
    h.request().settled(step)
    h.r.order.append(session_id)


GOLDENS: Final = [
    _recording(golden)
    for golden in (
        *map(_of_a_pass, PASSES),
        *(_of_a_rejection(*pair) for pair in REJECTED.items()),
        *taking(sys.modules[__name__], "House", "None"),
    )
]
