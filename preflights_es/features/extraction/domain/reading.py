"""The reference: what simple notes hold, in German and English (docs/specs/extraction.md, 5).

It splits, recognises times, durations and words, and copies; it never invents a date, a person or
an importance, and what it does not understand stays in the title.
The simulator varies around it by seed: durations, importances and confidences that the note does
not give, other titles, prose and properties that a contract drops, a question too many. It stays
within the contract, so that it finds our bugs and not its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

from preflights_es.features.extraction.domain import times
from preflights_es.features.extraction.domain.events import (
    CONTENT_MAX,
    ITEMS_MAX,
    QUESTION_MAX,
    QUOTED,
    TITLE_MAX,
    WHEN_MANY,
    WHEN_ONE,
)
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import RETRY
from preflights_es.kernel.questions import Language
from preflights_es.kernel.simulation import Bank, Draws, References, Route
from preflights_es.kernel.text import one_line, shortened

Payload = dict[str, Any]

# 1. Words ------------------------------------------------------------------------------------

EVENT_WORDS: Final = frozenset(
    """
    meeting termin call telefonat besprechung appointment konferenz conference interview workshop
    lunch dinner brunch arzt ärztin zahnarzt zahnärztin doctor dentist friseur hairdresser party
    konzert concert standup sync webinar training vorlesung lecture flug flight mittagessen
    abendessen feier
    """.split()  # noqa: SIM905  one word a comma would fill the screen
)
EVENT_ENDINGS: Final = tuple(
    "termin besprechung meeting arzt gespräch konferenz feier".split()  # noqa: SIM905  as above
)
"""Of German compounds: a Teambesprechung is a Besprechung."""
TASK_WORDS: Final = frozenset(
    """
    ask book buy cancel check clean draft email file find finish fix get make move order organise
    organize pay plan prepare print read remind repair reply review schedule send submit tell
    update write
    """.split()  # noqa: SIM905  as above
)
"""English verbs that open a task; a German one ends in its infinitive."""
_INFLECTED: Final = ("", "e", "em", "en", "er", "es")
URGENT: Final = (
    *(f"{stem}{ending}" for ending in _INFLECTED for stem in ("dringend", "wichtig", "eilig")),
    *("eilt", "sofort", "urgent", "urgently", "important", "asap"),
)
UNIMPORTANT: Final = (
    *("unwichtig", "irgendwann", "wenn zeit ist"),
    *("no rush", "low priority", "someday"),
)
_HARDLY: Final = (
    r"(?:nicht|weniger|kaum|not|less|isn['’]t)\s+"
    r"(?:(?:ganz|so|sehr|wirklich|mehr|besonders|allzu|that|very|really|too|all|an?)\s+){0,2}"
)
"""Before a word of `URGENT`: it is not."""
_ABBREVIATIONS: Final = frozenset(
    """
    dr prof hr fr nr st ca bzw usw etc evtl ggf mr mrs ms vs tel str inkl std
    mo di mi sa mon tue wed thu fri
    jan feb mär apr jun jul aug sep sept okt oct nov dez dec
    """.split()  # noqa: SIM905  as above
)
_IDEA: Final = re.compile(
    r"^(?:idee|idea|einfall|gedanke|thought)(?:\s*:|\s*[-–—](?=\s))\s*", re.IGNORECASE
)
_MUSING: Final = re.compile(
    r"^(?:vielleicht|maybe|perhaps|was wäre,? wenn|what if|how about|man könnte|könnte man"
    r"|wir könnten|we could)\b",
    re.IGNORECASE,
)


def _phrases(words: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, words))


_LOW: Final = re.compile(
    rf"(?<!\w)(?:{_phrases(UNIMPORTANT)}|{_HARDLY}(?:{_phrases(URGENT)}))(?!\w)[:!]*", re.IGNORECASE
)
_HIGH: Final = re.compile(rf"(?<!\w)(?:{_phrases(URGENT)})(?!\w)[:!]*|!{{2,}}", re.IGNORECASE)

# 2. Parts ------------------------------------------------------------------------------------

_BREAK: Final = re.compile(
    r"\n+|[;•]|,(?!\d|-(?!\w))|(?<!\d),"  # not the comma of a price: 14,50 or 20,-
    r"|\s(?:und dann|danach|anschließend|außerdem|and then|then|afterwards)\s",
    re.IGNORECASE,
)
_LINE: Final = re.compile(r"(\n+|[;•])")
_COMMA: Final = re.compile(r",[^\S\n]+")
_SENTENCE: Final = re.compile(r"(?<![^\W\d_])(?P<word>[^\W\d_]{2,}+)[.!?]++\s+(?=[A-ZÄÖÜ„“\"])")
_BULLET: Final = re.compile(r"(?:\s|[-*+–—·☐▪‣◦]\s|\[ ?\])*")  # a box that is ticked stays
_NUMBER: Final = re.compile(r"(?P<number>\d{1,2})[.)]\s+")
_LEAD: Final = re.compile(r"(?:[\s,;:]|[–—-]+(?!\d)|\.+(?!\w))*")
_EDGES: Final = " \t,;:.–—-"
_EMPTY: Final = re.compile(r"\([\s,;:!.]+\)|\[\s+\]")  # what is left of "(wichtig)"; not of "f()"
_GAP: Final = re.compile(r"\s+(?=[,;:](?:\s|$))")
_SAYS: Final = re.compile("[^\\W_]|[\u2600-\u27bf\U0001f000-\U0001faff]")
"""What makes a part more than punctuation: letters, digits and pictures."""


def parts(note: str, noted: str = "") -> list[str]:
    """What a note lists, each on one line, without bullets and blanks."""
    listed: list[list[str]] = []
    for line in _lines(_led_by_times(note, noted)):
        if listed and _is_detail(line, noted):
            listed[-1].append(line)
        else:
            listed.append([line])
    return [", ".join(lines) for lines in listed]


def _lines(note: str) -> list[str]:
    """The parts before those that say more of another are joined to it."""
    found: list[str] = []
    for piece in _BREAK.split(unicodedata.normalize("NFC", note)):
        begin = 0
        for end in _SENTENCE.finditer(piece):
            if end["word"].lower() not in _ABBREVIATIONS:
                found.append(piece[begin : end.end()])
                begin = end.end()
        found.append(piece[begin:])
    bare = [_BULLET.sub("", one_line(part), count=1) for part in found]
    numbers = [int(n["number"]) for part in bare if (n := _NUMBER.match(part))]
    # "22. November" alone counts nothing.
    if len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1)):
        bare = [_BULLET.sub("", _NUMBER.sub("", part, count=1), count=1) for part in bare]
    return [line for part in bare if _says(line := _trimmed(part))]


def _trimmed(text: str) -> str:
    """Without punctuation at its ends; "-5" and ".NET" stay what they are."""
    found = _LEAD.match(text)
    return text[found.end() if found else 0 :].rstrip(_EDGES)


def _says(text: str) -> bool:
    return _SAYS.search(text) is not None


def _is_detail(line: str, noted: str) -> bool:
    """Whether it says when, how long or how urgent something else is: "Meeting, 14 Uhr"."""
    when, takes, on = times.moment(line), times.duration(line), times.day(line, noted)
    for begin, end in _apart(*(found.at for found in (when, takes, on) if found)):
        line = line[:begin] + line[end:]
    return not _says(_HIGH.sub("", _LOW.sub("", line)))


def _apart(*places: tuple[int, int]) -> list[tuple[int, int]]:
    """The places, the last first; those that overlap are one ("9 Uhr morgen")."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(places):
        if found and begin < found[0][1]:
            found[0] = (found[0][0], max(end, found[0][1]))
        else:
            found.insert(0, (begin, end))
    return found


