"""What a change does to decisions: each one that it adds, ends, or makes say otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from preflights_es.features.govern.base_side import BaseSide
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.holding import is_counted
from preflights_es.use.results import DecisionRow
from preflights_es.words.decisions import Related, list_superseded

Row = DecisionRow | ForeignRow
TITLE_MAX: Final = 80  # characters of a title that is quoted
_OWN: Final = ("category", "fields", "scope", "paths", "hold", "alternatives")
_FOREIGN: Final = ("title", "category", "value", "scope", "paths", "number")
_WORDS: Final = {"fields": "values", "paths": "patterns", "alternatives": "turned down"}
_STANDS: Final = {"superseded": "replaced"}
"""By status: what became of a decision, where another word is said."""


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
    replaced = {one.uid for row in signed for one in list_superseded(row)}
    titles = {
        one.path or one.title for row in signed for one in list_superseded(row) if not one.uid
    }
    for was in before.values():
        if what := _describe_decision_change(was, own.get(was.uid)):
            path = base.sessions[was.session_id].path if was.session_id in base.sessions else ""
            is_proven = is_signed(was.session_id) if was.uid not in own else was.uid in replaced
            yield DecisionChange(was, path, what, was_decided=True, is_signed=is_proven)
        elif own[was.uid].number != was.number:
            what = f"is called {own[was.uid].name} now"
            yield DecisionChange(
                was, base.sessions[was.session_id].path, what, was_decided=True, is_signed=True
            )
    for uid, path in touched.items():
        if (row := own.get(uid)) and is_counted(row) and uid not in before:
            older = ", ".join(_name_related_decision(one) for one in list_superseded(row))
            what = f"is decided in this change{f', and replaces {older}' if older else ''}"
            yield DecisionChange(
                row, path, what, was_decided=False, is_signed=is_signed(row.session_id)
            )
    yield from _of_records(base, records, titles)


def _name_related_decision(one: Related) -> str:
    return one.name if one.uid else repr(_shorten_decision_text(one.title))


def _shorten_decision_text(text: str) -> str:
    return shortened(escaped_text(one_line(text)), TITLE_MAX)


def _describe_decision_change(was: DecisionRow, now: DecisionRow | None) -> str:
    """What became of a decision, in words; empty where it is as it was."""
    if now is None:
        return "is erased"
    if now.standing != was.standing:
        later = now.superseded_by
        by = f" by {_name_related_decision(later)}" if later else ""
        return f"is {_STANDS.get(now.standing, now.standing)}{by}"
    return _describe_changed_fields(was, now, _OWN)


def _describe_changed_fields(was: Row, now: Row, names: Iterable[str]) -> str:
    differ = [name for name in names if getattr(was, name) != getattr(now, name)]
    return f"says otherwise: {', '.join(_WORDS.get(n, n) for n in differ)}" if differ else ""


# Records without a session -------------------------------------------------------------------


def _of_records(
    base: BaseSide, records: Sequence[ForeignRow], superseded: Iterable[str]
) -> Iterator[DecisionChange]:
    titles = {*superseded}
    here = RecordsHere(base, records)
    for was in filter(is_counted, base.records):
        if (now := here.record_now(was)) is None:
            continue
        if now.status != was.status and (was.is_held, now.is_held) != (True, True):
            by = f" by {_shorten_decision_text(now.superseded_by)}" if now.superseded_by else ""
            what = f"is {_STANDS.get(now.status, now.status)}{by}"
        else:
            what = _describe_changed_fields(was, now, _FOREIGN) or _successor_changed(was, now)
        if what:
            yield DecisionChange(
                was,
                was.path,
                what,
                was_decided=True,
                is_signed=not titles.isdisjoint((was.path, was.title)),
            )


def _successor_changed(was: ForeignRow, now: ForeignRow) -> str:
    """What was turned down hangs on the record that took the place of this one."""
    if was.superseded_by.rpartition("/")[2] == now.superseded_by.rpartition("/")[2]:
        return ""
    newer = _shorten_decision_text(now.superseded_by) or "no record that it names"
    return f"is replaced by {newer} now"


class RecordsHere:
    """The records that lie here, by where one of the base may be now."""

    def __init__(self, base: BaseSide, records: Iterable[ForeignRow]) -> None:
        self._paths = dict[str, ForeignRow]()
        self._moved = defaultdict[str, list[ForeignRow]](list)
        before = {one.path for one in base.records}
        for record in records:
            self._paths.setdefault(record.path, record)
            if record.path not in before:  # else it is another one, however it is called
                self._moved[_record_file_name(record)].append(record)
                self._moved[f"/{record.title}"].append(record)

    def record_now(self, was: ForeignRow) -> ForeignRow | None:
        """At its path, else a new file of its name, else of its title.

        A page that has lost its title and its status is no longer this record.
        """
        at_path = self._paths.get(was.path)
        at_path = at_path if at_path and _is_still(was, at_path) else None
        moved = (*self._moved[_record_file_name(was)], *self._moved[f"/{was.title}"])
        return at_path or next((one for one in moved if _is_still(was, one)), None)


def _record_file_name(one: ForeignRow) -> str:
    return one.path.rpartition("/")[2]


def _is_still(was: ForeignRow, one: ForeignRow) -> bool:
    return one.title == was.title or one.status != "none"


def lost_records(base: BaseSide, records: Sequence[ForeignRow]) -> list[ForeignRow]:
    """Records of the base that are found here no more; they hold all the same."""
    here = RecordsHere(base, records)
    return [was for was in base.records if is_counted(was) and here.record_now(was) is None]
