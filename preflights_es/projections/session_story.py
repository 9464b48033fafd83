"""What happened in a session, for people: a sentence with its sums, and every call of a model with
what was sent, what came back, why it was refused and what followed.

Pure functions of its events, stored nowhere; the terminal and the pages say it in these words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Rejected,
)
from preflights_es.kernel.errors import WorkflowMissing
from preflights_es.kernel.events import (
    Actor,
    Decision,
    Event,
    Input,
    InputIgnored,
    InputQuarantined,
    Outcome,
    OutsideRequest,
    ResponseIgnored,
    SessionAbandoned,
    SessionClosed,
    SessionErased,
    Signable,
)
from preflights_es.kernel.ids import DAY_LENGTH, iso
from preflights_es.kernel.lead import (
    FellBack,
    LeadTaken,
    ResponseAccepted,
    ResponseRejected,
    StepFailed,
    StepStalled,
    decode_response_text,
)
from preflights_es.kernel.text import count_in_words, one_line, shortened, span
from preflights_es.projections.json_words import text_in_words
from preflights_es.projections.projection import Read, database_integer, database_text
from preflights_es.projections.usage import (
    Price,
    ProviderCall,
    costs_in_words,
    list_session_calls,
    sum_costs,
)
from preflights_es.words.event_names import (
    NO_MODELS,
    actor_in_words,
    event_in_words,
    name_in_sentence,
    pointer_in_words,
)
from preflights_es.words.questions import Refusal
from preflights_es.words.workflow import AnswerJudgement, Cost, SpokenCall

ASKED_INSTEAD: Final = "the rules asked instead"
SAID_MAX: Final = 300  # characters of a reason, or of what an error says
NAME_SHOWN: Final = 60  # characters of a person's name

_CAME_TO: Final = {
    "timeout": "timed out",
    "lost": "{was} lost",
    "rate_limit": "met a rate limit",
    "api_error": "failed",
    "request_rejected": "{was} turned down by the provider",
    "error": "failed",
    "truncated": "{was} cut off",
    "refused": "{was} a refusal",
    "invalid_json": "held no valid JSON",
    "schema_violation": "did not match the schema",
    "code_in_output": "held source code",
    "multiple_artifacts": "held more than one JSON value",
    "explanatory_text": "held text around the JSON",
    "missing_information": "asked for more information",
    "invalid_request": "turned the request down",
}
"""What became of an answer, by its kind of `kernel.errors`."""
_WITHOUT_ANSWER: Final = frozenset(
    ("timeout", "lost", "rate_limit", "api_error", "request_rejected", "error")
)


class Story(msgspec.Struct, frozen=True):
    """What happened in a session."""

    sentence: str
    """Without a full stop."""
    sums: str = ""
    """Calls, tokens, costs and time; empty where no model was asked."""
    trouble: str = ""
    """Why it is faulted; empty where it is not."""

    def __str__(self) -> str:
        """All of it, in sentences."""
        told = (self.sentence, self.sums, self.trouble)
        return " ".join(f"{text.rstrip('.')}." for text in told if text)


def tell_session_story(read: Read, prices: Sequence[Price] = ()) -> Story:
    """The sentence of a session; of one that was erased, who did it and when."""
    for event in read.events:
        if isinstance(event, SessionErased):
            why = f": {_said(event.reason)}" if event.reason else ""
            return Story(
                _capitalized(f"{name_actor(event.actor)} erased it on {iso(event.at)[:10]}{why}")
            )
    calls = [one for one in list_session_calls(read) if one.provider not in NO_MODELS]
    spoken = read.workflow.shown.spoken_calls
    told = [one for _, one in spoken(read.events)] if spoken else []
    judged = [one for call in told for one in call.judged]
    people = [*_tell_judgements(told), *_tell_people(read.events, {one.place for one in judged})]
    clauses = [*_tell_calls(read, calls, told), *people]
    if not (people or told or clauses[-1] == ASKED_INSTEAD):
        clauses += _tell_result(read.events)
    sentence = _capitalized("; ".join(clauses))
    return Story(sentence, _sum_up(calls, prices), _tell_fault(read))


def _capitalized(text: str) -> str:
    """With a capital at its beginning; the others stay as they are."""
    return text[:1].upper() + text[1:]


# 1. Models -----------------------------------------------------------------------------------


def _tell_calls(
    read: Read, calls: Sequence[ProviderCall], told: Sequence[SpokenCall]
) -> Iterator[str]:
    made = [one for one in calls if one.attempt]
    if not made:
        yield "no model was asked"
        return
    asks = "a program asked a model" if read.workflow.shown.made_calls else "the model was asked"
    yield f"{asks} {_times(len(made))}"
    bad = Counter(map(name_call_flaw, made))
    used = sum(one.judged == "accepted" for one in made)
    for kind, count in bad.items():
        if kind:
            noun = "call" if kind in _WITHOUT_ANSWER else "answer"
            yield _count_of_all(count, len(made), noun, flaw_in_words(kind, count))
    failed = len(made) - bad[""]
    if told and (cut := sum(bool(one.ended) for one in told) - failed):
        yield _count_of_all(cut, len(made), "answer", "{was} not whole")
    if whole := sum(not one.ended for one in told):
        yield _count_of_all(whole, len(made), "call", "{was} answered")
    if used:
        yield _count_of_all(used, len(made), "answer", "{was} used")
    if late := sum(one.outcome == "late" for one in calls):
        yield f"{count_in_words(late, 'answer')} came too late"
    if any(one.outcome == "open" for one in made):
        yield "a call is open"
    yield from _tell_lead(read.events)


def name_call_flaw(call: ProviderCall) -> str:
    """Why nothing came of a call, as a kind of `kernel.errors`; empty where something did."""
    if call.judged not in ("", "accepted"):
        return call.judged
    return "" if call.outcome in ("open", "received", "late") else call.outcome


def flaw_in_words(kind: str, count: int = 1) -> str:
    """`was cut off`, `did not match the schema`."""
    words = _CAME_TO.get(kind, "{was} refused (" + one_line(kind).replace("{", "") + ")")
    return words.replace("{was}", "was" if count == 1 else "were")


def failure_in_words(kind: str) -> str:
    """`the call timed out`, `the answer was cut off`."""
    return f"the {'call' if kind in _WITHOUT_ANSWER else 'answer'} {flaw_in_words(kind)}"


def _count_of_all(count: int, total: int, noun: str, words: str) -> str:
    """`its answer was used`, `both answers were used`, `one answer was used`."""
    words = words.replace("{was}", "was" if count == 1 else "were")
    if count == 1:
        return f"{'one' if total > 1 else 'its' if noun == 'answer' else 'the'} {noun} {words}"
    many = {2: "both"}.get(count, f"all {count:,}") if count == total else f"{count:,}"
    return f"{many} {noun}s {words}"


def _tell_lead(events: Sequence[Event | None]) -> Iterator[str]:
    """Who went on where no answer could be used."""
    last = None
    batches = [decisions for _, decisions in split_batches(events)]
    used = [n for n, of in enumerate(batches) if any(isinstance(e, ResponseAccepted) for e in of)]
    for place, decisions in enumerate(batches):
        for event in decisions:
            if isinstance(event, FellBack):
                asked = any("_asked." in one.tag for one in decisions)
                if event is decisions[-1]:
                    step = "an earlier step" if place < max(used, default=0) else "the step"
                    yield f"{step} ended without a result"
                else:
                    yield ASKED_INSTEAD if asked else "the rules took over"
            if isinstance(event, StepFailed | StepStalled | CompletionRequested | LeadTaken):
                last = event
    if isinstance(last, StepStalled):
        yield "the session waits to ask again"
    elif isinstance(last, StepFailed):
        yield "the step ended without a result"


def _sum_up(calls: Sequence[ProviderCall], prices: Sequence[Price]) -> str:
    if not calls:
        return ""
    count = sum(one.attempt > 0 for one in calls)
    parts = [count_in_words(count, "call")]
    read, wrote = (
        [n for one in calls if (n := getattr(one, name)) is not None] for name in _TOKENS
    )
    if read or wrote:
        parts.append(f"{sum(read):,} -> {sum(wrote):,} tokens")
        parts.append(costs_in_words(call_costs(calls, prices)) or "cost unknown")
    if took := [one.latency_ms for one in calls if one.latency_ms is not None]:
        parts.append(span(sum(took) / 1_000))
    return ", ".join(parts)


_TOKENS: Final = ("input_tokens", "output_tokens")


def call_costs(calls: Iterable[ProviderCall], prices: Sequence[Price]) -> tuple[Cost, ...]:
    """What calls cost, as far as a price is known."""
    return sum_costs(map(msgspec.structs.asdict, calls), prices)


# 2. People -----------------------------------------------------------------------------------


def split_batches(events: Iterable[Event | None]) -> Iterator[tuple[Input, list[Decision]]]:
    """Each Input that can be read, with the Decisions that follow from it."""
    new: Input | None = None
    decisions: list[Decision] = []
    for event in (*events, None):
        if isinstance(event, Decision):
            decisions.append(event)
            continue
        if new is not None:
            yield new, decisions
        new, decisions = event if isinstance(event, Input) else None, []


_JUDGED: Final = {True: "{} right", False: "{} wrong", None: "another answer"}


def _tell_judgements(told: Sequence[SpokenCall]) -> Iterator[str]:
    """What each said last of the answers."""
    last = {
        (name_actor(one.by), n): one.is_right for n, call in enumerate(told) for one in call.judged
    }
    for who in dict.fromkeys(who for who, _ in last):
        counts = Counter(is_right for (by, _), is_right in last.items() if by == who)
        parts = (
            _JUDGED[one].format("its answer" if len(told) == 1 else count_in_words(n, "answer"))
            for one, n in counts.items()
        )
        yield f"{who} judged {' and '.join(parts)}"


def _tell_people(events: Sequence[Event | None], told: Collection[int]) -> Iterator[str]:
    """What each did after the first Input, in the order in which they came.

    Args:
        told: places of Inputs that are told already.
    """
    did: dict[str, Counter[str]] = {}
    refused = 0
    places = {id(one): place for place, one in enumerate(events)}
    for place, (new, decisions) in enumerate(split_batches(events)):
        if isinstance(new, Outcome | InputQuarantined) or places[id(new)] in told:
            continue
        if decisions and all(isinstance(one, Refusal | InputIgnored) for one in decisions):
            refused += 1
        elif place and new.verb != Input.verb:
            did.setdefault(name_actor(new.actor), Counter())[
                deed_in_words(new) + _why_abandoned(new)
            ] += 1
    for who, deeds in did.items():
        acts = [what if n == 1 else f"{what} {_times(n)}" for what, n in deeds.items()]
        same = [one.removesuffix(" the plan") for one in acts[:-1]]
        if all(one.endswith(" the plan") for one in acts):
            acts = [*same, acts[-1]]
        yield f"{who} {', '.join(acts[:-1])}{' and ' if acts[1:] else ''}{acts[-1]}"
    if refused:
        yield "one attempt was refused" if refused == 1 else f"{refused:,} attempts were refused"
    for event in events:
        if isinstance(event, InputQuarantined):
            why = f" raised {_said(event.error)}" if event.error else " failed"
            yield f"one Input was set aside, because deciding it{why}"


def _tell_result(events: Sequence[Event | None]) -> Iterator[str]:
    """What came of it where no person did more: what the last Decision says of its workflow."""
    last = next((one for one in reversed(events) if isinstance(one, Decision)), None)
    is_told = isinstance(last, OutsideRequest | InputIgnored | ResponseIgnored | SessionClosed)
    is_led = last is not None and last.tag.startswith("led.")
    if last is not None and not (is_told or is_led):
        said = name_in_sentence(event_in_words(last.tag))
        yield f"{said[:1].lower()}{said[1:]}"


def _why_abandoned(new: Input) -> str:
    reason = new.reason if isinstance(new, SessionAbandoned) else ""
    return f" ({_said(reason)})" if reason else ""


def deed_in_words(new: Input, object_: str = "it") -> str:
    """What was done, in the words of its event: `answered`, `accepted it`."""
    if isinstance(new, Signable) and new.actor.kind != "user" and new.act != "erasure":
        return f"proposed {'to reject ' if new.act == 'rejection' else ''}{object_}"
    bare = new.verb.removesuffix(" in").removesuffix(" of")
    return bare if bare != new.verb else f"{new.verb} {object_}"


def name_actor(actor: Actor) -> str:
    """As `actor_in_words`, of a name of any length."""
    return actor_in_words(actor.kind, shortened(one_line(actor.name), NAME_SHOWN))


def _tell_fault(read: Read) -> str:
    """Which Input has no Decision, and the error, which no log holds: today's code raises it again,
    or is mended. Empty where none is left.
    """
    *before, last = read.events or (None,)
    if not isinstance(last, Input) or None in before or read.trouble == "damaged":
        return ""
    stored = read.stored[-1]
    by = "" if isinstance(last, Outcome) else f" by {name_actor(last.actor)}"
    day = iso(database_integer(stored.recorded_at))[:DAY_LENGTH]
    name = f"Event {len(read.events)}, {event_in_words(stored.type)}{by} on {day}"
    head = f"{name}, has no Decision: {database_text(stored.decider)} failed at it"
    decider = read.workflow.decider
    try:
        session = kernel.fold(decider, filter(None, before))
        for event in (last, *kernel.decide(decider, session, last)):
            session = kernel.evolve(decider, session, event)
    except WorkflowMissing:
        raise
    except Exception as error:  # the bug that the log holds: it is what is to be told
        why = f"{type(error).__name__}: {_said(str(error))}"
        return f"{head}. Today's code fails, too, with {why}; a replay names the line"
    return f"{head}, and the log keeps no error. Today's code decides it: resume the session"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _said(text: str) -> str:
    return shortened(one_line(text), SAID_MAX)


# 3. Calls ------------------------------------------------------------------------------------


class SentMessage(msgspec.Struct, frozen=True):
    """A message that the call before did not send."""

    role: str
    text: str
    before: str = ""
    """What the call before sent in its place, by the same role."""


class ToldCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call, as people read it."""

    numbers: ProviderCall
    kept: int
    """How many first messages are those of the call before."""
    messages: tuple[SentMessage, ...]
    """The others."""
    answer: str = ""
    """As far as one came."""
    tools: tuple[tuple[str, str], ...] = ()
    """Pairs of name and arguments of the tools that the model called."""
    refused: str = ""
    """Why nothing came of it, in a sentence; empty where something did."""
    answered: int | None = None
    """The version of the event that holds the answer."""
    followed: tuple[int, ...] = ()
    """Versions of the Decisions that follow from the answer."""
    judged: tuple[AnswerJudgement, ...] = ()
    """What people said of the answer, or of another one to the same call."""

    @property
    def is_used(self) -> bool:
        """Whether its answer is taken for what the model said, be it whole or not."""
        return self.numbers.outcome == "received" and self.numbers.judged in ("", "accepted")