def _led_by_times(note: str, noted: str) -> str:
    """The note without the comma behind a time or a day that opens what follows.

    "14 Uhr, Meeting", "Morgen, Meeting 14 Uhr".
    """
    return "".join(_led_by_time(line, noted) for line in _LINE.split(note))


def _led_by_time(line: str, noted: str) -> str:
    first, *rest = _COMMA.split(line)
    found = [first]
    for piece in rest:
        said = _opening(found[-1], noted)
        # "Meeting, 14 Uhr, Arzt": a time belongs to what stands before it and has none.
        is_free = len(found) == 1 or all(_when_said(found[-2], noted)[i] for i in said)
        if said and is_free and _can_be_led(piece, said, noted):
            found[-1] = f"{found[-1]} {piece}"
        else:
            found.append(piece)
    return ", ".join(found)


def _when_said(piece: str, noted: str) -> tuple[bool, bool]:
    """Whether it says a time, and whether a day."""
    return times.moment(piece) is not None, times.day(piece, noted) is not None


def _opening(piece: str, noted: str) -> list[int]:
    """Which of time and day it says, where it says nothing else; empty where it opens nothing."""
    when = times.moment(piece)
    if (when is not None and when.deadline) or not _is_detail(piece, noted):
        return []
    return [i for i, is_said in enumerate(_when_said(piece, noted)) if is_said]


