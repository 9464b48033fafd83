"""What follows from an Input, and what a model is asked; the rules of items are in `rules.py`."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.features.extraction.domain import rules
from preflights_es.features.extraction.domain.events import (
    ITEMS_MAX,
    AnswerAccepted,
    AnswerRefused,
    AnswersGiven,
    ChangeRefused,
    Item,
    ItemAdded,
    ItemChanged,
    ItemEdited,
    ItemFiled,
    ItemsExtracted,
    NoteTaken,
    QuestionAsked,
    TaskClosed,
    TaskDecided,
)
from preflights_es.features.extraction.domain.state import State, evolve, note_status
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Violation,
)
from preflights_es.kernel.events import Decision, Input, Outcome, state_after
from preflights_es.kernel.lead import (
    FellBack,
    LeadChanged,
    StepRetried,
    Usable,
    concluded,
    requested,
    taken_over,
)
from preflights_es.kernel.questions import Question, text_answers

Decisions = tuple[Decision, ...]


def decide(state: State, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case NoteTaken() if state.input is None:
            return _asked(state_after(evolve, state, new, ()))
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return model_answered(state, new)
        case AnswersGiven():
            return _answered(state, new)
        case StepRetried() if state.led.stalled:
            return _asked(state)
        case LeadChanged() if state.note and not state.led.request:
            return _taken_over(state, new)
        case ItemAdded():
            return (_filed(state, new),)
        case TaskDecided():
            return (_decided(state, new),)
        case TaskClosed():
            return (_closed(state, new),)
        case ItemEdited():
            return (_edited(state, new),)
        case _:
            return (ChangeRefused(reason="not_expected"),)


# 1. Reading ----------------------------------------------------------------------------------


def _asked(state: State) -> Decisions:
    """The model's next step; without a lead, the note is left to a person."""
    if state.led.lead is None:
        return (FellBack(contract=CONTRACT, reason="no_lead"),)
    return (model_request(state),)


def _taken_over(state: State, new: LeadChanged) -> Decisions:
    """A new lead gets what the former one left open or could not do."""
    is_open = bool(state.led.stalled) or note_status(state) == "unprocessed"
    return taken_over(evolve, state, new, _asked, goes_on=is_open)


# 2. The question -----------------------------------------------------------------------------


def _answered(state: State, new: AnswersGiven) -> Decisions:
    """One verdict a key; an answer that counts goes to the model."""
    question = None if state.question is None else state.question.id
    answered = (state.asked,) if state.asked and state.question is None else ()
    decisions = text_answers(new, question, answered, AnswerAccepted, AnswerRefused)
    after = state_after(evolve, state, new, decisions)
    is_answered = after.question is None and state.question is not None
    return decisions + (_asked(after) if is_answered else ())


# 3. By hand ----------------------------------------------------------------------------------


def _filed(state: State, new: ItemAdded) -> Decision:
    if len(state.items) >= 2 * ITEMS_MAX:
        return ChangeRefused(reason="too_many")
    blank = Item(number=state.numbers + 1, type=new.type, title="", source="added")
    made = rules.edited(blank, (("title", new.title), *new.fields))
    return ItemFiled(item=made) if isinstance(made, Item) else ChangeRefused(**made)


def _decided(state: State, new: TaskDecided) -> Decision:
    """The task names the decision; what it is and whether it is done stays as it was."""
    item = next((i for i in state.items if i.number == new.number), None)
    if item is None:
        return ChangeRefused(reason="unknown_item")
    if item.type != "task":
        return ChangeRefused(reason="not_a_task")
    return ItemChanged(item=replace(item, decision=new.uid, record=new.record))


def _closed(state: State, new: TaskClosed) -> Decision:
    item = _open(state, new.number)
    if not isinstance(item, Item):
        return item
    if item.type != "task":
        return ChangeRefused(reason="not_a_task")
    return ItemChanged(item=rules.closed(item, new.status))


def _edited(state: State, new: ItemEdited) -> Decision:
    item = _open(state, new.number)
    if not isinstance(item, Item):
        return item
    made = rules.edited(item, new.fields)
    if not isinstance(made, Item):
        return ChangeRefused(**made)
    return ChangeRefused(reason="nothing_changed") if made == item else ItemChanged(item=made)


def _open(state: State, number: int) -> Item | ChangeRefused:
    item = next((i for i in state.items if i.number == number), None)
    if item is None:
        return ChangeRefused(reason="unknown_item")
    return item if item.status == "open" else ChangeRefused(reason="closed")


# 4. What a model is asked, and what follows --------------------------------------------------

PACKAGE: Final = "preflights_es.features.extraction"
PROMPTS: Final[dict[str, str]] = {"extract": "extract.v1"}
CONTRACT: Final = "extraction.v1"
ANSWER: Final = "answer"
"""Key of a question that names no field."""


def model_request(state: State) -> CompletionRequested:
    """The whole of what is sent, derived from the log: the note, each reply, each answer."""
    said = (Message("user", _note(state)), *state.led.said)
    return requested(state.led, "extract", CONTRACT, (PACKAGE, "extract", PROMPTS["extract"]), said)


def _note(state: State) -> str:
    when = f"{state.noted_at} ({state.time_zone})" if state.time_zone else state.noted_at
    return f"Noted at: {when}\nLanguage: {state.language}\n\nNote:\n{state.note}"


def model_answered(state: State, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: the items and the question, or what was recorded instead."""
    # Imported where a response is judged: sessions without a lead need no pydantic.
    from preflights_es.features.extraction.domain.contracts import EXTRACTION

    verdict = concluded(state.led, outcome, EXTRACTION, partial(violations, state))
    if not isinstance(verdict, Usable):
        return verdict
    decisions: list[Decision] = [
        verdict.accepted,
        ItemsExtracted(
            items=rules.items(
                verdict.payload["items"],
                (*state.listed, *state.items),
                state.touched,
                state.numbers,
            )
        ),
    ]
    if asked := verdict.payload.get("question"):
        decisions.append(_question(asked))
    return tuple(decisions)


def violations(state: State, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What the contract alone cannot say: one question a session."""
    if state.asked and "question" in payload:
        return (Violation("/question", "expected none: one was asked already"),)
    return ()


def _question(asked: dict[str, Any]) -> QuestionAsked:
    field: str = asked.get("field", "")
    return QuestionAsked(
        question=Question(field or ANSWER, "free_text", asked["question"]), field=field
    )
