"""What follows from an Input, and what a model is asked; the rules of items are in `rules.py`."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.features.extraction.domain import rules
from preflights_es.features.extraction.domain.events import (
    ITEMS_MAX,
    QUESTION_MAX,
    QUOTED,
    WHICH_DAY,
    ItemAdded,
    ItemChanged,
    ItemClosed,
    ItemFiled,
    ItemsExtracted,
    NoteAnswerAccepted,
    NoteAnswerRefused,
    NoteAnswersGiven,
    NoteChangeRefused,
    NoteItem,
    NoteQuestionAsked,
    NoteTaken,
    TaskDecided,
)
from preflights_es.features.extraction.domain.state import ExtractionState, evolve, note_status
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
    decide_lead_takeover,
    requested,
)
from preflights_es.kernel.text import one_line, shortened
from preflights_es.words.questions import Question, text_answers

Decisions = tuple[Decision, ...]


def decide(state: ExtractionState, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case NoteTaken() if state.input is None:
            return _decide_extraction_step(state_after(evolve, state, new, ()))
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return conclude_extraction_outcome(state, new)
        case NoteAnswersGiven():
            return _decide_note_answers(state, new)
        case StepRetried() if state.led.stalled:
            return _decide_extraction_step(state)
        case LeadChanged() if state.note and not state.led.request:
            # A new lead gets what the former one left open or could not do.
            goes_on = bool(state.led.stalled) or note_status(state) == "unprocessed"
            step = _decide_extraction_step
            return decide_lead_takeover(evolve, state, new, step, goes_on=goes_on)
        case ItemAdded():
            return (_file_added_item(state, new),)
        case TaskDecided():
            return (_link_task_decision(state, new),)
        case ItemClosed():
            return (_closed(state, new),)
        case _:
            return (NoteChangeRefused(reason="not_expected"),)


# 1. Reading ----------------------------------------------------------------------------------


def _decide_extraction_step(state: ExtractionState) -> Decisions:
    """The model's next step; without a lead, what the lines of the note say."""
    if state.led.lead is not None:
        return (compose_extraction_request(state),)
    listed = rules.read_note(state.note, state.noted_at[:10])
    if isinstance(listed, rules.BadLine):
        return (FellBack(contract=CONTRACT, reason="bad_line"),)
    return _extracted(state, listed)


def _extracted(
    state: ExtractionState, listed: list[dict[str, Any]], asked: dict[str, Any] | None = None
) -> Decisions:
    """The items, and the one question: the model's, or the day of events that have none.

    Args:
        asked: what the model asks.
    """
    items = rules.items(listed, (*state.listed, *state.items), state.touched, state.numbers)
    if state.led.lead is not None:
        items = rules.with_dues(items, rules.stated_dues(state.note, state.noted_at[:10]))
    found = ItemsExtracted(items=items)
    if asked is not None:
        field: str = asked.get("field", "")
        question = Question(field or ANSWER, "free_text", asked["question"])
        return found, NoteQuestionAsked(question=question, field=field)
    undated = _undated(items)
    return (found, _which_day(state, undated)) if undated and not state.asked else (found,)


def _undated(items: tuple[NoteItem, ...]) -> list[NoteItem]:
    return [item for item in items if item.start_time and item.date is None]


def _which_day(state: ExtractionState, undated: list[NoteItem]) -> NoteQuestionAsked:
    sentence = WHICH_DAY[state.language]
    titles = ", ".join(QUOTED[state.language].format(item.title) for item in undated)
    text = sentence.format(shortened(titles, QUESTION_MAX - len(sentence)))
    return NoteQuestionAsked(question=Question(DAY, "free_text", text), field=DAY)


# 2. The question -----------------------------------------------------------------------------


