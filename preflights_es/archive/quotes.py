"""What sessions say of each other, in words that an erasure of one does not reach."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal

import msgspec

from preflights_es.core.errors import PreflightsError
from preflights_es.core.ports import Head
from preflights_es.core.text import one_line
from preflights_es.runtime.runner import Runner
from preflights_es.workflows.clarification import WORKFLOW
from preflights_es.workflows.clarification.events import (
    DecisionAcknowledged,
    DecisionMarkedSuperseded,
    DecisionRecorded,
    DecisionSuperseded,
    IntentionDeclared,
    Known,
)
from preflights_es.workflows.clarification.values import DecisionPatch

QUOTING = (IntentionDeclared.tag, DecisionSuperseded.tag)
_STILL: Final = 2**63 - 1  # microseconds since 1970 UTC: no clock comes that far


class Quote(msgspec.Struct, frozen=True):
    """A session that holds words of another one."""

    session_id: str
    """Whose log holds them."""
    quoted: str
    """The session whose words they are."""
    how: Literal["known", "supersedes", "superseded_by"]
    """`known`: its title and what it decided, as a model was told of them."""
    documents: tuple[str, ...] = ()
    """Paths of the quoting session's documents on this disk that name the other one."""


class Quotes(msgspec.Struct, frozen=True):
    """All that could be found."""

    found: tuple[Quote, ...]
    unread: tuple[str, ...]
    """Sessions that could not be looked at: damaged, or of a newer version."""


class _Accepted(msgspec.Struct, frozen=True):
    """A decision that a person accepted, and when models were told of it: not once superseded."""

    session_id: str
    known: Known
    since: int
    """In microseconds since 1970 UTC, by the clock of who recorded it, as are all times here."""
    until: int


class _Told(msgspec.Struct, frozen=True):
    """A session that may hold words of others."""

    session_id: str
    at: int
    known: tuple[Known, ...]
    """The decisions that its model was told, among those searched for."""
    related: tuple[Quote, ...]


def quotes_of(runner: Runner, project: str, quoted: Collection[str]) -> Quotes:
    """The sessions of a project that quote others of it.

    Args:
        quoted: ids of those others.
    """
    accepted: dict[Known, list[_Accepted]] = {}
    for session_id in quoted:
        for one in _accepted(runner, session_id):
            accepted.setdefault(one.known, []).append(one)
    titles = {known.title for known in accepted}
    told: list[_Told] = []
    unread: list[str] = []
    for head in runner.store.heads(project):
        if head.session_id in quoted:
            continue
        try:
            seen, title = _told(runner, head, quoted, accepted.keys())
        except PreflightsError:
            unread.append(head.session_id)
            continue
        if seen.known or seen.related:
            told.append(seen)
        if title in titles:  # it may be meant by the same words
            with suppress(PreflightsError):  # an unreadable session is left out
                for one in _accepted(runner, head.session_id):
                    accepted.get(one.known, []).append(one)
    found = [quote for seen in told for quote in _quotes(seen, accepted, quoted)]
    return Quotes(tuple(found), tuple(unread))


def _told(
    runner: Runner, head: Head, quoted: Collection[str], wanted: Collection[Known]
) -> tuple[_Told, str]:
    """What a session may hold of others, and its title."""
    at, title = 0, ""
    known: tuple[Known, ...] = ()
    related: list[Quote] = []
    for one in runner.store.read(head.session_id):
        if one.type not in QUOTING or one.data is None:
            continue
        match runner.codec(runner.workflow(head.workflow)).decode(one):
            case IntentionDeclared() as new:
                at, title = one.recorded_at, one_line(new.intention)
                known = tuple(said for said in new.known if said in wanted)
                if new.supersedes is not None and _is_one(new.supersedes.session_id, quoted):
                    related.append(Quote(head.session_id, new.supersedes.session_id, "supersedes"))
            case DecisionSuperseded(by=by) if _is_one(by.session_id, quoted):
                related.append(Quote(head.session_id, by.session_id, "superseded_by"))
    return _Told(head.session_id, at, known, tuple(related)), title


def _is_one(session_id: str, quoted: Collection[str]) -> bool:
    return bool(session_id) and session_id in quoted


def _accepted(runner: Runner, session_id: str) -> Iterator[_Accepted]:
    """The decision of a session, where a person accepted one."""
    head = runner.store.head(session_id)
    if head is None or head.workflow != WORKFLOW.name:
        return
    codec = runner.codec(runner.workflow(head.workflow))
    title: str | None = None
    shown: DecisionPatch | None = None
    known: Known | None = None
    since, until = 0, _STILL
    for one in runner.store.read(session_id):
        if one.data is None:
            return
        match codec.decode(one):
            case IntentionDeclared() as new if title is None:
                title = one_line(new.intention)
            case DecisionAcknowledged(patch=patch):
                shown = patch
            case DecisionRecorded(status="accepted") if shown is not None:
                known, since = Known(title or "", shown), one.recorded_at
            case DecisionMarkedSuperseded():
                until = one.recorded_at
    if known is not None:
        yield _Accepted(session_id, known, since, until)


def _quotes(
    told: _Told, accepted: Mapping[Known, Sequence[_Accepted]], quoted: Collection[str]
) -> Iterator[Quote]:
    meant = dict.fromkeys(
        one.session_id for known in told.known for one in _meant(told, accepted[known])
    )
    yield from (Quote(told.session_id, one, "known") for one in meant if one in quoted)
    yield from dict.fromkeys(told.related)


def _meant(told: _Told, same: Sequence[_Accepted]) -> list[_Accepted]:
    """Of decisions in the same words, those that a model may have been told of.

    None of a session that began later: ids go on where a clock steps back. Times do not, so that
    where they would leave none, they choose nothing.
    """
    same = [one for one in same if one.session_id < told.session_id]
    return [one for one in same if one.since <= told.at <= one.until] or same
