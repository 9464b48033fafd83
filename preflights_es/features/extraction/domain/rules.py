"""The rules of notes: what a note says without a model, what the simulator answers around it, and
how items are kept from a payload, a person's words and a second reading (docs/specs/extraction.md,
5). A line is an item, typed marks at its end say more; nothing is split or guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Final, Literal, TypedDict, get_args

import msgspec
from msgspec.structs import replace

from preflights_es.features.extraction.domain.events import (
    CONTENT_MAX,
    DURATION_MAX,
    FIELDS,
    ITEMS_MAX,
    TITLE_MAX,
    Energy,
    Importance,
    NoteItem,
)
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.events import Value
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import RETRY
from preflights_es.kernel.text import late_pattern, one_line, problem, shortened, visible
from preflights_es.words.questions import Language
from preflights_es.words.simulation import Bank, Draws, Route, write_json_reply

Payload = dict[str, Any]


# 1. Lines of a note --------------------------------------------------------------------------

_BULLET: Final = re.compile(r"\s*(?:-\s+)?(?:\[ ?\]\s+)?")
_IDEA: Final = re.compile(r"(?:idea|idee):\s*", re.IGNORECASE)


class BadLine(Value, frozen=True):
    """A line that is not recorded as it stands."""

    number: int
    """1 and up, in the note."""
    line: str
    found: str
    expected: str


LineProblem = tuple[str, str]
"""What was found in a line, and what was expected."""


def read_note(note: str, noted: str) -> list[Payload] | BadLine:
    """The items of a note, in its order; or the first line that is wrong.

    Args:
        noted: the day of the note, YYYY-MM-DD.

    Returns:
        Items as in `extraction.v1`; a task can have `due` besides.
    """
    listed: list[Payload] = []
    for number, text in _split_note_lines(note):
        found = _parse_item_line(text, noted)
        if len(listed) == ITEMS_MAX:
            found = ("one line too many", f"at most {ITEMS_MAX} a note")
        elif _asks_day(found) and any(map(_asks_day, listed)):
            found = ("a second time without a day", "a day, such as @fri-14:00")
        if isinstance(found, tuple):
            return BadLine(number, text, *found)
        listed.append(found)
    return listed or BadLine(1, one_line(note), "no words", "something to do")


def _asks_day(item: Payload | LineProblem) -> bool:
    return isinstance(item, dict) and item["type"] == "event" and "date" not in item


def _split_note_lines(note: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, each with its number, without bullet and empty box."""
    for number, line in enumerate(note.split("\n"), 1):
        if text := one_line(_BULLET.sub("", line, count=1)):
            yield number, text


def _parse_item_line(text: str, noted: str) -> Payload | LineProblem:
    title, said = _marked(text, noted)
    if isinstance(said, tuple):
        return said
    idea = _IDEA.match(title)
    title = title[idea.end() :] if idea else title
    if not visible(title) or len(title) > TITLE_MAX:
        return f"a title of {len(title)} characters", f"1 to {TITLE_MAX}"
    if idea and said:
        return "an idea with a mark", "an idea without marks"
    type_ = "idea" if idea else "event" if "start_time" in said else "task"
    if type_ == "event":
        if {"due", "importance"} & {*said}:
            return "an event with the mark of a task", "no mark but ~30m beside the time"
        if minutes := said.pop("duration_max", 0):
            del said["duration_min"]
            if "end_time" in said:
                return "an end and a duration", "one of the two"
            said["end_time"] = _later(said["start_time"], minutes)
    return {"type": type_, "title": title, "confidence": 1.0, **said}


def _marked(text: str, noted: str) -> tuple[str, Payload | LineProblem]:
    """A line without the marks at its end, and what they say."""
    words, said = text.split(), Payload()
    while words and (found := _match_typed_mark(words[-1])):
        pattern, reader, expected = found
        mark = words.pop()
        value = reader(pattern[1], noted)
        if value is None or value.keys() & said.keys():
            return text, (repr(mark) if value is None else f"{mark!r} beside another", expected)
        said |= value
    return " ".join(words), said


def _match_typed_mark(word: str) -> tuple[re.Match[str], Reader, str] | None:
    composed = unicodedata.normalize("NFC", word)
    for pattern, reader, expected in _MARKS:
        if found := pattern.fullmatch(composed):
            return found, reader, expected
    return None


