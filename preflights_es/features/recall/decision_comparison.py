"""How what a clarification proposes, or a person accepted, stands to decisions in force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from preflights_es.features.clarification.domain.events import PatchProposed
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    as_related,
    category_of,
    title_of,
)
from preflights_es.features.recall.decision_search import (
    is_in_force,
    logs_of_decisions,
    read_session_patches,
    stems_of_subject,
)
from preflights_es.features.recall.domain.rules import ComparedDecision, is_related, judge_evolution
from preflights_es.features.recall.word_variants import stems
from preflights_es.kernel.errors import PreflightsError, ProjectionDamaged
from preflights_es.kernel.text import late_pattern
from preflights_es.runtime.runner import Handle
from preflights_es.store.sql_projections import SqlComparing
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.words.decisions import DecidedPatch, Evolution, OlderDecision, list_superseded
from preflights_es.words.language import canonical, collect_search_words, fold_letters

COMPARED_MAX: Final = 1_000
"""Decisions that are compared, those with the most words in common first."""
MOVED_MAX: Final = 50  # sessions that are looked through here; more are folded for good


def findings(request: Request, handle: Handle) -> tuple[OlderDecision, ...]:
    """How the patch of a clarification stands to decisions in force; never `none`.

    The rules compare those of its category, and those that its intention names. The ones that a
    person has to choose about come first, then the newer. The decision that it replaces already is
    left out.

    Raises:
        ProjectionDamaged: a row of a projection is not one that this program writes.
    """
    state: ClarificationState = handle.session.state
    if state.offer.patch is None:
        return ()
    by_session: dict[str, OlderDecision] = {}
    for process in logs_of_decisions(request):
        for one in _compare_with_related(process, handle):
            by_session.setdefault(one.related.session_id, one)
    # What a person has to choose about, then the newer.
    found = by_session.values()
    return tuple(sorted(found, key=lambda one: (not one.needs_choice, -one.accepted_at)))


def _compare_with_related(process: Process, handle: Handle) -> Iterator[OlderDecision]:
    """What the rules say of each decision that may be related."""
    state: ClarificationState = handle.session.state
    assert state.offer.patch is not None, "the caller looked"
    log = SqlComparing(process.store)
    moved = _find_unfolded_sessions(process, log) - {handle.session_id}
    proposed = log.payloads(PatchProposed.tag) if moved else {}
    patches = {one: data for one, data in proposed.items() if one != handle.session_id}
    # Those of the same field come first, however many are of its category.
    names = " ".join(name for name, _ in state.offer.patch.fields)
    terms = collect_search_words(
        f"{state.offer.patch.category} {names} {title_of(state)} {state.opened.intention}"
    )
    kept = [
        (session_id, decided)
        for session_id, decided in log.rows(process.project, terms, COMPARED_MAX)
        # Another process may fold a session that moved between the statements.
        if session_id not in proposed and session_id != handle.session_id
    ]
    may_name = any(map(str.isdecimal, state.opened.intention))
    if patches or kept or may_name or _turning_down(state) or _replaced_sessions(state):
        yield from compare_older_decisions(process, handle, patches, kept)


def _find_unfolded_sessions(process: Process, log: SqlComparing) -> set[str]:
    """Sessions that no projection has folded yet, few of them."""
    from preflights_es.projections.projection import VERSIONS

    moved = log.waiting(MOVED_MAX + 1)
    versions = {name: VERSIONS[name] for name in ("memory", "decisions")}
    if len(moved) > MOVED_MAX or not log.is_current(versions):
        process.projector.caught_up()
        moved = log.waiting(MOVED_MAX + 1)
    return {one.session_id for one in moved}


# 2. By the rules -------------------------------------------------------------------------------

_NAMED: Final = late_pattern(r"(?<!\w)(?:adr[- ]?0*([1-9][0-9]{0,8})|([0-9a-f-]{8,36}))(?!\w)")
"""A record's number or the end of an id, in a folded text."""


def compare_older_decisions(
    process: Process, handle: Handle, proposed: Mapping[str, str], kept: Iterable[tuple[str, str]]
) -> Iterator[OlderDecision]:
    """What the rules say of older decisions.

    Args:
        proposed: by session that no projection has folded, the last patch as its log has it.
        kept: pairs of session and decision, as the projection has it.

    Raises:
        ProjectionDamaged: a row is not one that this program writes.
    """
    state: ClarificationState = handle.session.state
    older: dict[str, DecidedPatch] = {}
    alike = (one for one, data in proposed.items() if _is_alike(state, data))
    against = _turning_down(state)
    named = (*_sessions_named_by_intention(process, handle, state), *_replaced_sessions(state))
    for session_id in (*alike, *named, *against):
        if session_id not in older and (read := _read_older_decision(process, session_id)):
            older[session_id] = read
    for session_id, decided in kept:
        try:
            one = msgspec.json.decode(decided, type=DecidedPatch)
        except (ValueError, TypeError, RecursionError) as error:
            raise ProjectionDamaged("decisions", f"session {session_id}: {error}") from error
        older.setdefault(session_id, one)
    replaced = {one.session_id for one in list_superseded(state.standing)}
    for session_id, one in older.items():
        if session_id in replaced:
            continue
        kind = _judge_older_evolution(state, one, is_against=session_id in against)
        if kind == "none":
            continue
        folder = state.filed.folder or process.record_places.new
        if made := _finding(process, session_id, one, kind, folder=folder):
            yield made


