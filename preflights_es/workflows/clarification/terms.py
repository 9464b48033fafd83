"""Finds many terms in one pass over the words of a text; knows nothing of what they mean.

A term is a word, a beginning (`anmeld*`), an ending (`*suche`), or several words in a row. `..`
between them stands for at most three words; `=REST` matches that spelling alone; `^` and `$` are
the ends of the text. Terms are written folded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import compress, takewhile
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec

from preflights_es.core.late_pattern import late_pattern

GAP_MAX: Final = 3  # words that `..` may stand for
STEM: Final = 4  # letters by which beginnings and endings are looked up; none is shorter
WORDS_MAX: Final = 20_000  # words of which is kept what they begin
LETTERS_MAX: Final = 40  # of such a word

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
    """A text as words and ends of sentences."""

    words: list[str]
    """Folded, between `START` and `STOP`."""
    present: set[str]
    """Its words, each once."""
    line: str
    """The words as typed, in one line."""

    @property
    def typed(self) -> list[str]:
        """The words as typed: few readers need them."""
        return [START, *self.line.split(), STOP]


def folded(text: str) -> str:
    """In one case, with umlauts as two letters, so that both ways to type them agree."""
    plain = text.casefold()
    if plain.isascii():
        return plain
    return plain.replace("\u00e4", "ae").replace("\u00f6", "oe").replace("\u00fc", "ue")


def read(text: str) -> Text:
    """The words and sentences of a text."""
    if text.isascii() and ">" not in text:
        return _plainly_read(text.encode() + b" ")
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    typed = " ".join(_PIECE.findall(plain.replace("_", " ") + " ")).replace("\n", ";")
    return _as_text(folded(typed), typed)


def _plainly_read(text: bytes) -> Text:
    """The same in half the time, for ASCII."""
    text = text.translate(_SPACED).replace(b"\n", b" ; ")
    for end, kept in _KEPT:
        text = kept.join(text.split(end))  # faster than `replace`, which counts first
    return _as_text(text.translate(_FOLDED).decode(), text.translate(_TYPED).decode())


def _as_text(line: str, typed: str) -> Text:
    words = [START, *line.split(), STOP]
    return Text(words, set(words), typed)


_SPACED: Final = bytes(
    32 if chr(at) in "\t\v\f\r\x1c\x1d\x1e\x1f_" else max(at, 5) for at in range(256)
)
"""White space of one kind, but for a line's end."""
_KEPT: Final = tuple((b"%c " % end, b"\t%c " % at) for at, end in enumerate(b".!?;", 1))
"""Ends of sentences, and what stands for them while other marks are taken out."""
_TYPED: Final = bytes([0, *b".!?;"]) + bytes(
    at if chr(at).isalnum() else 32 for at in range(5, 256)
)
_FOLDED: Final = _TYPED.lower()


def ends_of(words: list[str]) -> list[int]:
    """Where sentences end."""
    return [*compress(range(len(words)), map(ENDS.__contains__, words))]


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
    """Where terms are looked up, numbered from 1; read when a text has their first word."""

    plain: dict[str, msgspec.Raw] = {}
    """By a word a `_Begun`."""
    beyond: list[msgspec.Raw] = []
    """Each a `_Begun`, of two or more words."""
    beginnings: dict[str, msgspec.Raw] = {}
    """By the first letters of a word some `_Stem`."""
    endings: dict[str, msgspec.Raw] = {}


class _Begun(NamedTuple):
    """What some plain words are, and what they begin."""

    numbers: list[int]
    nexts: dict[str, int]
    """By the next plain word the one term that it makes; below 0 the `~` of a place in `beyond`."""
    rests: list[_Long]


_Plain = tuple[list[int], dict[str, int], list[_Long]]
"""A `_Begun` without names, which Python takes apart in a third of the time."""


def tables_of(terms: Iterable[str]) -> Tables:
    """The tables of terms, which are numbered in their order."""
    known: dict[str, _Begun] = {}
    beginnings: dict[str, list[_Stem]] = {}
    endings: dict[str, list[_Stem]] = {}
    for number, term in enumerate(terms, 1):
        first, *tail = parts = term.split() or [""]
        stem = (first.strip("*"), " ".join(tail), number)
        if first.startswith("="):
            _words_of(known, [folded(first[1:])]).rests.append((first, number, ""))
        elif first.endswith("*"):
            beginnings.setdefault(first[:STEM], []).append(stem)
        elif first.startswith("*"):
            endings.setdefault(first[-STEM:], []).append(stem)
        else:
            words = [*takewhile(lambda part: part != ".." and part[-1:] != "*", parts)]
            begun, rest = _words_of(known, words), parts[len(words) :]
            if rest:
                begun.rests.append((" ".join(rest), number, _sign(rest)))
            else:
                begun.numbers.append(number)
    return Tables(*_joined(known), _each_raw(beginnings), _each_raw(endings))


