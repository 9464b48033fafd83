"""Decisions in force that may concern one that a person accepts: they are told, and block nothing."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from preflights_es.projections.decisions import decision
from preflights_es.runtime.runner import Handle
from preflights_es.services.recall.searching import Search
from preflights_es.services.request import Request
from preflights_es.workflows.clarification.state import State
from preflights_es.workflows.clarification.titles import title_of
from preflights_es.workflows.recall import rules
from preflights_es.workflows.recall.ranking import relates

TOLD_MAX: Final = 3


def tell_related(request: Request, handle: Handle, known: Collection[str]) -> None:
    """Say which decisions and records of other tools have much in common with an accepted one.

    Args:
        known: sessions of decisions that the person was told of already.
    """
    state: State = handle.session.state
    if state.patch is None:
        return
    values = (value for _, value in state.patch.fields)
    text = " ".join((title_of(state), *values, state.intention))
    process = request.process
    search = Search(process)
    former = state.supersedes.session_id if state.supersedes else ""
    apart = {handle.session_id, former, *known, *process.projector.proposals()}
    names: list[str] = []
    for match in search.matches(rules.wanted((text,)), relates, widens=False):
        if len(names) == TOLD_MAX:
            break
        if search.records and (row := search.records.of.get(match.uid)):
            if row.is_held:
                names.append(f"{row.path} {row.title}")
        elif match.session_id not in apart and (name := _named(request, match.session_id)):
            names.append(name)
    if names:
        request.notice("perhaps_related", f"perhaps related: {'; '.join(names)}", names=names)


def _named(request: Request, session_id: str) -> str:
    """Number and title of a decision in force; empty where it is none."""
    following = request.process.following
    columns = following.columns("decisions")
    for row in following.kept("decisions", session_id).rows:
        one = decision(dict(zip(columns, row, strict=True)))
        if one.decided.standing == "accepted" and one.decided.superseded_by is None:
            number = one.decided.number
            return f"ADR-{number:04} {one.decided.title}" if number else one.decided.title
    return ""
