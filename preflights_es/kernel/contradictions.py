"""Where a text states or names what the team decided against.

A text *states* a value by the closed list of forms (`core.forms`); whatever else it says of a value
*mentions* it. Aliases and versions of a product are one value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from preflights_es.kernel.artifacts import Record, RecordField
from preflights_es.kernel.forms import Statement, stated
from preflights_es.kernel.names import aliases, canonical, product
from preflights_es.kernel.words import folded


def _listed(words: str) -> frozenset[str]:
    return frozenset(" ".join(words.split()).split(", "))


GENERIC: Final = _listed("""
    all, always, any, application, automatic, both, client, cloud, custom, daily, database, default,
    depends, disabled, do nothing, enabled, false, file, file system, files, header, headers,
    hourly, in memory, later, local, manual, maybe, memory, monthly, neither, never, no,
    no preference, none, not applicable, not needed, not now, not sure, nothing, off, on, optional,
    other, others, own, polling, private, public, remote, required, server, skip, standard,
    streaming, to be decided, true, unclear, undecided, unknown, unsure, weekly, yes
""")
"""Options that every plan may name: they say nothing, or are nouns of any program."""

EVERYDAY: Final = _listed("""
    bun, canary, chef, crystal, dart, echo, edge, express, fiber, flask, flow, gin, go, lit, make,
    native, next, node, parcel, phoenix, play, puppet, react, rest, ring, rocket, rolling, rust,
    salt, spring, swift, task, turbo, wire