def _words_of(known: dict[str, _Begun], words: list[str]) -> _Begun:
    """What is known of plain words; they are found word by word."""
    for count in range(1, len(words) + 1):
        known.setdefault(" ".join(words[:count]), _Begun([], {}, []))
    return known[" ".join(words)]


def _joined(known: dict[str, _Begun]) -> tuple[dict[str, msgspec.Raw], list[msgspec.Raw]]:
    """What single words begin, and what longer ones do."""
    beyond: list[msgspec.Raw] = []
    for key, begun in sorted(known.items(), key=lambda item: -item[0].count(" ")):
        before, _, word = key.rpartition(" ")
        if before and len(begun.numbers) == 1 and not (begun.nexts or begun.rests):
            known[before].nexts[word] = begun.numbers[0]
        elif before:
            known[before].nexts[word] = ~len(beyond)
            beyond.append(_raw(begun))
    return _each_raw({key: begun for key, begun in known.items() if " " not in key}), beyond


def _each_raw(table: dict[str, Any]) -> dict[str, msgspec.Raw]:
    return {key: _raw(value) for key, value in table.items()}


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def _sign(parts: list[str]) -> str:
    """The longest of some words, or how it begins: a text without it has not the term."""
    longest = max((part for part in parts if part != ".."), key=len)
    plain = longest.rstrip("*")
    return longest if plain == longest else plain[:STEM] * (len(plain) >= STEM)


class Terms:
    """Finds terms; each is a number that the caller knows the meaning of."""

    def __init__(self, tables: Tables) -> None:
        self._known = _Known(tables)

    def found(self, text: Text) -> list[Hit]:
        """All terms of a text, in the order of the text."""
        hits: list[Hit] = []
        add = hits.append
        words, beyond = [*text.words, ""], self._known.beyond
        signs = text.present.union(map(_HEAD_OF, text.present), ("",))
        for at, first in enumerate(map(self._known.__getitem__, text.words)):
            begun, end = first, at + 1
            while begun:
                numbers, nexts, rests = begun
                if numbers:
                    for number in numbers:
                        add((at, end, number))
                if rests:
                    for rest, number, sign in rests:
                        if sign in signs and (stop := _behind(text, at, end, rest)):
                            add((at, stop, number))
                if words[end] not in nexts:
                    break
                place = nexts[words[end]]
                end += 1
                if place > 0:
                    add((at, end, place))
                    break
                begun = beyond[place]
        hits.sort()
        return hits


class _Known(dict[str, _Plain | None]):
    """What each word begins, kept from text to text: most of their words are the same."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self._tables = tables
        self.beyond = _Beyond(tables.beyond)

    def __missing__(self, word: str) -> _Plain | None:
        tables = self._tables
        numbers, nexts, rests = _BEGUN.decode(tables.plain.get(word, _NONE))
        stems = _STEMS.decode(tables.beginnings.get(word[:STEM], _NO_STEM))
        fitting = [stem for stem in stems if word.startswith(stem[0])]
        stems = _STEMS.decode(tables.endings.get(word[-STEM:], _NO_STEM))
        fitting += [stem for stem in stems if word.endswith(stem[0])]
        numbers += [number for _, tail, number in fitting if not tail]
        rests += [(tail, n, _sign(tail.split())) for _, tail, n in fitting if tail]
        begun = (numbers, nexts, rests) if numbers or nexts or rests else None
        if len(self) < WORDS_MAX and len(word) <= LETTERS_MAX:
            self[word] = begun
        return begun


class _Beyond(dict[int, _Plain]):
    """What stands in each place for two or more words."""

    def __init__(self, places: list[msgspec.Raw]) -> None:
        super().__init__()
        self._places = places

    def __missing__(self, place: int) -> _Plain:
        found: _Plain = _BEGUN.decode(self._places[~place])
        self[place] = found
        return found


_HEAD_OF: Final = itemgetter(slice(STEM))
_BEGUN: Final = msgspec.json.Decoder(_Plain)
_STEMS: Final = msgspec.json.Decoder(list[_Stem])
_NONE: Final = msgspec.Raw(b"[[],{},[]]")
_NO_STEM: Final = msgspec.Raw(b"[]")


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
