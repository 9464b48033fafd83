"""Finds many terms in one pass over the words of a text; knows nothing of what they mean.

A term is a word, a beginning (`anmeld*`), an ending (`*suche`), or several words in a row. `..`
between them stands for at most three words; `=REST` matches that spelling alone; `^` and `$` are
the ends of the text. Terms are written folded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from preflights_es.core.late_pattern import late_pattern

GAP_MAX: Final = 3  # words that `..` may stand for
STEM: Final = 4  # letters by which beginnings and endings are looked up; none is shorter

_PIECE: Final = late_pattern(r"\w+|[-=]>|\u2192|[.!?;](?=\s)|\n")

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
    plain = text.casefold()
    if plain.isascii():
        return plain
    return plain.replace("\u00e4", "ae").replace("\u00f6", "oe").replace("\u00fc", "ue")


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
    parts = term.split()
    if not parts or term != folded(" ".join(parts)) or not all(part.strip("*") for part in parts):
        return False
    return "*" not in parts[0] or len(parts[0].strip("*")) >= STEM


class Terms:
    """An index of terms; each is a number that the caller knows the meaning of."""

    def __init__(self, terms: Iterable[str]) -> None:
        """Args:
        terms: in the order of their numbers.
        """
        self._alone: dict[str, list[int]] = {}
        self._pairs: dict[tuple[str, str], list[_Tail]] = {}
        """By the first two words."""
        self._others: dict[str, list[_Tail]] = {}
        self._spelled: dict[str, list[tuple[str, int]]] = {}
        self._beginnings: dict[str, list[_Stem]] = {}
        self._endings: dict[str, list[_Stem]] = {}
        for number, term in enumerate(terms):
            if term.isalnum():
                _put(self._alone, term, number)
            else:
                self._add(term, number)
        self._rare = self._others.keys() | self._spelled.keys()

    def _add(self, term: str, number: int) -> None:
        first, *rest = term.split() or [""]
        tail = tuple(rest)
        if first.startswith("="):
            _put(self._spelled, folded(first[1:]), (first[1:], number))
        elif first.endswith("*"):
            _put(self._beginnings, first[:STEM], (first[:-1], tail, number))
        elif first.startswith("*"):
            _put(self._endings, first[-STEM:], (first[1:], tail, number))
        elif rest and rest[0].isalnum():
            _put(self._pairs, (first, rest[0]), (tail[1:], number))
        else:
            _put(self._others, first, (tail, number))

    def found(self, text: Text) -> list[Hit]:
        """All terms of a text, in no order."""
        words, typed = text
        each = range(len(words))
        hits: list[Hit] = []
        alone, pairs, others, spelled = self._alone, self._pairs, self._others, self._spelled
        for at in [at for at in each if words[at] in alone]:
            hits += [(at, at + 1, n) for n in alone[words[at]]]
        for at, pair in [(at, pair) for at, pair in enumerate(pairwise(words)) if pair in pairs]:
            hits += _tailed(words, at, at + 2, pairs[pair])
        rare = self._rare & set(words)
        for at in [at for at in each if words[at] in rare]:
            word = words[at]
            hits += _tailed(words, at, at + 1, others.get(word, []))
            hits += [(at, at + 1, n) for said, n in spelled.get(word, ()) if typed[at] == said]
        beginnings, endings = self._beginnings, self._endings
        for at in [at for at in each if words[at][:STEM] in beginnings]:
            stems = beginnings[words[at][:STEM]]
            tails = [(tail, n) for stem, tail, n in stems if words[at].startswith(stem)]
            hits += _tailed(words, at, at + 1, tails)
        for at in [at for at in each if words[at][-STEM:] in endings]:
            stems = endings[words[at][-STEM:]]
            tails = [(tail, n) for stem, tail, n in stems if words[at].endswith(stem)]
            hits += _tailed(words, at, at + 1, tails)
        return hits


Key = TypeVar("Key")
Item = TypeVar("Item")


def _put(table: dict[Key, list[Item]], key: Key, item: Item) -> None:
    if key in table:
        table[key].append(item)
    else:
        table[key] = [item]


def _tailed(words: list[str], start: int, at: int, tails: list[_Tail]) -> list[Hit]:
    return [(start, end, number) for tail, number in tails if (end := _matched(words, at, tail))]


def _matched(words: list[str], at: int, tail: tuple[str, ...]) -> int:
    """Where the rest of a term ends, or 0; the last word of a text is its end."""
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
