"""Finds many terms in one pass over the words of a text; knows nothing of what they mean.

A term is a word, a beginning (`anmeld*`), an ending (`*suche`), or several words in a row. `..`
between them stands for at most three words; `=REST` matches that spelling alone; `^` and `$` are
the ends of the text. Terms are written folded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import compress, pairwise, takewhile
from operator import itemgetter
from typing import Final, NamedTuple, TypeVar

import msgspec

from preflights_es.core.late_pattern import late_pattern

GAP_MAX: Final = 3  # words that `..` may stand for
KNOWN_MAX: Final = 50_000  # words remembered
STEM: Final = 4  # letters by which beginnings and endings are looked up; none is shorter

_PIECE: Final = late_pattern(r"\w+|[-=]>|\u2192|[.!?;](?=\s)|\n")

START: Final = "^"
STOP: Final = "$"
"""Stand before the first and behind the last word; a term may hold them."""
ENDS: Final = frozenset(".!?;\n")
"""Pieces that end a sentence; no term holds one."""

Hit = tuple[int, int, int]
"""Of a term: its first word, the word behind its last, its number."""
_Tail = tuple[str, ...]
_Long = tuple[int, _Tail, int, str]
"""A term: where its word or pair stands in it, its words, its number, `_sign` of the rest."""
_Stem = tuple[str, _Tail, int]


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
    return "*" not in parts[0] or len(parts[0].strip("*")) >= STEM


class Entry(NamedTuple):
    """The terms of a word, or of two in a row."""

    whole: list[int]
    """Terms that are no longer."""
    spelled: list[tuple[str, int]]
    longer: list[_Long]


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where terms are looked up: by a word or two in a row, or by a beginning or ending."""

    entries: dict[str, msgspec.Raw] = {}
    """Each an `Entry`, read when a text has its words."""
    beginnings: dict[str, list[_Stem]] = {}
    endings: dict[str, list[_Stem]] = {}


def tables_of(terms: Iterable[str]) -> Tables:
    """The tables of terms, which are numbered in their order."""
    tables = Tables()
    entries: dict[str, Entry] = {}
    for number, term in enumerate(terms):
        first, *tail = term.split() or [""]
        if first.startswith("="):
            entry = entries.setdefault(folded(first[1:]), Entry([], [], []))
            entry.spelled.append((first[1:], number))
        elif first.endswith("*"):
            _put(tables.beginnings, first[:STEM], (first[:-1], tuple(tail), number))
        elif first.startswith("*"):
            _put(tables.endings, first[-STEM:], (first[1:], tuple(tail), number))
        else:
            _add(entries, (first, *tail), number)
    tables.entries.update((key, msgspec.Raw(_ENCODED(entry))) for key, entry in entries.items())
    return tables


_STEM_OF: Final = itemgetter(slice(STEM))
_ENCODED: Final = msgspec.json.Encoder().encode
_ENTRY: Final = msgspec.json.Decoder(Entry)


def _add(entries: dict[str, Entry], term: _Tail, number: int) -> None:
    """Under its longest pair of words, for short ones stand in every text."""
    place, key = _key(term)
    entry = entries.setdefault(key, Entry([], [], []))
    if key == " ".join(term):
        entry.whole.append(number)
    else:
        rest = term[:place] + term[place + 1 + key.count(" ") :]
        entry.longer.append((place, term, number, _sign(rest)))


def _sign(parts: _Tail) -> str:
    """The longest of some words, or how it begins: a text without it has not the term."""
    longest = max((part for part in parts if part != ".."), key=len)
    plain = longest.rstrip("*")
    return longest if plain == longest else plain[:STEM] * (len(plain) >= STEM)


def _key(term: _Tail) -> tuple[int, str]:
    """Where the words stand by which a term is looked up, and they; nothing behind a gap."""
    plain = list(takewhile(lambda part: part != ".." and part[-1:] != "*", term))
    keys = [" ".join(pair) for pair in pairwise(plain)] or plain[:1]
    key = max(keys, key=len)
    return keys.index(key), key


class Terms:
    """Finds terms; each is a number that the caller knows the meaning of."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._known: dict[str, Entry | None] = {}
        """What is known of words and pairs that were read; most have no entry."""

    def found(self, text: Text) -> list[Hit]:
        """All terms of a text, in no order."""
        words, typed, present = text
        signs = {"", *present, *map(_STEM_OF, present)}
        pairs = [*map(" ".join, pairwise(words))]
        hits: list[Hit] = []
        for length, keys, fresh in ((1, words, present), (2, pairs, set(pairs))):
            entries = self._learned(keys, fresh)
            for at, entry in compress(enumerate(entries), entries):
                whole, spelled, longer = entry  # type: ignore[misc]  # None is left out
                for number in whole:
                    hits.append((at, at + length, number))  # noqa: PERF401 - most have one turn
                for said, number in spelled:
                    if typed[at] == said:
                        hits.append((at, at + length, number))
                for place, term, number, sign in longer:
                    if sign in signs and (stop := _matched(words, at - place, term)):
                        hits.append((at - place, stop, number))
        return hits

    def _learned(self, keys: list[str], present: set[str]) -> list[Entry | None]:
        """The entries of words or pairs of them; what a text had before is remembered."""
        known = self._known
        if len(known) > KNOWN_MAX:
            known.clear()
        for key in present.difference(known):
            known[key] = self._with_stems(key)
        return [*map(known.__getitem__, keys)]

    def _with_stems(self, word: str) -> Entry | None:
        """The entry of a word, with the terms that it begins by its own beginning or ending."""
        raw = self._tables.entries.get(word)
        entry = Entry([], [], []) if raw is None else _ENTRY.decode(raw)
        if " " in word:
            return entry if raw is not None else None
        stems = [s for s in self._tables.beginnings.get(word[:STEM], ()) if word.startswith(s[0])]
        stems += [s for s in self._tables.endings.get(word[-STEM:], ()) if word.endswith(s[0])]
        for _, tail, number in stems:
            if tail:
                entry.longer.append((0, (word, *tail), number, _sign(tail)))
            else:
                entry.whole.append(number)
        return entry if raw is not None or stems else None


Item = TypeVar("Item")


def _put(table: dict[str, list[Item]], key: str, item: Item) -> None:
    table.setdefault(key, []).append(item)


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
