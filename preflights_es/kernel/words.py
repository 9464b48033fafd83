"""The words of a text as memory keeps and looks for them: folded, whole, no stop words; and names.

One function for both sides: what is kept and what is asked must be cut alike. Nothing here knows
endings: those are a matter of looking, so that what is kept depends on no list of them.
`names.txt` has one product a line: `Name | other names | packages`. Searching, comparing and the
facts of a repository read this one file.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache, lru_cache
from typing import Final, NamedTuple

import msgspec

from preflights_es.kernel.text import late_pattern, own_file

BEGIN: Final = 3  # letters that the forms of a word share
TERM_MAX: Final = 40  # characters of a word that count

_WORD: Final = late_pattern(r"[^\W_]+")


def fold_letters(text: str) -> str:
    """In one case, with umlauts as two letters, so that both ways to type them agree."""
    found = unicodedata.normalize("NFKC", text).casefold()
    if found.isascii():
        return found
    return found.replace("\u00e4", "ae").replace("\u00f6", "oe").replace("\u00fc", "ue")


@lru_cache(maxsize=1024)
def collect_search_words(text: str) -> tuple[str, ...]:
    """The words of a text, each once, in its order; no stop word and no single letter.

    Decisions repeat the names of categories and fields, and many values.
    """
    return tuple(count_search_words(text))


def count_search_words(text: str) -> Counter[str]:
    """How often each of them stands there, in the order of the text."""
    found, stop_words = (
        (word[:TERM_MAX] for word in _WORD.findall(fold_letters(text))),
        read_small_words("stop_words"),
    )
    return Counter(word for word in found if len(word) > 1 and word not in stop_words)


_SUFFIX: Final = late_pattern(r"(?<=\w)['\u2019]\w+")  # "customer's"


def find_distinguishing_words(text: str) -> frozenset[str]:
    """The small words of a text that tell two places apart: "region b", "warehouse 2", "under 16".

    They are digits and letters that stand alone, and words such as `under`. An `a` before a word is
    an article.
    """
    found = _WORD.findall(_SUFFIX.sub("", fold_letters(text)))
    apart, stop_words = read_small_words("apart"), read_small_words("stop_words")
    return frozenset(
        word
        for word, then in zip(found, [*found[1:], "a"], strict=False)
        if word in apart
        or (len(word) == 1 and (word != "a" or len(then) == 1 or then in stop_words))
    )


_FIRST: Final = late_pattern(r"[^\W\d_]+")


def continued(text: str) -> str:
    """English text within a sentence: a small first word loses its capital."""
    found = _FIRST.match(text)
    first = found.group() if found else ""
    is_small = (
        first.casefold() in read_small_words("no_first_names") and first == first.capitalize()
    )
    return text[:1].lower() + text[1:] if is_small else text


@cache
def read_small_words(kind: str) -> frozenset[str]:
    """Small words, folded: those of one kind in `small_words.json`.

    `stop_words` are those of the Snowball project in both languages, and what every decision says;
    `apart` are those of them that tell places apart;
    `no_first_names` English words that no product is called (`Go` is one).
    """
    data = own_file(__spec__, "small_words.json")
    return frozenset(msgspec.json.decode(data, type=dict[str, str])[kind].split())


def cut_word_beginnings(text: str) -> frozenset[str]:
    """How the words of a text begin; two that say the same, by their stems, begin alike."""
    return frozenset(
        word[:BEGIN].replace("y", "i") + "".join(filter(str.isdigit, word[BEGIN:]))
        for word in collect_search_words(text)
    )


# Names -----------------------------------------------------------------------------------------

_VERSION: Final = late_pattern(r" v?\d[\d.x]*$")


class Name(NamedTuple):
    """A product."""

    name: str
    aliases: tuple[str, ...]
    packages: tuple[str, ...]


@cache
def read_product_names() -> tuple[Name, ...]:
    """All of them, in the order of the file."""
    lines = own_file(__spec__, "names.txt").decode().splitlines()
    return tuple(
        Name(name.strip(), _split_at_commas(called), _split_at_commas(packages))
        for name, called, packages in (line.split("|") for line in lines)
    )


def _split_at_commas(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def canonical(value: str) -> str:
    """One spelling for all names and versions of a product, folded; of another value itself."""
    bare = " ".join(fold_letters(value).split())
    return _canonical().get(bare) or _canonical().get(_VERSION.sub("", bare), bare)


@cache
def _canonical() -> dict[str, str]:
    return {called: fold_letters(name) for called, name in _products().items()}


def product(value: str) -> str:
    """The product that a whole text names, as it is written; empty where it names none."""
    return _products().get(" ".join(fold_letters(value).split()), "")


@cache
def _products() -> dict[str, str]:
    return {
        fold_letters(called): one.name
        for one in read_product_names()
        for called in (one.name, *one.aliases)
    }


@cache
def _folded_lines() -> list[str]:
    return fold_letters(own_file(__spec__, "names.txt").decode()).splitlines()


def also_called(word: str) -> tuple[str, ...]:
    """Other names of a product, where a folded word is one; those of one word."""
    for line in _folded_lines():
        if word in line:  # few words are names: a table of all takes longer than to look
            name, called, _ = line.split("|")
            single = [*filter(str.isalnum, map(str.strip, f"{name},{called}".split(",")))]
            if word in single:
                return tuple(other for other in single if other != word)
    return ()


# Months ----------------------------------------------------------------------------------------

MONTHS: Final = (
    ("january", "januar", "jänner", "jan"),
    ("february", "februar", "feb"),
    ("march", "märz", "maerz", "mär", "mar"),
    ("april", "apr"),
    ("may", "mai"),
    ("june", "juni", "jun"),
    ("july", "juli", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oktober", "oct", "okt"),
    ("november", "nov"),
    ("december", "dezember", "dec", "dez"),
)
"""By month: its names in small letters, short ones too."""
NUMBER_OF: Final = {name: number for number, names in enumerate(MONTHS, 1) for name in names}
