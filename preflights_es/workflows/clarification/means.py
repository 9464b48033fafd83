"""How an intention says that something is done, in words that no list of values holds.

A topic whose way is described is not asked about (docs/specs/clarification.md, section 12.1).
"""

from __future__ import annotations

import re
from bisect import bisect
from typing import Final

from preflights_es.core.late_pattern import late_pattern
from preflights_es.workflows.clarification.index import Finder
from preflights_es.workflows.clarification.mentions import Mention, Seen, starting
from preflights_es.workflows.clarification.parts import PRESENT, TAKING, USING, Part
from preflights_es.workflows.clarification.terms import ENDS, START, Text, ends_of

BEFORE: Final = 4  # words from `in a` or `with` to the thing that is used

NAME_MAX: Final = 10  # letters of a name; longer words are German nouns


def described(
    topics: list[int],
    intention: str,
    text: Text,
    seen: Seen,
    parts: list[tuple[Mention, Part]],
    finder: Finder,
) -> dict[int, Mention | None]:
    """The topics of which the text says how, with the value where it is sure.

    A text that tells of trouble says how it is today, not how it shall be.
    """
    is_calm = "?" not in text.present and finder.doubts.isdisjoint(text.present)
    if not topics or not is_calm or finder.trouble.found(text) or seen.roles[PRESENT]:
        return {}
    found: dict[int, Mention | None] = {
        m.topic: m
        for m, part in reversed(parts)
        if part == "present" and m.is_loose and text.words[m.end] not in _RELATIVE
    }
    ends = ends_of(text.words)
    enough = finder.enough.found(text)
    ways = [*_things(text, seen, finder), *_strangers(text, seen)]
    for topic in topics:
        places = [at for at, _, number in seen.hits if finder.speaks[number] == topic]
        sentences = {bisect(ends, at) for at in places}
        called = {at for at, name in seen.called if name == topic}
        for first, start, end, is_sure in ways:
            if topic not in found and start not in called and bisect(ends, start) in sentences:
                value = _as_written(intention, text.typed[first:end])
                found[topic] = Mention(first, end, topic, value, False) if is_sure else None
        if any(bisect(ends, at) in sentences for at, _, _ in enough):
            found.setdefault(topic, None)
    return {topic: found[topic] for topic in topics if topic in found}


def is_precise(intention: str, text: Text, finder: Finder) -> bool:
    """Whether a text names code and tells of no trouble: a small task, `add --quiet to sync`."""
    return bool(_CODE.search(intention)) and not finder.trouble.found(text)


_CODE: Final = late_pattern(
    r"`|\w\(\)|(?<!\w)--\w|\w/\w+/|\w/(?!\S)|[a-z]_[a-z]|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z][a-z]"
    r"|\w\.(?:py|js|tsx?|json|xml|css|html|go|rs|java|kt|ya?ml|md|sh|toml|sql)\b"
)


def _as_written(intention: str, words: list[str]) -> str:
    """Words with the marks between them: `append-only table`."""
    found = re.search(r"[\W_]{1,2}".join(map(re.escape, words)), intention)
    return found.group() if found else " ".join(words)


_RELATIVE: Final = frozenset(("that", "which", "der", "die", "das"))
_Way = tuple[int, int, int, bool]
"""The first word of a value, that of its noun, the word behind its last, whether it is sure."""


def _things(text: Text, seen: Seen, finder: Finder) -> list[_Way]:
    """Things behind a word such as `with`: `in a JSON file`, `per SQL dump`."""
    words, ways = text.words, []
    begins = {start: end for start, end, _ in finder.means.found(text)}
    sure = {end for _, end in seen.roles[USING]}
    for start, last in begins.items():
        end = last
        while end in begins:
            end = begins[end]
        at = start - 1
        while at > start - 1 - BEFORE and words[at] not in finder.through and words[at] != START:
            at -= 1
        if words[at] not in finder.through or not ENDS.isdisjoint(words[at:start]):
            continue
        if not _NOT.isdisjoint(words[at + 1 : start]):
            continue
        first = at + 1
        while first < start and words[first] in finder.skipped:
            first += 1
        is_new = words[at + 1] in _ARTICLES and words[at] not in _AT_HAND
        is_new = is_new or (at + 1 in sure and words[at + 1] not in finder.known)
        if not _FORMATS.issuperset(words[first:end]):
            ways.append((first, start, end, is_new))
    return ways


_FORMATS: Final = frozenset(("csv", "csvs", "json", "xml", "excel"))
"""How data looks may be a detail: `export reports as Excel in the background`."""
_NOT: Final = frozenset((
    "all", "alle", "allen", "every", "each", "jede", "jeden", "jedem", "jeder",
    "without", "ohne", "no", "not", "kein", "keine", "nicht",
))  # fmt: skip
_AT_HAND: Final = frozenset(("to", "from", "aus", "over", "at", "bei", "behind", "hinter", "gegen"))
_ARTICLES: Final = frozenset(("a", "an", "ein", "eine", "einen", "einem", "einer"))


def _strangers(text: Text, seen: Seen) -> list[_Way]:
    """Names that no list holds: with a capital letter inside, or behind a word such as `with`."""
    ways = []
    chosen = {end for _, end in seen.roles[TAKING]}
    used = chosen.union(end for _, end in seen.roles[USING])
    if text.words[2] in _AS:
        used.add(1)
    for at, name in enumerate(text.typed):
        if name.islower() or name.rstrip("s").isupper():
            is_per = text.words[at - 1] == "per" and not name.islower()
            is_odd, is_name = False, at in used and (is_per or text.words[at - 1] in _VIA)
        else:
            is_odd = not name.istitle() and name[0].isupper()
            is_noun = len(name) > NAME_MAX or name.endswith(_GERMAN)
            is_name = is_odd or (at in used and not is_noun)
        if not is_name or not name.isalpha():
            continue
        if not any(end > at for _, end, _ in starting(at - 3, at + 1, seen.hits)):
            ways.append((at, at, at + 1, is_odd or at in chosen))
    return ways


_VIA: Final = frozenset(("via", "using", "mittels"))
_AS: Final = frozenset(("as", "als"))
_GERMAN: Final = ("ung", "ungen", "heit", "keit", "en", "er", "ern", "ion", "tion", "aft")
"""Ends of German nouns: what ends so is no name."""
