"""What follows from an Input: the branches are here, the rules in `selection.py`."""

from __future__ import annotations

from functools import reduce

from preflights_es.features.metrics.domain import lead
from preflights_es.features.metrics.domain.events import (
    AnswerAccepted,
    AnswerRefused,
    AnswersGiven,
    FollowUpPut,
    FollowUpTaken,
    NotTaken,
    QuestionPut,
)
from preflights_es.features.metrics.domain.selection import chosen
from preflights_es.features.metrics.domain.state import State, evolve
from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.events import Decision, Input
from preflights_es.kernel.lead import LeadChanged, LeadTaken, StepFailed, StepRetried
from preflights_es.kernel.questions import Question, stripped
from preflights_es.kernel.text import visible

Decisions = tuple[Decision, ...]


def decide(state: State, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case QuestionPut() if state.input is None:
            return _asked(evolve(state, new))
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return lead.answered(state, new)
        case AnswersGiven():
            return _answered(state, new)
        case FollowUpPut():
            return _followed_up(state, new)
        case StepRetried() if state.led.stalled:
            return _asked(state)
        case LeadChanged() if state.text and not state.led.request:
            taken = (LeadTaken(),)
            return taken + (_asked(_after(state, new, taken)) if state.led.stalled else ())
        case _:
            return (NotTaken(reason="not_expected"),)


def _after(state: State, new: Input, decisions: Decisions) -> State:
    return reduce(evolve, decisions, evolve(state, new))


def _asked(state: State) -> Decisions:
    """The next step of who leads; without a lead there is no answer."""
    if state.led.lead is None:
        return (StepFailed(contract=lead.CONTRACT, reason="no_lead"),)
    return (lead.request(state),)


def _followed_up(state: State, new: FollowUpPut) -> Decisions:
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
    return taken + _asked(_after(state, new, taken))


def _answered(state: State, new: AnswersGiven) -> Decisions:
    """One verdict a key; an answer that counts goes into the conversation."""
    decisions: list[Decision] = []
    after = evolve(state, new)
    for given in new.answers:
        verdict = _verdict(after.question, state.question, given.key, given.values)
        decisions.append(verdict)
        after = evolve(after, verdict)
    if after.question is None and state.question is not None:
        decisions += _asked(after)
    return tuple(decisions) or (AnswerRefused(key="", reason="blank"),)


def _verdict(
    question: Question | None, before: Question | None, key: str, values: tuple[str, ...]
) -> AnswerAccepted | AnswerRefused:
    if question is None:
        is_answered = before is not None and key == before.id
        return AnswerRefused(
            key=key, reason="already_answered" if is_answered else "unknown_question"
        )
    if key != question.id:
        return AnswerRefused(key=key, reason="unknown_question", expected=(question.id,))
    if len(values) > 1:
        return AnswerRefused(key=key, reason="several_values")
    answer = stripped("".join(values))
    if not visible(answer):
        return AnswerRefused(key=key, reason="blank")
    return AnswerAccepted(key=key, answer=chosen(answer, question.options))
