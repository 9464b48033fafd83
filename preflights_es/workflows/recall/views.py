"""What can be shown of a recall; all of it derived, none of it stored."""

from __future__ import annotations

from preflights_es.core.completion_step import no_answer, why_none
from preflights_es.core.events import Value
from preflights_es.core.growing import Growing
from preflights_es.core.times import iso
from preflights_es.core.views import Language, Reached, View, taken_out
from preflights_es.workflows.recall.state import State
from preflights_es.workflows.recall.values import Found, Rewriter


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


class RecallView(View, frozen=True, kw_only=True):
    """The fields of `recall/1` (docs/api.md)."""

    question: str
    queries: tuple[str, ...]
    source: Rewriter | None
    results: tuple[Remembered, ...]
    calls: int
    """Of the provider, retries among them."""
    language: Language


def view(state: State) -> RecallView:
    """All that `show` says."""
    return RecallView(
        status=_status(state),
        intention=state.question,
        progress=float(state.results is not None),
        warnings=_warnings(state),
        question=state.question,
        queries=state.queries or (),
        source=None if state.queries is None else state.source,
        results=tuple(map(_remembered, state.results or ())),
        calls=state.led.calls,
        language=state.language,
    )


def _status(state: State) -> str:
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    return "done" if state.results else "stopped"


def _warnings(state: State) -> tuple[str, ...]:
    warnings = taken_out(Growing[str]().plus(*state.redacted))
    if state.led.stalled:
        return (*warnings, no_answer(state.led, "resume asks it again"))
    if state.led.fell_back:
        return (*warnings, f"the rules rewrote the question ({why_none(state.led)})")
    return warnings


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
        score=one.score,
    )


def reached(state: State) -> Reached:
    """The queries: which decisions they find depends on the log."""
    if state.queries is None:
        return Reached()
    return Reached(result={"queries": list(state.queries)})
