"""Which words of decisions stand for a word of a question: forms, names, parts, typing errors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import Any, Final

from preflights_es.features.recall.domain.rules import Variants
from preflights_es.kernel.text import late_pattern, own_file
from preflights_es.words.language import (
    also_called,
    collect_search_words,
    find_distinguishing_words,
)

SAME: Final = 1.0  # what another form of the word, or another name of the product, counts
BEGINS: Final = 0.4  # a word that begins with it
PART: Final = 0.6  # a part of a compound, or a compound that it is a part of
TYPED: Final = 0.7  # a word that differs by a typing error
SYNONYM: Final = 0.5
BEGIN: Final = 3  # letters that two forms of a word share
VERB_MIN: Final = 7  # letters of a German verb in the third person: `Wert` and `alert` are none
PART_MIN: Final = 5  # letters of a part of a compound
GUESSED_MIN: Final = 5  # letters of a word of which parts and errors are looked for
LONGER_MAX: Final = 2  # letters that an error adds or takes
LIKENESS: Final = 0.84  # of two words that differ by an error, as `difflib` measures it


def find_variants(
    word: str,
    near: Callable[[str], Iterable[str]],
    there: Callable[[], Collection[str]],
    *,
    means: bool = True,
) -> Variants:
    """Its forms; for a word that no decision has, parts of it and errors, or else synonyms.

    Args:
        near: words of decisions that begin like another one.
        there: all words of decisions.
        means: whether synonyms count: of the many words of a task some always have one.
    """
    known = {one for name in (word, *also_called(word)) for one in near(name)}
    found = find_word_forms(word, known)
    if not known & found.keys():
        others = guesses(word, there())
        found |= others or (widened_by(synonyms(word), near) if means else {})
    return found


def find_word_forms(word: str, near: Iterable[str]) -> Variants:
    """The word itself, its forms and names among words that begin like it, and longer words.

    Args:
        near: words of decisions that begin with the same letters as it or one of its names.
    """
    found: Variants = {word: SAME}
    found |= dict.fromkeys(also_called(word), SAME)
    for term in near:
        if term in found:
            continue
        if is_form(word, term):
            found[term] = SAME
        elif len(word) > BEGIN and term.startswith(word):
            found[term] = BEGINS
    return found


def is_form(word: str, other: str) -> bool:
    """Whether two words are forms of one: a "broker" is no form of "broken"."""
    if word_stems(word).isdisjoint(word_stems(other)):
        return False
    is_agent = word.endswith("er") != other.endswith("er")
    return not is_agent or word.startswith(other) or other.startswith(word)


def guesses(word: str, there: Collection[str]) -> Variants:
    """For a word that no decision has: parts of it, words of which it is a part, and near ones.

    Args:
        there: all words of decisions.
    """
    found: Variants = {}
    if len(word) < GUESSED_MIN or word.isdecimal():
        return found
    for term in there:
        is_part = len(term) >= PART_MIN and (word.startswith(term) or word.endswith(term))
        if is_part or term.endswith(word):
            found[term] = PART
    if not found:
        like = [
            one for one in there if one[0] == word[0] and abs(len(one) - len(word)) <= LONGER_MAX
        ]
        from difflib import get_close_matches

        found = dict.fromkeys(get_close_matches(word, like, 3, LIKENESS), TYPED)
    return found


def synonyms(word: str) -> tuple[str, ...]:
    """Ordinary words of the same matter."""
    of_word = word_stems(word)
    lines = [
        line
        for line in _read_synonym_lines()
        if any(not of_word.isdisjoint(word_stems(one)) for one in line)
    ]
    return tuple(dict.fromkeys(one for line in lines for one in line if one != word))


def widened_by(others: Iterable[str], near: Callable[[str], Iterable[str]]) -> Variants:
    """Words of decisions that are forms of synonyms, each as its nearest one.

    Args:
        near: as `forms` wants them for a word.
    """
    found: Variants = {}
    for synonym in others:
        for term, counts in find_word_forms(synonym, near(synonym)).items():
            found[term] = max(found.get(term, 0.0), SYNONYM * counts)
    return found


@cache
def _read_synonym_lines() -> tuple[tuple[str, ...], ...]:
    text = own_file(__spec__, "data/synonyms.txt").decode()
    return tuple(collect_search_words(line) for line in text.splitlines())


def stems(text: str) -> tuple[frozenset[str], ...]:
    """What a scope says, as English and as German: stems of its words, and its labels.

    Two scopes say the same where those of one language are the same; of no word there are none.
    """
    of_text, small = collect_search_words(text), find_distinguishing_words(text)
    if not (of_text or small):
        return ()
    return tuple(
        small.union(_stemmed(stemmer, word) for word in of_text) for stemmer in _stemmers()
    )


def may_have_stems(
    text: str, found: tuple[frozenset[str], ...], *, among_others: bool = False
) -> bool:
    """Whether a text may have these stems: they begin as its words do. Stemming costs more."""
    words = {*collect_search_words(text), *find_distinguishing_words(text)}
    has = {word[0] for word in words}
    needs = {stem[0] for of_language in found[:1] for stem in of_language}
    return needs <= has if among_others else needs == has


def _stemmed(stemmer: Any, word: str) -> str:
    stem = _stem_of(stemmer, word)
    return stem[:-1] if stem.endswith("niss") else stem  # `Ereignis`, `Ereignisse`


@lru_cache(maxsize=10_000)
def word_stems(word: str) -> frozenset[str]:
    """As English and as German: no text says in which it is written.

    The stemmer leaves the ending of `drosselt` to a verb, and takes that of `Drosselung`.
    """
    english, german = _stemmers()
    is_verb = len(word) >= VERB_MIN and word.endswith(("elt", "ert"))
    verb = word.removesuffix("t") if is_verb else word
    american = _BRITISH.sub(lambda ending: _AMERICAN[ending[0]], word)
    of_english = {_stem_of(english, one) for one in (word, american)}
    return frozenset((*of_english, _stem_of(german, word), _stem_of(german, verb)))


_AMERICAN: Final = {"ou": "o", "enc": "ens", "is": "iz"}
_BRITISH: Final = late_pattern(
    r"(?<=\w{3})(?:ou(?=rs?\Z)|enc(?=es?\Z)|is(?=(?:e[ds]?|ing|ations?)\Z))"
)
"""Endings that are written in another way in America."""


def english_stem(word: str) -> str:
    """The stem of a word as English."""
    return _stem_of(_stemmers()[0], word)


@lru_cache(maxsize=20_000)
def _stem_of(stemmer: Any, word: str) -> str:
    with _stemming:  # a stemmer keeps the word that it is at
        stem: str = stemmer.stemWord(word)
        return stem


_importing: Final = Lock()
_stemming: Final = Lock()


@cache
def _stemmers() -> tuple[Any, ...]:
    # The package reads its 33 languages when it is imported, which takes longer than a whole
    # search; its modules import only one another, so the two are read from its folder.
    with _importing:
        found = find_spec("snowballstemmer")
        assert found is not None, "a dependency"
        package = sys.modules.setdefault("snowballstemmer", module_from_spec(found))
        try:
            english = import_module("snowballstemmer.english_stemmer")
            german = import_module("snowballstemmer.german_stemmer")
        finally:
            if not hasattr(package, "stemmer"):  # other programs find the package whole
                del sys.modules["snowballstemmer"]
    return english.EnglishStemmer(), german.GermanStemmer()
