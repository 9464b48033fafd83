"""How what a clarification proposes stands to decisions in force, before a person accepts it.

Every acceptance asks, so what most of them do not need is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from preflights_es.core import ids
from preflights_es.core.errors import PreflightsError, ProjectionDamaged
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.lead import WRITERS
from preflights_es.core.word_stems import folded, stems
from preflights_es.runtime.runner import Handle
from preflights_es.system.bounded_read import Unreadable
from preflights_es.workflows.clarification.events import PatchProposed
from preflights_es.workflows.clarification.state import State, accepted
from preflights_es.workflows.clarification.titles import title_of
from preflights_es.workflows.clarification.values import DecisionPatch

if TYPE_CHECKING:
    from preflights_es.core.evolution import Finding
    from preflights_es.services.process import Process
    from preflights_es.services.request import Request

COMPARED_MAX: Final = 50  # decisions that are compared, those with the most words in common first
MOVED_MAX: Final = 50  # sessions that are looked through here; more are folded for good

ENDING: Final = ".jsonl"

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


class _Proposed(msgspec.Struct):
    """A payload of `PatchProposed`."""

    patch: DecisionPatch


_OLDER: Final = msgspec.json.Decoder(Older)
_PROPOSED: Final = msgspec.json.Decoder(_Proposed)


def findings(request: Request, handle: Handle) -> tuple[Finding, ...]:
    """How the patch of a clarification stands to decisions in force; never `none`.

    The rules compare those of its category, and those that its intention names. Where a model
    leads the clarification, it is asked, too. The ones that a person has to choose about come
    first, then the newer. The decision that it replaces already is left out.

    Raises:
        ProjectionDamaged: a row of a projection is not one that this program writes.
    """
    state: State = handle.session.state
    if state.patch is None:
        return ()
    by_session: dict[str, Finding] = {}
    for process in _processes(request):
        for one in _compared(process, handle, state):
            by_session.setdefault(one.related.session_id, one)
    found = tuple(sorted(by_session.values(), key=_order))
    lead = state.led.lead
    if found and lead is not None and lead.provider not in ("mock", *WRITERS):
        from preflights_es.services.recall.findings import judged

        found = tuple(sorted(judged(request, handle, lead, found), key=_order))
    return tuple(one for one in found if one.evolution != "none")


def _order(one: Finding) -> tuple[bool, bool, int]:
    """What a person has to choose about, then what else is found, then the newer."""
    return not one.needs_choice, one.evolution == "none", -one.accepted_at


def _processes(request: Request) -> Iterator[Process]:
    """The log, and session files that say more than it, where it lacks the session of one."""
    process = request.process
    yield process
    if _lacks(process) and (beside := request.at_files()) is not None:
        yield beside.process


def _lacks(process: Process) -> bool:
    """Whether a session lies beside the records that the log has not; told by names alone."""
    try:
        names = process.session_folders.beside().names()
    except Unreadable:
        return False  # what reads the files says so
    if not names:
        return False
    heads = process.store.heads(process.project)
    return not {one.removesuffix(ENDING) for one in names} <= {
        ids.decision_uid(head.session_id) for head in heads
    }


def _compared(process: Process, handle: Handle, state: State) -> Iterator[Finding]:
    patch = state.patch
    assert patch is not None, "the caller looked"
    left_out = {handle.session_id, state.supersedes.session_id if state.supersedes else ""}
    for old in _older(process, handle, state):
        # The same decision once more is `none`; most that have a category in common are that.
        is_same = (old.category, old.fields) == (patch.category, patch.fields)
        if is_same or old.session_id in left_out:
            continue
        from preflights_es.services.recall.findings import finding

        if made := finding(process, state, old):
            yield made


# 1. Which are compared ------------------------------------------------------------------------


def _older(process: Process, handle: Handle, state: State) -> Iterable[Older]:
    """Decisions in force that have words in common with what is proposed, each once."""
    found: dict[str, Older] = {}
    moved = _moved(process, handle)
    alike = (one for one, patch in moved.items() if patch is not None and _is_alike(state, patch))
    for session_id in (*alike, *_named(process, handle, state)):
        if session_id not in found and (read := _read(process, session_id)):
            found[session_id] = read
    for one in _kept(process, state):
        if one.session_id not in moved:
            found.setdefault(one.session_id, one)
    return found.values()


def _moved(process: Process, handle: Handle) -> dict[str, DecisionPatch | None]:
    """Sessions that no projection has folded yet, few of them, with the patch of each."""
    from preflights_es.projections.versions import DECISIONS, MEMORY
    from preflights_es.store.comparing import SqlComparing

    log = SqlComparing(process.store)
    heads = log.waiting(MOVED_MAX + 1)
    if len(heads) > MOVED_MAX or not log.is_current({"memory": MEMORY, "decisions": DECISIONS}):
        process.projector.caught_up()
        heads = log.waiting(MOVED_MAX + 1)
    patches: dict[str, DecisionPatch | None] = {one.session_id: None for one in heads}
    for session_id, data in log.payloads(PatchProposed.tag).items() if len(heads) > 1 else ():
        with suppress(ValueError, TypeError, RecursionError):  # damaged, as its session will say
            patches[session_id] = _PROPOSED.decode(data).patch
    patches[handle.session_id] = None
    return patches


def _is_alike(state: State, patch: DecisionPatch) -> bool:
    """Whether a patch may be related, by what the projection would be asked for."""
    new = state.patch
    if new is None or patch == new:
        return False
    values = " ".join(value for _, value in patch.fields)
    asked = {*stems(new.category), *stems(state.intention)}
    return not asked.isdisjoint((*stems(patch.category), *stems(values)))


def _kept(process: Process, state: State) -> Iterator[Older]:
    from preflights_es.store.comparing import SqlComparing

    assert state.patch is not None, "the caller looked"
    terms = dict.fromkeys((*stems(state.patch.category), *stems(state.intention)))
    rows = SqlComparing(process.store).rows(process.project, tuple(terms), COMPARED_MAX)
    for session_id, decided in rows:
        try:
            yield msgspec.structs.replace(_OLDER.decode(decided), session_id=session_id)
        except (ValueError, TypeError, RecursionError) as error:
            raise ProjectionDamaged("decisions", f"session {session_id}: {error}") from error


def _named(process: Process, handle: Handle, state: State) -> Iterator[str]:
    """Sessions that the intention names by their record's number or the end of their id."""
    text = state.intention
    for number, end in _NAMED.findall(folded(text)) if any(map(str.isdecimal, text)) else ():
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
    )
