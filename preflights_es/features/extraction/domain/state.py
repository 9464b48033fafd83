"""What the log of an extraction folds to."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from preflights_es.features.extraction.domain import rules
from preflights_es.features.extraction.domain.events import (
    AnswerAccepted,
    ItemAdded,
    ItemChanged,
    ItemEdited,
    ItemFiled,
    ItemsExtracted,
    NoteTaken,
    QuestionAsked,
)
from preflights_es.features.extraction.domain.values import Item, NoteStatus
from preflights_es.kernel import lead as leading
from preflights_es.kernel.events import Event, Growing, Input
from preflights_es.kernel.lead import Led
from preflights_es.kernel.questions import Language, Question


class State(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    note: str = ""
    """Verbatim; empty in a session that began with an item filed by hand."""
    language: Language = "en"
    noted_at: str = ""
    time_zone: str = ""
    taken: int = 0
    """When the session began, in microseconds since 1970 UTC."""
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: Led = Led()
    items: tuple[Item, ...] = ()
    """In the order of their numbers."""
    listed: tuple[Item, ...] = ()
    """As a model listed them, whatever a person changed since."""
    touched: frozenset[int] = frozenset()
    """Numbers of items that a person changed: no model takes them away."""
    numbers: int = 0
    """The highest that was given."""
    question: Question | None = None
    """The open one."""
    asked: str = ""
    """The key of the one question, once it was asked."""
    by_hand: bool = False
    """Whether a person filed an item here."""
    redacted: Growing[str] = Growing()


def is_terminal(state: State) -> bool:  # noqa: ARG001  the same shape in every workflow
    """Never: a task of any note can still be done, changed or cancelled."""
    return False


def note_status(state: State) -> NoteStatus:
    """Whether the note still needs its model, or a person's hands."""
    if state.led.request is not None or state.led.stalled or state.question is not None:
        return "pending"
    if state.by_hand or not state.note:
        return "processed"
    # Where nothing was found in it, only a person can say that there is nothing.
    return "unprocessed" if state.led.fell_back or not state.items else "processed"


def evolve(state: State, event: Event) -> State:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _after_input(state, event)
    match event:
        case ItemsExtracted(items=items):
            kept = {item.number: item for item in rules.surviving(state.items, state.touched)}
            kept |= {item.number: item for item in items}
            former = (item for item in state.listed if item.number in state.touched)
            return replace(_numbered(state, *items), items=_ordered(kept), listed=(*former, *items))
        case QuestionAsked(question=question):
            return replace(state, question=question, asked=question.id)
        case AnswerAccepted(answer=answer):
            return replace(state, question=None, led=leading.heard(state.led, answer))
        case ItemFiled(item=item):
            filed = {**{i.number: i for i in state.items}, item.number: item}
            return replace(
                _touching(_numbered(state, item), item), items=_ordered(filed), by_hand=True
            )
        case ItemChanged(item=item):
            items = tuple(item if i.number == item.number else i for i in state.items)
            return replace(_touching(state, item), items=items)
        case _:
            led = leading.after(state.led, state.input, event)
            return state if led is state.led else replace(state, led=led)


def _after_input(state: State, new: Input) -> State:
    began = state.taken or new.at
    match new:
        case NoteTaken() if state.input is None:
            return replace(
                state,
                note=new.note,
                language=new.language,
                noted_at=new.noted_at,
                time_zone=new.time_zone,
                taken=began,
                input=new,
                led=leading.opened(new.setup),
                redacted=state.redacted.plus(*new.redacted),
            )
        case ItemAdded(language=language) if state.input is None:
            return replace(
                state,
                language=language,
                taken=began,
                input=new,
                redacted=state.redacted.plus(*new.redacted),
            )
        case ItemAdded(redacted=redacted) | ItemEdited(redacted=redacted):
            return replace(state, input=new, redacted=state.redacted.plus(*redacted))
        case _:
            redacted = getattr(new, "redacted", ())
            return replace(state, taken=began, input=new, redacted=state.redacted.plus(*redacted))


def _ordered(items: dict[int, Item]) -> tuple[Item, ...]:
    return tuple(items[number] for number in sorted(items))


def _numbered(state: State, *items: Item) -> State:
    return replace(state, numbers=max((state.numbers, *(item.number for item in items))))


def _touching(state: State, item: Item) -> State:
    return replace(state, touched=state.touched | {item.number})
