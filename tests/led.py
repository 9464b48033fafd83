"""Sessions of every workflow, led by the simulator over a store in memory, from seed and faults.

Run as a program it prints the traces of a few, one a line: the same lines wherever it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from preflights_es.features.clarification.domain.events import IntentionDeclared
from preflights_es.features.clarification.domain.values import HeuristicsConfig
from preflights_es.features.compiler.domain.events import DecidedField, PassName, ReadDecision
from preflights_es.features.extraction.domain.events import NoteTaken
from preflights_es.features.planning.domain.events import OpenTask, PlanAsked, PlanTask, Situation
from preflights_es.history.replayer import Replay, Replayer
from preflights_es.kernel.events import Actor, Event, Input, SourceSession
from preflights_es.kernel.lead import Lead, Setup, StepRetried
from preflights_es.kernel.ports import Store
from preflights_es.providers.base import LLMProvider
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.use.leads import simulated
from preflights_es.words.questions import GivenAnswer
from preflights_es.words.simulation import GENERATION
from preflights_es.words.workflow import compute_session_status
from tests.features.compiler import cases as passes
from tests.features.metrics import cases as questions
from tests.features.recall import cases as recalls
from tests.fixed import NOON, PROJECT, Clock, Ids, salt

ADA: Final = Actor("user", "Ada")
TURNS_MAX: Final = 12  # answers, and retries of a strict session, after which a test gives up

TEXTS: Final = {
    "clarification": ("Add login", "Keep orders in a database", "Improve things", "Deploy it"),
    "compiler": ("project", "architecture", "scaffold", "test", "implementation", "refactor"),
    "extraction": (
        "Email an Chef\nMeeting @14:00",
        "Arzt @fri-9:00",
        "taxes !high\nIdee: Podcast",
        "x",
    ),
    "recall": ("what do we use for login?", "Welche Datenbank?"),
    "metrics": ("DAU last week?", "rev?", "what else?", "DAU and revenue in November 2026"),
    "planning": ("report 90, call 10, bill 15", "slides 45", "tidy 300", "a 60, b 120, c 5, d 20"),
}
DECIDED: Final = (
    ReadDecision(
        "0123456789ab", "Which database?", passes.ELSEWHERE, (DecidedField("Type", "PostgreSQL"),)
    ),
)
ANSWERS: Final = ("1", "OAuth", "14 Uhr", "My own way")


class Case(NamedTuple):
    """All that a session follows from."""

    workflow: str
    text: str
    seed: int = 0
    faults: str = "none"
    strict: bool = False


def simulator(case: Case) -> Lead:
    """The simulator, with the seed and the faults of a case."""
    parameters = (("seed", str(case.seed)), ("faults", case.faults))
    return Lead("sim", GENERATION, parameters, case.strict)


def opening(case: Case, lead: Lead) -> Input:
    """The first Input of a session that is led."""
    workflow = WORKFLOWS[case.workflow]
    setup = Setup("0", workflow.decider.version, lead.provider, workflow.led.prompts, lead)
    if case.workflow == "clarification":
        return IntentionDeclared(
            at=NOON,
            actor=ADA,
            intention=case.text,
            project=PROJECT,
            uid="0123456789ab",
            setup=setup,
            heuristics=HeuristicsConfig(),
        )
    if case.workflow == "compiler":
        return passes.begun(
            cast("PassName", case.text), at=NOON, actor=ADA, setup=setup, decisions=DECIDED
        )
    if case.workflow == "recall":
        return recalls.opening(case.text, at=NOON, actor=ADA, setup=setup)
    if case.workflow == "planning":
        return PlanAsked(
            at=NOON,
            actor=ADA,
            project=PROJECT,
            setup=setup,
            language="de",
            situation=day_of(case.text),
        )
    if case.workflow == "metrics":
        return questions.put(case.text, setup)
    return NoteTaken(
        at=NOON,
        actor=ADA,
        note=case.text,
        project=PROJECT,
        setup=setup,
        language="de",
        noted_at="2026-11-22T12:00+01:00",
        time_zone="CET",
    )


def day_of(text: str) -> Situation:
    """A day with tasks that are said by name and minutes."""
    said = [part.rsplit(" ", 1) for part in text.split(", ")]
    tasks = tuple(
        PlanTask(id=f"s.{n}", title=name, duration_min=int(minutes), duration_max=int(minutes))
        for n, (name, minutes) in enumerate(said, 1)
    )
    return Situation(
        day="2026-11-22",
        now="2026-11-22T12:00+01:00",
        time_zone="CET",
        start=720,
        end=1_080,
        tasks=tuple(
            OpenTask(one, n, SourceSession("s", 2, "00")) for n, one in enumerate(tasks, 1)
        ),
    )


class Session:
    """A session that is led to its end, or as far as it goes."""

    def __init__(
        self, case: Case, lead: Lead | None = None, *, store: Store | None = None, first_id: int = 0
    ) -> None:
        """Args:
        store: instead of one in memory.
        first_id: the ids count from here, where a store holds others.
        """
        self.case = case
        self.workflow = WORKFLOWS[case.workflow]
        clock, ids = Clock(), Ids()
        ids.count = first_id * 1_000
        self.runner = Runner(store or MemoryStore(clock, salt), WORKFLOWS, clock, ids)
        new_id = self.runner.new_id
        self.lead = lead or simulator(case)
        first = opening(case, self.lead)
        step = self.runner.open(self.workflow, PROJECT, first, new_id(), new_id())
        self.handle: Handle = step.handle

    async def led(self, by: LLMProvider | None = None) -> Session:
        """Answer whatever is asked, and retry what stalls, a few times."""
        async with by or simulated(self.lead) as provider:
            self.handle = (await self.runner.settle(self.handle, provider)).handle
            for turn in range(TURNS_MAX):
                new = self._next(turn)
                if new is None:
                    break
                self.handle = self.runner.submit(self.handle, new, self.runner.new_id()).handle
                self.handle = (await self.runner.settle(self.handle, provider)).handle
        return self

    def _next(self, turn: int) -> Input | None:
        view = self.workflow.shown.view(self.handle.session.state)
        if self.status == "waiting":
            return StepRetried(at=NOON, actor=ADA)
        if not view.questions or self.workflow.asked.answers is None:
            return None
        question = view.questions[0]
        value = question.options[0] if question.options else ANSWERS[turn % len(ANSWERS)]
        given = (GivenAnswer(question.id, (value,)),)
        return self.workflow.asked.answers(at=NOON, actor=ADA, answers=given)

    @property
    def status(self) -> str:
        return compute_session_status(self.workflow, self.handle.session)

    @property
    def events(self) -> Sequence[Event]:
        codec = self.runner.codec(self.workflow)
        return [codec.decode(one) for one in self.runner.store.read(self.handle.session_id)]

    def replayed(self) -> Replay:
        return Replayer(WORKFLOWS).replay(self.runner.store.read(self.handle.session_id))


def alone(case: Case) -> Session:
    """One session in an event loop of its own."""
    return asyncio.run(Session(case).led())


def together(cases: Sequence[Case]) -> list[Session]:
    """All of them at once in one event loop."""

    async def run() -> list[Any]:
        return await asyncio.gather(*(Session(case).led() for case in cases))

    return asyncio.run(run())


SOME: Final = tuple(
    Case(name, text, seed, faults)
    for name, texts in TEXTS.items()
    for text in texts
    for seed, faults in ((0, "none"), (7, "timeout=0.3,malformed=0.3"), (-7, "rate_limit=0.5"))
)


if __name__ == "__main__":
    for case in SOME:
        print(case.workflow, case.seed, alone(case).replayed().trace)