def _later(start: str, minutes: int) -> str:
    hours, _, rest = start.partition(":")
    at = (int(hours) * 60 + int(rest) + minutes) % 1_440
    return f"{at // 60:02d}:{at % 60:02d}"


def stated_dues(note: str, noted: str) -> list[tuple[str, str]]:
    """Pairs of a line without its marks and the due date that it states."""
    lines = (_marked(text, noted) for _, text in _split_note_lines(note))
    marked = ((title, said) for title, said in lines if isinstance(said, dict))
    return [(title, said["due"]) for title, said in marked if "due" in said]


# 2. Marks at the end of a line ---------------------------------------------------------------

_SOON: Final = {"today": 0, "heute": 0, "tomorrow": 1, "morgen": 1}
_WEEKDAYS: Final = (
    ("mon", "mo"),
    ("tue", "di"),
    ("wed", "mi"),
    ("thu", "do"),
    ("fri", "fr"),
    ("sat", "sa"),
    ("sun", "so"),
)
_NUMBER_OF: Final = {name: n for n, names in enumerate(_WEEKDAYS) for name in names}
_WORDS: Final = "|".join((*_SOON, *sorted(_NUMBER_OF, key=len, reverse=True)))
_TYPED_CLOCK: Final = r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9]"
_AT: Final = late_pattern(
    rf"(?:(?P<day>{_WORDS}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})[-T])?"
    rf"(?P<start>{_TYPED_CLOCK})(?:-(?P<end>{_TYPED_CLOCK}))?",
    re.IGNORECASE,
)
_TAKES: Final = late_pattern(r"(?P<number>[0-9]{1,4}(?:[.,][0-9]{1,2})?)(?P<unit>[mh])")
DAYS: Final = "fri, tomorrow or 2026-12-01"
"""How a day is written, in a refusal."""


def day_said(text: str, noted: str) -> str | None:
    """The date that a word of a mark says, YYYY-MM-DD; a weekday is the next one behind a day.

    Args:
        noted: the day on which it is said, YYYY-MM-DD.
    """
    word = text.strip().lower()
    try:
        if day := _date(word):
            return day
        since = date.fromisoformat(noted)
        if word in _SOON:
            return (since + timedelta(days=_SOON[word])).isoformat()
        if word in _NUMBER_OF:
            ahead = (_NUMBER_OF[word] - since.weekday() - 1) % 7 + 1
            return (since + timedelta(days=ahead)).isoformat()
    except (ValueError, OverflowError):
        pass  # no such day, or a forged note without one
    return None


def _due(text: str, noted: str) -> Payload | None:
    found = day_said(text, noted)
    return {"due": found} if found else None


def _read_time_mark(text: str, noted: str) -> Payload | None:
    if (found := _AT.fullmatch(text)) is None:
        return None
    said = {"start_time": found["start"].zfill(5)}
    if found["end"]:
        said["end_time"] = found["end"].zfill(5)
    if not found["day"]:
        return said
    day = day_said(found["day"], noted)
    return {**said, "date": day} if day else None


def _takes(text: str, _: str) -> Payload | None:
    if (found := _TAKES.fullmatch(text.lower())) is None:
        return None
    minutes = Fraction(found["number"].replace(",", ".")) * (60 if found["unit"] == "h" else 1)
    if minutes.denominator != 1 or not 1 <= minutes <= DURATION_MAX:
        return None
    return {"duration_min": int(minutes), "duration_max": int(minutes)}


def _rank(text: str, _: str) -> Payload | None:
    return {"importance": text.lower()} if text.lower() in ("high", "low") else None


Reader = Callable[[str, str], Payload | None]
_MARKS: Final[tuple[tuple[re.Pattern[str], Reader, str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), reader, expected)
    for pattern, reader, expected in (
        (r"(?:due|fällig):(.+)", _due, f"due:DAY, a day such as {DAYS}"),
        # "@ada" is a name.
        (
            rf"@((?:[0-9]|(?:{_WORDS})(?:-|$)).*)",
            _read_time_mark,
            "@14:00, @fri-14:00 or @2026-12-01T14:00",
        ),
        (r"~([0-9].*)", _takes, "~30m or ~1.5h, at most 8 hours"),
        (r"!([^\W\d_].*)", _rank, "!high or !low"),
    )
)
"""What a word at the end of a line looks like that is a mark, and what it must be."""