def list_told_calls(read: Read) -> list[ToldCall]:
    """Every call of a session that can be read, in order; responses that came too late are part of
    none.
    """
    numbers = {one.version: one for one in list_session_calls(read) if one.attempt}
    spoken = read.workflow.shown.spoken_calls
    if spoken is not None:
        return [
            _tell_spoken_call(numbers[place + 1], call)
            for place, call in spoken(read.events)
            if place + 1 in numbers
        ]
    return [*_tell_asked_calls(read.events, numbers)]


def _tell_spoken_call(numbers: ProviderCall, call: SpokenCall) -> ToldCall:
    return ToldCall(
        numbers=numbers,
        kept=call.kept,
        messages=tuple(SentMessage(role, text) for role, text in call.messages),
        answer=call.answer,
        tools=call.tools,
        refused=call.ended,
        answered=numbers.version,
        judged=call.judged,
    )


def judgement_in_words(said: AnswerJudgement) -> str:
    """`Ada judged the answer wrong on 2026-11-29; right is "Tomorrow" ("it was Tuesday")`."""
    who, day = _capitalized(name_actor(said.by)), iso(said.at)[:DAY_LENGTH]
    told = f"{who} judged {_JUDGED[said.is_right].format('the answer')} on {day}"
    kept = "" if said.by.kind == "user" else ", which does not count: a person judges"
    right = said.expected if said.is_right is not True else ""
    right = _said(right) if right.startswith('"') else right and text_in_words(right)
    expected = f"; right is {right}" if right else ""
    return told + kept + expected + (f' ("{_said(said.why)}")' if said.why else "")


