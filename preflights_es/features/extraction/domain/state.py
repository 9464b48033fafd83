"""What the log of an extraction folds to, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

import msgspec
from msgspec.structs import asdict, replace

from preflights_es.features.extraction.domain.events import (
    UNPROCESSED,
    Energy,
    Importance,
    ItemAdded,
    ItemChanged,
    ItemFiled,
    ItemsExtracted,
    ItemStatus,
    ItemType,
    NoteAnswerAccepted,
    NoteItem,
    NoteQuestionAsked,
    NoteStatus,
    NoteTaken,
)
from preflights_es.kernel import lead as leading
from preflights_es.kernel.events import Event, Growing, Input, Value
from preflights_es.kernel.lead import LeadState, no_answer, why_none
from preflights_es.words.items import KeptItem, item_id
from preflights_es.words.questions import Language, Question, Reached
from preflights_es.words.workflow import View, taken_out

# 1. The fold ---------------------------------------------------------------------------------


class ExtractionState(msgspec.Struct, frozen=True):
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
    led: LeadState = LeadState()
    items: tuple[NoteItem, ...] = ()
    """In the order of their numbers."""
    listed: tuple[NoteItem, ...] = ()
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


def is_terminal(state: ExtractionState) -> bool:  # noqa: ARG001  the same shape in every workflow
    """Never: a task of any note can still be done, changed or cancelled."""
    return False


def note_status(state: ExtractionState) -> NoteStatus:
    """Whether the note still needs its model, or a person's hands."""
    if state.led.request is not None or state.led.stalled or state.question is not None:
        return "pending"
    if state.by_hand or not state.note:
        return "processed"
    # Where nothing was found in it, only a person can say that there is nothing.
    return "unprocessed" if state.led.fell_back or not state.items else "processed"


def evolve(state: ExtractionState, event: Event) -> ExtractionState:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _evolve_extraction_input(state, event)
    match event:
        case ItemsExtracted(items=items):
            # A second reading leaves what a person filed or changed as it is.
            own = (
                one for one in state.items if one.source == "added" or one.number in state.touched
            )
            kept = {item.number: item for item in own}
            kept |= {item.number: item for item in items}
            former = (item for item in state.listed if item.number in state.touched)
            return replace(_numbered(state, *items), items=_ordered(kept), listed=(*former, *items))
        case NoteQuestionAsked(question=question):
            return replace(state, question=question, asked=question.id)
        case NoteAnswerAccepted(answer=answer):
            return replace(state, question=None, led=leading.add_user_message(state.led, answer))
        case ItemFiled(item=item):
            filed = {**{i.number: i for i in state.items}, item.number: item}
            touched = _touching(_numbered(state, item), item)
            return replace(touched, items=_ordered(filed), by_hand=True)
        case ItemChanged(item=item):
            items = tuple(item if i.number == item.number else i for i in state.items)
            return replace(_touching(state, item), items=items)
        case _:
            led = leading.evolve_lead_state(state.led, state.input, event)
            return state if led is state.led else replace(state, led=led)


def _evolve_extraction_input(state: ExtractionState, new: Input) -> ExtractionState:
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
                led=leading.open_lead_state(new.setup),
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
        case _:
            redacted = getattr(new, "redacted", ())
            return replace(state, taken=began, input=new, redacted=state.redacted.plus(*redacted))


def _ordered(items: dict[int, NoteItem]) -> tuple[NoteItem, ...]:
    return tuple(items[number] for number in sorted(items))


def _numbered(state: ExtractionState, *items: NoteItem) -> ExtractionState:
    return replace(state, numbers=max((state.numbers, *(item.number for item in items))))


def _touching(state: ExtractionState, item: NoteItem) -> ExtractionState:
    return replace(state, touched=state.touched | {item.number})


# 2. What is shown ----------------------------------------------------------------------------


class ShownItem(Value, frozen=True, kw_only=True, omit_defaults=True):
    """An item with the id that people type; what the note does not say is absent."""

    id: str
    status: ItemStatus
    type: ItemType
    title: str
    source: str
    confidence: float | None = None
    duration_min: int | None = None
    duration_max: int | None = None
    importance: Importance | None = None
    start_time: str | None = None
    end_time: str | None = None
    date: str | None = None
    content: str | None = None
    due: str | None = None
    energy: Energy | None = None
    decision: str | None = None
    record: int | None = None

    @property
    def number(self) -> int:
        """Within its note."""
        return int(self.id.rpartition(".")[2])

    @classmethod
    def of(cls, session_id: str, item: NoteItem) -> Self:
        """As the note has it."""
        told = asdict(item)
        del told["number"]
        return cls(id=item_id(session_id, item.number), **told)

    @classmethod
    def kept(cls, row: Mapping[str, Any]) -> Self:
        """As the projection `items` keeps it."""
        told = {name: row[name] for name in cls.__struct_fields__ if name in row}
        return cls(id=item_id(row["session_id"], row["number"]), **told)