def _can_be_led(piece: str, said: list[int], noted: str) -> bool:
    is_thought = _IDEA.match(piece) or _MUSING.match(piece)
    has = _when_said(piece, noted)
    return _says(piece) and not is_thought and not any(has[i] for i in said)


# 3. Items ------------------------------------------------------------------------------------


def extracted(note: str, language: Language, answer: str = "", noted: str = "") -> Payload:
    """An `extraction.v1` of a note, and of the answer to its question where there is one.

    Args:
        noted: the day of the note, YYYY-MM-DD; without it no day is read.
    """
    pieces = parts(note, noted)
    items = [_item(part, noted) for part in pieces[:ITEMS_MAX]]
    if len(pieces) > ITEMS_MAX:  # nothing is lost: the last item holds the rest
        items[-1] = _kept("\n".join(pieces[ITEMS_MAX - 1 :]))
    untimed = [item for item in items if item["type"] == "event" and "start_time" not in item]
    if not untimed:
        return {"items": items}
    if answer:
        _timed(untimed, answer, noted)
        return {"items": items}
    titles = ", ".join(QUOTED[language].format(item["title"]) for item in untimed)
    sentence = (WHEN_ONE if len(untimed) == 1 else WHEN_MANY)[language]
    room = QUESTION_MAX - len(sentence)
    question = {"question": sentence.format(shortened(titles, room)), "field": "start_time"}
    return {"items": items, "question": question}


def _item(part: str, noted: str) -> Payload:
    if len(part) > TITLE_MAX:
        return _kept(part)
    if marked := _IDEA.match(part):
        return _made("idea", _trimmed(part[marked.end() :]) or part, 0.9)
    if _MUSING.match(part):
        return _made("idea", part, 0.7)
    when, takes = times.moment(part), times.duration(part)
    is_then = when is not None and not when.deadline
    if not is_then and not _is_event(part):
        return _task(part, takes)
    return _event(part, when if is_then else times.last_hour(part), takes, times.day(part, noted))


def _event(
    part: str, when: times.Moment | None, takes: times.Duration | None, on: times.Day | None
) -> Payload:
    """What an event has no property for stays in its title: urgency, and an end on another day."""
    said = [on.at] if on else []
    if when is None:
        item = _made("event", _cut(part, *said) if said else part, 0.4)
    else:
        end = when.end or (times.later(when.start, takes.high) if takes else "")
        is_end = takes is not None and end and not when.end
        said += [when.at, *([takes.at] if takes and is_end else [])]
        item = _made("event", _cut(part, *said), 0.9)
        item["start_time"] = when.start
        if end:
            item["end_time"] = end
    if on:
        item["date"] = on.date
    return item


def _task(part: str, takes: times.Duration | None) -> Payload:
    title = _without(_cut(part, *([takes.at] if takes else [])))
    item = _made("task", title, 0.8 if " " in title else 0.6)
    if takes is not None:
        item |= {"duration_min": takes.low, "duration_max": takes.high}
    if _LOW.search(part):
        item["importance"] = "low"
    elif _HIGH.search(part):
        item["importance"] = "high"
    return item


def _kept(text: str) -> Payload:
    """What is too long for a title, whole."""
    return {
        **_made("idea", shortened(one_line(text), TITLE_MAX), 0.3),
        "content": shortened(text, CONTENT_MAX),
    }


def _made(type_: str, title: str, confidence: float) -> Payload:
    return {"type": type_, "title": title, "confidence": confidence}


def _is_event(part: str) -> bool:
    """Whether it names an appointment, and no task around one."""
    words = [word.strip(".,:!?()").lower() for word in _without(part).replace("-", " ").split()]
    if not words or words[0] in TASK_WORDS or (len(words) > 1 and _is_infinitive(words[-1], part)):
        return False
    if words[0] == "call" and len(words) > 1:
        return words[1] in ("with", "mit")
    return any(word in EVENT_WORDS or word.endswith(EVENT_ENDINGS) for word in words)


def _is_infinitive(word: str, part: str) -> bool:
    """A German verb at the end, which is not written with a capital: "Meeting vorbereiten"."""
    is_small = part.rstrip(_EDGES + "!").endswith(word)
    return is_small and len(word) > 4 and word.endswith(("en", "ern", "eln"))


def _cut(part: str, *places: tuple[int, int]) -> str:
    """The part without what has properties of its own; itself where nothing would be left."""
    for begin, end in _apart(*places):
        left = f"{part[:begin]} {part[end:]}"
        part = left if _says(left) else part
    return _trimmed(_GAP.sub("", one_line(_EMPTY.sub(" ", part))))


