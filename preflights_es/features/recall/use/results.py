"""A recall as services return it: `recall/1` (docs/api.md)."""

from __future__ import annotations

from typing import Final

from preflights_es.features.recall.domain.events import RecallRefused
from preflights_es.features.recall.domain.values import Asks, FoundRecord, Rewriter
from preflights_es.features.recall.domain.views import Remembered, Standing
from preflights_es.kernel.events import Decision
from preflights_es.kernel.questions import Language
from preflights_es.use.results import NOT_EXPECTED, Session


class Recall(Session, frozen=True, kw_only=True):
    """`recall/1`."""

    FORMAT = "recall/1"

    asks: Asks
    about: str
    question: str
    queries: tuple[str, ...]
    source: Rewriter | None
    results: tuple[Remembered, ...]
    records: tuple[FoundRecord, ...]
    evolution: tuple[Standing, ...]
    learned: tuple[str, ...]
    calls: int
    language: Language

    @classmethod
    def refusal(cls, decision: Decision) -> tuple[str, str]:
        assert isinstance(decision, RecallRefused), "the only refusal"
        return decision.reason, NOT_EXPECTED


SESSION: Final = Recall