""")
"""Options that are also words of prose: in a sentence they count as the option writes them."""

NAMED_MIN: Final = 4  # letters of another name of a product that is looked for

NAME_WORDS_MAX: Final = 3  # words of a name within a scope

_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\s*\n\s*")
_MARK: Final = re.compile(r"\A\s*(?:[-*\u2022]|\d{1,3}[.)])\s+")
"""Of an item of a list."""
_ASIDE: Final = re.compile(r"\s*\([^()]*\)")
_PARTS: Final = re.compile(r"\s*[,;]\s*|\s+(?:and|with|[+&/])\s+")
_VERSION: Final = re.compile(r"[\s-]+v?\d[\d.x]*$")
_GAP: Final = re.compile(r"[\s_-]+")
_BEFORE: Final = r"(?<![^\W_])"
_BEHIND: Final = r"(?![^\W_]|[+#])"
_BEGINS: Final = re.compile(r"(?:\A|[.!?:]\s)[\s\"'(]*\Z")
"""What stands before the first word of a sentence."""

Placed = tuple[str, str]
"""Where a text stands, such as a JSON Pointer, and the text."""


class Chosen(Protocol):
    """One value of a decision, and what was not chosen."""

    @property
    def value(self) -> str: ...
    @property
    def others(self) -> tuple[str, ...]: ...


def turned_down(record: Record, one: RecordField) -> tuple[str, ...]:
    """What was not chosen: the other options of the question, and what an actor named."""
    said = record.considered if one is record.fields[0] else ()
    others = dict.fromkeys((*one.options, *one.unasked, *said))
    return tuple(other for other in others if other != one.value)


def stated_against(text: str, field: Chosen) -> Statement | None:
    """What a text states in place of the decided value; None where it states nothing of it.

    A form covers the whole text, or a whole sentence of it.
    """
    known = _Known.of(field)
    for sentence in _SENTENCES.split(text):
        line = _MARK.sub("", sentence)
        said = stated(line, known.name_of, known.names_any)
        if said is not None and known.is_against(said):
            return said
    return None


def names_another(text: str, field: Chosen) -> bool:
    """Whether a text, as a whole, is another option of the decided question."""
    return _Known.of(field).is_other(text)


class _Known(NamedTuple):
    """What a decided question knows of names, in one spelling each."""

    chosen: frozenset[str]
    others: frozenset[str]
    spelled: dict[str, str]

    @classmethod
    def of(cls, field: Chosen) -> _Known:
        forms = _forms(field.value)
        chosen = frozenset(map(canonical, forms))
        others = frozenset(map(canonical, _others(field).values()))
        spelled = {_folded(form): form for form in (*_others(field).values(), *forms)}
        return cls(chosen, others - chosen, spelled)

    def name_of(self, text: str) -> str:
        """The option or product that a whole text names; empty where none."""
        return self.spelled.get(_folded(text)) or product(text)

    def names_any(self, text: str) -> bool:
        """Whether one stands anywhere in a text; words of prose do not count."""
        words = _folded(text).split()
        spans = (
            " ".join(words[at : at + size])
            for size in range(1, NAME_WORDS_MAX + 1)
            for at in range(len(words))
        )
        return any(self.name_of(one) and one not in EVERYDAY | GENERIC for one in spans)

    def is_other(self, value: str) -> bool:
        """Whether a value is one that was turned down."""
        return canonical(value) in self.others

    def is_against(self, said: Statement) -> bool:
        """Whether a statement has another value, or replaces the decided one."""
        replaces = bool(said.replaced) and canonical(said.replaced) in self.chosen
        return canonical(said.value) not in self.chosen and (replaces or self.is_other(said.value))


def _folded(text: str) -> str:
    return " ".join(folded(text).split())


def against(texts: tuple[Placed, ...], whole: str, field: Chosen) -> list[Placed]:
    """Pairs of another option and the first place that names it; none with the decided value.

    Args:
        whole: all texts, case folded: most plans name no option, which is quickly seen.
    """
    others = _others(field)
    if not any(word.partition(" ")[0] in whole for word in others):
        return []
    called = {name for option in field.others for name in _called(option)}
    decided = (*_forms(field.value), *aliases(field.value))
    named = _pattern((*decided, *others.values()))
    chosen = {_plain(form) for form in decided}
    places: dict[str, str] = {}
    for pointer, text in texts:
        folded = text.casefold()
        written = text if len(text) == len(folded) else folded
        for match in named.finditer(folded):
            word = _plain(match.group())
            if word in chosen:
                return []
            is_plain = word not in EVERYDAY and others[word] not in called
            if is_plain or _is_name(written, match.start(), others[word]):
                places.setdefault(word, pointer)
    return [(others[word], pointer) for word, pointer in places.items()]


def _others(field: Chosen) -> dict[str, str]:
    """The options that count, by their words: each as it stands, and without what is in brackets.

    What is a part of the decided value is no other option.
    """
    value = _plain(field.value)
    found: dict[str, str] = {}
    for option in field.others:
        for form in (option.strip(), _ASIDE.sub("", option).strip(), *_called(option)):
            word = _plain(form)
            if _is_word(word) and not _is_generic(word):
                found.setdefault(word, form)
    return {word: form for word, form in found.items() if not _pattern((word,)).search(value)}


def _called(option: str) -> Iterator[str]:
    """Other names of a product, written as names are: in lower case many are words of prose."""
    for name in aliases(option):
        if name.isalpha() and len(name) >= NAMED_MIN:
            yield name.capitalize()


def _is_word(text: str) -> bool:
    """Numbers and single letters stand in too many texts."""
    return len(text) > 1 and any(map(str.isalpha, text))


def _is_generic(word: str) -> bool:
    bare = _plain(_ASIDE.sub("", word))
    return bare in GENERIC or word in GENERIC or bare.startswith(("other ", "none ", "custom "))


def _forms(value: str) -> tuple[str, ...]:
    """Ways to name a decided value: as it stands, its parts, and each without its version."""
    bare = _ASIDE.sub("", value)
    inside = (aside.strip(" ()") for aside in _ASIDE.findall(value))
    parts = (value, bare, *_PARTS.split(bare), *(p for one in inside for p in _PARTS.split(one)))
    forms = {form: None for part in parts for form in (part, _VERSION.sub("", part))}
    return tuple(form for form in forms if form == value or _is_word(form))


def _plain(text: str) -> str:
    """In one case, and with one blank where blanks, hyphens or underscores stand."""
    return _GAP.sub(" ", text.casefold()).strip()


@lru_cache(maxsize=256)
def _pattern(options: tuple[str, ...]) -> re.Pattern[str]:
    """Any of these as whole words, the longest first, in a text that is case folded."""
    longest = sorted({_plain(option) for option in options}, key=len, reverse=True)
    words = "|".join(r"[\s_-]+".join(map(re.escape, one.split(" "))) for one in longest if one)
    return re.compile(f"{_BEFORE}(?:{words}){_BEHIND}")


def _is_name(text: str, start: int, option: str) -> bool:
    """Whether a word of prose is meant as the option: in a path, or written as the option is.

    A capital that only begins a sentence says nothing.
    """
    written = text[start : start + len(option)]
    if " " not in text.strip() or (written.isupper() and len(written) > 2):
        return True
    return written == option and not option.islower() and not _BEGINS.search(text[:start])
