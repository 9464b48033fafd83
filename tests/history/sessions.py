"""Sessions with a lead, recorded for the tests of replay."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    ClarificationAnswersGiven,
    IntentionDeclared,
)
from preflights_es.features.clarification.domain.values import HeuristicsConfig
from preflights_es.history.replayer import Replay, Replayer
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.events import Event
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.kernel.ports import Provider, Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.store.stored_events import Codec
from preflights_es.use import leads as own_providers
from preflights_es.use import replays
from preflights_es.words.questions import GivenAnswer
from preflights_es.words.workflow import Workflow
from tests.features.clarification.cases import ADA, UID
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.toy import altered

CODEC = Codec(WORKFLOW.decider)
PROMPTS = WORKFLOW.led.prompts


def sim(seed: int, faults: str = "none", *, strict: bool = False) -> Lead:
    """The simulator as a lead."""
    return Lead("sim", "simllm/1", (("seed", str(seed)), ("faults", faults)), strict)


def real(model: str = "claude-sonnet-5-5") -> Lead:
    """A model that cannot be asked here; in these tests the simulator answers in its place."""
    return Lead("anthropic", model, (("max_tokens", "16384"),))


class Led:
    """A clarification over a store in memory."""

    def __init__(
        self,
        lead: Lead | None,
        intention: str = "Keep orders safe",
        provider: Provider | None = None,
        prompts: tuple[tuple[str, str], ...] = PROMPTS,
    ) -> None:
        self.ids = Ids()
        self.runner = Runner(MemoryStore(Clock(), salt), WORKFLOWS, Clock(), self.ids)
        self.provider = provider or own_providers.simulated(
            lead if lead and lead.provider == "sim" else sim(7)
        )
        first = IntentionDeclared(
            at=self.runner.now(),
            actor=ADA,
            intention=intention,
            project=PROJECT,
            uid=UID,
            setup=Setup(
                "0.1.0", WORKFLOW.decider.version, lead.provider if lead else "mock", prompts, lead
            ),
            heuristics=HeuristicsConfig(),
        )
        self.handle: Handle = self.runner.open(
            WORKFLOW, PROJECT, first, self.ids(), self.ids()
        ).handle
        self.settle()

    def settle(self) -> Led:
        self.handle = asyncio.run(self.runner.settle(self.handle, self.provider)).handle
        return self

    def answer(self, value: str = "Svelte", key: str | None = None) -> Led:
        """Answers what is asked; nothing where nothing is."""
        question = self.handle.session.state.turns.question
        if key is None and question is None:
            return self
        return self.answers({key or question.id: value})

    def answers(self, values: Mapping[str, str]) -> Led:
        given = tuple(GivenAnswer(key, (value,)) for key, value in values.items())
        new = ClarificationAnswersGiven(at=self.runner.now(), actor=ADA, answers=given)
        self.handle = self.runner.submit(self.handle, new, self.ids()).handle
        return self.settle()

    @property
    def stored(self) -> list[Stored]:
        return list(self.runner.store.read(self.handle.session_id))

    @property
    def events(self) -> list[Event]:
        return [CODEC.decode(one) for one in self.stored]


def requests(events: Sequence[Event]) -> list[CompletionRequested]:
    """What was asked of a provider."""
    return [event for event in events if isinstance(event, CompletionRequested)]


def replayed(stored: Sequence[Stored], workflow: Workflow[Any] = WORKFLOW) -> Replay:
    """The strict replay, by today's code or by another."""
    workflows = {**WORKFLOWS, workflow.name: workflow}
    return Replayer(workflows, replays.own_code()).replay(stored)


def asking(**changes: Any) -> Workflow[Any]:
    """Today's code after a change of what is asked."""

    def decide(state: Any, new: Any) -> Any:
        return tuple(
            replace(d, **changes) if isinstance(d, CompletionRequested) else d
            for d in WORKFLOW.decider.decide(state, new)
        )

    return altered(WORKFLOW, decide=decide)
