"""Finds many terms in one pass over the words of a text; knows nothing of what they mean.

A term is a word, a beginning (`anmeld*`), an ending (`*suche`), or several words in a row. `..`
between them stands for at most three words; `=REST` matches that spelling alone; `^` and `$` are
the ends of the text. Terms are written folded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import compress, pairwise, takewhile
from operator import itemgetter
from typing import Final, NamedTuple

import msgspec

from preflights_es.core.late_pattern import late_pattern

GAP_MAX: Final = 3  # words that `..` may stand for
NONE: Final = -1  # in place of a term
STEM: Final = 4  # letters by which beginnings and endings are looked up; none is shorter

_PIECE: Final = late_pattern(r"\w+|[-=]>|\u2192|[.!?;](?=\s)|\n")

START: Final = "^"
STOP: Final = "$"
"""Stand before the first and behind the last word; a term may hold them."""
ENDS: Final = frozenset(".!?;\n")
"""Pieces that end a sentence; no term holds one."""

Hit = tuple[int, int, int]
"""Of a term: its first word, the word behind its last, its number."""
_Long = tuple[str, int, str]
"""A term: what is behind its plain words, its number, `_sign` of the former."""
_Stem = tuple[str, str, int]
"""A term: the letters of its first word, its other words, its number."""


class Text(NamedTuple):
    """A text as words and ends of sentences, folded and as typed."""

    words: list[str]
    typed: list[str]
    present: set[str]
    """Its words, each once."""


def folded(text: str) -> str:
    """In one case, with umlauts as two letters, so that both ways to type them agree."""
    plain = text.casefold()
    if plain.isascii():
        return plain
    return plain.replace("\u00e4", "ae").replace("\u00f6", "oe").replace("\u00fc", "ue")


def read(text: str) -> Text:
    """The words and sentences of a text."""
    if text.isascii() and ">" not in text and text.replace("\n", "").isprintable():
        return _plainly_read(text)
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    typed = _PIECE.findall(plain.replace("_", " ") + " ")
    typed = [START, *typed, STOP]
    words = folded("\0".join(typed)).split("\0")
    return Text(words, typed, set(words))


def _plainly_read(text: str) -> Text:
    """The same in half the time, for a text of printable ASCII; a line's end is a `;`."""
    text = text.replace("_", " ").replace("\n", " ; ") + " "
    ends = [(end, kept) for end, kept in _KEPT.items() if end in text]
    for end, kept in ends:
        text = text.replace(end + " ", kept + " ")
    text = text.translate(_PLAIN)
    for end, kept in ends:
        text = text.replace(kept, f" {end} ")
    typed = [START, *text.split(), STOP]
    words = [START, *text.lower().split(), STOP]
    return Text(words, typed, set(words))


_KEPT: Final = {".": "\1", "!": "\2", "?": "\3", ";": "\4"}
"""Ends of sentences while other marks are taken out."""
_PLAIN: Final = {
    at: chr(at) if chr(at).isalnum() or chr(at) in _KEPT.values() else " " for at in range(128)
}


