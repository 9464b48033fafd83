"""How a note is shown in words."""

from __future__ import annotations

from typing import Final

from preflights_cli.common import Voice
from preflights_cli.rendering import Shown
from preflights_es.features.extraction.use.results import ItemRow, Note
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import one_line, shortened, shown
from preflights_es.use.results import Session

CONTENT_SHOWN: Final = 300  # characters of an idea's content; the rest with --json


def describe(voice: Voice, session: Session) -> None:
    """A note in a few lines."""
    assert isinstance(session, Note), "the caller checked the workflow"
    voice.say(f"{voice.bold(shown(one_line(session.intention)))}")
    is_closed = session.status in ("abandoned", "erased")
    stands = session.note_status if session.note and not is_closed else session.status
    voice.say(f"  note {short(session.session_id)}, {stands.replace('_', ' ')}")
    width = max((len(item.id) for item in session.items), default=0)
    for item in session.items:
        voice.say(f"  {item.id:<{width}}  {item.type:<5}  {said(item)}")


def said(item: ItemRow) -> str:
    """An item in one line, safe on a terminal."""
    details = [
        _times(item),
        _minutes(item),
        f"{item.importance} importance" if item.importance else "",
        f"due {item.due}" if item.due else "",
        f"after {item.after}" if item.after else "",
        (item.energy or "").replace("_", " "),
        _decided(item),
        item.status if item.status != "open" else "",
    ]
    told = ", ".join(filter(None, details))
    return shown(f"{_named(item)}  ({told})" if told else _named(item))


def _decided(item: ItemRow) -> str:
    if item.record is not None:
        return f"decided by ADR-{item.record:04d}"
    return f"decided by {short(item.decision)}" if item.decision else ""


def _named(item: ItemRow) -> str:
    """The title, and what an idea holds besides, as far as it fits a list."""
    content = one_line(item.content or "")
    if content.startswith(item.title.removesuffix("…")):
        return shortened(content, CONTENT_SHOWN)
    return f"{item.title}: {shortened(content, CONTENT_SHOWN)}" if content else item.title


def _times(item: ItemRow) -> str:
    times = f"{item.start_time}-{item.end_time}" if item.end_time else item.start_time
    return " ".join(filter(None, (item.date, times)))


def _minutes(item: ItemRow) -> str:
    low, high = item.duration_min, item.duration_max
    if low is None and high is None:
        return ""
    if low is None:
        return f"up to {high} min"
    if high is None:
        return f"at least {low} min"
    return f"{low} min" if low == high else f"{low}-{high} min"


BY_HAND: Final = "preflights note add task TITLE --note {id}"


def hint(session: Session) -> str:
    """What may come next."""
    id_ = short(session.session_id)
    return {
        "stopped": f"File it by hand: {BY_HAND.format(id=id_)}",
        "done": "List them with: preflights note tasks (or: events, ideas)",
    }.get(session.status, "")


SHOWN: Final = Shown(describe=describe, hint=hint, by_hand=BY_HAND)
