"""The words of a text as memory keeps and looks for them: folded, as stems, no stop words.

One function for both sides: what is kept and what is asked must be cut alike.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from preflights_es.core.late_pattern import late_pattern

STEM_MIN: Final = 4  # characters that are left of a word that loses its endings
TERM_MAX: Final = 40  # characters of a word that count

_WORD: Final = late_pattern(r"[^\W_]+")
_STEM: Final = late_pattern(rf"(\w{{{STEM_MIN},}}?)(?:ung|ing|ion|ies|ed|er|[seny])*")
"""A word without its endings, English and German."""
STOP_WORDS: Final = frozenset(
    (
        "a", "aber", "about", "after", "all", "alle", "als", "also", "am", "an", "and", "any",
        "are", "as", "at", "auf", "aus", "be", "been", "before", "bei", "benutzen", "bitte",
        "but", "by", "can", "choose", "das", "dass", "decide", "decided", "decision", "dem",
        "den", "der", "des", "did", "die", "do", "doch", "does", "du", "ein", "eine", "einem",
        "einen", "einer", "entscheiden", "entscheidung", "entschieden", "er", "es", "for",
        "from", "fuer", "genutzt", "haben", "had", "has", "hat", "have", "how", "i", "ich",
        "ihr", "im", "in", "instead", "into", "is", "ist", "it", "its", "kann", "let", "made",
        "me", "mein", "mit", "my", "nach", "nehmen", "nicht", "noch", "not", "nutzen", "oder",
        "of", "on", "one", "or", "our", "ours", "over", "please", "sein", "should", "sich",
        "sie", "sind", "so", "statt", "that", "the", "their", "them", "then", "there", "these",
        "they", "this", "to", "ueber", "um", "und", "under", "uns", "unser", "unsere", "up",
        "us", "use", "used", "uses", "using", "verwenden", "verwendet", "vom", "von", "vor",
        "war", "waren", "warum", "was", "we", "welche", "welchen", "welcher", "welches", "wer",
        "werden", "were", "what", "when", "where", "which", "who", "why", "wie", "will", "wir",
        "wird", "with", "wo", "womit", "would", "wurde", "you", "your", "zu", "zum", "zur",
    )
)  # fmt: skip
"""English and German, folded."""


def folded(text: str) -> str:
    """In one case, with umlauts as two letters, so that both ways to type them agree."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    if plain.isascii():
        return plain
    return plain.replace("\u00e4", "ae").replace("\u00f6", "oe").replace("\u00fc", "ue")


@lru_cache(maxsize=1024)
def stems(text: str) -> tuple[str, ...]:
    """The stems of a text, each once, in its order; none of a stop word or a single letter.

    Decisions repeat the names of categories and fields, and many values.
    """
    return tuple(stem for stem, _ in said(text))


def said(text: str) -> tuple[tuple[str, str], ...]:
    """Pairs of a stem and the first word that has it, in the order of the text."""
    return cut(text, _stem)


def cut(text: str, stem: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    """The same by another way to cut a word."""
    found: dict[str, str] = {}
    for word in _WORD.findall(folded(text)):
        if len(word) > 1 and word not in STOP_WORDS:
            found.setdefault(stem(word), word)
    return tuple(found.items())


def _stem(word: str) -> str:
    found = _STEM.fullmatch(word[:TERM_MAX])
    return found[1] if found else word
