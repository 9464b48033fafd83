"""What the log of a recall folds to, and what is shown of it. Views are derived, never stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from preflights_es.features.recall.domain.events import (
    DecisionsFound,
    DecisionsRecalled,
    FoundDecision,
    FoundRecord,
    Link,
    QueriesRewritten,
    RecallAsked,
    Rewriter,
)
from preflights_es.kernel import lead as leading
from preflights_es.kernel.events import Event, Growing, Input, Value
from preflights_es.kernel.ids import iso
from preflights_es.kernel.lead import LeadState, no_answer, why_none
from preflights_es.words.questions import Language, Reached
from preflights_es.words.workflow import View, taken_out


class RecallState(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    question: str = ""
    """Empty until it is asked."""
    language: Language = "en"
    everything: bool = False
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: LeadState = LeadState()
    queries: tuple[str, ...] | None = None
    """None until the question is rewritten."""
    source: Rewriter = "rules"
    results: tuple[FoundDecision, ...] | None = None
    """The best first; None until it is looked for."""
    records: tuple[FoundRecord, ...] = ()
    """Of other tools, the best first."""
    matches: int = 0
    """How many decisions and records match."""
    redacted: tuple[str, ...] = ()


def is_terminal(state: RecallState) -> bool:
    """Whether the answer is there."""
    return state.results is not None


def evolve(state: RecallState, event: Event) -> RecallState:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _after_recall_input(state, event)
    match event:
        case QueriesRewritten(queries=queries, source=source):
            return replace(state, queries=queries, source=source)
        case DecisionsRecalled(uids=uids):
            new = state.input
            if not isinstance(new, DecisionsFound):
                return replace(state, results=())  # only a forged file says so
            of = {one.uid: one for one in new.found}
            results = tuple(of[uid] for uid in uids if uid in of)
            matches = new.matches or count_matching((*results, *new.records))
            return replace(state, results=results, records=new.records, matches=matches)
        case _:
            led = leading.evolve_lead_state(state.led, state.input, event)
            return state if led is state.led else replace(state, led=led)


def count_matching(told: Iterable[FoundDecision | Remembered | FoundRecord]) -> int:
    """How many match, without what only took the place of a match."""
    return sum(bool(one.words) for one in told)


def _after_recall_input(state: RecallState, new: Input) -> RecallState:
    if isinstance(new, RecallAsked) and not state.question:
        return replace(
            state,
            question=new.question,
            language=new.language,
            everything=new.everything,
            input=new,
            led=leading.open_lead_state(new.setup),
            redacted=new.redacted,
        )
    return replace(state, input=new)


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
    matches: int
    """How many decisions and records match; the best are told."""
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
        matches=state.matches,
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
                uid=one.uid, evolution=to.evolution, other=to.uid, title=to.title, reason=to.reason
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