class NoteView(View, frozen=True, kw_only=True):
    """`note/1` (docs/api.md)."""

    FORMAT = "note/1"
    SHAPE = ("note", "note_status", "items", "question", "calls", "language")

    note: str
    note_status: NoteStatus
    language: Language
    taken: int
    """When the session began, in microseconds since 1970 UTC."""
    listed: tuple[NoteItem, ...] = msgspec.field(name="items")
    """As the log has them: a comparison of two sessions looks at no id of either."""
    calls: int
    """Of the provider, retries among them."""

    @property
    def items(self) -> tuple[ShownItem, ...]:
        """Each with the id that people type."""
        return tuple(ShownItem.of(self.session_id, item) for item in self.listed)

    @property
    def question(self) -> str | None:
        """What is asked."""
        return self.questions[0].question if self.questions else None


def view(state: ExtractionState) -> NoteView:
    """All that `show` says."""
    title = state.items[0].title if state.items else ""
    return NoteView(
        status=_extraction_status(state),
        intention=state.note or title,
        questions=(state.question,) if state.question is not None else (),
        # 0.5 until its question is settled.
        progress=1.0 if note_status(state) == "processed" else 0.5 if state.asked else 0.0,
        warnings=_extraction_warnings(state),
        to_do=_to_do(state),
        note=state.note,
        note_status=note_status(state),
        language=state.language,
        taken=state.taken,
        listed=state.items,
        calls=state.led.calls,
    )


def _extraction_status(state: ExtractionState) -> str:
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    if state.question is not None:
        return "needs_answers"
    return "stopped" if note_status(state) == "unprocessed" else "done"


def _to_do(state: ExtractionState) -> str:
    if _extraction_status(state) == "needs_answers":
        return "answer the question"
    return "file the items by hand" if note_status(state) == "unprocessed" else ""


def _extraction_warnings(state: ExtractionState) -> tuple[str, ...]:
    warnings = [*taken_out(state.redacted)]
    if note_status(state) == "unprocessed":
        why = why_none(state.led) or "no items were found"
        warnings.append(f"{UNPROCESSED[state.language]} ({why})")
    elif state.led.fell_back:
        warnings.append(no_answer(state.led, "filed by hand"))
    if state.led.stalled:
        warnings.append(no_answer(state.led, "resume asks it again"))
    return tuple(warnings)


def kept_items(state: ExtractionState) -> tuple[KeptItem, ...]:
    """The items, for other sessions."""
    began, noted = state.taken, state.noted_at
    items = map(asdict, state.items)
    return tuple(KeptItem(**one, began_at=began, noted_at=noted) for one in items)


_OF_THE_LIST: Final = frozenset(
    ("number", "source", "status", "confidence", "due", "energy", "decision", "record")
)
"""What no model says of an item: where it stands, and what only a person gives it."""
_OF_EVERY_ITEM: Final = ("type", "title")


def note_reached(state: ExtractionState) -> Reached:
    """The items as the model listed them; and as a person left them, without what was cancelled."""
    is_read = bool(state.listed) and note_status(state) != "pending"
    result = {"items": _item_result_fields(state.listed)} if is_read else None
    if not state.touched:
        return Reached(result=result)
    items = _item_result_fields(item for item in state.items if item.status != "cancelled")
    return Reached(result=result, accepted={"items": items}, answers=_answers_from_items(items))


def _item_result_fields(items: Iterable[NoteItem]) -> list[dict[str, Any]]:
    listed = sorted(items, key=lambda item: item.number)
    said = (msgspec.to_builtins(item) for item in listed)
    return [{k: v for k, v in one.items() if k not in _OF_THE_LIST} for one in said]


def _answers_from_items(items: list[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    """What answers a question for a field: the value of the one item that has it."""
    names = dict.fromkeys(name for item in items for name in item if name not in _OF_EVERY_ITEM)
    values = {name: [item[name] for item in items if name in item] for name in names}
    return tuple((name, str(found[0])) for name, found in values.items() if len(found) == 1)
