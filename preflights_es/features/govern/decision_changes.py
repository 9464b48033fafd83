"""What a change does to decisions: each one that it adds, ends, or makes say otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from preflights_es.features.govern.base_side import BaseSide
from preflights_es.kernel.decisions import Related
from preflights_es.kernel.ids import decision_name
from preflights_es.kernel.text import one_line, shortened, shown
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.holding import is_counted
from preflights_es.use.results import DecisionRow

Row = DecisionRow | ForeignRow
TITLE_MAX: Final = 80  # characters of a title that is quoted
_OWN: Final = ("category", "fields", "scope", "paths", "hold", "alternatives")
_FOREIGN: Final = ("title", "category", "value", "scope", "paths", "number")
_WORDS: Final = {"fields": "values", "paths": "patterns", "alternatives": "turned down"}


class DecisionChange(NamedTuple):
    """What happens to one decision."""

    row: Row
    path: str
    """Of its session file or its record."""
    what: str
    """In words, behind its name."""
    was_decided: bool
    """Whether the base has decided it; else it is new."""
    is_signed: bool
    """Whether a signer of the base signed what does it, as far as signatures are asked for."""


def decision_changes(
    base: BaseSide,
    rows: Iterable[Row],
    records: Sequence[ForeignRow],
    touched: Mapping[str, str],
    is_signed: Callable[[str], bool],
) -> Iterator[DecisionChange]:
    """What differs from the base, of decisions that are held here and of records.

    Args:
        rows: what counts in the end, whatever became of it.
        records: all records without a session that lie here.
        touched: session files of the change, by the uid of their decision.
        is_signed: whether what a session of the change, given by its id, brings is signed.
    """
    every = [*rows]
    own = {row.uid: row for row in every if isinstance(row, DecisionRow)}
    before = {row.uid: row for row in base.rows if is_counted(row)}
    signed = [one for one in own.values() if is_counted(one) and is_signed(one.session_id)]
    replaced = {one.uid for row in signed for one in _superseded(row)}
    titles = {one.path or one.title for row in signed for one in _superseded(row) if not one.uid}
    for was in before.values():
        if what := _differing(was, own.get(was.uid)):
            path = base.sessions[was.session_id].path if was.session_id in base.sessions else ""
            is_proven = is_signed(was.session_id) if was.uid not in own else was.uid in replaced
            yield DecisionChange(was, path, what, True, is_proven)
        elif (number := own[was.uid].number) != was.number:
            what = f"is called {decision_name(number, was.uid)} now"
            yield DecisionChange(was, base.sessions[was.session_id].path, what, True, True)
    for uid, path in touched.items():
        if (row := own.get(uid)) and is_counted(row) and uid not in before:
            older = ", ".join(_called(one) for one in _superseded(row))
            what = f"is decided in this change{f', and supersedes {older}' if older else ''}"
            yield DecisionChange(row, path, what, False, is_signed(row.session_id))
    yield from _of_records(base, records, titles)


def _superseded(row: DecisionRow) -> list[Related]:
    return [one for one in (row.supersedes, *row.also_supersedes) if one is not None]


def _called(one: Related) -> str:
    return decision_name(one.number, one.uid) if one.uid else repr(_short(one.title))


def _short(text: str) -> str:
    return shortened(shown(one_line(text)), TITLE_MAX)


def _differing(was: DecisionRow, now: DecisionRow | None) -> str:
    """What became of a decision, in words; empty where it is as it was."""
    if now is None:
        return "is erased"
    if now.standing != was.standing:
        later = now.superseded_by
        by = f" by {_called(later)}" if later else ""
        return f"is {now.standing}{by}"
    return _other(was, now, _OWN)


def _other(was: Row, now: Row, names: Iterable[str]) -> str:
    differ = [name for name in names if getattr(was, name) != getattr(now, name)]
    return f"says otherwise: {', '.join(_WORDS.get(n, n) for n in differ)}" if differ else ""


# Records without a session -------------------------------------------------------------------


def _of_records(
    base: BaseSide, records: Sequence[ForeignRow], superseded: Iterable[str]
) -> Iterator[DecisionChange]:
    titles = {*superseded}
    for was in base.records:
        now = record_now(was, records)
        if now is None or not is_counted(was):
            continue
        if now.status != was.status and (was.is_held, now.is_held) != (True, True):
            by = f" by {_short(now.superseded_by)}" if now.superseded_by else ""
            what = f"is {now.status}{by}"
        else:
            what = _other(was, now, _FOREIGN)
        if what:
            yield DecisionChange(
                was, was.path, what, True, not titles.isdisjoint((was.path, was.title))
            )


def record_now(was: ForeignRow, records: Iterable[ForeignRow]) -> ForeignRow | None:
    """Where a record of the base is here: at its path, else a file of its name, else its title.

    A page that has lost its title and its status is no longer this record.
    """
    there = [one for one in records if one.title == was.title or one.status != "none"]
    name = was.path.rpartition("/")[2]
    found = (
        next((one for one in there if one.path == was.path), None),
        next((one for one in there if one.path.rpartition("/")[2] == name), None),
        next((one for one in there if one.title == was.title), None),
    )
    return next(filter(None, found), None)


def lost_records(base: BaseSide, records: Sequence[ForeignRow]) -> list[ForeignRow]:
    """Records of the base that are found here no more; they hold all the same."""
    return [was for was in base.records if is_counted(was) and record_now(was, records) is None]
