"""Decisions as memory holds them, without a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from preflights_es.features.recall.decision_search import is_of_trade
from preflights_es.features.recall.domain import rules
from preflights_es.features.recall.domain.events import MemoryMatch
from preflights_es.features.recall.domain.rules import Corpus, Scored, may_answer_question, ranked
from preflights_es.features.recall.word_variants import BEGIN, find_variants, synonyms, widened_by
from preflights_es.projections.memory import counted_words
from preflights_es.words.decisions import DecidedPatch


class Held(NamedTuple):
    """Rows of the projection `memory`, and how many words they count."""

    rows: list[dict[str, Any]]
    corpus: Corpus

    def recalled(
        self,
        question: str,
        enough: Callable[[Scored], bool] = may_answer_question,
        *,
        widens: bool = True,
    ) -> list[MemoryMatch]:
        """As `services.recall.searching` looks it up."""
        terms = sorted({row["term"] for row in self.rows})

        def near(word: str) -> list[str]:
            return [term for term in terms if term.startswith(word[:BEGIN])]

        words = rules.search_words(rules.rewritten(question))
        wanted = {word: find_variants(word, near, lambda: terms) for word in words}
        of_trade = [*filter(is_of_trade, wanted)]

        def found() -> list[MemoryMatch]:
            return ranked(self.rows, wanted, self.corpus, of_trade=of_trade, enough=enough)

        if (first := found()) or not widens:
            return first
        for word, known in wanted.items():
            wanted[word] = widened_by(synonyms(word), near) | known
        return found()


def held(decisions: Iterable[tuple[DecidedPatch, str, Iterable[str]]]) -> Held:
    """What memory holds of decisions with their intentions and questions, the oldest first."""
    rows: list[dict[str, Any]] = []
    count = length = 0
    for number, (decided, intention, asked) in enumerate(decisions):
        found = counted_words(decided, intention, asked)
        count, length = count + 1, length + found.length
        place = {"session_id": f"s{number}", "version": 3, "uid": decided.uid}
        when = {"accepted_at": number, "superseded_at": None}
        rows += (
            {**place, **when, "term": term, "field": field, "count": times, "length": found.length}
            for term, field, times in found.terms
        )
    return Held(rows, Corpus(count, length))
