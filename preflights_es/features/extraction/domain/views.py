"""What can be shown of an extraction; all of it derived, none of it stored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from preflights_es.features.extraction.domain.sentences import UNPROCESSED
from preflights_es.features.extraction.domain.state import State, note_status
from preflights_es.features.extraction.domain.values import Item, NoteStatus
from preflights_es.kernel.items import KeptItem
from preflights_es.kernel.lead import no_answer, why_none
from preflights_es.kernel.questions import Language, Reached, View, taken_out


class NoteView(View, frozen=True, kw_only=True):
    """The fields of `note/1` (docs/api.md)."""

    note: str
    note_status: NoteStatus
    language: Language
    taken: int
    """When the session began, in microseconds since 1970 UTC."""
    items: tuple[Item, ...]
    calls: int
    """Of the provider, retries among them."""


def view(state: State) -> NoteView:
    """All that `show` says."""
    title = state.items[0].title if state.items else ""
    return NoteView(
        status=_status(state),
        intention=state.note or title,
        questions=(state.question,) if state.question is not None else (),
        progress=_progress(state),
        warnings=_warnings(state),
        to_do=_to_do(state),
        note=state.note,
        note_status=note_status(state),
        language=state.language,
        taken=state.taken,
        items=state.items,
        calls=state.led.calls,
    )


def _status(state: State) -> str:
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    if state.question is not None:
        return "needs_answers"
    return "stopped" if note_status(state) == "unprocessed" else "done"


def _to_do(state: State) -> str:
    if _status(state) == "needs_answers":
        return "answer the question"
    return "file the items by hand" if note_status(state) == "unprocessed" else ""


def _progress(state: State) -> float:
    """0.0 before the note is read, 0.5 until its question is settled, 1.0 when it is processed."""
    if note_status(state) == "processed":
        return 1.0
    return 0.5 if state.asked else 0.0


def _warnings(state: State) -> tuple[str, ...]:
    warnings = [*taken_out(state.redacted)]
    if note_status(state) == "unprocessed":
        why = why_none(state.led) or "no items were found"
        warnings.append(f"{UNPROCESSED[state.language]} ({why})")
    elif state.led.fell_back:
        warnings.append(no_answer(state.led, "filed by hand"))
    if state.led.stalled:
        warnings.append(no_answer(state.led, "resume asks it again"))
    return tuple(warnings)


def kept_items(state: State) -> tuple[KeptItem, ...]:
    """The items, for other sessions."""
    return tuple(
        KeptItem(
            number=item.number,
            type=item.type,
            status=item.status,
            title=item.title,
            importance=item.importance,
            energy=item.energy,
            due=item.due,
            duration_min=item.duration_min,
            duration_max=item.duration_max,
            start_time=item.start_time,
            end_time=item.end_time,
            date=item.date,
            source=item.source,
            confidence=item.confidence,
            content=item.content,
            after=item.after,
            decision=item.decision,
            record=item.record,
            began_at=state.taken,
            noted_at=state.noted_at,
        )
        for item in state.items
    )


_OF_THE_LIST: Final = frozenset(
    ("number", "source", "status", "confidence", "due", "energy", "after", "decision", "record")
)
"""What says nothing of the note: where an item stands, and what only a person gives it."""
_OF_EVERY_ITEM: Final = ("type", "title")


def reached(state: State) -> Reached:
    """The items as the model listed them; and as a person left them, who worked with the list."""
    is_read = bool(state.listed) and note_status(state) != "pending"
    result = {"items": _content(state.listed)} if is_read else None
    if not state.touched:
        return Reached(result=result)
    items = _content(state.items)
    return Reached(result=result, accepted={"items": items}, answers=_answers(items))


def _content(items: Iterable[Item]) -> list[dict[str, Any]]:
    listed = sorted(items, key=lambda item: item.number)
    said = (msgspec.to_builtins(item) for item in listed)
    return [{k: v for k, v in one.items() if k not in _OF_THE_LIST} for one in said]


def _answers(items: list[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    """What answers a question for a field: the value of the one item that has it."""
    names = dict.fromkeys(name for item in items for name in item if name not in _OF_EVERY_ITEM)
    values = {name: [item[name] for item in items if name in item] for name in names}
    return tuple((name, str(found[0])) for name, found in values.items() if len(found) == 1)
