"""Whether a decision speaks of the subject of a text: by its title, its value and its scope alone.

A word that both share says little: half of the unseen texts that share one with a title are about
something else (docs/specs/memory.md, section 3.1). What they share is a topic, or a title whole.
Words of our trade ("service", "data", "library") say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, zip_longest
from typing import Final, NamedTuple

from preflights_es.features.clarification.domain.events import TopicsFound
from preflights_es.features.clarification.domain.pack import load_pack
from preflights_es.features.clarification.domain.topics import lexicon, topic_named, words_of
from preflights_es.features.recall.use.variants import PART_MIN, english_stem, is_form, stems
from preflights_es.kernel.text import late_pattern
from preflights_es.words.language import (
    also_called,
    canonical,
    collect_search_words,
    fold_letters,
    language_of,
    product,
    read_small_words,
)

FIRST: Final = 2  # words of a text that say what it is about
HALF: Final = 0.5  # of the words of a text
OWN_MIN: Final = 2  # words of a title beside its value that are a subject
NAME_WORDS_MAX: Final = 3  # of a value that may be a name
REST_MIN: Final = 3  # letters of the other part of a compound


class Titled(NamedTuple):
    """What is looked at of a decision."""

    title: str
    values: tuple[str, ...]
    scope: str = ""
    category: str = ""
    chosen: str = ""
    """What the text of a record of another tool says was chosen."""


def subject_words(text: str) -> tuple[str, ...]:
    """The words of a text that may be its subject, in its order."""
    return tuple(word for word in collect_search_words(text) if not is_of_trade(word))


def is_of_trade(word: str) -> bool:
    """Whether most texts of our trade may have a word, or it is a number."""
    return word.isdecimal() or _is_one(word, "trade")


def _is_one(word: str, kind: str) -> bool:
    """Whether a word is a form of a small one of a kind; German forms are listed, one by one."""
    return english_stem(word) in _stems_of(kind)


@cache
def _stems_of(kind: str) -> frozenset[str]:
    return frozenset(map(english_stem, read_small_words(kind)))


def stems_of_subject(title: str, values: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The stems of a title without its values; none where it lacks one of them."""
    rest = fold_letters(title)
    for value in map(fold_letters, values):
        before, found, after = rest.partition(value)
        if not found:
            return ()
        rest = f"{before} {after}"
    return stems(" ".join(subject_words(rest)))


class Subject:
    """What a text is about, and how decisions stand to it."""

    def __init__(self, text: str, found: TopicsFound, scope: str = "", inlined: str = "") -> None:
        """Args:
        found: what the rules find in the text.
        scope: what the text is for, where that is known.
        inlined: the text of the team's own pack.
        """
        self.words = subject_words(f"{text} {scope}")
        self._words = subject_words(text)
        self._full = tuple(word for word in self._words if not _is_one(word, "loose"))
        self._is_german = language_of(text) == "de"
        heads = {*_heads(text, is_german=self._is_german)}
        self._first = tuple(word for word in self._full[:FIRST] if word in heads)
        self._inlined = inlined
        self._asked = {*found.topics, topic_named(text)[0]} - {""}
        named = (*found.stated, *found.mentioned, *found.replaced)
        self._named = {(one.topic, canonical(one.value)) for one in named if one.topic}

    def called(self) -> frozenset[str]:
        """The words of the topics that it asks about or names a value of, and of their values."""
        ids = {*self._asked, *(topic for topic, _ in self._named)}
        found: list[str] = []
        for topic in load_pack(self._inlined).topics:
            if topic.id in ids:
                found += (*topic.words, *topic.matters, *topic.values)
                found += (*topic.options, *topic.options_de, *chain(*topic.spellings.values()))
        own = subject_words(" ".join(found))
        return frozenset(name for word in own for name in (word, *also_called(word)))

    def is_of(self, one: Titled) -> bool:
        """Whether it decides a topic that is asked about, or differs from a value that is named;
        or the text has its value, all words of its title, or of what it is for.
        """
        topics, values = self._decided(one)
        others = (topic for topic, value in self._named if value not in values)
        if not topics.isdisjoint((*self._asked, *others)) or self._has_all(one.scope):
            return True
        value = _of_value(one)
        named = [word for word in self._full if any(_is_one_name(word, term) for term in value)]
        if named and (named[0] in self._first or len(named) >= HALF * len(self._full)):
            return True
        return self._has_all(one.title, value)

    def _decided(self, one: Titled) -> tuple[set[str], set[str]]:
        """Topics of its title, else of its values, else of its scope; and the first value that its
        title and each value names.
        """
        known = lexicon(self._inlined)
        named = [known.mentions(words_of(text)) for text in (one.title, *one.values, one.chosen)]
        of_values = (known.topic_of(value, []) for of in named for value in of)
        topics = {_topic_of_head(one.title)} - {""} or {topic.id for topic in of_values if topic}
        topics = topics or {topic.id for topic in known.topics(words_of(one.scope))}
        return topics, {canonical(of[0]) for of in named if of}

    def _has_all(self, title: str, value: frozenset[str] = frozenset()) -> bool:
        """Whether it has all words of a title beside a value; it begins with a single one."""
        terms = [word for word in subject_words(title) if word not in value]
        if len({*terms}) < OWN_MIN:
            is_whole = len(collect_search_words(title)) == 1
            return is_whole and any(_is_one_name(w, term) for w in self._first for term in terms)
        return all(any(self._is_same(word, term) for word in self._words) for term in terms)

    def _is_same(self, word: str, term: str) -> bool:
        if _is_one_name(word, term):
            return True
        return self._is_german and (_has_part(word, term) or _has_part(term, word))


