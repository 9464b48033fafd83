"""The reference: what is looked for, and how a new decision stands to an older one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from preflights_es.features.recall.domain.events import QUERIES_MAX, WORDS_MAX, FoundDecision
from preflights_es.kernel.text import late_pattern, one_line
from preflights_es.words.decisions import Evolution
from preflights_es.words.language import EVERYDAY, canonical, collect_search_words, fold_letters

PACKAGE: Final = "preflights_es.features.recall"
STEP: Final = "rewrite"
CONTRACT: Final = "rewrite_query.v1"
"""Name of the step's prompt and of its contract."""
EMPTY: Final = ("other", "add", "introduce", "hinzufuegen", "einfuehren")
"""The category of whatever has none, and verbs that begin any intention: they say nothing."""

# 1. Asking -----------------------------------------------------------------------------------


def rewritten(question: str) -> tuple[str, ...]:
    """The words of a question that count, as one query; none where it has no such word."""
    own = search_words((question,))[:WORDS_MAX]
    return (" ".join(own),) if own else ()


def search_words(queries: Iterable[str]) -> tuple[str, ...]:
    """The words that are looked for, each once."""
    found = [
        word
        for query in queries
        for word in collect_search_words(query)[:WORDS_MAX]
        if word not in EMPTY
    ]
    return tuple(dict.fromkeys(found))[: QUERIES_MAX * WORDS_MAX]


# 2. Answering --------------------------------------------------------------------------------


def best(found: Iterable[FoundDecision]) -> list[FoundDecision]:
    """Decisions that were found: the higher score first, then the newer, then by uid."""
    return sorted(found, key=lambda one: (-one.score, -one.accepted_at, one.uid))


# 3. How a new decision stands to an older one --------------------------------------------------

REPLACING: Final = late_pattern(
    r"(?<!\w)(?:replac\w+|migrat(?:e|es|ed|ing)|migration (?:to|from|of|der|des|von|nach|auf)"
    r"|switch\w*|swap\w*|instead of|mov(?:e|ing) (?:from|off|away)|get(?:ting)? rid of|phas\w+ out"
    r"|\Achang(?:e|ing) (?:the|our)|ersetz\w*|migrier\w*|umstell\w*|umgestellt|umsteigen|umstieg"
    r"|umzieh\w*|umzug|umgezogen|wechsel\w*|gewechselt|aus(?:ge)?tausch\w*|ab(?:ge)?loes\w*"
    r"|loes(?:en|t)\b.*\bab|statt|anstatt|anstelle)(?!\w)"
)
"""Words of an intention that takes the place of something, English and German, folded."""

OPEN: Final = ("description", "decision")
"""Fields of the category Other that are asked without a topic."""


def have_same_stems(one: tuple[frozenset[str], ...], other: tuple[frozenset[str], ...]) -> bool:
    """Whether two scopes say the same: as English or as German, by the stems of their words."""
    return one == other or any(own == others for own, others in zip(one, other, strict=False))


class ComparedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules look at of a decision."""

    category: str
    fields: tuple[tuple[str, str], ...]
    """Pairs of field name and value."""
    intention: str = ""
    uid: str = ""
    number: int | None = None
    """Of its record."""
    scope: tuple[frozenset[str], ...] = ()
    """The stems of what it is for, by language; empty for the whole project."""
    subject: tuple[frozenset[str], ...] = ()
    """The stems of its title without the value; empty where the title is the value."""

    def is_at(self, other: ComparedDecision) -> bool:
        """Whether both have the same scope."""
        return have_same_stems(self.scope, other.scope)

    def is_of(self, other: ComparedDecision) -> bool:
        """Whether both are of one topic; without one, whether their titles have one subject."""
        if self.has_topic or other.has_topic:
            return _is_same_category(self.category, other.category)
        return any(self.subject) and have_same_stems(self.subject, other.subject)

    @property
    def has_topic(self) -> bool:
        """Whether its category says what it is about."""
        return _folded_line(self.category) not in ("", EMPTY[0])


def judge_evolution(new: ComparedDecision, old: ComparedDecision) -> Evolution:
    """How the new one stands to the old one, which is in force."""
    is_about = new.is_of(old)
    if (is_about or _is_same_category(new.category, old.category)) and (
        not old.scope or new.is_at(old)
    ):
        before, after = (_comparable_values(one, keeps_open=is_about) for one in (old, new))
        changed = [name for name in before if after.get(name, before[name]) != before[name]]
        if changed and not new.is_at(old):
            return "exception"
        if changed:
            is_said = REPLACING.search(fold_letters(new.intention))
            former = (value for name, value in old.fields if _folded_line(name) in changed)
            names_it = any(_text_holds_value(new.intention, value) for value in former)
            return "update" if is_said or names_it else "contradict"
        if before and before.keys() < after.keys():
            return "extend"
        if before == after and before and new.is_at(old):
            return "same"
    is_other = not _is_same_category(new.category, old.category)
    decides_more = is_other or bool(_comparable_values(new).keys() - _comparable_values(old).keys())
    return "derive" if decides_more and is_named(new.intention, old) else "none"


def is_related(new: ComparedDecision, old: ComparedDecision) -> bool:
    """Whether the two are compared: of one category, or the intention names the older one."""
    return _is_same_category(new.category, old.category) or is_named(new.intention, old)


def is_named(intention: str, old: ComparedDecision) -> bool:
    """Whether an intention names a value, the record or the uid of a decision."""
    if any(_text_holds_value(intention, value) for _, value in old.fields):
        return True
    text = fold_letters(intention)
    if old.uid and (old.uid.casefold() in text or old.uid[-8:].casefold() in text):
        return True
    numbers = {int(found) for found in _RECORD.findall(text)}
    return old.number is not None and old.number in numbers


_RECORD: Final = late_pattern(r"(?<!\w)adr[- ]?0*([1-9][0-9]{0,8})(?!\w)")


def _comparable_values(one: ComparedDecision, *, keeps_open: bool = False) -> dict[str, str]:
    """By field; without open answers of what has no category, which bear one name for anything.

    Args:
        keeps_open: they stay, where both titles have one subject.
    """
    values = {_folded_line(name): canonical(one_line(value)) for name, value in one.fields}
    if not (one.has_topic or keeps_open):
        for name in OPEN:
            values.pop(name, None)
    return values


def _is_same_category(one: str, other: str) -> bool:
    return _folded_line(one) == _folded_line(other)


def _folded_line(text: str) -> str:
    return fold_letters(one_line(text)).strip()


def _text_holds_value(intention: str, value: str) -> bool:
    """Whether a text holds a value as whole words; one that is also a word, as it is written."""
    if _folded_line(value) in EVERYDAY and value not in intention:
        return False
    said, wanted = f" {_spaced(intention)} ", f" {_spaced(value)} "
    return bool(wanted.strip()) and wanted in said


def _spaced(text: str) -> str:
    return " ".join(_WORDS.findall(fold_letters(text)))


_WORDS: Final = late_pattern(r"[^\W_]+")
