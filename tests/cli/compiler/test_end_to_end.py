"""From the first document to a refactoring, offline: by rules, by seed, and by both SDKs."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from msgspec.structs import replace

import preflights_es
from preflights_es.features.compiler import passes
from preflights_es.features.compiler.building import FailureReportPayload
from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.events import (
    PASSES,
    ROUNDS_MAX,
    PassAnswersGiven,
    PassBegun,
    PassName,
)
from preflights_es.features.compiler.domain.rules import CONTRACTS, find_pass_violations
from preflights_es.features.compiler.domain.state import CompilerState
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.completions import Accepted
from preflights_es.kernel.lead import Lead, StepRetried
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.use.leads import simulated
from preflights_es.use.replays import own_code
from preflights_es.words.questions import GivenAnswer
from preflights_es.words.simulation import GENERATION
from preflights_es.words.workflow import compute_session_status
from tests.cli.program import Project
from tests.fixed import NOON, PROJECT, memory_runner
from tests.led import ADA
from tests.markdown import ROOT
from tests.providers import server
from tests.providers.server import FakeAPI

SAMPLE: Final = ROOT / "tests" / "features" / "compiler" / "sample"
ADA_SAYS: Final = ("--by", "Ada Lovelace")
SEEDS: Final = 200
FAULTS: Final = (
    "none",
    "timeout=0.5",
    "malformed=0.4",
    "rate_limit=0.5,error=0.2",
    "error=1",
    "timeout=0.2,malformed=0.2,rate_limit=0.2,error=0.2",
)
TURNS_MAX: Final = 2 * ROUNDS_MAX  # answers and retries, after which a session may wait


class Chain:
    """The passes of the sample project, each approved before the next."""

    def __init__(self, house: Project) -> None:
        self.house = house
        self.drafts: dict[PassName, Any] = {}
        """The sessions, as JSON."""
        assert house.call("init", "--plans").code == 0
        for path in SAMPLE.glob("*.md"):
            shutil.copy(path, house.folder / ".preflights")

    def passes(self, *words: str, env: Mapping[str, str] | None = None) -> Iterator[PassName]:
        """Each pass, once its artifact is approved.

        Args:
            words: who is asked.
        """
        for name in PASSES:
            self.draft(name, *words, env=env)
            self.approved(name)
            yield name

    def draft(self, name: PassName, *words: str, env: Mapping[str, str] | None = None) -> None:
        done = self.house.call("plan", *self.words(name), *words, "--json", env=env)
        assert done.code == 3, (name, done.out, done.err)
        self.drafts[name] = done.json

    def approved(self, name: PassName) -> None:
        done = self.house.call("approve", self.drafts[name]["artifact"]["id"], *ADA_SAYS)
        assert done.code == 0, (name, done.err)
        if name == "test":
            (self.house.folder / "README.md").write_text("# Shop\n")
            assert self.house.call("lock", "tests", *ADA_SAYS).code == 0
            self.house.git("add", ".")

    def words(self, name: PassName) -> tuple[str, ...]:
        """What a person types behind `plan`."""
        if name == "implementation":
            return ("impl", self.paths("source")[0])
        if name == "refactor":
            return ("refactor", "Move README.md to docs/README.md")
        return (PASSES[name].command,)

    def paths(self, kind: str) -> list[str]:
        """Files of the ScaffoldPlan."""
        files = self.drafts["scaffold"]["artifact"]["payload"]["files"]
        return [one["path"] for one in files if one["kind"] == kind]

    def checked(self) -> None:
        """All six are in force, filed, and decided the same again."""
        rows = self.house.call("artifacts", "--json").json["artifacts"]
        assert [row["type"] for row in rows] == [one.writes for one in PASSES.values()]
        locked = {"TestPlan": "locked"}
        assert all(row["standing"] == locked.get(row["type"], "approved") for row in rows)
        for row in rows:
            written = json.loads((self.house.folder / row["artifact"]).read_bytes())
            assert written["id"] == row["id"]
            assert written["depends_on"] == row["depends_on"]
            assert self.house.call("replay", row["session_id"]).code == 0


def test_six_passes_by_the_rules_from_init_to_refactor(house: Project) -> None:
    chain = Chain(house)
    assert [*chain.passes()] == [*PASSES]
    chain.checked()
    for name in PASSES:
        assert chain.drafts[name]["artifact"]["created_by"] == "system"


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("provider", ["claude", "openai"])
def test_six_passes_by_an_sdk_against_a_server(house: Project, provider: str) -> None:
    chain = Chain(house)
    assert [*chain.passes()] == [*PASSES]
    with FakeAPI() as api:
        payloads = [one["artifact"]["payload"] for one in chain.drafts.values()]
        api.script(*(server.text(json.dumps(one)) for one in payloads))
        url = api.anthropic if provider == "claude" else api.openai
        key = {"ANTHROPIC_API_KEY": "sk-not-a-real-key", "OPENAI_API_KEY": "sk-not-a-real-key"}
        words = ("--provider", provider, "--base-url", url)
        assert [*chain.passes(*words, env=key)] == [*PASSES]
        assert len(api.requests) == len(PASSES)
    chain.checked()
    for name in PASSES:
        assert chain.drafts[name]["artifact"]["created_by"] == "llm"


# By seed -------------------------------------------------------------------------------------


@pytest.mark.slow("fuzzing")
def test_every_seed_ends_valid_asks_waits_or_reports(house: Project) -> None:
    chain = Chain(house)
    assert [*chain.passes()] == [*PASSES]
    with preflights_es.open(house.folder) as log:
        read = [
            passes.preview_pass_inputs(
                log.request(),
                passes.WantedPass(
                    name,
                    target=chain.words(name)[-1] if PASSES[name].target else "",
                    goal=chain.words(name)[-1] if PASSES[name].goal else "",
                ),
            )
            for name in PASSES
        ]
    ends: Counter[str] = Counter()
    for seed in range(SEEDS):
        begun = read[seed % len(read)]
        parameters = (("seed", str(seed)), ("faults", FAULTS[seed // len(read) % len(FAULTS)]))
        lead = Lead("sim", GENERATION, parameters)
        ends.update(asyncio.run(_led(begun, lead)))
    assert {"ready", "needs_answers", "waiting", "stopped"} <= ends.keys(), ends


async def _led(begun: PassBegun, lead: Lead) -> list[str]:
    """Where a session stood each time that it stopped; answers and retries follow."""
    runner = memory_runner()
    first = replace(begun, setup=replace(begun.setup, provider="sim", lead=lead))
    handle = runner.open(WORKFLOW, PROJECT, first, runner.new_id(), runner.new_id()).handle
    ends = []
    async with simulated(lead) as provider:
        for _ in range(TURNS_MAX):
            handle = (await runner.settle(handle, provider)).handle
            ends.append(_checked(runner, handle))
            view = WORKFLOW.shown.view(handle.session.state)
            if ends[-1] == "waiting":
                handle = runner.submit(
                    handle, StepRetried(at=NOON, actor=ADA), runner.new_id()
                ).handle
            elif view.questions:
                given = (GivenAnswer(view.questions[0].id, ("Parcels, payments and shelves",)),)
                new = PassAnswersGiven(at=NOON, actor=ADA, answers=given)
                handle = runner.submit(handle, new, runner.new_id()).handle
            else:
                break
    return ends


def _checked(runner: Runner, handle: Handle) -> str:
    """The status of a session, whose result is valid and which replays identically."""
    state: CompilerState = handle.session.state
    status = compute_session_status(WORKFLOW, handle.session)
    assert state.begun is not None
    if status == "ready":
        assert state.plan is not None
        contract = CONTRACTS[f"{PASSES[state.begun.pass_type].schema}.v1"]
        verdict = contract.judge(state.plan.payload)
        assert isinstance(verdict, Accepted)
        assert find_pass_violations(state.begun, verdict.payload) == ()
    else:
        assert status in ("needs_answers", "waiting", "stopped")
        report = FailureReportPayload.model_validate_json(state.reports[-1].payload)
        assert report.blocking
        assert (status == "needs_answers") <= (report.category == "missing_information")
        assert (status == "waiting") <= report.recovery_action.startswith("retry")
    stored = runner.store.read(handle.session_id)
    assert Replayer(WORKFLOWS, own_code()).replay(stored).status == "identical"
    return status
