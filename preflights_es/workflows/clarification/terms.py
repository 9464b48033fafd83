"""Finds many terms in one pass over the words of a text; knows nothing of what they mean.

A term is a word, a beginning (`anmeld*`), an ending (`*suche`), or several words in a row. `..`
between them stands for at most three words; `=REST` matches that spelling alone; `^` and `$` are
the ends of the text. Terms are written folded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple

from preflights_es.core.late_pattern import late_pattern

GAP_MAX: Final = 3  # words that `..` may stand for
STEM: Final = 4  # letters by which beginnings and endings are looked up; none is shorter

_PIECE: Final = late_pattern(r"\w+|[-=]>|\u2192|[.!?;](?=\s)|\n")
_UMLAUTS: Final = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"})

START: Final = "^"
STOP: Final = "$"
"""Stand before the first and behind the last word; a term may hold them."""
ENDS: Final = frozenset(".!?;\n")
"""Pieces that end a sentence; no term holds one."""

Hit = tuple[int, int, int]
"""Of a term: its first word, the word behind its last, its number."""
_Tail = tuple[tuple[str, ...], int]
_Stem = tuple[str, tuple[str, ...], int]


class Text(NamedTuple):
    """A text as words and ends of sentences, folded and as typed."""

    words: list[str]
    typed: list[str]


def folded(text: str) -> str:
    """In one case, with umlauts as two letters, so that both ways to type them agree."""
    return text.casefold().translate(_UMLAUTS)


def read(text: str) -> Text:
    """The words and sentences of a text."""
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    typed = _PIECE.findall(plain.replace("_", " ") + " ")
    typed = [START, *typed, STOP]
    return Text(folded("\0".join(typed)).split("\0"), typed)


def is_readable(term: str) -> bool:
    """Whether a text can hold a term: it is folded, and its beginnings are long enough."""
    if term.startswith("="):
        return len(term) > 1 and term == term.strip()
    stems = [part.strip("*") for part in term.split() if "*" in part]
    return bool(term) and term == folded(term) and all(len(stem) >= STEM for stem in stems)


class Terms:
    """An index of terms; each is a number that the caller knows the meaning of."""

    def __init__(self, terms: Iterable[str]) -> None:
        """Args:
        terms: in the order of their numbers.
        """
        self._words: dict[str, tuple[int, ...]] = {}
        self._spelled: dict[str, list[tuple[str, int]]] = {}
        self._pairs: dict[tuple[str, str], list[_Tail]] = {}
        self._others: dict[str, list[_Tail]] = {}
        self._beginnings: dict[str, list[_Stem]] = {}
        self._endings: dict[str, list[_Stem]] = {}
        for number, term in enumerate(terms):
            if term.isalnum():
                self._words[term] = (*self._words.get(term, ()), number)
            else:
                self._add(term, number)

    def _add(self, term: str, number: int) -> None:
        first, *rest = term.split() or [""]
        tail = tuple(rest)
        if first.startswith("="):
            self._spelled.setdefault(folded(first[1:]), []).append((first[1:], number))
        elif first.endswith("*"):
            self._beginnings.setdefault(first[:STEM], []).append((first[:-1], tail, number))
        elif first.startswith("*"):
            self._endings.setdefault(first[-STEM:], []).append((first[1:], tail, number))
        elif rest and rest[0].isalnum():
            self._pairs.setdefault((first, rest[0]), []).append((tail[1:], number))
        else:
            self._others.setdefault(first, []).append((tail, number))

    def found(self, text: Text) -> list[Hit]:  # noqa: C901  one loop: calls would cost more
        """All terms of a text, in the order of their first words."""
        words, hits = text.words, list[Hit]()
        alone, spelled, others = self._words, self._spelled, self._others
        pairs, beginnings, endings = self._pairs, self._beginnings, self._endings
        add, last = hits.append, ""
        for at, word in enumerate(words):
            if word in alone:
                hits += [(at, at + 1, number) for number in alone[word]]
            if (last, word) in pairs:
                for tail, number in pairs[last, word]:
                    if end := _matched(words, at + 1, tail):
                        add((at - 1, end, number))
            if word in others:
                for tail, number in others[word]:
                    if end := _matched(words, at + 1, tail):
                        add((at, end, number))
            if (key := word[:STEM]) in beginnings:
                for stem, tail, number in beginnings[key]:
                    if word.startswith(stem) and (end := _matched(words, at + 1, tail)):
                        add((at, end, number))
            if (key := word[-STEM:]) in endings:
                for stem, tail, number in endings[key]:
                    if word.endswith(stem) and (end := _matched(words, at + 1, tail)):
                        add((at, end, number))
            if word in spelled:
                for spelling, number in spelled[word]:
                    if text.typed[at] == spelling:
                        add((at, at + 1, number))
            last = word
        return hits


def _matched(words: list[str], at: int, tail: tuple[str, ...]) -> int:
    """Where the rest of a term ends, or 0."""
    for i, wanted in enumerate(tail):
        if wanted == "..":
            return _matched_behind(words, at, tail[i + 1 :])
        if at >= len(words) or not _is(words[at], wanted):
            return 0
        at += 1
    return at


def _matched_behind(words: list[str], at: int, tail: tuple[str, ...]) -> int:
    for start in range(at, min(at + GAP_MAX + 1, len(words))):
        if end := _matched(words, start, tail):
            return end
        if words[start] in ENDS:
            break
    return 0


def _is(word: str, wanted: str) -> bool:
    return word.startswith(wanted[:-1]) if wanted[-1] == "*" else word == wanted
