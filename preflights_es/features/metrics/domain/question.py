"""The words of a question: which metrics they name, and what each may stand for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from functools import cache
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

from preflights_es.features.metrics.domain import question_words as known
from preflights_es.features.metrics.domain.events import Matched, Metric
from preflights_es.features.metrics.domain.ranges import OddRange, Range, said
from preflights_es.kernel.questions import Language
from preflights_es.kernel.text import composed, late_pattern

Step = Literal["day", "week", "month", "quarter", "year"]

LONGEST: Final = 8  # words of a phrase
_THOUSANDS: Final[dict[Language, str]] = {"en": ",", "de": "."}
STEM_MIN: Final = 4  # characters that an ending leaves
_ENDINGS: Final = ("ern", "en", "er", "es", "e", "n")
_TOKEN: Final = late_pattern(r"\d+(?:[.,]\d+)+(?!\w)|[^\W_]+|[<>]=?|[=%€$£]|(?<!\S)-(?=\S)")
_SUFFIX: Final = late_pattern(r"['\u2019](?:s|d|ll|re|ve|m)\b")
_NUMBER: Final = late_pattern(r"[0-9]+(?:[.,][0-9]+)*")
_GROUPED: Final = late_pattern(r"[0-9]{1,3}(?P<mark>[.,])[0-9]{3}(?P<more>(?:(?P=mark)[0-9]{3})*)")


# 1. Words ------------------------------------------------------------------------------------


class Token(NamedTuple):
    """A word, a number or a sign."""

    raw: str
    text: str
    stem: str
    start: int
    end: int


def plain(text: str) -> str:
    """A text on one line, without `'s` and its like."""
    return " ".join(_SUFFIX.sub("", composed(text)).split())


def tokens(text: str) -> list[Token]:
    """The words of a plain text."""
    return [
        Token(one[0], one[0].casefold(), stem(one[0].casefold()), *one.span())
        for one in _TOKEN.finditer(text)
    ]


@cache
def stem(word: str) -> str:
    """A word without the endings of plurals and cases; a number as it is."""
    if word in known.COMPARATIVES:
        return word
    if len(word) > STEM_MIN and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > STEM_MIN and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    while (shorter := _without_ending(word)) != word:
        word = shorter
    return word


def _without_ending(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_MIN:
            return word[: -len(ending)]
    return word


Stems = tuple[str, ...]


def stems(text: str) -> Stems:
    """Those of a phrase."""
    return tuple(one.stem for one in tokens(plain(text)))


def texts(phrase: str) -> Stems:
    """The words of a phrase as they are: words of a language are not compared by stems."""
    return tuple(one.text for one in tokens(plain(phrase)))


def is_courtesy(word: str) -> bool:
    """Whether a word says nothing of what is asked."""
    return word.casefold() in known.COURTESY


def content(phrase: str) -> frozenset[str]:
    """The stems of a phrase that say something; all where none does."""
    all_ = frozenset(stems(phrase))
    some = frozenset(one.stem for one in tokens(plain(phrase)) if not is_courtesy(one.text))
    return some or all_


# 2. Which metrics ----------------------------------------------------------------------------


def named(text: str, metrics: Iterable[Metric]) -> list[tuple[Metric, frozenset[str]]]:
    """The metrics that a text names, each with the stems that name it.

    Words of a longer name that is there belong to it alone.
    """
    said_words = [one for one in tokens(plain(text)) if not is_courtesy(one.text)]
    there = {one.stem for one in said_words}
    hits = [
        (metric, words)
        for metric in metrics
        for phrase in names_of(metric)
        if (words := content(phrase)) and words <= there and _is_said(phrase, said_words)
    ]
    longest = [
        (metric, words) for metric, words in hits if not any(words < others for _, others in hits)
    ]
    found: dict[str, tuple[Metric, frozenset[str]]] = {}
    for metric, words in longest:
        former = found.get(metric.name, (metric, frozenset()))[1]
        found[metric.name] = (metric, words | former)
    return list(found.values())


def _is_said(phrase: str, said_words: Sequence[Token]) -> bool:
    """Whether a word that could be of an operation has its next beside it: `which orders`."""
    words = [one for one in tokens(plain(phrase)) if not is_courtesy(one.text)]
    pairs = {(a.stem, b.stem) for a, b in pairwise(said_words)}
    return all((a.stem, b.stem) in pairs for a, b in pairwise(words) if (a.text,) in _of_language())


# 3. What is asked of one ---------------------------------------------------------------------


class Chunk(NamedTuple):
    """Words that stand for one thing."""

    kind: str
    what: Any
    first: int
    """Of the tokens."""
    last: int


Lexicon = dict[Stems, list[tuple[str, Any]]]
_KINDS: Final = ("value", "dimension", "column", "metric", "unit", "each", "step", "operation", "")
"""What words are where they could be several things, the first that fits; the last is courtesy."""


def column_name(column: str) -> str:
    """How a column is called in words."""
    return column.rpartition(".")[2].replace("_", " ")


@cache
def _of_language() -> Lexicon:
    found: Lexicon = {}
    for kind, all_ in (
        ("operation", known.OPERATIONS),
        ("step", known.STEPS),
        ("each", known.EACH_STEP),
    ):
        for what, phrases in all_.items():
            for phrase in phrases:
                found.setdefault(texts(phrase), []).append((kind, what))
    for phrase in (*known.COURTESY, *known.PHRASES_OF_COURTESY):
        found.setdefault(texts(phrase), []).append(("", ""))
    return found


def lexicon_of(metric: Metric, matched: Iterable[Matched]) -> Lexicon:
    """What phrases of the catalogue stand for, by their stems."""
    found: Lexicon = {}
    for phrase, kind, what in _of_metric(metric, matched):
        if (words := stems(phrase)) and not (kind == "value" and _is_a_word(phrase)):
            found.setdefault(words, []).append((kind, what))
    return {words: _without_doubtful(meanings) for words, meanings in found.items()}


def _is_a_word(value: str) -> bool:
    """Whether a value is a word of grouping: it is not meant by it. Codes are told by capitals."""
    kinds = {kind for kind, _ in _of_language().get(texts(value), ())} - {""}
    return bool(kinds) and value.casefold() not in known.CODES


def _without_doubtful(meanings: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """A value that is also a dimension or the metric is not meant by it."""
    is_named = {kind for kind, _ in meanings} - {"value"}
    return [one for one in meanings if one[0] != "value"] if is_named else meanings


def names_of(metric: Metric) -> tuple[str, ...]:
    """Its name, and its aliases."""
    return (metric.name, *metric.aliases)


def without_group(name: str, metric: Metric) -> str:
    """A name such as `users by market` asks for groups, where the metric has these."""
    words = tokens(plain(name))
    for n, word in enumerate(words):
        rest = tuple(one.stem for one in words[n + 1 :])
        is_by = ("operation", "by") in _of_language().get((word.text,), ())
        if n and is_by and any(stems(column_name(one)) == rest for one in metric.dimensions):
            return name[: word.start].strip()
    return name


def _of_metric(metric: Metric, matched: Iterable[Matched]) -> Iterator[tuple[str, str, Any]]:
    """Each phrase of a metric, its kind, and what it stands for."""
    yield from ((without_group(one, metric), "metric", "") for one in names_of(metric))
    others = dict(metric.words)
    for column in metric.dimensions:
        names = (column_name(column), *others.get(column, ()))
        yield from ((name, "dimension", column) for name in names)
    for column, value, names in metric.values:
        yield from ((name, "value", (column, value)) for name in (value, *names))
    for one in matched:
        if one.column in metric.dimensions:
            yield one.value, "value", (one.column, one.value)
    yield from ((unit, "unit", "") for unit in metric.unit)
    for column, units in metric.numbers:
        yield column_name(column), "column", column
        yield from ((unit, "unit", column) for unit in units)


def times(
    text: str, words: Sequence[Token], lexicon: Lexicon, today: date | None
) -> list[tuple[Range, int, int]]:
    """Ranges of days with the tokens that say them; names of the metric say no time."""
    masked = text.lower()
    if today is None or len(masked) != len(text):
        return []
    for chunk in chunks(words, lexicon, ()):
        if chunk.kind in ("metric", "dimension") and chunk.last > chunk.first:
            start, end = words[chunk.first].start, words[chunk.last].end
            masked = masked[:start] + "|" * (end - start) + masked[end:]
    found = []
    for days, spans in said(masked, today):
        start, end = min(spans)[0], max(spans)[1]
        inside = [n for n, one in enumerate(words) if start <= one.start and one.end <= end]
        if inside:
            found.append((days, inside[0], inside[-1]))
    values = [one for one in chunks(words, lexicon, ()) if one.kind == "value"]
    if any(a <= one.first <= b for _, a, b in found for one in values):
        raise OddRange(text)  # Jan, who is a person here
    return found


def chunks(
    words: Sequence[Token],
    lexicon: Lexicon,
    times: Iterable[tuple[Range, int, int]],
    language: Language = "en",
) -> list[Chunk]:
    """The words, the longest known phrase first.

    Args:
        language: how numbers are written.
    """
    ranges = {first: (days, last) for days, first, last in times}
    # Where all is written in capitals they tell no code from a word.
    has_codes = any(word.raw.islower() for word in words)
    made: list[Chunk] = []
    at = 0
    while at < len(words):
        if at in ranges:
            days, last = ranges[at]
            made.append(Chunk("time", days, at, last))
        else:
            made.append(_known(words, at, lexicon, has_codes) or _other(words[at], at, language))
        at = made[-1].last + 1
    return made


def _known(words: Sequence[Token], at: int, lexicon: Lexicon, has_codes: bool) -> Chunk | None:
    """The longest phrase of the lexicon from a place on."""
    for length in range(min(LONGEST, len(words) - at), 0, -1):
        some = words[at : at + length]
        meanings = [
            *lexicon.get(tuple(one.stem for one in some), ()),
            *_of_language().get(tuple(one.text for one in some), ()),
        ]
        # Behind a number or `in` it is a unit first: `more than 100 orders`, `revenue in euro`.
        before = words[at - 1].text if at else ""
        is_unit = before == "in" or _NUMBER.fullmatch(before) is not None
        for kind in (*(("unit",) if is_unit else ()), *_KINDS):
            fits = tuple(dict.fromkeys(what for is_, what in meanings if is_ == kind))
            if kind == "value":
                if any(_is_doubtful(one, some) for one in fits):
                    return Chunk("word", some[0].text, at, at)
                fits = tuple(one for one in fits if _may_be_value(one, some, has_codes))
            if fits:
                return Chunk(kind, fits, at, at + length - 1)
    return None


def _other(word: Token, at: int, language: Language) -> Chunk:
    """A number, or a word that is not known."""
    if word.text in known.NUMBERS:
        return Chunk("number", str(known.NUMBERS[word.text]), at, at)
    number = _number(word.text, language)
    return Chunk("number", number, at, at) if number else Chunk("word", word.text, at, at)


def _is_doubtful(what: tuple[str, str], some: Sequence[Token]) -> bool:
    """Whether a word may be a code or not: `revenue us`."""
    word = some[0]
    return len(some) == 1 and word.text in known.CODES and word.raw.islower() and what[1].isupper()


def _may_be_value(what: tuple[str, str], some: Sequence[Token], has_codes: bool) -> bool:
    """Whether words stand for a value: a code that is also a word is written in capitals."""
    if len(some) > 1:
        return True
    word = some[0]
    if _NUMBER.fullmatch(word.text):
        return False
    is_word = (word.text,) in _of_language() or word.text in known.CODES
    is_code = has_codes and len(word.raw) > 1 and word.raw.isupper() and what[1].isupper()
    return is_code or not is_word


def _number(text: str, language: Language) -> str:
    """A number as SQL writes it; empty for any other word.

    "1.500" is written so in German and "1,500" in English; in the other it could be either.
    """
    if not _NUMBER.fullmatch(text):
        return ""
    grouped = _GROUPED.fullmatch(text)
    if grouped and (grouped["more"] or grouped["mark"] == _THOUSANDS[language]):
        return text.replace(",", "").replace(".", "")
    marks = [mark for mark in text if mark in ".,"]
    if not marks:
        return text
    whole, decimals = text.rsplit(marks[-1], 1)
    others = set(marks[:-1])
    if grouped or marks[-1] in others or len(others) > 1:
        return ""
    return f"{whole.replace(',', '').replace('.', '')}.{decimals}"


# 4. Where the words stand --------------------------------------------------------------------

COUNT_DIGITS: Final = 6  # of a number of places


class Walk:
    """The chunks of one text; courtesy and the metric's name count as used."""

    def __init__(self, words: Sequence[Token], chunks: Sequence[Chunk]) -> None:
        self._words, self._chunks = words, chunks
        self._used: set[int] = {n for n, one in enumerate(chunks) if one.kind in ("", "metric")}

    def _words_of(self, n: int) -> Sequence[Token]:
        return self._words[self._chunks[n].first : self._chunks[n].last + 1]

    def _is(self, n: int, kind: str, *what: str) -> bool:
        if not 0 <= n < len(self._chunks) or self._chunks[n].kind != kind:
            return False
        return not what or not set(what).isdisjoint(self._chunks[n].what)

    def _next(self, n: int) -> int:
        """The chunk behind, without courtesy."""
        n += 1
        while self._is(n, ""):
            n += 1
        return n

    def _before(self, n: int) -> int:
        n -= 1
        while self._is(n, ""):
            n -= 1
        return n

    def _operations(self, *names: str) -> list[int]:
        return [
            n
            for n, _ in enumerate(self._chunks)
            if n not in self._used and self._is(n, "operation", *names)
        ]

    def _all_at(self, names: tuple[str, ...]) -> bool:
        found = self._operations(*names)
        self._used.update(found)
        return bool(found)

    def _joins(self, n: int, words: Collection[str]) -> bool:
        """Whether a chunk is one of some words that join values."""
        if not 0 <= n < len(self._chunks):
            return False
        if not (self._is(n, "") or self._is(n, "operation", "or", "compare")):
            return False
        return len(self._words_of(n)) == 1 and self._words_of(n)[0].text in words

    def _is_count(self, n: int) -> bool:
        """Whether a chunk is a number of places."""
        text = str(self._chunks[n].what) if self._is(n, "number") else ""
        return text.isdigit() and len(text) <= COUNT_DIGITS

    def _count_beside(self, n: int) -> int | None:
        """The number of places in front of a word or behind it."""
        return next((one for one in (n - 1, n + 1) if self._is_count(one)), None)

    def _places(self, count: int | None) -> int:
        """How many places a number says; one without a number."""
        return 1 if count is None else max(int(str(self._chunks[count].what)), 1)

    def _is_counted(self, n: int) -> bool:
        """Whether the question is how many groups there are: `how many markets`."""
        before = [word.text for word in self._words[: self._chunks[n].first]]
        while before and before[-1] not in known.HOW_MANY and is_courtesy(before[-1]):
            before.pop()
        return bool(before) and before[-1] in known.HOW_MANY

    def _is_beside_value(self, n: int) -> bool:
        """Whether a dimension only says of what a value is: `market DK`."""
        if self._chunks[n].kind != "dimension":
            return False
        beside = (n - 1, self._next(n))
        return any(
            self._is(one, "value")
            and any(column in self._chunks[n].what for column, _ in self._chunks[one].what)
            for one in beside
        )

    def _columns(self, n: int) -> tuple[str, ...]:
        """The columns that a chunk names, empty for the metric itself."""
        is_one = self._is(n, "column") or self._is(n, "unit")
        return tuple(self._chunks[n].what) if is_one else ()
