"""`usage`: every call of a model, what it took and what came of it; costs where they are known.

What the rules, an agent or a person answer in a model's place is no call. One row a request, with
its outcome, and one for each response that came too late: it was paid all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import Event, Input, ResponseIgnored
from preflights_es.kernel.lead import FellBack, ResponseAccepted, ResponseRejected
from preflights_es.kernel.ports import Row, Stored
from preflights_es.projections.projection import (
    VERSIONS,
    Projection,
    Read,
    database_integer,
    database_text,
)
from preflights_es.words.event_names import NO_MODELS
from preflights_es.words.workflow import Cost, MadeCall

K = TypeVar("K")

By = Literal["provider", "model", "prompt"]
BY: Final[tuple[By, ...]] = ("provider", "model", "prompt")
Kind = Literal["workflow", "model", "prompt"]
KINDS: Final[tuple[Kind, ...]] = ("workflow", "model", "prompt")
"""What sums over time can be by."""
PER: Final = 1_000_000  # tokens that a price is for


# 1. Rows -------------------------------------------------------------------------------------


class ProviderCall(msgspec.Struct, frozen=True, kw_only=True):
    """A request, or a response that came too late; in the order of the table's columns."""

    session_id: str
    version: int
    project: str
    workflow: str
    call: str
    provider: str
    model: str
    prompt: str
    at: int
    attempt: int
    """0 for a response that came too late: its request is a row of its own."""
    outcome: str = "open"
    """`open`, `received`, the kind of the failure, or `late`."""
    judged: str = ""
    """`accepted`, or why a response was rejected."""
    fell_back: int = 0
    """1 where the reference took over after it."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int | None = None


_CALLS: Final = frozenset((CompletionRequested, CompletionReceived, CompletionFailed))


def fold_usage_rows(read: Read) -> tuple[Row, ...]:
    """The calls of every decodable session, also of erased and damaged ones."""
    found = list_session_calls(read)
    return tuple(msgspec.structs.astuple(call) for call in found if call.provider not in NO_MODELS)


def list_session_calls(read: Read) -> list[ProviderCall]:
    """The same as typed rows: what this program asked, or what the session holds of another."""
    made = read.workflow.shown.made_calls
    if made is not None:
        return [*_list_recorded_calls(read, made)]
    return [] if _CALLS.isdisjoint(map(type, read.events)) else fold_provider_calls(read)


def _list_recorded_calls(
    read: Read, made: Callable[[Sequence[Event | None]], Iterable[tuple[int, MadeCall]]]
) -> Iterator[ProviderCall]:
    """The calls that another program made, by the day on which each was made."""
    for place, call in made(read.events):
        one = read.stored[place]
        yield _provider_call(
            read,
            one,
            call=call.call,
            provider=database_text(call.provider),
            model=database_text(call.model),
            prompt="",
            at=database_integer(one.recorded_at if call.made_at is None else call.made_at),
            attempt=1,
            outcome="received" if call.is_answered else "api_error",
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
        )


def fold_provider_calls(read: Read) -> list[ProviderCall]:
    """The calls that this program made."""
    made: dict[str, ProviderCall] = {}
    late: list[ProviderCall] = []
    outcome: CompletionReceived | CompletionFailed | None = None
    takes = False
    for one, event in zip(read.stored, read.events, strict=True):
        match event:
            case CompletionRequested():
                made[event.call] = _provider_call(
                    read,
                    one,
                    call=database_text(event.call),
                    provider=database_text(event.provider),
                    model=database_text(event.model),
                    prompt=database_text(", ".join(name for name, _ in event.prompts)),
                    at=database_integer(one.recorded_at),
                    attempt=event.attempt,
                )
                continue
            case CompletionReceived() | CompletionFailed():
                outcome = event
                takes = event.call in made and made[event.call].outcome == "open"
                if takes:
                    made[event.call] = _with_call_outcome(made[event.call], event)
                continue
            case Input():
                outcome = None
        if outcome is None:
            continue
        if isinstance(event, ResponseIgnored) and takes:
            # The session was closed while the call was open: one call, one response.
            made[outcome.call] = replace(made[outcome.call], outcome="late")
        elif isinstance(event, ResponseIgnored):
            late.append(_late(read, one, outcome, made.get(outcome.call)))
        elif outcome.call in made:
            made[outcome.call] = _with_call_verdict(made[outcome.call], event)
    return [*made.values(), *late]


def _provider_call(read: Read, one: Stored, **said: Any) -> ProviderCall:
    """A call of a session, by an event of it."""
    return ProviderCall(
        session_id=read.head.session_id,
        version=database_integer(one.version),
        project=database_text(read.head.project),
        workflow=database_text(read.head.workflow),
        **said,
    )


def _with_call_outcome(
    call: ProviderCall, event: CompletionReceived | CompletionFailed
) -> ProviderCall:
    return replace(
        call,
        outcome="received" if isinstance(event, CompletionReceived) else database_text(event.kind),
        input_tokens=event.input_tokens,
        output_tokens=event.output_tokens,
        latency_ms=event.latency_ms,
    )


def _with_call_verdict(call: ProviderCall, event: object) -> ProviderCall:
    match event:
        case ResponseAccepted():
            return replace(call, judged="accepted")
        case ResponseRejected(kind=kind):
            return replace(call, judged=database_text(kind))
        case FellBack():
            return replace(call, fell_back=1)
        case _:
            return call


def _late(
    read: Read,
    one: Stored,
    event: CompletionReceived | CompletionFailed,
    request: ProviderCall | None,
) -> ProviderCall:
    return _provider_call(
        read,
        one,
        call=database_text(event.call),
        provider=request.provider if request else "",
        model=request.model if request else database_text(event.model),
        prompt=request.prompt if request else "",
        at=database_integer(one.recorded_at),
        attempt=0,
        outcome="late",
        input_tokens=event.input_tokens,
        output_tokens=event.output_tokens,
        latency_ms=event.latency_ms,
    )


USAGE: Final = Projection(
    name="usage", version=VERSIONS["usage"], rows=fold_usage_rows, row=ProviderCall, key=2
)
PROJECTION: Final = USAGE


# 2. Sums -------------------------------------------------------------------------------------


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """What a model costs from a day on."""

    provider: str
    model: str
    since: int
    """In microseconds since 1970 UTC: the beginning of the day."""
    input_per_million: Decimal
    output_per_million: Decimal
    currency: str


def costs_in_words(costs: Iterable[Cost]) -> str:
    """`0.0049 USD, 1 EUR`: to four places, or to two digits where it is less."""
    return ", ".join(f"{_amount_in_words(Decimal(one.amount))} {one.currency}" for one in costs)


def _amount_in_words(amount: Decimal) -> str:
    places = max(4, 1 - amount.adjusted()) if amount else 0
    return f"{round(amount, places):f}".rstrip("0").rstrip(".") if amount % 1 else f"{amount:f}"


class UsageTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What calls of one kind came to; None is unknown, and never 0."""

    provider: str
    model: str | None
    prompt: str | None
    calls: int
    retries: int
    failed: int
    """Of the calls: those without a response."""
    rejected: int
    """Of the calls: those whose response was refused."""
    fallbacks: int
    late: int
    """Responses that came after their call was given up."""
    input_tokens: int | None
    output_tokens: int | None
    unmeasured: int
    """Responses, late ones among them, whose provider said no tokens: the sums lack them."""
    latency_ms_median: int | None
    latency_ms_max: int | None
    costs: tuple[Cost, ...]
    """One cost for each currency; empty without a known price."""
    unpriced: int
    """Responses, late ones among them, that no price is known for: the costs lack them."""


