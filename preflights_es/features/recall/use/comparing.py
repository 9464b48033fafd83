"""How what a clarification proposes stands to decisions in force, before a person accepts it.

Every acceptance asks, and most find the same decision again or nothing: what the others need is
imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from preflights_es.features.clarification.domain.events import PatchProposed
from preflights_es.features.clarification.domain.state import State
from preflights_es.kernel import ids
from preflights_es.kernel.lead import WRITERS
from preflights_es.kernel.words import words
from preflights_es.runtime.runner import Handle
from preflights_es.store.projection_rows import SqlComparing
from preflights_es.system.files import Unreadable

if TYPE_CHECKING:
    from preflights_es.kernel.decisions import OlderDecision
    from preflights_es.use.process import Process
    from preflights_es.use.request import Request

COMPARED_MAX: Final = 1_000
"""Decisions that are compared, those with the most words in common first."""
MOVED_MAX: Final = 50  # sessions that are looked through here; more are folded for good
ENDING: Final = ".jsonl"


def findings(request: Request, handle: Handle) -> tuple[OlderDecision, ...]:
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
    lead = state.led.lead
    is_judged = lead is not None and lead.provider not in ("mock", *WRITERS)
    by_session: dict[str, OlderDecision] = {}
    for process in _processes(request):
        for one in _compared(process, handle, is_judged=is_judged):
            by_session.setdefault(one.related.session_id, one)
    found = tuple(sorted(by_session.values(), key=_order))
    by_place = tuple(one for one in found if one.evolution in ("same", "exception"))
    others = tuple(one for one in found if one not in by_place)
    if others and lead is not None and is_judged:
        from preflights_es.features.recall.use.judging import judged

        others = judged(request, handle, lead, others)
        found = tuple(sorted((*by_place, *others), key=_order))
    return tuple(one for one in found if one.evolution != "none")


def _order(one: OlderDecision) -> tuple[bool, bool, int]:
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


def _compared(process: Process, handle: Handle, *, is_judged: bool) -> Iterator[OlderDecision]:
    """What the rules say of each decision that may be related, and of some that are not."""
    state: State = handle.session.state
    assert state.patch is not None, "the caller looked"
    log = SqlComparing(process.store)
    moved = _moved(process, log) - {handle.session_id}
    proposed = log.payloads(PatchProposed.tag) if moved else {}
    # What an agent imported is in force once a person has confirmed it.
    apart = {handle.session_id, *process.projector.proposals()}
    patches = {session_id: data for session_id, data in proposed.items() if session_id not in apart}
    # Those of the same field come first, however many are of its category.
    names = " ".join(name for name, _ in state.patch.fields)
    terms = words(f"{state.patch.category} {names} {state.intention}")
    kept = [
        (session_id, decided)
        for session_id, decided in log.rows(process.project, terms, COMPARED_MAX)
        # Another process may fold a session that moved between the statements.
        if session_id not in proposed and session_id not in apart
    ]
    may_name = any(map(str.isdecimal, state.intention))
    if patches or kept or may_name:
        from preflights_es.features.recall.use.findings import found

        yield from found(process, handle, patches, kept, is_judged=is_judged)


def _moved(process: Process, log: SqlComparing) -> set[str]:
    """Sessions that no projection has folded yet, few of them."""
    from preflights_es.projections.projection import DECISIONS, MEMORY

    moved = log.waiting(MOVED_MAX + 1)
    if len(moved) > MOVED_MAX or not log.is_current({"memory": MEMORY, "decisions": DECISIONS}):
        process.projector.caught_up()
        moved = log.waiting(MOVED_MAX + 1)
    return {one.session_id for one in moved}