# 3. Items of a model -------------------------------------------------------------------------

_PAYLOAD: Final = (
    "type",
    "confidence",
    "start_time",
    "end_time",
    "date",
    "content",
    "importance",
    "due",  # of a mark alone: the contract of a model drops it
)
_MINUTES: Final = ("duration_min", "duration_max")


def items(
    payload: list[dict[str, Any]], before: tuple[NoteItem, ...], touched: frozenset[int], given: int
) -> tuple[NoteItem, ...]:
    """The items of a payload that meets its contract, with their numbers.

    An item that was there before, of one type and title, keeps its number; one that a person has
    changed since stays as that person left it.

    Args:
        before: as they were listed and as they are now, so that another title hides none.
        given: the highest number that was given so far.
    """
    left = list(before)
    found: list[NoteItem] = []
    for item in map(_item_from_payload, payload):
        name = (item.type, item.title.casefold())
        number = next((one.number for one in left if (one.type, one.title.casefold()) == name), 0)
        left = [former for former in left if former.number != number]
        if not number:
            given += 1
        if number not in touched:
            found.append(replace(item, number=number or given))
    return tuple(found)


def _item_from_payload(entry: dict[str, Any]) -> NoteItem:
    minutes: dict[str, Any] = {name: int(entry[name]) for name in _MINUTES if name in entry}
    said: dict[str, Any] = {name: entry[name] for name in _PAYLOAD if name in entry}
    shape: dict[str, Any] = {"number": 0, "source": "extracted", **said, **minutes}
    return msgspec.convert({**shape, "title": one_line(entry["title"])}, NoteItem)


def with_dues(listed: tuple[NoteItem, ...], dues: list[tuple[str, str]]) -> tuple[NoteItem, ...]:
    """Each due date that the note states, at the task whose title has most of its line's words.

    Args:
        dues: pairs of a line without its marks and a date.
    """
    found = list(listed)
    for line, due in dues:
        said = {*line.casefold().split()}
        shared = [len(said & {*item.title.casefold().split()}) for item in found]
        free = (i for i, item in enumerate(found) if item.type == "task" and item.due is None)
        best = max(free, key=lambda i: shared[i], default=None)
        if best is not None and shared[best]:
            found[best] = replace(found[best], due=due)
    return tuple(found)


# 4. Items of a person ------------------------------------------------------------------------


class WrongField(TypedDict):
    """What a `NoteChangeRefused` says."""

    reason: Literal["unknown_field", "invalid_value", "missing_value"]
    field: str


_CLOCK: Final = late_pattern(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_DATE: Final = late_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_OF_EVENTS: Final = ("start_time", "date")
"""What an event that is filed by hand cannot do without."""


def fill_item_fields(item: NoteItem, fields: Iterable[tuple[str, str]]) -> NoteItem | WrongField:
    """An item with these values, or the first that is wrong.

    Args:
        fields: pairs of name and value as typed; an empty value says nothing.
    """
    title = item.title
    if not visible(title) or problem(title, TITLE_MAX):
        return WrongField(reason="invalid_value", field="title")
    for name, typed in fields:
        if name not in FIELDS[item.type]:
            return WrongField(reason="unknown_field", field=name)
        if not typed.strip():
            continue
        value = _READERS[name](typed.strip())
        if value is None:
            return WrongField(reason="invalid_value", field=name)
        item = replace(item, **{name: value})
    low, high = item.duration_min, item.duration_max
    if low is not None and high is not None and high < low:
        return WrongField(reason="invalid_value", field="duration_max")
    for name in _OF_EVENTS if item.type == "event" else ():
        if getattr(item, name) is None:
            return WrongField(reason="missing_value", field=name)
    return item


def _minutes(text: str) -> int | None:
    if not (text.isascii() and text.isdecimal() and len(text) < 6):
        return None
    return int(text) if 1 <= int(text) <= DURATION_MAX else None


def _parse_item_time(text: str) -> str | None:
    found = _CLOCK.fullmatch(text)
    return f"{int(found[1]):02d}:{found[2]}" if found else None


def _date(text: str) -> str | None:
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def _one_of(options: tuple[str, ...]) -> Callable[[str], str | None]:
    return lambda text: text if text in options else None


_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "duration_min": _minutes,
    "duration_max": _minutes,
    "importance": _one_of(get_args(Importance)),
    "due": _date,
    "energy": _one_of(get_args(Energy)),
    "start_time": _parse_item_time,
    "end_time": _parse_item_time,
    "date": _date,
    "content": lambda text: text if problem(text, CONTENT_MAX) is None else None,
}


