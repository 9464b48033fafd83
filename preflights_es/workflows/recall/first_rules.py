"""How the rules of recall/1 read a question: its recorded sessions replay by them."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from preflights_es.core import word_stems
from preflights_es.core.word_stems import STEM_MIN, TERM_MAX
from preflights_es.workflows.recall.vocabulary import Topic

DECIDERS: Final = ("recall/1",)
_ENDINGS: Final = ("ungen", "ings", "ung", "ing", "ies", "en", "es", "ed", "er", "s", "e", "n", "y")


def said(text: str) -> tuple[tuple[str, str], ...]:
    """Pairs of a stem, a word without one ending, and the first word that has it."""
    return word_stems.cut(text, _stem)


def is_asked(topic: Topic, known: AbstractSet[str]) -> bool:
    """Whether a stem is that of a word by which decisions of the topic are looked up."""
    return any(stem in known for stem, _ in said(" ".join((*topic.english, *topic.german))))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_MIN:
            return word[: -len(ending)][:TERM_MAX]
    return word[:TERM_MAX]
