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

from preflights_es.kernel.text import late_pattern

BEGIN: Final = 3  # letters that the forms of a word share
TERM_MAX: Final = 40  # characters of a word that count

_WORD: Final = late_pattern(r"[^\W_]+")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS: Final = _listed(
    """
    a aber about above after again against all alle allem allen aller alles als also am an and
    ander andere anderem anderen anderer anderes any are aren as at auch auf aus be because been
    before bei beim being below benutzen between bin bis bist bitte both but by can cannot
    choose could couldn da damit dann das dass decide decided decision dem den denn der derer
    des dessen dich did didn die dies diese diesem diesen dieser dieses dir do doch does doesn
    doing don done dort down du durch during each eigentlich ein eine einem einen einer eines
    einig einige einigen einmal entscheiden entscheidung entschieden er es etwas euer eure even
    ever few for from fuer further gegen genutzt gerade get gewesen go going got hab habe haben
    had hadn has hasn hat hatte hatten have haven having he her here hers herself hier him
    himself hin hinter his how i ich if ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in
    indem ins instead into is isn ist it its itself jede jedem jeden jeder jedes jene jetzt just
    kann kein keine keinem keinen keiner koennen koennte let like ll machen made make mal man
    manche many may me mein meine meinem meinen meiner mich might mir mit more most much muss
    musste must my myself nach need needs nehmen nicht nichts no noch nor not nun nur nutzen ob
    oder of off ohne on once one ones only or ought our ours ourselves out over own please re
    same sehr sein seine seinem seinen seiner selbst shall she should shouldn sich sie sind so
    solche soll sollen sollte some sondern sonst statt still such than that the their theirs
    them themselves then there these they this those through to too ueber um und under uns unser
    unsere unserem unseren unserer unter until up us use used uses using ve verwenden verwendet
    very viel vom von vor waehrend want wants war waren warum was wasn we weg weil weiter welche
    welchem welchen welcher welches wenn wer werde werden were weren what when where which while
    who whom why wie wieder wieso will wir wird with wo wollen wollte womit won would wouldn
    wuerde wuerden wurde yet you your yours yourself yourselves zu zum zur zwar zwischen
    """
)
"""English and German, folded: those of the Snowball project, and what every decision says."""


def folded(text: str) -> str:
    """In one case, with umlauts as two letters, so that both ways to type them agree."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    if plain.isascii():
        return plain
    return plain.replace("\u00e4", "ae").replace("\u00f6", "oe").replace("\u00fc", "ue")


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, each once, in its order; no stop word and no single letter.

    Decisions repeat the names of categories and fields, and many values.
    """
    return tuple(counted(text))


def counted(text: str) -> Counter[str]:
    """How often each of them stands there, in the order of the text."""
    found = (word[:TERM_MAX] for word in _WORD.findall(folded(text)))
    return Counter(word for word in found if len(word) > 1 and word not in STOP_WORDS)


_BEGINS: Final = _listed(
    """
    a after all an and another any are as at because before both but by each every few for four
    from he her here his if in is it its less many more most much no not nothing of on one only or
    other our own she since so some that the their there these they this those three to two us was
    we were when while with within without you your
    """
)
"""English words that no product is called; `Go` is one."""
_FIRST: Final = late_pattern(r"[^\W\d_]+")


def continued(text: str) -> str:
    """English text within a sentence: a small first word loses its capital."""
    found = _FIRST.match(text)
    first = found.group() if found else ""
    is_small = first.casefold() in _BEGINS and first == first.capitalize()
    return text[:1].lower() + text[1:] if is_small else text


@cache
def plain(kind: str) -> frozenset[str]:
    """Small words of both languages, folded: those of one kind in `small_words.json`."""
    return frozenset(
        msgspec.json.decode(_data("small_words.json"), type=dict[str, str])[kind].split()
    )


def _data(name: str) -> bytes:
    # The file is part of the program; importlib.resources costs more than all that is done with it.
    assert __spec__ is not None, "a module of a package"
    found: bytes = __spec__.loader.get_data(__file__.rpartition("words.")[0] + name)  # type: ignore[union-attr]
    return found


def begins(text: str) -> frozenset[str]:
    """How the words of a text begin; two that say the same, by their stems, begin alike."""
    return frozenset(
        word[:BEGIN].replace("y", "i") + "".join(filter(str.isdigit, word[BEGIN:]))
        for word in words(text)
    )


# Names -----------------------------------------------------------------------------------------

_VERSION: Final = late_pattern(r" v?\d[\d.x]*$")


class Name(NamedTuple):
    """A product."""

    name: str
    aliases: tuple[str, ...]
    packages: tuple[str, ...]


@cache
def names() -> tuple[Name, ...]:
    """All of them, in the order of the file."""
    lines = _data("names.txt").decode().splitlines()
    return tuple(
        Name(name.strip(), _split(called), _split(packages))
        for name, called, packages in (line.split("|") for line in lines)
    )


def _split(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def canonical(value: str) -> str:
    """One spelling for all names and versions of a product, folded; of another value itself."""
    bare = " ".join(folded(value).split())
    return _canonical().get(bare) or _canonical().get(_VERSION.sub("", bare), bare)


@cache
def _canonical() -> dict[str, str]:
    return {called: folded(name) for called, name in _products().items()}


def product(value: str) -> str:
    """The product that a whole text names, as it is written; empty where it names none."""
    return _products().get(" ".join(folded(value).split()), "")


@cache
def _products() -> dict[str, str]:
    return {folded(called): one.name for one in names() for called in (one.name, *one.aliases)}


def aliases(value: str) -> tuple[str, ...]:
    """Other names of the product that a value names; none of another value."""
    of = canonical(value)
    return next((one.aliases for one in names() if folded(one.name) == of), ())


@cache
def _called() -> dict[str, tuple[str, ...]]:
    """By each name that is one word: the others that are."""
    found: dict[str, tuple[str, ...]] = {}
    for one in names():
        single = [folded(called) for called in (one.name, *one.aliases) if called.isalnum()]
        found |= {name: tuple(other for other in single if other != name) for name in single}
    return found


def also_called(word: str) -> tuple[str, ...]:
    """Other names of a product, where a folded word is one; those of one word."""
    return _called().get(word, ())


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
