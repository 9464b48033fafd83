"""Questions over a runner and a store in memory, with a provider that says what it was told."""

from __future__ import annotations

import asyncio
from typing import Final

from preflights_es.features.metrics.domain import WORKFLOW
from preflights_es.features.metrics.domain.events import (
    AnswersGiven,
    FollowUpPut,
    Metric,
    QuestionPut,
    Table,
)
from preflights_es.features.metrics.domain.state import AnswerView, State
from preflights_es.history.replayer import Replayer
from preflights_es.kernel import session as kernel
from preflights_es.kernel.events import Actor, Event, Input
from preflights_es.kernel.lead import Lead, Setup, StepRetried
from preflights_es.kernel.ports import Provider
from preflights_es.kernel.questions import Given, Language
from preflights_es.providers.recorded import ReferenceProvider
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.use.leads import references
from tests.fixed import NOON, PROJECT, memory_runner
from tests.scripted import Reply, Scripted

ADA: Final = Actor("user", "Ada Lovelace")
RANGE: Final = "d >= :first_day AND d < :end_day"
METRICS: Final = (
    Metric(name="Ads Gross Rev", aliases=("rev",), sql=f"SELECT sum(a) FROM ads WHERE {RANGE}"),
    Metric(name="Net Ads Rev", aliases=("rev",), sql=f"SELECT sum(n) FROM ads WHERE {RANGE}"),
    Metric(name="DAU", sql=f"SELECT count(u) AS dau FROM visits WHERE {RANGE}", date="d"),
)
TABLES: Final = (Table("ads", ("a", "n", "d")), Table("visits", ("u", "d", "market")))
SQL: Final = {"type": "sql", "sql": "SELECT count(u) FROM visits"}
AMBIGUOUS: Final = {"type": "ambiguous", "candidates": ["Ads Gross Rev", "Net Ads Rev"]}


def put(text: str, setup: Setup, language: Language = "en") -> QuestionPut:
    """The first Input of a session."""
    return QuestionPut(
        at=NOON,
        actor=ADA,
        text=text,
        project=PROJECT,
        setup=setup,
        language=language,
        asked_at="2026-11-23T09:30+01:00",
        time_zone="Europe/Berlin",
        dialect="sqlite",
        metrics=METRICS,
        tables=TABLES,
    )


class Asked:
    """A session of one question; everything that is done to it is settled at once."""

    def __init__(
        self,
        *replies: Reply,
        text: str = "DAU?",
        language: Language = "en",
        strict: bool = False,
        by_rules: bool = False,
    ) -> None:
        self.script = Scripted(*replies)
        rules: Provider = ReferenceProvider(references())
        self._asked: Provider = rules if by_rules else self.script
        plain = memory_runner()

        async def waited(_: float) -> None:
            """The clock of a test does not run."""

        self.runner = Runner(plain.store, WORKFLOWS, plain.now, plain.new_id, waited)
        lead = Lead("script", WORKFLOW.decider, strict=strict)
        first = put(text, Setup("0", WORKFLOW.decider, "script", lead=lead), language)
        new_id = self.runner.new_id
        opened = self.runner.open(WORKFLOW, PROJECT, first, new_id(), new_id())
        self.handle: Handle = opened.handle
        self.last: tuple[Event, ...] = opened.decisions
        self._settle()

    # What is done to it ----------------------------------------------------------------------

    def submit(self, new: Input) -> Asked:
        step = self.runner.submit(self.handle, new, self.runner.new_id())
        self.handle, self.last = step.handle, step.decisions
        self._settle()
        return self

    def answer(self, *values: str, key: str = "") -> Asked:
        question = self.state.question
        given = (Given(key or (question.id if question else "q1"), values),)
        return self.submit(AnswersGiven(at=self.runner.now(), actor=ADA, answers=given))

    def follow_up(self, text: str) -> Asked:
        return self.submit(FollowUpPut(at=self.runner.now(), actor=ADA, text=text))

    def retry(self) -> Asked:
        return self.submit(StepRetried(at=self.runner.now(), actor=ADA))

    def _settle(self) -> None:
        self.handle = asyncio.run(self.runner.settle(self.handle, self._asked)).handle

    # What came of it -------------------------------------------------------------------------

    @property
    def state(self) -> State:
        state: State = self.handle.session.state
        return state

    @property
    def view(self) -> AnswerView:
        view = self.handle.view
        assert isinstance(view, AnswerView)
        return view

    @property
    def status(self) -> str:
        return kernel.status(WORKFLOW, self.handle.session)

    @property
    def sent(self) -> list[tuple[str, str]]:
        """The last request, without its system message."""
        return [(m.role, m.content) for m in self.script.requests[-1].messages[1:]]

    def replayed(self) -> str:
        stored = self.runner.store.read(self.handle.session_id)
        return Replayer(WORKFLOWS).replay(stored).status
