"""Asking what was decided: the question is rewritten, the index read, the answer recorded."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.features.recall.decision_search import (
    MATCHES_MAX,
    MemorySearch,
    read_session_patches,
    records_beside,
)
from preflights_es.features.recall.domain import WORKFLOW, rules
from preflights_es.features.recall.domain.events import (
    LINE_MAX,
    RESULTS_MAX,
    DecisionsFound,
    FoundDecision,
    FoundRecord,
    Link,
    MemoryMatch,
    RecallAsked,
    RecallRefused,
    Stands,
)
from preflights_es.features.recall.domain.rules import may_answer_question
from preflights_es.features.recall.domain.state import RecallState, RecallView, count_matching
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Decision
from preflights_es.kernel.text import one_line, shortened
from preflights_es.runtime.runner import Step
from preflights_es.use.decisions import log_decisions
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.holding import is_counted
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, DecisionRow, session_of
from preflights_es.use.turned_down import CHAIN_MAX, find_successor
from preflights_es.use.use_cases import NewSession
from preflights_es.words.decisions import DecidedPatch, Related, alternative_text, list_superseded
from preflights_es.words.language import collect_search_words


def recall_refusal(decision: Decision) -> tuple[str, str]:
    """Why a recall takes an Input not, as a code and in words."""
    assert isinstance(decision, RecallRefused), "the only refusal"
    return decision.reason, NOT_EXPECTED


def start_recall(request: Request, new: NewSession) -> RecallView:
    """Ask what was decided, as `recall` does.

    Raises:
        Refused: there are answers, and a recall asks nothing.
    """
    if new.answers:
        raise Refused("a recall asks nothing: leave the answers out", code="unknown_question")
    return recall(request, new.text, strict=new.strict)


def recall(
    request: Request, question: str, *, everything: bool = False, strict: bool = False
) -> RecallView:
    """The accepted decisions that a question is about, the best first.

    Args:
        everything: also those that match weakly.
        strict: whether it waits where the model fails.

    Raises:
        Refused: the question cannot be recorded.
    """
    said = {
        "question": question,
        "language": request.process.settings.language,
        "everything": everything,
    }
    setup = request.setup(WORKFLOW, strict=strict)
    step = request.sessions.opened(WORKFLOW, RecallAsked, said, setup)
    shown = session_of(looked_up(request, step), request.notices)
    assert isinstance(shown, RecallView), "it is the session of a recall"
    return shown


def looked_up(request: Request, step: Step) -> Step:
    """A recall after the index was read, where its queries stand and it was not."""
    handle = step.handle
    state: RecallState = handle.session.state
    is_rewritten = state.queries is not None and state.results is None
    if not is_rewritten or handle.session.closed or handle.status == "waiting":
        return step
    found, records, matches = _find_decisions_and_records(request, state)
    said: dict[str, Any] = {"found": found, "records": records}
    if matches > count_matching((*found, *records)):
        said["matches"] = matches
    return request.sessions.submitted(handle, DecisionsFound, said)


def _find_decisions_and_records(
    request: Request, state: RecallState
) -> tuple[tuple[FoundDecision, ...], tuple[FoundRecord, ...], int]:
    """The best matches of the log and of session files that say more than it; the count of all."""
    request.reading.tell_files()
    enough = (lambda _: True) if state.everything else may_answer_question
    found, newer = dict[str, FoundDecision](), dict[str, FoundDecision]()
    records: list[FoundRecord] = []
    matching = set[str]()
    for process in request.reading.logs:
        search = MemorySearch(process, records_beside(process))
        matches = search.matches(rules.search_words(state.queries or ()), enough, MATCHES_MAX)
        matching.update(match.uid for match in matches)
        for match in matches[:RESULTS_MAX]:
            row = search.records.of.get(match.uid) if search.records else None
            read = None if row else found.get(match.uid) or _read_matched_decision(process, match)
            if read is not None:
                found[match.uid] = read
            if row is not None and row.status == "superseded":
                later = _find_newer_record(process, search, row)
            else:
                is_over = read is not None and read.standing == "superseded"
                later = match.session_id if is_over else ""
            if isinstance(later, ForeignRow):
                records.append(_build_found_record(later, replace(match, words=())))
            elif later and (one := _find_newest_decision(process, later, match)):
                newer[one.uid] = one
            if row is not None:
                records.append(_build_found_record(row, match))
        if behind := process.projector.behind:
            request.notice(behind.code, behind.text)
    best = rules.best((newer | found).values())[:RESULTS_MAX]
    # One that took the place of another and matches itself stands once, with its words.
    having = {one.path for one in records if one.words}
    told = {(one.path, one.words): one for one in records if one.words or one.path not in having}
    return tuple(best), tuple(told.values()), len(matching)


def _find_newer_record(process: Process, search: MemorySearch, row: ForeignRow) -> ForeignRow | str:
    """What holds in place of a record that was superseded: a record, or the session of a decision.

    Empty where that is not beyond doubt.
    """
    every = search.records.of.values() if search.records else ()
    others = [one for one in every if is_counted(one)]
    own = [*filter(is_counted, log_decisions(process, everything=True))]
    place: ForeignRow | DecisionRow | None = row
    for _ in range(CHAIN_MAX):
        if not isinstance(place, ForeignRow) or place.is_held:
            break
        place = find_successor(place, others, own)
    if isinstance(place, ForeignRow):
        return place if place.is_held else ""
    return place.session_id if place else ""


def _find_newest_decision(
    process: Process, session_id: str, match: MemoryMatch
) -> FoundDecision | None:
    """The decision in force of a session, or the one that took its place; no word of it matches."""
    for _ in range(CHAIN_MAX):
        patches, _source = read_session_patches(process, session_id)
        stands = (one for one in patches if one.standing in ("accepted", "superseded"))
        if (patch := next(stands, None)) is None:  # erased: only what replaced it names it yet
            rows = log_decisions(process, everything=True)
            later = (row.session_id for row in rows if session_id in _replaced_sessions(row))
            if not (session_id := next(later, "")):
                return None
            continue
        if patch.superseded_by is None:
            new = replace(match, session_id=session_id, version=patch.version, words=(), terms=())
            new = replace(new, accepted_at=patch.acknowledged_at or 0)
            return _read_matched_decision(process, new)
        session_id = patch.superseded_by.session_id
    return None


def _replaced_sessions(row: DecisionRow) -> set[str]:
    return {one.session_id for one in list_superseded(row)}


def _build_found_record(row: ForeignRow, match: MemoryMatch) -> FoundRecord:
    return FoundRecord(
        path=row.path,
        title=row.title,
        status=row.status,
        date=row.date,
        words=match.words,
        score=match.score,
    )


def _read_matched_decision(process: Process, match: MemoryMatch) -> FoundDecision | None:
    """The decision as its session has it; None where it is gone since."""
    decided, source = read_session_patches(process, match.session_id)
    for patch in decided:
        if patch.version != match.version or patch.standing not in ("accepted", "superseded"):
            continue
        assert source is not None, "it was read"
        return FoundDecision(
            uid=patch.uid,
            title=patch.title,
            standing="accepted" if patch.standing == "accepted" else "superseded",
            category=patch.category,
            fields=patch.fields,
            accepted_at=max(match.accepted_at, 0),
            number=patch.number,
            words=match.words,
            score=match.score,
            source=source,
            stands=_stands(patch) or UNSET,
            line=_best_matching_line(patch, match.terms) or UNSET,
        )
    return None


def _best_matching_line(patch: DecidedPatch, terms: Sequence[str]) -> str:
    """What the decision says with words that its title and values lack; empty where none does."""
    wanted = set(terms)
    known = (patch.title, patch.category, *(text for pair in patch.fields for text in pair))
    wanted -= set(collect_search_words(" ".join(known)))
    why = patch.rationale
    texts = [
        *(f"not {alternative_text(one)}" for one in why.alternatives),
        *(f"because {one.text}" for one in (why.because,) if one),
        *(f"so {one.text}" for one in why.consequences),
    ]
    having = [(len(wanted.intersection(collect_search_words(text))), text) for text in texts]
    most, text = max(having, key=itemgetter(0), default=(0, ""))
    return shortened(one_line(text), LINE_MAX) if most else ""


def _stands(patch: DecidedPatch) -> tuple[Stands, ...]:
    """How a decision stands to others, as its own session has it."""
    links: list[tuple[Link, Related | None, str]] = [
        *(("supersedes", one, "") for one in list_superseded(patch)),
        ("superseded_by", patch.superseded_by, ""),
        *(("contradict", one.related, one.reason) for one in patch.kept),
    ]
    return tuple(
        Stands(evolution=link, uid=to.uid, title=to.title, reason=reason)
        for link, to, reason in links
        if to is not None and to.uid
    )
