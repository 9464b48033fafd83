"""Questions over a runner and a store in memory, with a provider that says what it was told."""

from __future__ import annotations

from typing import Final

from preflights_es.features.metrics.domain import WORKFLOW
from preflights_es.features.metrics.domain.events import (
    FollowUpPut,
    Metric,
    MetricsAnswersGiven,
    QuestionPut,
    Table,
)
from preflights_es.features.metrics.domain.state import AnswerView, MetricsState
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.providers.base import ReferenceProvider
from preflights_es.testing import Reply
from preflights_es.use.leads import references
from preflights_es.words.questions import GivenAnswer, Language
from tests.fixed import NOON, PROJECT
from tests.scripted_session import ADA, ScriptedSession

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


class Asked(ScriptedSession[MetricsState]):
    """A session of one question."""

    workflow = WORKFLOW

    def __init__(
        self,
        *replies: Reply,
        text: str = "DAU?",
        language: Language = "en",
        strict: bool = False,
        by_rules: bool = False,
    ) -> None:
        rules = ReferenceProvider(references()) if by_rules else None
        super().__init__(*replies, provider=rules)
        lead = Lead("script", WORKFLOW.decider.version, strict=strict)
        first = put(text, Setup("0", WORKFLOW.decider.version, "script", lead=lead), language)
        self.open(first)

    def answer(self, *values: str, key: str = "") -> Asked:
        question = self.state.question
        given = (GivenAnswer(key or (question.id if question else "q1"), values),)
        return self.submit(MetricsAnswersGiven(at=self.runner.now(), actor=ADA, answers=given))

    def follow_up(self, text: str) -> Asked:
        return self.submit(FollowUpPut(at=self.runner.now(), actor=ADA, text=text))

    @property
    def view(self) -> AnswerView:
        view = self.handle.view
        assert isinstance(view, AnswerView)
        return view