def _tell_asked_calls(
    events: Sequence[Event | None], numbers: Mapping[int, ProviderCall]
) -> Iterator[ToldCall]:
    outcomes = _find_outcomes(events)
    before: tuple[Message, ...] = ()
    for version, event in enumerate(events, 1):
        if not isinstance(event, CompletionRequested) or version not in numbers:
            continue
        sent = event.messages
        pairs = enumerate(zip(sent, before, strict=False))
        kept = next((n for n, (new, old) in pairs if new != old), min(len(sent), len(before)))
        found = outcomes.get(event.call, ())
        outcome = events[found[0] - 1] if found else None
        yield ToldCall(
            numbers=numbers[version],
            kept=kept,
            messages=tuple(
                SentMessage(one.role, one.content, _find_text_before(before, place, one))
                for place, one in enumerate(sent)
                if place >= kept
            ),
            answer=_read_answer(outcome),
            refused=_why_refused(outcome, [events[after - 1] for after in found[1:]]),
            answered=found[0] if found else None,
            followed=found[1:],
        )
        before = sent


def _find_outcomes(events: Sequence[Event | None]) -> dict[str, tuple[int, ...]]:
    """By call: the version of its first outcome, and those of the Decisions behind it."""
    found: dict[str, tuple[int, ...]] = {}
    call = ""
    for version, event in enumerate(events, 1):
        if isinstance(event, Decision):
            if call:
                found[call] += (version,)
            continue
        call = ""
        if isinstance(event, CompletionReceived | CompletionFailed) and event.call not in found:
            call = event.call
            found[call] = (version,)
    return found


def _find_text_before(before: Sequence[Message], place: int, new: Message) -> str:
    old = before[place] if place < len(before) else None
    return old.content if old is not None and old.role == new.role else ""


def _read_answer(outcome: Event | None) -> str:
    match outcome:
        case CompletionReceived():
            return decode_response_text(outcome)
        case CompletionFailed():
            return outcome.received
        case _:
            return ""


def _why_refused(outcome: Event | None, decisions: Iterable[Event | None]) -> str:
    for one in decisions:
        if isinstance(one, ResponseRejected):
            kind: Any = one.kind
            said = (
                msgspec.structs.replace(
                    each, pointer=each.pointer and pointer_in_words(each.pointer)
                )
                for each in one.violations
            )
            return Rejected(kind, tuple(said), details=one.details).message
        if isinstance(one, ResponseIgnored):
            return "it came too late: the session had gone on"
    return outcome.message if isinstance(outcome, CompletionFailed) else ""
