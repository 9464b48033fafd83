"""Records of other tools that contradict a decision: one rule for `start`, the acceptance, lists,
briefs and checks (docs/specs/clarification.md, 16.3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.pack import load_pack
from preflights_es.features.clarification.domain.topics import find, lexicon, words_of
from preflights_es.features.recall.decision_search import (
    is_in_force,
    read_session_patches,
    stems_of_subject,
)
from preflights_es.features.recall.domain.rules import ComparedDecision, have_same_stems
from preflights_es.features.recall.word_variants import may_have_stems, stems
from preflights_es.kernel.text import caseless, escaped_text, one_line
from preflights_es.projections.decisions import PatchRow
from preflights_es.runtime.runner import Handle
from preflights_es.use.decisions import records_beside
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow
from preflights_es.words.decisions import list_superseded
from preflights_es.words.language import canonical, cut_word_beginnings


class ContradictingRecord(NamedTuple):
    """A record in force of another tool, with another value at the place of a decision."""

    decision: DecisionRow
    record: ForeignRow
    value: str


def find_contradicting_records(
    process: Process, decisions: Iterable[DecisionRow], records: Iterable[ForeignRow]
) -> Iterator[ContradictingRecord]:
    """What contradicts decisions in force; neither replaced the other, and no person kept both."""
    held = [row for row in records if row.is_held]
    inlined = process.settings.of(WORKFLOW).inlined if held else ""
    places = _Places(decisions if held else ())
    for record in held:
        for decision in places.find_near(record, inlined):
            if not _is_settled(decision, record.path):
                value = value_at(_as_compared(decision), record, inlined)
                if value and canonical(value) not in _own_values(decision):
                    yield ContradictingRecord(decision, record, value)


class _Places:
    """Decisions by topic and scope: most pairs are told apart without stems, which cost more."""

    def __init__(self, decisions: Iterable[DecisionRow]) -> None:
        self._at = defaultdict[tuple[str, frozenset[str]], list[DecisionRow]](list)
        self._replacing = defaultdict[str, list[DecisionRow]](list)
        self._scoped = defaultdict[str, list[tuple[frozenset[str], DecisionRow]]](list)
        """Those with a topic, by the first beginning of a word of their scope, or by none."""
        for one in decisions:
            if not one.fields:
                continue
            scope = cut_word_beginnings(one.scope)
            has_topic = ComparedDecision(category=one.category, fields=one.fields).has_topic
            self._at[caseless(one.category) if has_topic else "", scope].append(one)
            for value in _replaced_by(one):
                self._replacing[value].append(one)
            if has_topic:
                self._scoped[min(scope, default="")].append((scope, one))

    def find_near(self, record: ForeignRow, inlined: str) -> Iterable[DecisionRow]:
        """The decisions that a record may contradict."""
        if said := canonical(record.value):
            place = caseless(record.category), cut_word_beginnings(record.scope)
            found = [*self._at.get(place, ()), *self._replacing.get(said, ())]
            return {one.uid: one for one in found if said not in _own_values(one)}.values()
        words = cut_word_beginnings(record.title)
        near = [one for word in ("", *words) for one in self._scoped.get(word, ())]
        near = [(scope, one) for scope, one in near if scope <= words]
        named = _named_by_category(record.title, inlined) if near else {}
        return [one for _, one in near if named.get(one.category, set()) - _own_values(one)]


def _as_compared(row: DecisionRow) -> ComparedDecision:
    return ComparedDecision(
        category=row.category,
        fields=row.fields,
        scope=stems(row.scope),
        subject=stems_of_subject(row.title, (value for _, value in row.fields)),
        replaced=_replaced_by(row),
    )


def _own_values(row: DecisionRow) -> frozenset[str]:
    return frozenset(canonical(value) for _, value in row.fields)


def _replaced_by(row: DecisionRow) -> frozenset[str]:
    return frozenset(map(canonical, (*row.replaced, *(one.name for one in row.turned_down))))


def _is_settled(decision: DecisionRow, path: str) -> bool:
    kept = (one.related for one in decision.kept)
    return any(one.path == path for one in (*kept, *list_superseded(decision)))


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
    return _values_named(row.title, inlined).get(new.category, "") if is_at or not new.scope else ""


@lru_cache(maxsize=4_096)
def _named_by_category(title: str, inlined: str) -> Mapping[str, AbstractSet[str]]:
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
    if not _named_by_category(title, inlined):
        return {}
    found = find(title, inlined=inlined)
    topics = {topic.id: topic.category for topic in load_pack(inlined).topics}
    of_category = defaultdict[str, set[str]](set)
    for one in found.stated or found.mentioned:
        of_category[topics.get(one.topic, "")].add(one.value)
    return {name: min(values) for name, values in of_category.items() if len(values) == 1}


def tell_contradicting(request: Request, handle: Handle) -> None:
    """Say which records contradict the decision that a person just accepted, and what to do."""
    patches, _ = read_session_patches(request.process, handle.session_id)
    for patch in filter(is_in_force, patches):
        row = DecisionRow.of(PatchRow(handle.session_id, patch))
        records = records_beside(request, everything=False).rows
        for _, record, _ in find_contradicting_records(request.process, [row], records):
            path, title = escaped_text(record.path), escaped_text(one_line(record.title))
            text = f"both hold now: {row.name}, and {path} {title}"
            request.notice("contradicts", text, name=row.name, path=path, title=title)
