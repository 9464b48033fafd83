"""What can be shown of a recall; all of it derived, none of it stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from preflights_es.features.recall.domain.events import FoundDecision, FoundRecord, Link, Rewriter
from preflights_es.features.recall.domain.state import RecallState, is_terminal
from preflights_es.kernel.events import Growing, Value
from preflights_es.kernel.ids import iso
from preflights_es.kernel.lead import no_answer, why_none
from preflights_es.words.questions import Language, Reached
from preflights_es.words.workflow import View, taken_out


class Remembered(Value, frozen=True, kw_only=True):
    """A decision of the answer."""

    uid: str
    session_id: str
    title: str
    status: str
    """`accepted` or `superseded`."""
    date: str
    """When a person accepted it, ISO 8601, UTC."""
    number: int | None
    category: str
    fields: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    score: int
    line: str
    """The reason, consequence or option turned down that matched; empty where the title says it."""


class DecisionLink(Value, frozen=True, kw_only=True):
    """How one decision stands to another, as its own session has it."""

    uid: str
    evolution: Link
    other: str
    """The uid of the other one."""
    title: str
    """Of the other one."""
    reason: str
    """Why both stay in force; empty where no person said so."""


class RecallView(View, frozen=True, kw_only=True):
    """`recall/1` (docs/api.md)."""

    FORMAT = "recall/1"

    question: str
    queries: tuple[str, ...]
    source: Rewriter | None
    results: tuple[Remembered, ...]
    records: tuple[FoundRecord, ...]
    """Of other tools, the best first."""
    evolution: tuple[DecisionLink, ...]
    """How each result stands to other decisions."""
    calls: int
    """Of the provider, retries among them."""
    language: Language


def view(state: RecallState) -> RecallView:
    """All that `show` says."""
    return RecallView(
        status=_recall_status(state),
        intention=state.question,
        progress=float(is_terminal(state)),
        warnings=_recall_warnings(state),
        question=state.question,
        queries=state.queries or (),
        source=state.source if state.queries is not None or is_terminal(state) else None,
        results=tuple(map(_as_remembered, state.results or ())),
        records=state.records,
        evolution=tuple(_collect_decision_links(state.results or ())),
        calls=state.led.calls,
        language=state.language,
    )


def _recall_status(state: RecallState) -> str:
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    return "done" if state.results or state.records else "stopped"


def _recall_warnings(state: RecallState) -> tuple[str, ...]:
    warnings = taken_out(Growing[str]().plus(*state.redacted))
    if state.led.stalled:
        return (*warnings, no_answer(state.led, "resume asks it again"))
    if state.led.fell_back:
        return (*warnings, f"the rules rewrote the question ({why_none(state.led)})")
    return warnings


def _collect_decision_links(results: Iterable[FoundDecision]) -> Iterator[DecisionLink]:
    for one in results:
        for to in one.stands or ():
            yield DecisionLink(
                uid=one.uid,
                evolution=to.evolution,
                other=to.uid,
                title=to.title,
                reason=to.reason,
            )


def _as_remembered(one: FoundDecision) -> Remembered:
    return Remembered(
        uid=one.uid,
        session_id=one.source.session_id,
        title=one.title,
        status=one.standing,
        date=iso(one.accepted_at),
        number=one.number,
        category=one.category,
        fields=one.fields,
        words=one.words,
        score=one.score,
        line=one.line or "",
    )


def recall_reached(state: RecallState) -> Reached:
    """The queries, since which decisions they find depends on the log."""
    if state.queries is None:
        return Reached()
    return Reached(result={"queries": list(state.queries)})
