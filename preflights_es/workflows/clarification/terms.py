"""Finds many terms in one pass over the words of a text; knows nothing of what they mean.

A term is a word, a beginning (`anmeld*`), an ending (`*suche`), or several words in a row. `..`
between them stands for at most three words; `=REST` matches that spelling alone; `^` and `$` are
the ends of the text. Terms are written folded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeVar

import msgspec

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
_Seconds = dict[str, tuple[list[int], list[_Tail]]]
"""By the second word: terms of these two words, and what follows in longer ones."""


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


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where terms are looked up: by their first word, or by its beginning or ending."""

    alone: dict[str, list[int]] = {}
    pairs: dict[str, msgspec.Raw] = {}
    """By the first word: the `_Seconds` of it, read when a text has that word."""
    others: dict[str, list[_Tail]] = {}
    spelled: dict[str, list[tuple[str, int]]] = {}
    beginnings: dict[str, list[_Stem]] = {}
    endings: dict[str, list[_Stem]] = {}


def tables_of(terms: Iterable[str]) -> Tables:
    """The tables of terms, which are numbered in their order."""
    tables = Tables()
    pairs: dict[str, _Seconds] = {}
    for number, term in enumerate(terms):
        first, *rest = term.split() or [""]
        if rest and first.strip("=*") == first and rest[0].isalnum():
            numbers, tails = pairs.setdefault(first, {}).setdefault(rest[0], ([], []))
            if rest[1:]:
                tails.append((tuple(rest[1:]), number))
            else:
                numbers.append(number)
        else:
            _add(tables, first, tuple(rest), number)
    tables.pairs.update((first, msgspec.Raw(_ENCODED(both))) for first, both in pairs.items())
    return tables


_ENCODED: Final = msgspec.json.Encoder().encode
_SECONDS: Final = msgspec.json.Decoder(_Seconds)


def _add(tables: Tables, first: str, tail: tuple[str, ...], number: int) -> None:
    if first.startswith("="):
        _put(tables.spelled, folded(first[1:]), (first[1:], number))
    elif first.endswith("*"):
        _put(tables.beginnings, first[:STEM], (first[:-1], tail, number))
    elif first.startswith("*"):
        _put(tables.endings, first[-STEM:], (first[1:], tail, number))
    elif not tail:
        _put(tables.alone, first, number)
    else:
        _put(tables.others, first, (tail, number))


class Terms:
    """Finds terms; each is a number that the caller knows the meaning of."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._seconds: dict[str, _Seconds] = {}

    def found(self, text: Text) -> list[Hit]:
        """All terms of a text, in no order."""
        present = set(text.words)
        hits: list[Hit] = []
        self._find_words(text, hits)
        self._find_pairs(text.words, present, hits)
        self._find_others(text.words, present, hits)
        self._find_stems(text.words, present, hits)
        return hits

    # Loops, not comprehensions, since most have one turn.

    def _find_words(self, text: Text, hits: list[Hit]) -> None:
        alone, spelled = self._tables.alone, self._tables.spelled
        for at, word in enumerate(text.words):
            if word in alone:
                for number in alone[word]:
                    hits.append((at, at + 1, number))  # noqa: PERF401 - see above
            if word in spelled:
                hits += [(at, at + 1, n) for said, n in spelled[word] if text.typed[at] == said]

    def _find_pairs(self, words: list[str], present: set[str], hits: list[Hit]) -> None:
        pairs, seconds = self._tables.pairs, self._seconds
        for word in [word for word in present if word in pairs and word not in seconds]:
            seconds[word] = _SECONDS.decode(pairs[word])
        # The last word is the text's end, with which no pair begins.
        for at in [at for at, word in enumerate(words) if word in pairs]:
            if found := seconds[words[at]].get(words[at + 1]):
                numbers, tails = found
                for number in numbers:
                    hits.append((at, at + 2, number))  # noqa: PERF401 - see above
                if tails:
                    hits += _tailed(words, at, at + 2, tails, present)

    def _find_others(self, words: list[str], present: set[str], hits: list[Hit]) -> None:
        others = self._tables.others
        for at in [at for at, word in enumerate(words) if word in others]:
            hits += _tailed(words, at, at + 1, others[words[at]], present)

    def _find_stems(self, words: list[str], present: set[str], hits: list[Hit]) -> None:
        beginnings, endings = self._tables.beginnings, self._tables.endings
        stems = {w for w in present if w[:STEM] in beginnings or w[-STEM:] in endings}
        for at in [at for at, word in enumerate(words) if word in stems]:
            word = words[at]
            for stem, tail, number in beginnings.get(word[:STEM], ()):
                if word.startswith(stem) and (end := _matched(words, at + 1, tail)):
                    hits.append((at, end, number))
            for stem, tail, number in endings.get(word[-STEM:], ()):
                if word.endswith(stem) and (end := _matched(words, at + 1, tail)):
                    hits.append((at, end, number))


Item = TypeVar("Item")


def _put(table: dict[str, list[Item]], key: str, item: Item) -> None:
    table.setdefault(key, []).append(item)


def _tailed(
    words: list[str], start: int, at: int, tails: list[_Tail], present: set[str]
) -> list[Hit]:
    """Those that match: few have their last word in the text."""
    hits = []
    for tail, number in tails:
        if (tail[-1] in present or tail[-1][-1] == "*") and (end := _matched(words, at, tail)):
            hits.append((start, end, number))
    return hits


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
    if tail[0] not in words[at : at + GAP_MAX + 1] and tail[0][-1] != "*":
        return 0
    for start in range(at, min(at + GAP_MAX + 1, len(words))):
        if end := _matched(words, start, tail):
            return end
        if words[start] in ENDS:
            break
    return 0


def _is(word: str, wanted: str) -> bool:
    return word.startswith(wanted[:-1]) if wanted[-1] == "*" else word == wanted
