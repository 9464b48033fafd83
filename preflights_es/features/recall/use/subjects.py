"""Whether a decision speaks of the subject of a text: by its title, its value and its scope alone.

A word that a text and a title share says little, and two hardly more: of unseen texts that share
words with a title most are about something else (docs/specs/memory.md, section 3.1). Words of our
trade ("service", "data", "library") say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

from preflights_es.features.recall.domain.rules import is_same
from preflights_es.features.recall.use.variants import PART_MIN, english_stem, is_form, stems
from preflights_es.kernel.statements import language_of
from preflights_es.kernel.text import late_pattern
from preflights_es.kernel.words import also_called, folded, plain, words

FIRST: Final = 2  # words of a text that say what it is about
HALF: Final = 0.5  # of the words of a text
OWN_MIN: Final = 2  # words of a title beside its value that are a subject
REST_MIN: Final = 3  # letters of the other part of a compound


class Titled(NamedTuple):
    """What is looked at of a decision."""

    title: str
    values: tuple[str, ...]
    scope: str = ""
    category: str = ""


def subject_words(text: str) -> tuple[str, ...]:
    """The words of a text that may be its subject, in its order."""
    return tuple(word for word in words(text) if not is_of_trade(word))


def is_of_trade(word: str) -> bool:
    """Whether most texts of our trade may have a word, or it is a number."""
    return word.isdecimal() or _is_one(word, "trade")


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

    def __init__(self, text: str, scope: str = "") -> None:
        """Args:
        scope: what the text is for, where that is known.
        """
        self._words = subject_words(text)
        self._scope = stems(scope)
        self._full = tuple(word for word in self._words if not _is_one(word, "loose"))
        self._is_german = language_of(text) == "de"

    def is_of(self, one: Titled) -> bool:
        """Whether its value is the subject, or its scope, or all that a title says beside these."""
        if one.scope and self._is_for(one.scope):
            return True
        value = _of_value(one)
        named = [word for word in self._full if any(self._is_same(word, term) for term in value)]
        if named and (named[0] in self._full[:FIRST] or len(named) >= HALF * len(self._full)):
            return True
        own = [word for word in subject_words(f"{one.title} {one.scope}") if word not in value]
        has_all = all(any(self._is_same(word, term) for word in self._words) for term in own)
        return has_all and len({*own}) >= OWN_MIN

    def _is_for(self, scope: str) -> bool:
        """Whether a scope is that of the text, or what it begins with."""
        if self._scope and is_same(self._scope, stems(scope)):
            return True
        terms, first = subject_words(scope), self._full[:FIRST]
        return bool(terms) and all(any(self._is_same(w, term) for w in first) for term in terms)

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
