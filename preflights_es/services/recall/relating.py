"""Decisions in force that may concern an accepted one: they are told, and block nothing.

Every acceptance looks, so it looks at what is folded already, and for the words as they are.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from preflights_es.core.names import also_called
from preflights_es.core.projection_ports import TERMS_MAX
from preflights_es.projections.decisions import decision
from preflights_es.projections.versions import MEMORY
from preflights_es.runtime.runner import Handle
from preflights_es.services.process import Process
from preflights_es.services.request import Request
from preflights_es.store.comparing import SqlComparing
from preflights_es.workflows.clarification.state import State
from preflights_es.workflows.clarification.titles import title_of
from preflights_es.workflows.recall import rules
from preflights_es.workflows.recall.ranking import Corpus, Variants, ranked, relates

TOLD_MAX: Final = 3


def tell_related(request: Request, handle: Handle, known: Collection[str]) -> None:
    """Say which decisions have much in common with one that a person accepted.

    Args:
        known: sessions of decisions that the person was told of already.
    """
    state: State = handle.session.state
    process = request.process
    log = SqlComparing(process.store)
    count, length = log.documents(process.project)
    if state.patch is None or not count or not log.is_current({"memory": MEMORY}):
        return
    values = (value for _, value in state.patch.fields)
    words = rules.wanted((" ".join((title_of(state), *values, state.intention)),))
    wanted: dict[str, Variants] = {
        word: dict.fromkeys((word, *also_called(word)), 1.0) for word in words
    }
    terms = tuple(dict.fromkeys(term for of in wanted.values() for term in of))[:TERMS_MAX]
    rows = process.following.rows("memory", process.project, "named", terms=terms)
    former = state.supersedes.session_id if state.supersedes else ""
    apart = {handle.session_id, former, *known, *process.projector.proposals()}
    names: list[str] = []
    for match in ranked(rows, wanted, Corpus(count, length), enough=relates):
        if match.session_id in apart:
            continue
        if name := _named(process, match.session_id):
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
