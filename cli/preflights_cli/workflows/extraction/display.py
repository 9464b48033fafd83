"""How a note is shown: the JSON `note/1` (docs/api.md), and the words for the same."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from preflights_cli.common import Voice
from preflights_cli.rendering import Shown
from preflights_es.core.events import Decision
from preflights_es.core.ids import short
from preflights_es.core.questions import AnswerRefusal
from preflights_es.core.text import one_line, shortened, shown
from preflights_es.runtime.runner import Handle
from preflights_es.services.extraction.notes import item_id
from preflights_es.workflows.extraction.events import ChangeRefused
from preflights_es.workflows.extraction.values import Item
from preflights_es.workflows.extraction.views import NoteView

FORMAT = "note/1"
CONTENT_SHOWN: Final = 300  # characters of an idea's content; the rest with --json

_REFUSED = {
    "unknown_question": "is no question of this note",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which says nothing",
    "several_values": "takes one value: put quotes around words that belong together",
}
_CHANGES = {
    "unknown_item": "there is no such item",
    "not_a_task": "it is no task",
    "closed": "the task is over already",
    "unknown_field": "an item of this type has no {}",
    "invalid_value": "the {} is not what is expected of one",
    "nothing_changed": "it says so already",
    "too_many": "the note is full",
    "not_expected": "nothing of the kind is expected here",
}
_EXPECTED = {
    "title": "1 to 200 characters on one line",
    "duration_min": "1 to 480 minutes",
    "duration_max": "1 to 480 minutes, and at least the shortest",
    "importance": "low, normal or high",
    "due": "a date such as 2027-01-31",
    "energy": "deep_work, admin or creative",
    "start_time": "a time such as 14:30",
    "end_time": "a time such as 14:30",
    "content": "at most 20,000 characters",
}


def view_of(handle: Handle) -> NoteView:
    """What can be shown of a note."""
    view = handle.view
    assert isinstance(view, NoteView), "the caller checked the workflow"
    return view


def fields(handle: Handle) -> dict[str, Any]:
    """The fields of `note/1` that are a note's own."""
    view = view_of(handle)
    asks = view.questions and not handle.session.closed
    return {
        "format": FORMAT,
        "note": view.note,
        "note_status": view.note_status,
        "items": [item_json(handle, item) for item in view.items],
        "question": view.questions[0].question if asks else None,
        "calls": view.calls,
        "language": view.language,
    }


def item_json(handle: Handle, item: Item) -> dict[str, Any]:
    """An item with the id that people type; unknown values are left out."""
    shape: dict[str, Any] = msgspec.to_builtins(item)
    del shape["number"]
    return {"id": item_id(handle, item), "status": item.status, **shape}


def refusal(decision: Decision) -> str:
    """Why something was not done, in words that say what to do."""
    if isinstance(decision, ChangeRefused):
        field = decision.field.replace("_", " ")
        expected = _EXPECTED.get(decision.field, "")
        wrong = decision.reason == "invalid_value"
        return _CHANGES[decision.reason].format(field) + (f": {expected}" if wrong else "")
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    text = (
        f"{decision.key!r} {_REFUSED[decision.reason]}" if decision.key else "no answer was given"
    )
    return text + (f": it takes {', '.join(decision.expected)}" if decision.expected else "")


def describe(voice: Voice, handle: Handle, status: str) -> None:
    """A note in a few lines."""
    view, id_ = view_of(handle), short(handle.session_id)
    voice.say(f"{voice.bold(shown(one_line(view.intention)))}")
    stands = view.note_status if view.note and not handle.session.closed else status
    voice.say(f"  note {id_}, {stands.replace('_', ' ')}")
    ids = [item_id(handle, item) for item in view.items]
    for id_, item in zip(ids, view.items, strict=True):
        voice.say(f"  {id_:<{max(map(len, ids))}}  {item.type:<5}  {said(item)}")


def said(item: Item) -> str:
    """An item in one line, safe on a terminal."""
    details = [
        _times(item),
        _minutes(item),
        f"{item.importance} importance" if item.importance else "",
        f"due {item.due}" if item.due else "",
        (item.energy or "").replace("_", " "),
        item.status if item.status != "open" else "",
    ]
    told = ", ".join(filter(None, details))
    return shown(f"{_named(item)}  ({told})" if told else _named(item))


def _named(item: Item) -> str:
    """The title, and what an idea holds besides, as far as it fits a list."""
    content = one_line(item.content or "")
    if content.startswith(item.title.removesuffix("…")):
        return shortened(content, CONTENT_SHOWN)
    return f"{item.title}: {shortened(content, CONTENT_SHOWN)}" if content else item.title


def _times(item: Item) -> str:
    return f"{item.start_time}-{item.end_time}" if item.end_time else item.start_time or ""


def _minutes(item: Item) -> str:
    low, high = item.duration_min, item.duration_max
    if low is None and high is None:
        return ""
    if low is None:
        return f"up to {high} min"
    if high is None:
        return f"at least {low} min"
    return f"{low} min" if low == high else f"{low}-{high} min"


def hint(handle: Handle, status: str) -> str:
    """What may come next."""
    id_ = short(handle.session_id)
    return {
        "stopped": f"File it by hand: preflights note add task TITLE --note {id_}",
        "done": "List them with: preflights note tasks (or: events, ideas)",
    }.get(status, "")


SHOWN: Final = Shown(fields=fields, describe=describe, hint=hint, refusal=refusal)