def _topic_of_head(title: str) -> str:
    """The topic that a title ends with before a preposition: `sign-in` of "Customer sign-in"."""
    found, small = title.split(), read_small_words("prepositions") | read_small_words("definite")
    ends = (at for at, word in enumerate(found) if at and fold_letters(word) in small)
    noun = found[: next(ends, len(found))]
    topics = (topic_named(" ".join(noun[at:]))[0] for at in range(len(noun)))
    return next(filter(None, topics), "")


def _is_one_name(word: str, term: str) -> bool:
    """Whether two words are forms of one, or names of one product."""
    return word == term or is_form(word, term) or term in also_called(word)


def _heads(text: str, *, is_german: bool) -> Iterator[str]:
    """Words before a preposition that no noun follows: not `ticket` of "the ticket page"."""
    found = [*_WORD.finditer(text)]
    for one, then in zip_longest(found, found[1:]):
        if fold_letters(one[0]) in read_small_words("prepositions"):
            return
        is_apart = then is None or text[one.end() : then.start()] not in (" ", "-")
        if is_apart or not subject_words(then[0]) or (is_german and then[0].islower()):
            yield fold_letters(one[0])


_WORD: Final = late_pattern(r"[^\W_]+")
_FORM: Final = late_pattern(
    r"(?i:(?:we )?(?:use|adopt|choose|prefer) (?P<en>.+?) (?:for|as) .+|(?P<de>\S+) f\u00fcr .+)"
)
"""Titles that say a value even where it is no name."""


def _of_value(one: Titled) -> frozenset[str]:
    """The words of a value that is a name, or that the title says in a form of its own."""
    values = [value for value in one.values if _is_name(value)]
    if not values and (said := _FORM.fullmatch(one.title)):
        values = [said["en"] or said["de"]]
    return frozenset(word for value in values for word in collect_search_words(value)) - {
        *collect_search_words(one.scope)
    }


def _is_name(value: str) -> bool:
    is_written_so = value[:1].isupper() and len(value.split()) <= NAME_WORDS_MAX
    return is_written_so or product(value) != ""


def _has_part(word: str, part: str) -> bool:
    """Whether a German compound begins or ends with a word."""
    stem = part.removesuffix("e").removesuffix("en")
    if len(stem) < PART_MIN or len(word) - len(stem) < REST_MIN:
        return False
    return word.startswith(stem) or word.endswith((stem, part))