def _is_alike(state: ClarificationState, data: str) -> bool:
    """Whether a patch may be related, by what the projection would be asked for."""
    assert state.offer.patch is not None, "only a patch is compared"
    try:
        patch = msgspec.json.decode(data, type=PatchProposed).patch
    except (ValueError, TypeError, RecursionError):
        return False  # damaged, as its session will say
    names = " ".join(name for name, _ in state.offer.patch.fields)
    asked = f"{state.offer.patch.category} {names} {state.opened.intention}"
    said = " ".join((patch.category, *(text for pair in patch.fields for text in pair)))
    return not {*collect_search_words(asked)}.isdisjoint(collect_search_words(said))


def _sessions_named_by_intention(
    process: Process, handle: Handle, state: ClarificationState
) -> Iterator[str]:
    """Sessions that the intention names by their record's number or the end of their id."""
    for number, end in _NAMED.findall(fold_letters(state.opened.intention)):
        store = process.store
        named: Iterable[Any] = ()
        if number:
            given = store.numbers(process.project)
            named = [id_ for one, id_ in given.items() if one.number == int(number)]
        elif end:
            named = store.matching(end)
        yield from (one for one in named if one and one != handle.session_id)


def _read_older_decision(process: Process, session_id: str) -> DecidedPatch | None:
    """The decision of a session, where it is in force in this project."""
    patches, _ = read_session_patches(process, session_id)
    return next(filter(is_in_force, patches), None)


def _turning_down(state: ClarificationState) -> set[str]:
    """Sessions of decisions that turned down what is proposed, of those that were said first."""
    assert state.offer.patch is not None, "only a patch is compared"
    values = {canonical(value) for _, value in state.offer.patch.fields}
    return {
        one.kept.session_id
        for one in state.opened.told or ()
        if one.turned_down is not UNSET and canonical(one.turned_down) in values
    }


def _replaced_values(state: ClarificationState) -> frozenset[str]:
    """What the intention replaces or rules out."""
    found = state.found.topics
    return frozenset(canonical(one.value) for one in found.replaced) if found else frozenset()


def _replaced_sessions(state: ClarificationState) -> set[str]:
    """Sessions of decisions that have such a value, of those that were said first."""
    replaced, told = _replaced_values(state), state.opened.told or ()
    having = (one for one in told if not replaced.isdisjoint(map(canonical, one.values or ())))
    return {one.kept.session_id for one in having} - {""}


def _judge_older_evolution(
    state: ClarificationState, old: DecidedPatch, *, is_against: bool
) -> Evolution:
    """How the one stands to the other; `none` where the two are not compared.

    Args:
        is_against: whether the older one turned the value down.
    """
    assert state.offer.patch is not None, "only a patch is compared"
    new = ComparedDecision(
        category=category_of(state),
        fields=state.offer.patch.fields,
        intention=state.opened.intention,
        scope=stems(state.offer.scope),
        subject=_subject(title_of(state), state.offer.patch.fields),
        replaced=_replaced_values(state),
    )
    former = ComparedDecision(
        category=old.category,
        fields=old.fields,
        uid=old.uid,
        number=old.number,
        scope=stems(old.scope or ""),
        subject=_subject(old.title, old.fields),
    )
    kind = judge_evolution(new, former) if is_related(new, former) else "none"
    is_open = kind in ("none", "extend", "derive")
    return "contradict" if is_against and is_open and new.is_at(former) else kind


def _subject(title: str, fields: Iterable[tuple[str, str]]) -> tuple[frozenset[str], ...]:
    return stems_of_subject(title, (value for _, value in fields))


def _finding(
    process: Process, session_id: str, old: DecidedPatch, kind: Evolution, *, folder: str
) -> OlderDecision | None:
    """The finding with its source; None where the older one cannot be read any more.

    Args:
        folder: of the record that names it.
    """
    try:
        read = process.runner.load(session_id)
    except PreflightsError:
        return None
    return OlderDecision(
        related=as_related(read.session.state, session_id, folder),
        category=old.category,
        fields=old.fields,
        accepted_at=max(old.acknowledged_at or 0, 0),
        evolution=kind,
        source=read.source,
    )
