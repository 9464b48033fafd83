"""What can be shown of a recall; all of it derived, none of it stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from preflights_es.features.recall.domain.events import Asks, Found, FoundRecord, Link, Rewriter
from preflights_es.features.recall.domain.state import State, is_terminal
from preflights_es.kernel.decisions import Learned
from preflights_es.kernel.events import Growing, Value
from preflights_es.kernel.ids import iso
from preflights_es.kernel.lead import no_answer, why_none
from preflights_es.kernel.questions import Language, Reached
from preflights_es.kernel.text import one_line
from preflights_es.kernel.views import View, taken_out


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
    learned: tuple[str, ...]
    """Those of the words that only a learning says."""
    score: int
    line: str
    """The reason, consequence or option turned down that matched; empty where the title says it."""


class Standing(Value, frozen=True, kw_only=True):
    """How one decision stands to another."""

    uid: str
    evolution: Link
    other: str
    """The uid of the other one."""
    title: str
    """Of the other one."""
    reason: str
    """Why both stay in force; empty where no person said so."""
    by: Literal["record", "rules", "model"]
    """`record`: as the decision's own session has it. A comparison is the rules' or a model's."""


class RecallView(View, frozen=True, kw_only=True):
    """`recall/1` (docs/api.md)."""

    FORMAT = "recall/1"

    asks: Asks
    about: str
    """The uid of the decision that is learned or compared; empty of a question."""
    question: str
    queries: tuple[str, ...]
    source: Rewriter | None
    results: tuple[Remembered, ...]
    records: tuple[FoundRecord, ...]
    """Of other tools, the best first."""
    evolution: tuple[Standing, ...]
    """How each result stands to other decisions; of a comparison what was found."""
    learned: tuple[str, ...]
    """The words that the decision gained."""
    calls: int
    """Of the provider, retries among them."""
    language: Language


def view(state: State) -> RecallView:
    """All that `show` says."""
    return RecallView(
        status=_status(state),
        intention=_intention(state),
        progress=float(is_terminal(state)),
        warnings=_warnings(state),
        asks=state.asks,
        about=state.about.decision if state.about else "",
        question=state.question,
        queries=state.queries or (),
        source=state.source if state.queries is not None or is_terminal(state) else None,
        results=tuple(map(_remembered, state.results or ())),
        records=state.records,
        evolution=(*_recorded(state.results or ()), *_compared(state)),
        learned=state.words or (),
        calls=state.led.calls,
        language=state.language,
    )


def _status(state: State) -> str:
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    is_learned = state.words is not None  # also where nothing is new
    return "done" if state.results or state.records or state.findings or is_learned else "stopped"


def _intention(state: State) -> str:
    """What lists show of the session."""
    if state.about is None:
        return state.question
    what = "words for" if state.asks == "learning" else "evolution of"
    return f"{what} {state.about.decision}: {one_line(state.about.title)}"


def _warnings(state: State) -> tuple[str, ...]:
    warnings = taken_out(Growing[str]().plus(*state.redacted))
    if state.led.stalled:
        return (*warnings, no_answer(state.led, "resume asks it again"))
    if state.led.fell_back:
        return (*warnings, f"{_INSTEAD[state.asks]} ({why_none(state.led)})")
    return warnings


_INSTEAD: Final[dict[Asks, str]] = {
    "question": "the rules rewrote the question",
    "learning": "the model named no more words",
    "comparison": "the rules alone compared the decisions",
}


def _recorded(results: Iterable[Found]) -> Iterator[Standing]:
    for one in results:
        for to in one.stands or ():
            yield Standing(
                uid=one.uid,
                evolution=to.evolution,
                other=to.uid,
                title=to.title,
                reason=to.reason,
                by="record",
            )


def _compared(state: State) -> Iterator[Standing]:
    about = state.about
    for one in state.findings or ():
        if about is None or one.evolution == "none":
            continue  # only a forged file says so
        yield Standing(
            uid=about.decision,
            evolution=one.evolution,
            other=one.related.uid,
            title=one.related.title,
            reason="",
            by=one.by,
        )


def _remembered(one: Found) -> Remembered:
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
        learned=one.learned or (),
        score=one.score,
        line=one.line or "",
    )


def reached(state: State) -> Reached:
    """The queries, since which decisions they find depends on the log; or what was learned."""
    if state.words is not None:
        return Reached(result={"learned": list(state.words)})
    if state.findings is not None:
        found = {one.related.uid: one.evolution for one in state.findings}
        return Reached(result={"evolution": found})
    if state.queries is None:
        return Reached()
    return Reached(result={"queries": list(state.queries)})


def learned(state: State) -> Learned | None:
    """What a learning adds to the words of its decision; None where no model said anything."""
    if state.words is None or state.about is None or (not state.words and state.source == "rules"):
        return None
    return Learned(state.about.decision, state.words)
