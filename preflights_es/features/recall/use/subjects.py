"""Whether a decision speaks of the subject of a text: by its title, its value and its scope alone.

What a body says beside that leads astray: most texts of a project share words. Words of our trade
("service", "data", "library") say nothing; words such as "app" or "file" only beside another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final, NamedTuple

from preflights_es.features.recall.use.variants import PART_MIN, english_stem, is_form, stems
from preflights_es.kernel.statements import language_of
from preflights_es.kernel.text import caseless, late_pattern
from preflights_es.kernel.words import also_called, folded, plain, words

HALF: Final = 0.5  # of the words of a text, or of a title
MUCH: Final = 0.6  # of the words of a title that have one word of the text and one that says little
MOST: Final = 0.4  # of the words of a title that have two words of the text
TWO: Final = 1.2  # what two words must say together, of one that a single decision has
RARE: Final = 0.7  # what one word must say
SMALL: Final = 0.6  # the same, beside a word that says nothing alone
FIRST: Final = 2  # words of a text that say what it is about
LONG: Final = 10  # letters of a word that is a subject wherever it stands
REST_MIN: Final = 3  # letters of the other part of a compound
BASE: Final = ("database", "caching", "infra", "backend", "frontend", "mobile")
"""Categories of what a system stands on: what they are for is named in texts about anything."""


class Titled(NamedTuple):
    """What is looked at of a decision."""

    title: str
    values: tuple[str, ...]
    scope: str = ""
    category: str = ""


def subject_words(text: str) -> tuple[str, ...]:
    """The words of a text that may be its subject, in its order."""
    return tuple(word for word in words(text) if not (word.isdecimal() or _is_one(word, "trade")))


def _is_one(word: str, kind: str) -> bool:
    """Whether a word is a form of a small one of a kind; German forms are listed, one by one."""
    return english_stem(word) in _stems_of(kind)


@cache
def _stems_of(kind: str) -> frozenset[str]:
    return frozenset(map(english_stem, plain(kind)))


def stems_of_subject(title: str, values: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The stems of a title without its values; none where it lacks one of them."""
    rest = folded(title)
    for value in map(folded, values):
        before, found, after = rest.partition(value)
        if not found:
            return ()
        rest = f"{before} {after}"
    return stems(" ".join(subject_words(rest)))


class Subject:
    """What a text is about, and how decisions stand to it."""

    def __init__(self, text: str, says: Mapping[str, float]) -> None:
        """Args:
        says: by word of the text, how much it says: 1 where a single decision has it.
        """
        self._words = subject_words(text)
        self._full = tuple(word for word in self._words if not _is_one(word, "loose"))
        self._says = says
        self._is_german = language_of(text) == "de"
        self._asks = "?" in text

    def is_of(self, one: Titled) -> bool:
        """Whether a decision is about it."""
        value = _of_value(one)
        own = [word for word in subject_words(f"{one.title} {one.scope}") if word not in value]
        shared = {
            word: {term for term in (*own, *value) if self._is_same(word, term)}
            for word in self._words
        }
        full = [word for word in self._full if shared[word]]
        if not full:
            return False
        says = sum(self._says.get(word, 0.0) for word in full)
        terms = set[str]().union(*shared.values())
        share = len(terms.intersection(own)) / len(own) if own else 0.0
        spoken = len(full) / len(self._full)
        if len(full) > 1:
            return says >= TWO and (share >= MOST or spoken >= HALF)
        if sum(map(bool, shared.values())) > 1:
            return says >= SMALL and share >= MUCH
        (word,) = full
        if says < RARE:
            return False
        if terms.intersection(value):
            return word in self._full[:FIRST] or spoken >= HALF
        if not value and own:  # a sentence: what it begins with
            return word == self._full[0] and own[0] in shared[word]
        is_first = word in self._full[:FIRST]
        is_base = caseless(one.category) in BASE and not self._asks
        return share == 1.0 and not is_base and (is_first or len(word) >= LONG)

    def _is_same(self, word: str, term: str) -> bool:
        if word == term or is_form(word, term) or term in also_called(word):
            return True
        return self._is_german and (_has_part(word, term) or _has_part(term, word))


_FORM: Final = late_pattern(
    r"(?i:(?:we )?(?:use|adopt|choose|prefer) (?P<en>.+?) (?:for|as) .+|(?P<de>\S+) f\u00fcr .+)"
)
"""Titles that say a value even where it is no name."""


def _of_value(one: Titled) -> frozenset[str]:
    """The words of a value that is less than the title: of a sentence all words are its subject."""
    title = folded(one.title)
    values = [value for value in one.values if folded(value) != title]
    if not values and (said := _FORM.fullmatch(one.title)):
        values = [said["en"] or said["de"]]
    return frozenset(word for value in values for word in words(value)) - {*words(one.scope)}


def _has_part(word: str, part: str) -> bool:
    """Whether a German compound begins or ends with a word."""
    stem = part.removesuffix("e").removesuffix("en")
    if len(stem) < PART_MIN or len(word) - len(stem) < REST_MIN:
        return False
    return word.startswith(stem) or word.endswith((stem, part))