def used(
    rows: Iterable[Mapping[str, Any]],
    by: Sequence[By] = BY,
    since: int | None = None,
    until: int | None = None,
    prices: Sequence[Price] = (),
) -> list[UsageTotals]:
    """Sums by provider, and by model and prompt where asked for, in their order.

    Args:
        since: microseconds; calls that were asked for before are left out.
        until: microseconds; calls that were asked for later are left out.
    """
    groups = _summed(
        _usage_rows_within(rows, since, until),
        lambda row: tuple(row[name] if name in by else "" for name in BY),
        prices,
    )
    return [_used(key, groups[key], by) for key in sorted(groups)]


class UsedThen(msgspec.Struct, frozen=True, kw_only=True):
    """What calls of one kind came to within a span of time."""

    begins: int | None
    """Microseconds since 1970 UTC; None of all times."""
    kind: str
    """A workflow, model or prompt; empty of all calls."""
    used: UsageTotals


def used_over_time(
    rows: Iterable[Mapping[str, Any]],
    step: int | None,
    of: Kind | None,
    since: int | None = None,
    until: int | None = None,
    prices: Sequence[Price] = (),
) -> list[UsedThen]:
    """Sums for each span and kind, in their order; none of a span without a call.

    Args:
        step: microseconds of a span; None for one of all times.
        of: what the sums are by; None for all calls.
        since, until: as in `used`.
    """
    groups = _summed(
        _usage_rows_within(rows, since, until),
        lambda row: (row["at"] // step * step if step else 0, row[of] if of else ""),
        prices,
    )
    return [
        UsedThen(begins=begins if step else None, kind=kind, used=_used(("", "", ""), total, ()))
        for (begins, kind), total in sorted(groups.items())
    ]


def _usage_rows_within(
    rows: Iterable[Mapping[str, Any]], since: int | None, until: int | None
) -> Iterator[Mapping[str, Any]]:
    for row in rows:
        if (since is None or row["at"] >= since) and (until is None or row["at"] <= until):
            yield row


def _summed(
    rows: Iterable[Mapping[str, Any]],
    key: Callable[[Mapping[str, Any]], K],
    prices: Sequence[Price],
) -> dict[K, _Sum]:
    groups: dict[K, _Sum] = {}
    for row in rows:
        groups.setdefault(key(row), _Sum()).add(row, prices)
    return groups


_ANSWERED: Final = frozenset(("received", "late", "timeout", "lost"))
"""Outcomes of calls that a provider answered, or may have: it may bill them, heard or not."""


Counted = Literal["calls", "retries", "failed", "rejected", "fallbacks", "late"]
COUNTED: Final[Mapping[Counted, Callable[[Mapping[str, Any]], bool]]] = {
    "calls": lambda row: row["attempt"] > 0,
    "retries": lambda row: row["attempt"] > 1,
    "failed": lambda row: row["outcome"] not in ("open", "received", "late"),
    "rejected": lambda row: row["judged"] not in ("", "accepted"),
    "fallbacks": lambda row: row["fell_back"] > 0,
    "late": lambda row: row["outcome"] == "late",
}
"""What calls are counted by."""


class _Sum:
    def __init__(self) -> None:
        self.counts: dict[str, int] = {**dict.fromkeys(COUNTED, 0), "unmeasured": 0}
        self.tokens: dict[str, int | None] = {"input_tokens": None, "output_tokens": None}
        self.latencies: list[int] = []
        self.costs: defaultdict[str, Decimal] = defaultdict(Decimal)
        self.unpriced = 0

    def add(self, row: Mapping[str, Any], prices: Sequence[Price]) -> None:
        for counted, is_one in COUNTED.items():
            self.counts[counted] += is_one(row)
        for name in self.tokens:
            if row[name] is not None:
                self.tokens[name] = (self.tokens[name] or 0) + row[name]
        if row["latency_ms"] is not None:
            self.latencies.append(row["latency_ms"])
        if row["outcome"] in _ANSWERED or row["input_tokens"] is not None:
            self.add_cost(row, prices)

    def list_costs(self) -> tuple[Cost, ...]:
        return tuple(Cost(name, f"{self.costs[name]:f}") for name in sorted(self.costs))

    def add_cost(self, row: Mapping[str, Any], prices: Sequence[Price]) -> None:
        price = price_of(row, prices)
        tokens = row["input_tokens"], row["output_tokens"]
        self.counts["unmeasured"] += None in tokens
        if price is None or None in tokens:
            self.unpriced += 1
            return
        cost = price.input_per_million * tokens[0] + price.output_per_million * tokens[1]
        self.costs[price.currency] += cost / PER


def price_of(row: Mapping[str, Any], prices: Sequence[Price]) -> Price | None:
    """The one in force when the call was asked for; None where no price is configured."""
    fitting = (
        price
        for price in prices
        if (price.provider, price.model) == (row["provider"], row["model"])
        and price.since <= row["at"]
    )
    return max(fitting, key=lambda price: price.since, default=None)


def sum_costs(rows: Iterable[Mapping[str, Any]], prices: Sequence[Price]) -> tuple[Cost, ...]:
    """What calls cost, one sum for each currency; those without a known price add nothing."""
    total = _Sum()
    for row in rows:
        total.add_cost(row, prices)
    return total.list_costs()


def add_costs(costs: Iterable[Cost]) -> tuple[Cost, ...]:
    """One sum for each currency."""
    total = _Sum()
    for cost in costs:
        total.costs[cost.currency] += Decimal(cost.amount)
    return total.list_costs()


def _used(key: tuple[str, ...], total: _Sum, by: Sequence[By]) -> UsageTotals:
    provider, model, prompt = key
    latencies = total.latencies
    from statistics import median

    return UsageTotals(
        provider=provider,
        model=model if "model" in by else None,
        prompt=prompt if "prompt" in by else None,
        **total.counts,
        input_tokens=total.tokens["input_tokens"],
        output_tokens=total.tokens["output_tokens"],
        latency_ms_median=round(median(latencies)) if latencies else None,
        latency_ms_max=max(latencies, default=None),
        costs=total.list_costs(),
        unpriced=total.unpriced,
    )
