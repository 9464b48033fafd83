"""How what is proposed stands to older decisions, by the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.clarification.domain.state import State, accepted
from preflights_es.features.clarification.domain.titles import title_of
from preflights_es.features.clarification.domain.values import DecisionPatch
from preflights_es.features.recall.domain.evolution import Decision, evolution, is_related
from preflights_es.features.recall.domain.values import PAIRS_MAX
from preflights_es.features.recall.use.variants import stems
from preflights_es.kernel import ids
from preflights_es.kernel.decisions import Evolution, OlderDecision, Related
from preflights_es.kernel.errors import PreflightsError, ProjectionDamaged
from preflights_es.kernel.text import late_pattern
from preflights_es.kernel.words import folded, words
from preflights_es.runtime.runner import Handle
from preflights_es.use.process import Process

_NAMED: Final = late_pattern(r"(?<!\w)(?:adr[- ]?0*([1-9][0-9]{0,8})|([0-9a-f-]{8,36}))(?!\w)")
"""A record's number or the end of an id, in a folded text."""


class Older(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared of a decision in force."""

    uid: str
    title: str
    category: str
    fields: tuple[tuple[str, str], ...]
    number: int | None
    acknowledged_at: int
    session_id: str = ""
    scope: str = ""


class _Proposed(msgspec.Struct):
    """A payload of `PatchProposed`."""

    patch: DecisionPatch


def found(
    process: Process,
    handle: Handle,
    proposed: Mapping[str, str],
    kept: Iterable[tuple[str, str]],
    *,
    is_judged: bool,
) -> Iterator[OlderDecision]:
    """What the rules say of older decisions.

    Args:
        proposed: by session that no projection has folded, the last patch as its log has it.
        kept: pairs of session and decision, as the projection has it.
        is_judged: whether a model is asked, too: it looks at some of which the rules find `none`.

    Raises:
        ProjectionDamaged: a row is not one that this program writes.
    """
    state: State = handle.session.state
    older: dict[str, Older] = {}
    alike = (one for one, data in proposed.items() if _is_alike(state, data))
    for session_id in (*alike, *_named(process, handle, state)):
        if session_id not in older and (read := _read(process, session_id)):
            older[session_id] = read
    for session_id, decided in kept:
        try:
            one = msgspec.json.decode(decided, type=Older)
        except (ValueError, TypeError, RecursionError) as error:
            raise ProjectionDamaged("decisions", f"session {session_id}: {error}") from error
        older.setdefault(session_id, replace(one, session_id=session_id))
    superseded = state.supersedes.session_id if state.supersedes else ""
    nones = PAIRS_MAX if is_judged else 0
    for one in older.values():
        if one.session_id == superseded or (kind := _evolution(state, one)) is None:
            continue
        if kind == "none":
            nones -= 1
        if (kind != "none" or nones >= 0) and (made := _finding(process, one, kind)):
            yield made


def _is_alike(state: State, data: str) -> bool:
    """Whether a patch may be related, by what the projection would be asked for."""
    assert state.patch is not None, "only a patch is compared"
    try:
        patch = msgspec.json.decode(data, type=_Proposed).patch
    except (ValueError, TypeError, RecursionError):
        return False  # damaged, as its session will say
    values = " ".join(value for _, value in patch.fields)
    asked = {*words(state.patch.category), *words(state.intention)}
    return not asked.isdisjoint((*words(patch.category), *words(values)))


def _named(process: Process, handle: Handle, state: State) -> Iterator[str]:
    """Sessions that the intention names by their record's number or the end of their id."""
    for number, end in _NAMED.findall(folded(state.intention)):
        store = process.store
        named: Iterable[Any] = ()
        if number:
            named = [store.numbers(process.project).get(int(number), "")]
        elif end:
            named = store.matching(end)
        yield from (one for one in named if one and one != handle.session_id)


def _read(process: Process, session_id: str) -> Older | None:
    """The decision of a session, where it is in force in this project."""
    try:
        handle = process.runner.load(session_id)
    except PreflightsError:
        return None  # a damaged session is no reason to refuse a new decision
    state = handle.session.state
    if handle.proposal is not None:
        return None
    if not isinstance(state, State) or handle.session.closed or handle.project != process.project:
        return None
    if not accepted(state) or state.patch is None or state.superseded_by is not None:
        return None
    assert state.acknowledgement is not None, "it is accepted"
    return Older(
        uid=ids.decision_uid(session_id),
        title=title_of(state),
        category=state.patch.category,
        fields=state.patch.fields,
        number=state.number,
        acknowledged_at=state.acknowledgement.at,
        session_id=session_id,
        scope=state.scope,
    )


def _evolution(state: State, old: Older) -> Evolution | None:
    """How the one stands to the other; None where the two are not compared."""
    assert state.patch is not None, "only a patch is compared"
    new = Decision(
        category=state.patch.category,
        fields=state.patch.fields,
        intention=state.intention,
        scope=stems(state.scope),
    )
    former = Decision(
        category=old.category,
        fields=old.fields,
        uid=old.uid,
        number=old.number,
        scope=stems(old.scope),
    )
    return evolution(new, former) if is_related(new, former) else None


def _finding(process: Process, old: Older, kind: Evolution) -> OlderDecision | None:
    """The finding with its source; None where the older one cannot be read any more."""
    try:
        read = process.runner.load(old.session_id)
    except PreflightsError:
        return None
    return OlderDecision(
        related=Related(old.uid, old.title, old.number, old.session_id),
        category=old.category,
        fields=old.fields,
        accepted_at=max(old.acknowledged_at, 0),
        evolution=kind,
        by="rules",
        source=read.source,
    )
