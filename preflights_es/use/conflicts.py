"""What has two values in force at one place: what lists, briefs and checks call a conflict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import msgspec

from preflights_es.runtime.features import FEATURES
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.process import Process
from preflights_es.use.results import DecisionRow
from preflights_es.words.decisions import OPEN_FIELD, OTHER, DecisionConflict
from preflights_es.words.language import canonical, collect_search_words, cut_word_beginnings


class ValueInForce(msgspec.Struct, frozen=True):
    """A value of a decision or a record, and where it stands."""

    row: DecisionRow | ForeignRow
    category: str
    field: str
    scope: str
    value: str

    @property
    def name(self) -> str:
        """What people call the decision or the record."""
        if isinstance(self.row, ForeignRow):
            return self.row.path
        return self.row.name + (" (file)" if self.row.file else "")


def list_conflicts(
    process: Process, rows: Sequence[DecisionRow | ForeignRow]
) -> tuple[DecisionConflict, ...]:
    """What has two values in force at one place, which no person kept on purpose."""
    return tuple(map(as_conflict, find_clashes(process, rows)))


def as_conflict(place: Sequence[ValueInForce]) -> DecisionConflict:
    """The same for a reader."""
    first = place[0]
    named = tuple((one.value, one.name) for one in place)
    return DecisionConflict(first.category, first.scope, first.field, named)


def find_clashes(
    process: Process, rows: Sequence[DecisionRow | ForeignRow]
) -> list[list[ValueInForce]]:
    """The values of each such place, one decision or record for each, decisions first."""
    own = [row for row in rows if isinstance(row, DecisionRow)]
    records = [row for row in rows if isinstance(row, ForeignRow)]
    found = [*_colliding_decisions(own)]
    of_uid = {one.row.uid: place for place in found for one in place}
    if not (own and records):
        return found  # most projects have records of one kind
    for row, record, value in FEATURES.port("contradictions")(process, own, records):
        if row.uid not in of_uid:
            field, said = row.fields[0]
            first = ValueInForce(row, _topic(row) or row.title, field, row.scope, value=said)
            found.append(of_uid.setdefault(row.uid, [first]))
        of_uid[row.uid].append(ValueInForce(record, "", "", record.scope, value=value))
    return found


def _colliding_decisions(rows: Iterable[DecisionRow]) -> Iterator[list[ValueInForce]]:
    alike: dict[tuple[str, str, frozenset[str]], list[ValueInForce]] = {}
    for row in rows:
        begin = cut_word_beginnings(row.scope) if row.scope else frozenset[str]()
        for (category, field), said in _valued(row):
            alike.setdefault((category, field, begin), []).append(said)
    for (_, key, _), having in alike.items():
        for place in _group_values_by_scope(having, by_subject=not key) if len(having) > 1 else ():
            values: dict[str, ValueInForce] = {}
            for one in place:
                values.setdefault(canonical(one.value), one)
            differing = [*values.values()]
            pairs = combinations((one.row for one in differing), 2)
            if not all(_is_beside(one, other.uid) for one, other in pairs):
                yield differing


def _valued(row: DecisionRow) -> Iterator[tuple[tuple[str, str], ValueInForce]]:
    """The values of a decision, behind what two of one topic have in common."""
    for at, (field, value) in enumerate(row.fields):
        if topic := _topic(row):
            yield (topic, field), ValueInForce(row, topic, field, row.scope, value=value)
        elif not at and (about := _subject_beside_value(row.title, value, row.scope)):
            yield ("", ""), ValueInForce(row, about, field="", scope=row.scope, value=value)


def _topic(row: DecisionRow) -> str:
    """Empty without one; a label of a person's own names no place either."""
    is_own = bool(row.fields) and row.fields[0][0] == OPEN_FIELD
    return "" if is_own or row.category == OTHER else row.category


def _subject_beside_value(title: str, value: str, scope: str) -> str:
    """What a title says beside its value; empty where that is no more than what it is for.

    "Use Kotlin for the app" and "Use Koin for the app" do not contradict each other.
    """
    before, found, after = title.casefold().partition(value.casefold())
    about = " ".join(f"{before} {after}".split()) if found else ""
    return about if {*collect_search_words(about)} - {*collect_search_words(scope)} else ""


def _group_values_by_scope(
    having: Sequence[ValueInForce], *, by_subject: bool
) -> Iterable[list[ValueInForce]]:
    """Those of one scope together, and where no topic says it of one subject."""
    if len({one.scope for one in having}) == 1 and not by_subject:
        return [[*having]]
    same = FEATURES.port("places")
    scopes = same(dict.fromkeys(one.scope for one in having))
    subjects = same(dict.fromkeys(one.category for one in having)) if by_subject else {}
    places: dict[tuple[str, str], list[ValueInForce]] = {}
    for one in having:
        place = scopes[one.scope], subjects.get(one.category, "")
        places.setdefault(place, []).append(one)
    return places.values()


def _is_beside(one: DecisionRow | ForeignRow, uid: str) -> bool:
    return isinstance(one, DecisionRow) and uid in (beside.related.uid for beside in one.kept)
