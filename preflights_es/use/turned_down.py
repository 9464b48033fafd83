"""What decisions in force turned down, and who did: what checks, hooks, lists and briefs say of it.

That is what stands under *Instead of*, and the value of a decision that was superseded, also in a
record of another tool. What was merely offered is not turned down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.records.record_names import sequence_of_path
from preflights_es.runtime.features import FEATURES
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.results import DecisionRow
from preflights_es.words.decisions import NotChosen, Related, list_superseded
from preflights_es.words.language import canonical, written_as_name

Fields = tuple[tuple[str, str], ...]
CHAIN_MAX = 20  # decisions that replaced one another, as far as they are followed


class TurnedDown(msgspec.Struct, frozen=True):
    """What a decision turned down."""

    name: str
    why: str
    """Why it was not taken; empty where that is not said."""
    former: str = ""
    """The decision whose value it was; empty where it stands under *Instead of*."""


def turned_down(
    fields: Fields,
    named: Iterable[NotChosen],
    superseded: Iterable[Related],
    former: Mapping[str, DecisionRow],
) -> tuple[TurnedDown, ...]:
    """What a decision turned down, each once, and none of its own values.

    Args:
        fields: of the decision: pairs of field and value.
        named: what stands under *Instead of*.
        superseded: the decisions that it took the place of.
        former: decisions that were superseded, by uid.
    """
    own = (TurnedDown(other.name, other.why_not) for other in named)
    former_values = _superseded_values(superseded, former, {name for name, _ in fields})
    found = dict[str, TurnedDown]()
    if others := (*own, *former_values):  # most have none, and need no names of products
        chosen = {canonical(value) for _, value in fields}
        for each in others:
            if (key := canonical(each.name)) not in chosen:
                found.setdefault(key, each)
    return tuple(found.values())


def turned_down_by(row: DecisionRow, former: Mapping[str, DecisionRow]) -> tuple[TurnedDown, ...]:
    """The same of a decision of a list."""
    return turned_down(row.fields, row.turned_down, list_superseded(row), former)


def _superseded_values(
    superseded: Iterable[Related],
    former: Mapping[str, DecisionRow],
    fields: set[str],
    depth: int = 0,
) -> Iterator[TurnedDown]:
    """The values of what it superseded, and of what those had superseded."""
    for old in superseded if depth <= CHAIN_MAX else ():
        name = old.name or one_line(old.title)
        was = former.get(old.uid) if old.uid else None
        if was is None:  # of another tool or clone
            if value := value_in(old.title):
                yield TurnedDown(value, "", name)
            continue
        for place, (field, value) in enumerate(was.fields):
            if not place or field in fields:
                yield TurnedDown(value, "", name)
        yield from _superseded_values(list_superseded(was), former, fields, depth + 1)


@lru_cache(maxsize=256)
def value_in(title: str) -> str:
    """What a title states, by the forms of intentions; else empty."""
    value: str = FEATURES.port("said")(title).value
    return value


def of_records(
    records: Sequence[ForeignRow], own: Sequence[DecisionRow]
) -> Iterator[tuple[DecisionRow | ForeignRow, TurnedDown]]:
    """Values of records of other tools that were superseded, each with what took its place.

    Args:
        records: all of them.
        own: decisions in force.
    """
    held = [one for one in records if one.is_held]
    for old in records:
        if old.status != "superseded" or not old.value:
            continue
        later = find_successor(old, held, own)
        values = values_of([later]) if later else ()
        is_same = canonical(old.value) in map(canonical, values)
        # What only held for a part says nothing of the whole.
        if later and not is_same and (not old.scope or later.paths):
            yield later, TurnedDown(old.value, "", old.path)


def values_of(rows: Iterable[DecisionRow | ForeignRow]) -> Iterator[str]:
    """What decisions have; a record of another tool that states no value, its title."""
    for row in rows:
        if isinstance(row, ForeignRow):
            yield row.value or row.title
        else:
            yield from chosen_in(row.fields, turned_down_by(row, {}))


def chosen_in(fields: Fields, others: Sequence[TurnedDown]) -> Iterator[str]:
    """The values of a decision; from a sentence, without what it turned down.

    "Replace Redux with Zustand in the web" has Redux no more; "Use Redux Toolkit here" has it.
    """
    names = "|".join(re.escape(other.name) for other in others)
    alone = rf"(?<![\w-])(?i:{names})(?![\w-]| [A-Z])"
    for _, value in fields:
        is_sentence = names and not written_as_name(value, "en")
        yield re.sub(alone, "", value) if is_sentence else value


def find_successor(
    old: ForeignRow, records: Sequence[ForeignRow], own: Sequence[DecisionRow]
) -> DecisionRow | ForeignRow | None:
    """What took a record's place, where that is one of these and named beyond doubt."""
    from preflights_es.records.status_words import reference

    said = reference(old.superseded_by)
    if said is None:
        return None
    names: list[int | str] = [said.text, said.path.rpartition("/")[2]]
    names += [] if said.number is None else [said.number]
    found: list[DecisionRow | ForeignRow] = [
        one for one in records if any(map(one.is_called, names)) or one.title == said.text
    ]
    if said.number is not None:
        found += [one for one in own if one.number == said.number]
    beside = [one for one in found if _sequence_of_row(one) == sequence_of_path(old.path)]
    found = beside or found  # each folder has its own numbers
    return found[0] if len(found) == 1 else None


def _sequence_of_row(one: DecisionRow | ForeignRow) -> str:
    return sequence_of_path(one.path if isinstance(one, ForeignRow) else one.artifact or "")


def binds(one: DecisionRow | ForeignRow) -> bool:
    """Whether it binds files: with a scope, only those that its paths name."""
    return bool(one.paths) or not one.scope


def describe_turned_down(one: DecisionRow | ForeignRow, what: TurnedDown, mark: str = "") -> str:
    """Who turned it down, and why, without a full stop.

    Args:
        mark: what stands behind the decision's name.
    """
    said = escaped_text(one_line(what.name))
    if isinstance(one, ForeignRow):
        former_name = escaped_text(what.former)
        return f"{escaped_text(one.path)} took the place of {former_name}, which chose {said}"
    by = one.acknowledged_by
    who = escaped_text(one_line(by.name)) if by and by.name else "a person"
    day = one.moved_at.partition("T")[0]
    chose = ", ".join(escaped_text(one_line(value)) for _, value in one.fields)
    did = "replaced" if what.former else "turned down"
    of = f" ({escaped_text(what.former)})" if what.former else ""
    because = what.why or one.reason
    why = f": {escaped_text(one_line(because))}" if because else ""
    return f"{one.name}{mark}: on {day} {who} {did} {said}{of} for {chose}{why}"


def former_of(rows: Iterable[DecisionRow]) -> dict[str, DecisionRow]:
    """Decisions that a person had accepted, by uid."""
    return {row.uid: row for row in rows if row.standing in ("accepted", "superseded")}
