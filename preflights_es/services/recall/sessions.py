"""Asking what was decided: the question is rewritten, the index read, the answer recorded."""

from __future__ import annotations

from preflights_es.core.errors import PreflightsError, Refused
from preflights_es.core.events import INT_MAX
from preflights_es.core.source import Source
from preflights_es.projections.decisions import patches
from preflights_es.runtime.runner import Handle
from preflights_es.runtime.sessions import Sessions
from preflights_es.services.answers import Given
from preflights_es.services.process import Process
from preflights_es.services.request import Request
from preflights_es.services.results import Session, session_of
from preflights_es.workflows.recall import WORKFLOW, rules
from preflights_es.workflows.recall.events import DecisionsFound, RecallAsked
from preflights_es.workflows.recall.state import State
from preflights_es.workflows.recall.values import RESULTS_MAX, Found, Match


def start(request: Request, text: str, given: Given = (), *, strict: bool = False) -> Session:
    """Ask what was decided, as `recall` does.

    Raises:
        Refused: there are answers, and a recall asks nothing.
    """
    if given:
        raise Refused("a recall asks nothing: leave the answers out", code="unknown_question")
    return recall(request, text, strict=strict)


def recall(
    request: Request, question: str, *, everything: bool = False, strict: bool = False
) -> Session:
    """The accepted decisions that a question is about, the best first.

    Args:
        everything: also superseded ones.
        strict: whether it waits where the model fails.

    Raises:
        Refused: the question cannot be recorded.
    """
    request.finish_pending()
    request.notice_name()
    own = Sessions(request.desk)
    said = {
        "question": question,
        "language": request.process.settings.language,
        "everything": everything,
    }
    setup = request.setup(WORKFLOW, strict=strict)
    step = own.opened(WORKFLOW, RecallAsked, said, setup)
    if _looks(step.handle):
        found = _found(request, step.handle.session.state)
        step = own.submitted(step.handle, DecisionsFound, {"found": found})
    return session_of(step, request.notices)


def _looks(handle: Handle) -> bool:
    state: State = handle.session.state
    is_rewritten = state.queries is not None and state.results is None
    return is_rewritten and not handle.session.closed and handle.status != "waiting"


def _found(request: Request, state: State) -> tuple[Found, ...]:
    """The best matches of the log, and of session files that say more than it."""
    beside = request.at_files()
    logs = [request.process] if beside is None else [request.process, beside.process]
    found: dict[str, Found] = {}
    for process in logs:
        for match in _matches(process, state):
            if match.uid not in found and (read := _read(process, match)):
                found[match.uid] = read
        if behind := process.projector.behind:
            request.notice(behind.code, behind.text)
    return tuple(rules.best(found.values())[:RESULTS_MAX])


def _matches(process: Process, state: State) -> list[Match]:
    words = rules.wanted(state.question, state.queries or ())
    if not words:
        return []
    rows = process.projector.rows("memory", process.project, "named", INT_MAX, terms=tuple(words))
    return rules.ranked(rows, words, everything=state.everything)[:RESULTS_MAX]


def _read(process: Process, match: Match) -> Found | None:
    """The decision as its own log has it; None where it is gone since."""
    try:
        read = process.history(match.session_id)
    except PreflightsError:
        return None  # it was erased or damaged meanwhile: the next recall does not find it
    last = read.stored[-1]
    for patch in patches(read):
        if patch.version == match.version and patch.standing in ("accepted", "superseded"):
            return Found(
                uid=patch.uid,
                title=patch.title,
                standing="accepted" if patch.standing == "accepted" else "superseded",
                category=patch.category,
                fields=patch.fields,
                accepted_at=max(match.accepted_at, 0),
                number=patch.number,
                words=match.words,
                score=match.score,
                source=Source(match.session_id, last.version, last.hash.hex()),
            )
    return None
