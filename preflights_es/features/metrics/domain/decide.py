"""What follows from an Input, what a model is asked and must answer, and what follows from its
answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.features.metrics.domain.events import (
    CONTRACT,
    PACKAGE,
    POLICY,
    PROMPTS,
    TEXT_MAX,
    TURNS_MAX,
    CandidatesOffered,
    Catalogue,
    ClarificationAsked,
    FollowUpPut,
    FollowUpTaken,
    Metric,
    MetricsAnswerAccepted,
    MetricsAnswerRefused,
    MetricsAnswersGiven,
    NotTaken,
    QuestionPut,
    SqlAnswered,
    TurnsExhausted,
)
from preflights_es.features.metrics.domain.state import MetricsState, evolve
from preflights_es.judging.contract import Contract
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Violation,
    decode_prompt_schema,
)
from preflights_es.kernel.events import Decision, Input, Outcome, state_after
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import (
    LeadChanged,
    StepFailed,
    StepRetried,
    Usable,
    concluded,
    decide_lead_takeover,
    requested,
)
from preflights_es.kernel.text import visible
from preflights_es.words.questions import Question, stripped

Decisions = tuple[Decision, ...]


def decide(state: MetricsState, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case QuestionPut() if state.input is None:
            return _decide_metrics_step(evolve(state, new))
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return conclude_metrics_outcome(state, new)
        case MetricsAnswersGiven():
            return _decide_metrics_answers(state, new)
        case FollowUpPut():
            return _followed_up(state, new)
        case StepRetried() if state.led.stalled:
            return _decide_metrics_step(state)
        case LeadChanged() if state.text and not state.led.request:
            goes_on = bool(state.led.stalled)
            return decide_lead_takeover(evolve, state, new, _decide_metrics_step, goes_on=goes_on)
        case _:
            return (NotTaken(reason="not_expected"),)


def _decide_metrics_step(state: MetricsState) -> Decisions:
    """The next step of who leads; without a lead there is no answer."""
    if state.led.lead is None:
        return (StepFailed(contract=CONTRACT, reason="no_lead"),)
    return (compose_metrics_request(state),)


def _followed_up(state: MetricsState, new: FollowUpPut) -> Decisions:
    text = stripped(new.text)
    if not state.text:
        return (NotTaken(reason="not_expected"),)
    if state.led.request is not None or state.led.stalled:
        return (NotTaken(reason="asking"),)
    if state.question is not None:
        return (NotTaken(reason="question_open"),)
    if not visible(text):
        return (NotTaken(reason="blank"),)
    taken = (FollowUpTaken(text=text),)
    return taken + _decide_metrics_step(state_after(evolve, state, new, taken))


def _decide_metrics_answers(state: MetricsState, new: MetricsAnswersGiven) -> Decisions:
    """One verdict a key; an answer that counts goes into the conversation."""
    decisions: list[Decision] = []
    after = evolve(state, new)
    for given in new.answers:
        verdict = _accept_or_refuse_answer(after.question, state.question, given.key, given.values)
        decisions.append(verdict)
        after = evolve(after, verdict)
    if after.question is None and state.question is not None:
        decisions += _decide_metrics_step(after)
    return tuple(decisions) or (MetricsAnswerRefused(key="", reason="blank"),)


def _accept_or_refuse_answer(
    question: Question | None, before: Question | None, key: str, values: tuple[str, ...]
) -> MetricsAnswerAccepted | MetricsAnswerRefused:
    if question is None:
        is_answered = before is not None and key == before.id
        return MetricsAnswerRefused(
            key=key, reason="already_answered" if is_answered else "unknown_question"
        )
    if key != question.id:
        return MetricsAnswerRefused(key=key, reason="unknown_question", expected=(question.id,))
    if len(values) > 1:
        return MetricsAnswerRefused(key=key, reason="several_values")
    answer = stripped("".join(values))
    if not visible(answer):
        return MetricsAnswerRefused(key=key, reason="blank")
    return MetricsAnswerAccepted(key=key, answer=resolve_candidate_number(answer, question.options))


# 2. What a model is asked, and what follows --------------------------------------------------

NEWER: Final = ("unit", "words", "values", "kind")
WHICH: Final = {
    "en": "The question can mean several things. Which one?",
    "de": "Die Frage kann mehreres bedeuten. Was davon?",
}


def compose_metrics_request(state: MetricsState) -> CompletionRequested:
    """The whole of what is sent, derived from the log: the catalogue, then the conversation."""
    prompt = (PACKAGE, "ask", PROMPTS["ask"])
    made = requested(state.led, "ask", CONTRACT, prompt, messages=tuple(state.led.said))
    system, *said = made.messages
    assert state.catalogue is not None, "a session begins with its catalogue"
    catalogue = render_catalogue(state.catalogue)
    told = f"{system.content}\n{catalogue}\n{render_metrics_situation(state)}"
    return replace(made, messages=(Message("system", told), *said))


def render_catalogue(catalogue: Catalogue) -> str:
    """The catalogue as a model reads it: one JSON object a line."""
    told = [{"table": one.name, "columns": one.columns} for one in catalogue.tables]
    told += map(_described, catalogue.metrics)
    lines = (canonical_json(one).decode() for one in told)
    return f"SQL dialect: {catalogue.dialect}\n" + "\n".join(lines)


def _described(metric: Metric) -> dict[str, Any]:
    """What a model is told of a metric; of the newer keys those that it has."""
    newer = {name: getattr(metric, name) for name in NEWER}
    return {
        "metric": metric.name,
        "aliases": metric.aliases,
        "description": metric.description,
        "sql": metric.sql,
        "dimensions": metric.dimensions,
        "date": metric.date,
        **{name: value for name, value in newer.items() if value},
    }


def render_metrics_situation(state: MetricsState) -> str:
    """When the question is asked, and in which language."""
    zone = f" ({state.time_zone})" if state.time_zone else ""
    return f"Asked at: {state.asked_at}{zone}\nLanguage: {state.language}"


def conclude_metrics_outcome(state: MetricsState, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: an answer, a question, or what was recorded instead."""
    # Imported where a response is judged: everything else needs no reader of JSON Schema.

    verdict = concluded(state.led, outcome, METRICS, partial(find_metrics_violations, state))
    if not isinstance(verdict, Usable):
        return verdict
    return (verdict.accepted, _decide_from_metrics_payload(state, verdict.payload))


