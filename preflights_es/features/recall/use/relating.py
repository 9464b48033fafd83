"""Decisions and records in force that may concern an accepted one: told, and blocking nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from preflights_es.features.clarification.domain.events import Differing
from preflights_es.features.clarification.domain.pack import loaded
from preflights_es.features.clarification.domain.state import State
from preflights_es.features.clarification.domain.titles import title_of
from preflights_es.features.clarification.domain.topics import find
from preflights_es.features.recall.domain import rules
from preflights_es.features.recall.domain.ranking import relates
from preflights_es.features.recall.use.searching import Search
from preflights_es.features.recall.use.variants import stems
from preflights_es.kernel.text import INTENTION_MAX, one_line, shown
from preflights_es.kernel.words import canonical
from preflights_es.projections.decisions import decision
from preflights_es.runtime.runner import Handle
from preflights_es.runtime.sanitizing import cleaned
from preflights_es.use.decisions import ForeignRow
from preflights_es.use.process import Process
from preflights_es.use.request import Request

TOLD_MAX: Final = 3


def tell_related(
    request: Request, handle: Handle, known: Collection[str], perhaps: Sequence[Differing]
) -> None:
    """Say which decisions have much in common with one that a person accepted.

    Args:
        known: sessions of decisions that the person was told of already.
        perhaps: records of other tools that it perhaps contradicts.
    """
    state: State = handle.session.state
    if state.patch is None:
        return
    process, search = request.process, Search(request.process, without=handle.session_id)
    words = _words(state)
    former = state.supersedes.session_id if state.supersedes else ""
    apart = {handle.session_id, former, *known, *process.projector.proposals()}
    for one in perhaps:
        text = f"perhaps contradicts {shown(one.path)}: {one.title}"
        request.notice("perhaps_contradicts", text, path=one.path)
    names: list[str] = []
    for match in search.matches(words, relates, widens=False):
        record = search.records.of.get(match.uid) if search.records else None
        if record is not None:
            names += _record(record, state.supersedes_file)
        elif match.session_id not in apart and (name := _named(process, match.session_id)):
            names.append(name)
    if names := names[:TOLD_MAX]:
        request.notice("perhaps_related", f"perhaps related: {'; '.join(names)}", names=names)


def _named(process: Process, session_id: str) -> str:
    """Number and title of a decision in force; empty of any other."""
    columns = process.following.columns("decisions")
    for row in process.following.kept("decisions", session_id).rows:
        one = decision(dict(zip(columns, row, strict=True))).decided
        if one.standing == "accepted" and one.superseded_by is None:
            return f"ADR-{one.number:04} {one.title}" if one.number else one.title
    return ""


def _record(row: ForeignRow, replaced: str) -> list[str]:
    """Path and title of a record in force."""
    if not row.is_held or row.path.rpartition("/")[2] == replaced:
        return []
    return [f"{row.title} ({row.path})"]


def _words(state: State) -> Sequence[str]:
    """What a decision is looked for by."""
    values = (value for _, value in state.patch.fields) if state.patch else ()
    return rules.wanted((" ".join((title_of(state), *values, state.intention)),))


def differing(request: Request, handle: Handle) -> Iterator[Differing]:
    """Records in force of other tools whose titles name another value for the same.

    A title is read by the forms and names of the rules alone, so it is never more than *perhaps*.
    """
    state: State = handle.session.state
    search = Search(request.process, without=handle.session_id)
    if search.records is None or state.patch is None or state.pack is None:
        return
    words = _words(state)
    place = stems(state.scope)
    having = {row["uid"] for row in search.records.rows(words)}
    for path in sorted(having):
        row = search.records.of[path]
        if not row.is_held or path.rpartition("/")[2] == state.supersedes_file:
            continue
        named = _value_of(row.title, state.patch.category, state.inlined)
        if not named or any(canonical(v) == canonical(named) for _, v in state.patch.fields):
            continue
        of_title = stems(row.title)
        is_at = (own <= others for own, others in zip(place, of_title, strict=False))
        if not place or any(is_at):
            title, _ = cleaned("the record's title", shown(one_line(row.title)), INTENTION_MAX)
            yield Differing(path, title)


def _value_of(title: str, category: str, inlined: str) -> str:
    """The one value that a title names for a category; empty where it names none or several."""
    found = find(title, inlined=inlined)
    topics = {topic.id: topic.category for topic in loaded(inlined).topics}
    named = found.stated or found.mentioned
    values = {one.value for one in named if topics.get(one.topic) == category}
    return values.pop() if len(values) == 1 else ""