def _without(part: str) -> str:
    """The part without words of urgency; itself where nothing would be left."""
    bare = _EMPTY.sub(" ", _HIGH.sub(" ", _LOW.sub(" ", part)))
    text = _trimmed(one_line(bare)).rstrip(_EDGES + "!")
    return text if _says(text) else part


# 4. The answer -------------------------------------------------------------------------------

_AND: Final = re.compile(r"\s(?:und|and|&)\s", re.IGNORECASE)


def _timed(events: list[Payload], answer: str, noted: str) -> None:
    """Give events their times and days; what the answer leaves without a time becomes a task."""
    whole = parts(answer, noted) or [answer]
    joined, single = (_split(said) for said in (whole, _lines(answer)))
    is_named = any(_names(said, item["title"]) for said in joined for item in events)
    turns = [said for said in (joined, single) if len(said) == len(events) and not is_named]
    in_turn = next(iter(turns), [])
    names = [[said for said in joined if _names(said, item["title"])] for item in events]
    times: list[Payload | None] = []
    for i, named in enumerate(names):
        heard = [*named, *in_turn[i : i + 1], *(joined if len(events) == 1 else [])]
        times.append(next((when for said in heard if (when := _when(said, noted))), None))
    for item, named, when in zip(events, names, times, strict=True):
        if when is None:
            item["type"] = "task"
            # An answer that gave no event its time says something of all of them.
            said = item["title"] if any(times) else f"{item['title']} ({one_line(answer)})"
            item["title"] = shortened(named[0] if named else said, TITLE_MAX)
            continue
        item |= {"confidence": 0.9, **when}


def _split(said: Sequence[str]) -> list[str]:
    return [piece for part in said for piece in _AND.split(part)]


def _names(text: str, title: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(title)}(?!\w)", text, re.IGNORECASE) is not None


def _when(text: str, noted: str) -> Payload | None:
    """What an event is given by words that say a time; None where they say none."""
    found = times.moment(text)
    on = times.day(text, noted)
    left = _cut(text, on.at) if on else text
    start = found.start if found else times.bare_hour(left)
    if not start:
        return None
    ends = {"end_time": found.end} if found and found.end else {}
    return {"start_time": start, **ends, **({"date": on.date} if on else {})}


# 5. The simulator ----------------------------------------------------------------------------

_NOTE = re.compile(
    r"\ANoted at: (?P<noted>[^\n]*)\nLanguage: (?P<language>[a-z]+)\n\nNote:\n(?P<note>.*)\Z",
    re.DOTALL,
)
_MORE = {"en": "What matters most of it?", "de": "Was davon ist am wichtigsten?"}
_PROSE = ("Here is what I found:\n", "Hier ist das Ergebnis:\n", "")


def by_rules(request: CompletionRequested) -> str:
    """What the rules read out of the note, and of the answer where there is one."""
    return encoded(_read(request)).decode()


def varied(draws: Draws, request: CompletionRequested) -> str:
    """An `extraction.v1` around what the rules read."""
    payload = _read(request)
    payload["items"] = [_varied(draws, item) for item in payload["items"]]
    if draws.chance(0.1) and "question" not in payload and not _answer(request):
        payload["question"] = {"question": _MORE[_parts(request)[0]], "field": "importance"}
    if draws.chance(0.1):
        payload["mood"] = draws.pick(("busy", "calm"))  # a property that no contract knows yet
    text = encoded(payload).decode()
    if draws.chance(0.15):
        return draws.pick(_PROSE) + text
    return f"```json\n{text}\n```" if draws.chance(0.2) else text


def _varied(draws: Draws, item: dict[str, Any]) -> dict[str, Any]:
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


def _read(request: CompletionRequested) -> dict[str, Any]:
    language, note, noted = _parts(request)
    return extracted(note, language, _answer(request), noted)


def _parts(request: CompletionRequested) -> tuple[Language, str, str]:
    """The language of the question, the note and its day, as the request says them."""
    said = [m.content for m in request.messages if m.role == "user"]
    text = said[0] if said else ""
    found = _NOTE.match(text)
    if found is None:
        return "en", text, ""
    language: Language = "de" if found["language"] == "de" else "en"
    return language, found["note"], found["noted"][:10]


def _answer(request: CompletionRequested) -> str:
    """The person's answer: what follows the accepted reply, but for the sentence of a retry."""
    spoken = [m.content for m in request.messages if m.role != "system"]
    if request.attempt > 1 and spoken[-1].startswith(RETRY):
        del spoken[-2:]
    return spoken[2] if len(spoken) > 2 else ""


BANK: Bank = {
    "extraction": Route(varied, ("extract items",), ("extract|extraction", "note")),
}
REFERENCES: References = {"extraction": by_rules}