def _decide_from_metrics_payload(state: MetricsState, payload: Any) -> Decision:
    if isinstance(payload, dict) and payload["type"] == "sql":
        return SqlAnswered(sql=payload["sql"])
    candidates = () if isinstance(payload, str) else tuple(payload["candidates"])
    text = payload if isinstance(payload, str) else WHICH[state.language]
    if state.turns >= TURNS_MAX:
        return TurnsExhausted(open=" / ".join(candidates) or text)
    question = Question(f"q{state.asked + 1}", "free_text", text, candidates)
    made = CandidatesOffered if candidates else ClarificationAsked
    return made(question=question)


def find_metrics_violations(state: MetricsState, payload: Any) -> tuple[Violation, ...]:
    """What the contract alone cannot say: the query is one that the catalogue allows."""
    if isinstance(payload, str):
        too_long = Violation("", f"expected at most {TEXT_MAX:,} characters of words")
        return (too_long,) if len(payload) > TEXT_MAX else ()
    if payload["type"] != "sql" or state.catalogue is None:
        return ()
    from preflights_es.features.metrics.domain.sql_check import findings

    found = findings(payload["sql"], state.catalogue.dialect, state.catalogue.tables)
    return tuple(Violation("/sql", one) for one in found)


# 3. Choosing one of several candidates (seed 4) ----------------------------------------------

DIGITS_MAX = 3  # of a number that may choose; a longer one is text


def resolve_candidate_number(answer: str, candidates: Sequence[str]) -> str:
    """The candidate that a number stands for; any other text itself.

    1 to n in ASCII digits, with an optional full stop or bracket behind it.
    """
    number = answer[:-1] if answer[-1:] in (".", ")") else answer
    if not (number.isascii() and number.isdigit() and len(number) <= DIGITS_MAX):
        return answer
    at = int(number)
    return candidates[at - 1] if 1 <= at <= len(candidates) else answer


METRICS: Final = Contract(
    name="metrics",
    version=1,
    schema=partial(decode_prompt_schema, PACKAGE, CONTRACT),
    prose="drop",
    unknown="drop",
    failure=False,
    code=False,
    words=True,
    policy=POLICY,
)