def is_readable(term: str) -> bool:
    """Whether a text can hold a term: it is folded, and its beginnings are long enough."""
    if term.startswith("="):
        return len(term) > 1 and term == term.strip()
    parts = term.split()
    if not parts or term != folded(" ".join(parts)) or not all(part.strip("*") for part in parts):
        return False
    if ".." in (parts[0], parts[-1]):
        return False
    return "*" not in parts[0] or len(parts[0].strip("*")) >= STEM


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where terms are looked up: by their plain words, or by a beginning or ending."""

    plain: dict[str, int] = {}
    """The term that is no longer; `NONE` for words that only begin one."""
    again: dict[int, list[int]] = {}
    """By the first term the others of the same words."""
    longer: dict[str, msgspec.Raw] = {}
    """Each some `_Long`, read when a text has the plain words before them."""
    beginnings: dict[str, list[_Stem]] = {}
    endings: dict[str, list[_Stem]] = {}


def tables_of(terms: Iterable[str]) -> Tables:
    """The tables of terms, which are numbered in their order."""
    tables = Tables()
    longer: dict[str, list[_Long]] = {}
    for number, term in enumerate(terms):
        first, *tail = term.split() or [""]
        stem = (first.strip("*"), " ".join(tail), number)
        if first.startswith("="):
            tables.plain.setdefault(folded(first[1:]), NONE)
            longer.setdefault(folded(first[1:]), []).append((first, number, ""))
        elif first.endswith("*"):
            tables.beginnings.setdefault(first[:STEM], []).append(stem)
        elif first.startswith("*"):
            tables.endings.setdefault(first[-STEM:], []).append(stem)
        else:
            _add(tables, longer, [first, *tail], number)
    tables.longer.update((key, msgspec.Raw(_ENCODED(row))) for key, row in longer.items())
    return tables


_ENCODED: Final = msgspec.json.Encoder().encode
_LONGER: Final = msgspec.json.Decoder(list[_Long])


def _add(tables: Tables, longer: dict[str, list[_Long]], term: list[str], number: int) -> None:
    words = list(takewhile(lambda part: part != ".." and part[-1:] != "*", term))
    rest = term[len(words) :]
    keys = [" ".join(words[:count]) for count in range(2, len(words) + 1)] or words
    for key in keys:
        tables.plain.setdefault(key, NONE)
    if rest:
        longer.setdefault(keys[-1], []).append((" ".join(rest), number, _sign(rest)))
        return
    first = tables.plain[keys[-1]]
    if first == NONE:
        tables.plain[keys[-1]] = number
    else:
        tables.again.setdefault(first, []).append(number)


def _sign(parts: list[str]) -> str:
    """The longest of some words, or how it begins: a text without it has not the term."""
    longest = max((part for part in parts if part != ".."), key=len)
    plain = longest.rstrip("*")
    return longest if plain == longest else plain[:STEM] * (len(plain) >= STEM)


class Terms:
    """Finds terms; each is a number that the caller knows the meaning of."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def found(self, text: Text) -> list[Hit]:
        """All terms of a text, in the order of the text."""
        words, _, present = text
        again, longer = self._tables.again, self._tables.longer
        heads = [*map(_HEAD_OF, words)]
        signs = present.union(heads, ("",))
        hits = [*self._by_stems(words, present, heads)]
        for at, end, key, number in self._plain(words):
            if number != NONE:
                hits.append((at, end, number))
                if number in again:
                    hits += [(at, end, other) for other in again[number]]
            if key in longer:
                for rest, other, sign in _LONGER.decode(longer[key]):
                    if sign in signs and (stop := _behind(text, at, end, rest)):
                        hits.append((at, stop, other))
        hits.sort()
        return hits

    def _plain(self, words: list[str]) -> list[tuple[int, int, str, int]]:
        """Words that are a term or begin one: the first, the word behind the last, they, a term."""
        known = self._tables.plain.get
        pairs = [*map(" ".join, pairwise(words))]
        spans = [(i, i + 1, words[i], n) for i, n in enumerate(map(known, words)) if n is not None]
        beyond = [(i, i + 2, pairs[i], n) for i, n in enumerate(map(known, pairs)) if n is not None]
        for at, end, key, _ in beyond:
            if end < len(words) and (number := known(other := f"{key} {words[end]}")) is not None:
                beyond.append((at, end + 1, other, number))
        return spans + beyond

    def _by_stems(self, words: list[str], present: set[str], heads: list[str]) -> Iterator[Hit]:
        """The terms that start with the beginning or ending of a word."""
        known = [*map(self._tables.beginnings.get, heads)]
        for at, stems in compress(enumerate(known), known):
            for start, tail, number in stems or ():
                if words[at].startswith(start) and (stop := _matched(words, at + 1, tail.split())):
                    yield at, stop, number
        endings = self._tables.endings
        if endings.keys().isdisjoint(map(_END_OF, present)):
            return
        for at, word in enumerate(words):
            for end, tail, number in endings.get(word[-STEM:], ()):
                if word.endswith(end) and (stop := _matched(words, at + 1, tail.split())):
                    yield at, stop, number


_HEAD_OF: Final = itemgetter(slice(STEM))
_END_OF: Final = itemgetter(slice(-STEM, None))


def _behind(text: Text, at: int, end: int, rest: str) -> int:
    """Where a term ends of which the plain words end before `end`, or 0."""
    if rest[0] == "=":
        return end * (text.typed[at] == rest[1:])
    return _matched(text.words, end, rest.split(" "))


def _matched(words: list[str], at: int, tail: list[str]) -> int:
    """Where the rest of a term ends, or 0; the last word of a text is its end."""
    for i, wanted in enumerate(tail):
        if wanted == "..":
            return _matched_behind(words, at, tail[i + 1 :])
        if at >= len(words) or not _is(words[at], wanted):
            return 0
        at += 1
    return at


def _matched_behind(words: list[str], at: int, tail: list[str]) -> int:
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
