"""What one run of a session comes to: the measures that a regression run compares."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from preflights_es.features.regress.engine.results import Measure, Noise, Side
from preflights_es.features.regress.engine.results import Outcome as Judged
from preflights_es.history.recording import step_of
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import Event, Input, InputIgnored, Outcome, Request
from preflights_es.kernel.json import decoded, encoded
from preflights_es.kernel.lead import FellBack, ResponseAccepted
from preflights_es.kernel.questions import Question, Reached, Refusal
from preflights_es.kernel.session import Session, Workflow

if TYPE_CHECKING:
    from preflights_es.projections.usage import Price

PER: Final = 1_000_000  # tokens that a price is for


def side_of(
    workflow: Workflow[Any],
    session: Session[Any],
    events: Sequence[Event],
    label: Reached,
    prices: Sequence[Price] = (),
) -> Side:
    """The measures of one run.

    Args:
        label: of the recorded session: what a person accepted there.
    """
    asked = [event for event in events if isinstance(event, CompletionRequested)]
    outcomes = [e for e in events if isinstance(e, (CompletionReceived, CompletionFailed))]
    result = workflow.reached(session.state).result
    return Side(
        valid=_valid(events, asked, session),
        agrees=None if label.accepted is None else _plain(result) == _plain(label.accepted),
        result=None if result is None else sha256(encoded(result)).hexdigest(),
        questions=len(questions(events)),
        turns=_turns(events),
        fallbacks=sum(isinstance(event, FellBack) for event in events),
        calls=len(asked),
        tokens=sum((one.input_tokens or 0) + (one.output_tokens or 0) for one in outcomes),
        cost=_cost(asked, outcomes, prices) if prices else None,
    )


def _plain(value: object) -> Any:
    return decoded(encoded(value))


def _valid(
    events: Sequence[Event], asked: Sequence[CompletionRequested], session: Session[Any]
) -> bool | None:
    """A step that is still open says nothing yet."""
    waits = {step_of(call.call) for call in session.calls}
    steps = {step_of(request.call) for request in asked if request.contract} - waits
    if not steps:
        return None
    return steps <= {step_of(e.call) for e in events if isinstance(e, ResponseAccepted)}


def questions(events: Sequence[Event]) -> list[Question]:
    """All that was asked of a person, in turn."""
    asking = (event for event in events if not isinstance(event, (Input, Request)))
    values = (getattr(event, name) for event in asking for name in event.__struct_fields__)
    return [value for value in values if isinstance(value, Question)]


def _turns(events: Sequence[Event]) -> int:
    """Inputs of people that a Decision other than a refusal follows."""
    turns, waits = 0, False
    for event in events:
        if isinstance(event, Input):
            waits = not isinstance(event, Outcome)
        elif waits and not isinstance(event, (Refusal, InputIgnored)):
            turns, waits = turns + 1, False
    return turns


def _cost(
    asked: Sequence[CompletionRequested],
    outcomes: Sequence[CompletionReceived | CompletionFailed],
    prices: Sequence[Price],
) -> float | None:
    """None where a response has no price, or its provider said no tokens."""
    from decimal import Decimal

    from preflights_es.projections.usage import price_of

    requests = {request.call: request for request in asked}
    total = Decimal(0)
    for one in outcomes:
        request, tokens = requests.get(one.call), (one.input_tokens, one.output_tokens)
        if request is None or (isinstance(one, CompletionFailed) and tokens == (None, None)):
            continue
        row = {"provider": request.provider, "model": request.model, "at": one.at}
        price = price_of(row, prices)
        if price is None or tokens[0] is None or tokens[1] is None:
            return None
        total += price.input_per_million * tokens[0] + price.output_per_million * tokens[1]
    return float(total / PER)


# Several of them ------------------------------------------------------------------------------


def majority(sides: Sequence[Side | None]) -> Side | None:
    """What more than half of the runs of one side say of each measure; None without runs."""
    known = [one for one in sides if one is not None]
    if not known:
        return None
    agrees, valid = _most([s.agrees for s in known]), _most([s.valid for s in known])
    usual = next((s for s in known if (s.agrees, s.valid) == (agrees, valid)), known[0])
    return replace(usual, agrees=agrees, valid=valid)


def _most(said: Sequence[bool | None]) -> bool | None:
    return next((one for one in (True, False) if 2 * said.count(one) > len(said)), None)


def noise_of(sides: Sequence[Side | None]) -> Noise | None:
    """How often two runs of one side, one after the other, differ; None of one run."""
    pairs = [(one, other) for one, other in pairwise(sides) if one and other]
    if not pairs:
        return None
    return Noise(
        runs=len(sides),
        agreement=sum(one.result != other.result for one, other in pairs) / len(pairs),
        validity=sum(one.valid != other.valid for one, other in pairs) / len(pairs),
    )


# Two of them ---------------------------------------------------------------------------------


def measures(
    before: Side, after: Side, asked: Sequence[Question], asks: Sequence[Question]
) -> tuple[Measure, ...]:
    """What differs between two runs; what one of them does not know does not differ.

    Args:
        asked: the questions of the one run.
        asks: those of the other.
    """
    found: dict[Measure, bool] = {
        "validity": _both_differ(before.valid, after.valid),
        "questions": list(asked) != list(asks),
        "turns": before.turns != after.turns,
        "result": before.result != after.result,
        "fallback": before.fallbacks != after.fallbacks,
        "tokens": before.tokens != after.tokens,
        "cost": _both_differ(before.cost, after.cost),
    }
    return tuple(name for name, differs in found.items() if differs)


def _both_differ(before: float | None, after: float | None) -> bool:
    return None not in (before, after) and before != after


def outcome(before: Side, after: Side, changed: Sequence[Measure]) -> Judged:
    """`same`, `changed`, `failed` or `fixed`; one that is both lost and won has failed."""
    pairs = ((before.agrees, after.agrees), (before.valid, after.valid))
    if any(was is True and now is False for was, now in pairs):
        return "failed"
    if any(was is False and now is True for was, now in pairs):
        return "fixed"
    return "changed" if changed else "same"