def _decide_note_answers(state: ExtractionState, new: NoteAnswersGiven) -> Decisions:
    """One verdict a key; a day goes to the events without one, any other answer to the model."""
    question = None if state.question is None else state.question.id
    answered = (state.asked,) if state.asked and state.question is None else ()
    decisions = text_answers(new, question, answered, NoteAnswerAccepted, refused=NoteAnswerRefused)
    said = next((one.answer for one in decisions if isinstance(one, NoteAnswerAccepted)), None)
    if said is None:
        return decisions
    if question != DAY or not (undated := _undated(state.items)):
        return decisions + _decide_extraction_step(state_after(evolve, state, new, decisions))
    day = rules.day_said(said, state.noted_at[:10])
    if day is None:
        refused = NoteAnswerRefused(key=DAY, reason="not_an_option")
        return tuple(refused if isinstance(one, NoteAnswerAccepted) else one for one in decisions)
    return decisions + tuple(ItemChanged(item=replace(item, date=day)) for item in undated)


# 3. By hand ----------------------------------------------------------------------------------


def _file_added_item(state: ExtractionState, new: ItemAdded) -> Decision:
    if len(state.items) >= 2 * ITEMS_MAX:
        return NoteChangeRefused(reason="too_many")
    title, number = one_line(new.title), state.numbers + 1
    blank = NoteItem(number=number, type=new.type, title=title, source="added")
    made = rules.fill_item_fields(blank, new.fields)
    return ItemFiled(item=made) if isinstance(made, NoteItem) else NoteChangeRefused(**made)


def _link_task_decision(state: ExtractionState, new: TaskDecided) -> Decision:
    """The task names the decision; what it is and whether it is done stays as it was."""
    item = next((i for i in state.items if i.number == new.number), None)
    if item is None:
        return NoteChangeRefused(reason="unknown_item")
    if item.type != "task":
        return NoteChangeRefused(reason="not_a_task")
    return ItemChanged(item=replace(item, decision=new.uid, record=new.record))


def _closed(state: ExtractionState, new: ItemClosed) -> Decision:
    """Only a task is done; anything can be cancelled, since what is wrong is filed anew."""
    item = next((i for i in state.items if i.number == new.number), None)
    if item is None:
        return NoteChangeRefused(reason="unknown_item")
    if item.status != "open":
        return NoteChangeRefused(reason="closed")
    if new.status == "done" and item.type != "task":
        return NoteChangeRefused(reason="not_a_task")
    return ItemChanged(item=replace(item, status=new.status))


# 4. What a model is asked, and what follows --------------------------------------------------

PACKAGE: Final = "preflights_es.features.extraction"
PROMPTS: Final[dict[str, str]] = {"extract": "extract.v1"}
CONTRACT: Final = "extraction.v1"
ANSWER: Final = "answer"
"""Key of a question that names no field."""
DAY: Final = "date"
"""Key of the question for the day of an event."""


def compose_extraction_request(state: ExtractionState) -> CompletionRequested:
    """The whole of what is sent, derived from the log: the note, each reply, each answer."""
    when = f"{state.noted_at} ({state.time_zone})" if state.time_zone else state.noted_at
    note = f"Noted at: {when}\nLanguage: {state.language}\n\nNote:\n{state.note}"
    said = (Message("user", note), *state.led.said)
    prompt = (PACKAGE, "extract", PROMPTS["extract"])
    return requested(state.led, "extract", CONTRACT, prompt, messages=said)


def conclude_extraction_outcome(state: ExtractionState, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: the items and the question, or what was recorded instead."""
    # Imported where a response is judged: sessions without a lead need no pydantic.
    from preflights_es.features.extraction.domain.contracts import EXTRACTION

    finds = partial(find_second_question_violations, state)
    verdict = concluded(state.led, outcome, EXTRACTION, finds)
    if not isinstance(verdict, Usable):
        return verdict
    listed, asked = verdict.payload["items"], verdict.payload.get("question")
    return verdict.accepted, *_extracted(state, listed, asked)


def find_second_question_violations(
    state: ExtractionState, payload: dict[str, Any]
) -> tuple[Violation, ...]:
    """What the contract alone cannot say: one question a session."""
    if state.asked and "question" in payload:
        return (Violation("/question", "expected none: one was asked already"),)
    return ()
