"""Records of other tools that contradict a decision: one rule for `start`, the acceptance, lists,
briefs and checks (docs/specs/clarification.md, 16.3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import caseless, escaped_text, one_line
from preflights_es.projections.decisions import PatchRow
from preflights_es.runtime.runner import Handle
from preflights_es.use.decisions import records_beside
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow
from preflights_es.words.decisions import OPEN_FIELD, OTHER, list_superseded
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
                from preflights_es.features.clarification.record_values import (
                    compared_row,
                    value_at,
                )

                value = value_at(compared_row(decision), record, inlined)
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
            has_topic = one.fields[0][0] != OPEN_FIELD and one.category != OTHER
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
        if not near:
            return ()
        from preflights_es.features.clarification.record_values import values_by_category

        named = values_by_category(record.title, inlined)
        return [one for _, one in near if named.get(one.category, set()) - _own_values(one)]


def _own_values(row: DecisionRow) -> frozenset[str]:
    return frozenset(canonical(value) for _, value in row.fields)


def _replaced_by(row: DecisionRow) -> frozenset[str]:
    return frozenset(map(canonical, (*row.replaced, *(one.name for one in row.turned_down))))


def _is_settled(decision: DecisionRow, path: str) -> bool:
    kept = (one.related for one in decision.kept)
    return any(one.path == path for one in (*kept, *list_superseded(decision)))


def tell_contradicting(request: Request, handle: Handle) -> None:
    """Say which records contradict the decision that a person just accepted, and what to do."""
    from preflights_es.features.recall.decision_search import is_in_force, read_session_patches

    patches, _ = read_session_patches(request.process, handle.session_id)
    for patch in filter(is_in_force, patches):
        row = DecisionRow.of(PatchRow(handle.session_id, patch))
        records = records_beside(request, everything=False).rows
        for _, record, _ in find_contradicting_records(request.process, [row], records):
            path, title = escaped_text(record.path), escaped_text(one_line(record.title))
            text = f"both hold now: {row.name}, and {path} {title}"
            named = {"name": row.name, "path": path, "title": title}
            # By its id: a number may be that of records of several folders.
            request.notice("contradicts", text, **named, session=short_session(row.uid))
