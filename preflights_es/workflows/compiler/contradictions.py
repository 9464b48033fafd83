"""Where a plan names what the team decided against (docs/specs/compiler.md, section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from preflights_es.core.verdict import VIOLATIONS_MAX, Violation, quoted
from preflights_es.workflows.compiler.values import DecidedField, ReadDecision


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

_ASIDE: Final = re.compile(r"\s*\([^()]*\)")
_PARTS: Final = re.compile(r"\s*[,;]\s*|\s+(?:and|with|[+&/])\s+")
_VERSION: Final = re.compile(r"[\s-]+v?\d[\d.x]*$")
_GAP: Final = re.compile(r"[\s_-]+")
_BEFORE: Final = r"(?<![^\W_])"
_BEHIND: Final = r"(?![^\W_]|[+#])"
_BEGINS: Final = re.compile(r"(?:\A|[.!?:]\s)[\s\"'(]*\Z")
"""What stands before the first word of a sentence."""

Placed = tuple[str, str]
"""A JSON Pointer, and the text that stands there."""


def contradictions(
    texts: Iterable[Placed], decisions: Iterable[ReadDecision]
) -> tuple[Violation, ...]:
    """Where texts name another option of a decided question, and its decided value nowhere.

    Each option is found once, where it is named first; at most `VIOLATIONS_MAX`.
    """
    decided = tuple(decisions)
    placed = tuple(texts) if decided else ()
    whole = "\n".join(text for _, text in placed).casefold()
    found: list[Violation] = []
    for decision in decided:
        for field in decision.fields:
            for option, pointer in _against(placed, whole, field):
                message = (
                    f"names {quoted(option)}, but the decision {decision.uid} "
                    f"has {quoted(field.value)} for {quoted(field.name)}"
                )
                found.append(Violation(pointer, message))
            if len(found) >= VIOLATIONS_MAX:
                return tuple(found[:VIOLATIONS_MAX])
    return tuple(found)


def _against(texts: tuple[Placed, ...], whole: str, field: DecidedField) -> list[Placed]:
    """Pairs of another option and the first place that names it; none with the decided value.

    Args:
        whole: all texts, case folded: most plans name no option, which is quickly seen.
    """
    others = _others(field)
    if not any(word.partition(" ")[0] in whole for word in others):
        return []
    decided = _forms(field.value)
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
            if word not in EVERYDAY or _is_name(written, match.start(), others[word]):
                places.setdefault(word, pointer)
    return [(others[word], pointer) for word, pointer in places.items()]


def _others(field: DecidedField) -> dict[str, str]:
    """The options that count, by their words: each as it stands, and without what is in brackets.

    What is a part of the decided value is no other option.
    """
    value = _plain(field.value)
    found: dict[str, str] = {}
    for option in field.others:
        for form in (option.strip(), _ASIDE.sub("", option).strip()):
            word = _plain(form)
            if _is_word(word) and not _is_generic(word):
                found.setdefault(word, form)
    return {word: form for word, form in found.items() if not _pattern((word,)).search(value)}


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
