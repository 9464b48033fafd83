"""What providers were asked, and what it came to."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec.structs import astuple, replace

from preflights_es.kernel.completions import CompletionReceived, CompletionRequested, Message
from preflights_es.kernel.events import Actor, Event, ResponseIgnored
from preflights_es.kernel.lead import FellBack, ResponseRejected
from preflights_es.projections.projection import Read
from preflights_es.projections.usage import (
    KINDS,
    Price,
    ProviderCall,
    fold_usage_rows,
    price_of,
    used,
    used_over_time,
)
from preflights_es.words.event_names import NO_MODELS
from preflights_es.words.workflow import Cost
from tests.each import each
from tests.projections.recording import goldens
from tests.projections.test_decisions import read

DAY = 86_400_000_000  # microseconds
COLUMNS = ProviderCall.__struct_fields__


def calls(session: Read) -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in fold_usage_rows(session)]


def call(**fields: Any) -> dict[str, Any]:
    """A row, in which everything went well."""
    made = ProviderCall(
        session_id="s",
        version=1,
        project="house",
        workflow="clarification",
        call="clarify-1.1",
        provider="anthropic",
        model="m-1",
        prompt="clarify.v1",
        at=10 * DAY,
        attempt=1,
        outcome="received",
        judged="accepted",
        input_tokens=1_000,
        output_tokens=100,
        latency_ms=250,
    )
    return dict(zip(COLUMNS, astuple(replace(made, **fields)), strict=True))


def price(model: str = "m-1", day: int = 0, paid: str = "3", said: str = "15") -> Price:
    return Price(
        provider="anthropic",
        model=model,
        since=day * DAY,
        input_per_million=Decimal(paid),
        output_per_million=Decimal(said),
        currency="USD",
    )


# 1. Rows -------------------------------------------------------------------------------------


def test_every_request_of_a_model_in_every_golden_session_is_a_row() -> None:
    by_others = 0
    for events in goldens():
        session = read(events)
        if session.workflow.shown.made_calls is not None:
            continue  # of another program: tests/cli/test_calls.py
        every = [e for e in session.events if isinstance(e, CompletionRequested)]
        asked = [e for e in every if e.provider not in NO_MODELS]
        by_others += len(every) - len(asked)
        found = calls(session)
        assert [row["call"] for row in found if row["attempt"]] == [e.call for e in asked]
        own = {e.call for e in asked}
        outcomes = [e for e in session.events if isinstance(e, CompletionReceived)]
        received = [e for e in outcomes if e.call in own]
        assert sum(row["outcome"] in ("received", "late") for row in found) == len(received)
        for row, request in zip(found, asked, strict=False):
            assert (row["provider"], row["model"]) == (request.provider, request.model)
            assert row["prompt"] == ", ".join(name for name, _ in request.prompts)
    assert by_others > 0


def made(*events: Event) -> Read:
    """A session of which only the events matter."""
    some = read(goldens()[0])
    stored = tuple(
        replace(some.stored[0], version=n, recorded_at=n) for n, _ in enumerate(events, 1)
    )
    return replace(some, stored=stored, events=events, sessions=())


def requested(attempt: int = 1) -> CompletionRequested:
    return CompletionRequested(
        call=f"clarify-1.{attempt}",
        provider="anthropic",
        model="m-1",
        messages=(Message("user", "hello"),),
        prompts=(("clarify.v1", "0" * 64),),
        attempt=attempt,
    )


def received(attempt: int = 1, tokens: int | None = 7) -> CompletionReceived:
    return CompletionReceived(
        at=1,
        actor=Actor("script"),
        call=f"clarify-1.{attempt}",
        text="{}",
        input_tokens=tokens,
        output_tokens=tokens,
        latency_ms=5,
    )


def test_a_retry_a_refusal_and_a_fallback_are_counted_where_they_happened() -> None:
    refused = ResponseRejected(call="", contract="clarify.v1", kind="invalid_json")
    found = calls(
        made(
            *(requested(1), received(1), refused, requested(2)),
            *(received(2), refused, FellBack(contract="clarify.v1", reason="invalid_json")),
        )
    )
    assert [(row["attempt"], row["judged"], row["fell_back"]) for row in found] == [
        (1, "invalid_json", 0),
        (2, "invalid_json", 1),
    ]
    (total,) = used(found)
    assert (total.calls, total.retries, total.rejected, total.fallbacks) == (2, 1, 2, 1)
    assert (total.input_tokens, total.failed, total.late) == (14, 0, 0)


def test_a_response_that_came_too_late_was_paid_and_counts_once_as_no_call() -> None:
    ignored = ResponseIgnored(call="clarify-1.1", reason="not_open")
    found = calls(made(requested(), received(), received(), ignored))
    assert [(row["outcome"], row["attempt"]) for row in found] == [("received", 1), ("late", 0)]
    assert found[1]["provider"] == "anthropic"
    (total,) = used(found)
    assert (total.calls, total.late, total.input_tokens) == (1, 1, 14)
    ignored = ResponseIgnored(call="clarify-1.1", reason="closed")
    found = calls(made(requested(), received(), ignored))
    assert [(row["outcome"], row["attempt"]) for row in found] == [("late", 1)]
    (total,) = used(found)
    assert (total.calls, total.late, total.input_tokens) == (1, 1, 7)
    ignored = ResponseIgnored(call="clarify-1.1", reason="closed")
    (row,) = calls(made(received(), ignored))
    assert (row["outcome"], row["provider"], row["model"]) == ("late", "", "")


def test_of_open_calls_and_events_that_are_gone_nothing_is_counted() -> None:
    (total,) = used(calls(made(requested())))
    assert (total.calls, total.input_tokens, total.latency_ms_median, total.unpriced) == (
        *(1, None, None),
        0,
    )
    session = made(requested(), received())
    assert calls(replace(session, events=(None, None))) == []
    (row,) = calls(replace(session, events=(session.events[0], None)))
    assert row["outcome"] == "open"


# 2. Sums -------------------------------------------------------------------------------------


def test_sums_are_by_provider_model_and_prompt_or_by_what_is_asked_for() -> None:
    some = [call(), call(model="m-2"), call(prompt="decide.v1"), call(provider="openai")]
    assert [(u.provider, u.model, u.prompt, u.calls) for u in used(some)] == [
        ("anthropic", "m-1", "clarify.v1", 1),
        ("anthropic", "m-1", "decide.v1", 1),
        ("anthropic", "m-2", "clarify.v1", 1),
        ("openai", "m-1", "clarify.v1", 1),
    ]
    by_provider = used(some, ("provider",))
    assert [(u.provider, u.model, u.calls) for u in by_provider] == [
        ("anthropic", None, 3),
        ("openai", None, 1),
    ]
    assert by_provider[0].input_tokens == 3_000


def test_only_the_time_that_is_asked_for_counts() -> None:
    some = [call(at=day * DAY) for day in (1, 2, 3)]
    (total,) = used(some, since=2 * DAY, until=3 * DAY - 1)
    assert total.calls == 1
    assert used(some, since=9 * DAY) == []


def test_latency_is_the_median_of_what_is_known_and_tokens_may_be_unknown() -> None:
    some = [call(latency_ms=ms) for ms in (10, 30, None, 50, 1_000)]
    (total,) = used(some)
    assert (total.latency_ms_median, total.latency_ms_max) == (40, 1_000)
    (total,) = used([call(input_tokens=None, output_tokens=None)])
    assert (total.input_tokens, total.output_tokens, total.unmeasured) == (None, None, 1)
    (mixed,) = used([call(), call(input_tokens=None)])
    assert (mixed.input_tokens, mixed.unmeasured) == (1_000, 1)


# 3. Costs ------------------------------------------------------------------------------------


def test_without_a_price_of_its_day_a_cost_is_unknown_and_not_0() -> None:
    (total,) = used([call()])
    assert (total.costs, total.unpriced) == ((), 1)
    (other,) = used([call()], prices=[price("m-2")])
    assert (other.costs, other.unpriced) == ((), 1)
    (total,) = used([call(at=DAY), call(at=9 * DAY)], prices=[price(day=8)])
    assert total.costs == (Cost("USD", "0.0045"),)
    assert total.unpriced == 1


def test_the_price_of_the_day_of_the_call_counts() -> None:
    prices = [price(day=0), price(day=8, paid="30", said="150"), price(day=11, paid="1", said="1")]
    assert price_of(call(at=7 * DAY), prices) == prices[0]
    assert price_of(call(at=8 * DAY), prices) == prices[1]
    assert price_of(call(at=10 * DAY), prices) == prices[1]
    assert price_of(call(at=12 * DAY), prices) == prices[2]
    (total,) = used([call(at=7 * DAY), call(at=8 * DAY)], prices=prices)
    assert total.costs == (Cost("USD", "0.0495"),)
    assert total.unpriced == 0


def test_sums_of_money_are_exact_and_a_price_of_nothing_is_known() -> None:
    (total,) = used([call()], prices=[price(paid="0", said="0")])
    assert total.unpriced == 0
    (cost,) = total.costs
    assert Decimal(cost.amount) == 0
    tenth = [call(input_tokens=1, output_tokens=0) for _ in range(10)]
    (total,) = used(tenth, prices=[price(paid="0.1")])
    (cost,) = total.costs
    assert Decimal(cost.amount) == Decimal("0.000001")


@each("tokens", [(None, 5), (5, None), (None, None)])
def test_a_response_without_its_tokens_has_no_cost(tokens: Sequence[int | None]) -> None:
    paid, said = tokens
    (total,) = used([call(input_tokens=paid, output_tokens=said)], prices=[price()])
    assert (total.costs, total.unpriced) == ((), 1)


def test_a_failure_that_was_paid_counts_and_one_that_was_not_does_not() -> None:
    failed = call(outcome="rate_limit", input_tokens=None, output_tokens=None)
    cut = call(outcome="truncated")
    (total,) = used([failed, cut], prices=[price()])
    assert (total.failed, total.unpriced, total.costs) == (2, 0, (Cost("USD", "0.0045"),))


@each("outcome", ["timeout", "lost"])
def test_what_a_call_took_that_may_have_been_answered_is_unknown(outcome: str) -> None:
    unheard = call(outcome=outcome, input_tokens=None, output_tokens=None)
    (total,) = used([unheard, call()], prices=[price()])
    assert (total.failed, total.unmeasured, total.unpriced) == (1, 1, 1)
    assert total.costs == (Cost("USD", "0.0045"),)


# 4. Over time --------------------------------------------------------------------------------


def test_sums_over_time_are_by_span_and_kind() -> None:
    some = [
        *(call(at=3 * DAY), call(at=3 * DAY + 5), call(at=3 * DAY + 6, workflow="planning")),
        call(at=5 * DAY, workflow="planning"),
    ]
    found = used_over_time(some, DAY, "workflow")
    assert [(one.begins, one.kind, one.used.calls) for one in found] == [
        (3 * DAY, "clarification", 2),
        (3 * DAY, "planning", 1),
        (5 * DAY, "planning", 1),
    ]
    whole = used_over_time(some, None, "workflow", since=3 * DAY + 1)
    assert [(one.begins, one.kind, one.used.calls) for one in whole] == [
        (None, "clarification", 1),
        (None, "planning", 2),
    ]
    spans = used_over_time(some, DAY, None, until=4 * DAY, prices=[price()])
    assert [(one.begins, one.kind, one.used.calls) for one in spans] == [(3 * DAY, "", 3)]
    assert spans[0].used.costs == (Cost("USD", "0.0135"),)


def test_sums_over_time_are_those_of_all_time_in_parts() -> None:
    some = [row for events in goldens() for row in calls(read(events))]
    (total,) = used([{**row, "provider": "one"} for row in some], ("provider",))
    for of in KINDS:
        spans = used_over_time(some, DAY, of)
        for name in ("calls", "retries", "failed", "rejected", "fallbacks", "late"):
            assert sum(getattr(one.used, name) for one in spans) == getattr(total, name)