# 5. The simulator ----------------------------------------------------------------------------

_NOTE = re.compile(
    r"\ANoted at: (?P<noted>[^\n]*)\nLanguage: (?P<language>[a-z]+)\n\nNote:\n(?P<note>.*)\Z",
    re.DOTALL,
)
_MORE = {"en": "What matters most of it?", "de": "Was davon ist am wichtigsten?"}
_WHEN = {"en": "When is it?", "de": "Wann ist das?"}
_PROSE = ("Here is what I found:\n", "Hier ist das Ergebnis:\n", "")


def answer_extraction_by_rules(request: CompletionRequested) -> str:
    """An `extraction.v1` of what the rules read; each line is a task where one is wrong."""
    return canonical_json({"items": _read_items_by_rules(request)}).decode()


def vary_extraction_answer(draws: Draws, request: CompletionRequested) -> str:
    """An `extraction.v1` around what the rules read."""
    items = [_vary_item_payload(draws, item) for item in _read_items_by_rules(request)]
    payload: Payload = {"items": items}
    if not _is_answered(request):
        payload |= _draw_simulated_question(draws, items, _parse_extraction_request(request)[0])
    if draws.chance(0.1):
        payload["mood"] = draws.pick(("busy", "calm"))  # a property that no contract knows yet
    return write_json_reply(draws, payload, _PROSE)


def _draw_simulated_question(draws: Draws, items: list[Payload], language: Language) -> Payload:
    """Now and then a question, and an event whose time it asks for."""
    timed = [item for item in items if "start_time" in item]
    if timed and draws.chance(0.3):
        for name in ("start_time", "end_time"):
            timed[0].pop(name, None)
        return {"question": {"question": _WHEN[language], "field": "start_time"}}
    if draws.chance(0.1):
        return {"question": {"question": _MORE[language], "field": "importance"}}
    return {}


def _vary_item_payload(draws: Draws, item: Payload) -> Payload:
    item = {**item, "confidence": draws.between(30, 100) / 100}
    if item["type"] == "task":
        if "duration_min" not in item and draws.chance(0.5):
            low = 5 * draws.between(1, 12)
            item |= {"duration_min": low, "duration_max": low + 5 * draws.below(13)}
        if "importance" not in item and draws.chance(0.4):
            item["importance"] = draws.pick(("low", "normal", "high"))
    if item["type"] == "idea" and draws.chance(0.3):
        item["content"] = item["title"]
    if draws.chance(0.2):
        item["title"] = (item["title"][:1].upper() + item["title"][1:])[:TITLE_MAX]
    return item


def _read_items_by_rules(request: CompletionRequested) -> list[Payload]:
    _, note, noted = _parse_extraction_request(request)
    found = read_note(note, noted)
    if isinstance(found, BadLine):
        texts = [text for _, text in _split_note_lines(note) if visible(text)]
        titles = (shortened(text, TITLE_MAX) for text in texts)
        found = [{"type": "task", "title": title, "confidence": 0.3} for title in titles]
    return [{k: v for k, v in item.items() if k != "due"} for item in found[:ITEMS_MAX]]


def _parse_extraction_request(request: CompletionRequested) -> tuple[Language, str, str]:
    """The language of the question, the note and its day, as the request says them."""
    said = [m.content for m in request.messages if m.role == "user"]
    text = said[0] if said else ""
    found = _NOTE.match(text)
    if found is None:
        return "en", text, ""
    language: Language = "de" if found["language"] == "de" else "en"
    return language, found["note"], found["noted"][:10]


def _is_answered(request: CompletionRequested) -> bool:
    """Whether the person answered a question: something follows the accepted reply."""
    spoken = [m.content for m in request.messages if m.role != "system"]
    if request.attempt > 1 and spoken[-1].startswith(RETRY):
        del spoken[-2:]
    return len(spoken) > 2


BANK: Bank = {
    "extraction": Route(vary_extraction_answer, ("extract items",), ("extract|extraction", "note"))
}
