"""The value that a record of another tool has at the place of a decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

from preflights_es.features.clarification.domain.pack import load_pack
from preflights_es.features.clarification.domain.topics import find, lexicon, words_of
from preflights_es.features.recall.decision_search import stems_of_subject
from preflights_es.features.recall.domain.rules import ComparedDecision, have_same_stems
from preflights_es.features.recall.word_variants import may_have_stems, stems
from preflights_es.kernel.text import caseless
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.results import DecisionRow
from preflights_es.words.language import canonical, has_small_word, split_folded_words


def compared_row(row: DecisionRow) -> ComparedDecision:
    """What is compared of a decision that is listed."""
    return ComparedDecision(
        category=row.category,
        fields=row.fields,
        scope=stems(row.scope),
        subject=stems_of_subject(row.title, (value for _, value in row.fields)),
        replaced=frozenset(map(canonical, (*row.replaced, *(one.name for one in row.turned_down)))),
    )


def value_at(new: ComparedDecision, row: ForeignRow, inlined: str) -> str:
    """The value that a record has at the place of a decision; empty where it has none there.

    By its title, as the forms and names of the rules read it.
    """
    if not row.value:
        return _value_named_at(row, new, inlined)
    is_replaced = canonical(row.value) in new.replaced
    if not is_replaced and new.has_topic and caseless(row.category) != caseless(new.category):
        return ""
    is_here = have_same_stems(new.scope, stems(row.scope))
    if is_replaced and (is_here or not new.scope):
        return row.value
    subject = stems_of_subject(row.title, (row.value,))
    old = ComparedDecision(category=row.category, fields=(), subject=subject)
    return row.value if is_here and new.is_of(old) else ""


def _value_named_at(row: ForeignRow, new: ComparedDecision, inlined: str) -> str:
    """The value for a category of a record whose title no form covers and has the place's words."""
    if not new.has_topic or not may_have_stems(row.title, new.scope, among_others=True):
        return ""
    of_title = stems(row.title) if new.scope else ()
    is_at = any(own <= others for own, others in zip(new.scope, of_title, strict=False))
    if not is_at and new.scope:
        return ""
    # Not of "Use PostgreSQL for all but invoices" or "Move invoices away from MongoDB".
    said = [(split_folded_words(part), part) for part in row.title.split(",")]
    back = ("retractions", "denials")
    kept = (x for words, x in said if not any(has_small_word(words, of) for of in back))
    return _values_named(",".join(kept), inlined).get(new.category, "")


@lru_cache(maxsize=4_096)
def values_by_category(title: str, inlined: str) -> Mapping[str, AbstractSet[str]]:
    """The values that stand in a title, by each category that has them; wanted or not."""
    found = defaultdict[str, set[str]](set)
    for value in lexicon(inlined).mentions(words_of(title)):
        for category in _categories_of_values(inlined).get(value, ()):
            found[category].add(canonical(value))
    return found


@lru_cache
def _categories_of_values(inlined: str) -> Mapping[str, AbstractSet[str]]:
    found = defaultdict[str, set[str]](set)
    for topic in load_pack(inlined).topics:
        for value in (*topic.options, *topic.values):
            found[value].add(topic.category)
    return found


@lru_cache(maxsize=4_096)
def _values_named(title: str, inlined: str) -> Mapping[str, str]:
    """By category: the value that a title names, where it names one."""
    if not values_by_category(title, inlined):
        return {}
    found = find(title, inlined=inlined)
    topics = {topic.id: topic.category for topic in load_pack(inlined).topics}
    of_category = defaultdict[str, set[str]](set)
    for one in found.stated or found.mentioned:
        of_category[topics.get(one.topic, "")].add(one.value)
    return {name: min(values) for name, values in of_category.items() if len(values) == 1}
