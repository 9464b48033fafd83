"""Every event as a plain sentence with what it says: the log at a terminal and the pages have these
words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from preflights_es.kernel.events import (
    UNSEEN,
    Actor,
    Event,
    Evidence,
    Input,
    Signable,
    Signature,
    SourceSession,
)
from preflights_es.kernel.ids import iso, short_session
from preflights_es.kernel.lead import FellBack, StepFailed, StepStalled
from preflights_es.kernel.text import late_pattern, one_line, shortened, span
from preflights_es.projections.audit import LoggedStep, speaker_kind_of_event
from preflights_es.projections.json_words import read_answer_value, text_in_words, value_in_words
from preflights_es.projections.projection import Read
from preflights_es.projections.session_story import (
    SAID_MAX,
    ToldCall,
    deed_in_words,
    failure_in_words,
    judgement_in_words,
)
from preflights_es.words.event_names import (
    CLOSED,
    NO_MODELS,
    PAIR,
    actor_in_words,
    event_in_words,
    name_in_sentence,
    value_of_pointer,
)
from preflights_es.words.questions import GivenAnswer, Question
from preflights_es.words.signing import made_with

ANSWER_MAX: Final = 500  # characters of the values of an answer
VALUE_MAX: Final = 200  # characters of one value of an event


class EventSentence(msgspec.Struct, frozen=True):
    """What happened in an event."""

    head: str
    """Subject and verb: `Ada answered`."""
    said: str = ""
    """What was said, behind a colon."""
    about: str = ""
    """All else that the event holds, in parentheses."""

    def __str__(self) -> str:
        """All of it on one line, with a full stop."""
        return _stopped(self.head + (f" ({self.about})" if self.about else ""), self.said)

    def fold_lines(self, room: int) -> list[str]:
        """The same where a line has so much room: what is long stands below, indented."""
        about, said = ([f"  {text}"] if text else [] for text in (self.about, self.said))
        forms: tuple[tuple[str, list[str]], ...] = (
            (str(self), []),
            (_stopped(self.head, self.said), about),
            (str(msgspec.structs.replace(self, said="")), said),
        )
        fitting = ([line, *below] for line, below in forms if len(line) <= room)
        return next(fitting, [_stopped(self.head), *said, *about])


def _stopped(head: str, said: str = "") -> str:
    text = f"{head}: {said}" if said else head
    return text if text.endswith((".", "!", "?", "…", '."', '?"', '!"', '…"')) else f"{text}."


def list_event_sentences(
    steps: Sequence[LoggedStep], told: Mapping[int, EventWords]
) -> Iterator[EventSentence]:
    """One of each event, in order.

    Args:
        told: what is said in place of the fields of some, by version: that of `list_call_words`.
    """
    for place, step in enumerate(steps):
        behind = steps[place + 1 :] if isinstance(step.event, FellBack) else ()
        asks = any(
            "_asked." in str(one.stored.type)
            for one in takewhile(lambda one: one.role == "decision", behind)
        )
        head = _head_of_event(step, asks=asks)
        words = told.get(step.stored.version)
        if words is None and step.event is not None and not _reason_in_head(step.event):
            words = _values_of_event(step.event)
        said, about, other = words or EventWords("")
        yield EventSentence(other or head, said, about)


def _head_of_event(step: LoggedStep, *, asks: bool) -> str:
    """Who did it, as far as the event or its envelope says; or what was done.

    Args:
        asks: whether a question follows from the same Input.
    """
    event, kind = step.event, speaker_kind_of_event(step.stored)
    named = event_in_words(step.stored.type, step.model.provider if step.model else "")
    by = ""
    if kind is not None and kind != "model":
        by = actor_in_words(kind, event.actor.name if isinstance(event, Input) else "")
        if isinstance(event, Input) and event.verb != Input.verb:
            object_ = "it" if isinstance(event, Signable) else "the session"
            return f"{by[0].upper()}{by[1:]} {deed_in_words(event, object_)}"
    head = name_in_sentence(named) + (f" by {by}" if by else "")
    if isinstance(event, FellBack) and asks:
        head = "The rules asked instead"
    reason = _reason_in_head(event)
    return f"{head}, since {failure_in_words(reason)}" if reason else head


def _reason_in_head(event: Event | None) -> str:
    return event.reason if isinstance(event, FellBack | StepFailed | StepStalled) else ""


# 1. Calls ------------------------------------------------------------------------------------


class EventWords(NamedTuple):
    """What an event says, and its head where that is not of its name."""

    said: str
    about: str = ""
    head: str = ""


def list_call_words(read: Read, calls: Iterable[ToldCall]) -> dict[int, EventWords]:
    """What the events of calls say, by version: what was sent, what came, why it was refused."""
    told: dict[int, EventWords] = {}
    for call in calls:
        version = call.numbers.version
        if call.answered == version:  # of another program: its Input stands before the Decision
            told[version - 1] = _words_of_sent(call, read.stored[version - 1].recorded_at)
            did = "answered" if call.numbers.outcome == "received" else "failed"
            told[version] = _words_of_answer(call)._replace(head=f"The model {did}")
            for one in call.judged:
                told[one.place + 1] = EventWords("", head=judgement_in_words(one))
            continue
        told[version] = _words_of_sent(call)
        if call.answered is not None:
            told[call.answered] = _words_of_answer(call)
        for after in call.followed[:1] if call.refused and call.numbers.judged else ():
            told[after] = EventWords(shortened(one_line(call.refused), SAID_MAX))
    return told


def _words_of_sent(call: ToldCall, recorded_at: int | None = None) -> EventWords:
    """Args:
    recorded_at: of a call of another program, which was made before.
    """
    numbers, count = call.numbers, call.kept + len(call.messages)
    is_model = numbers.provider not in NO_MODELS
    is_older = recorded_at is not None and numbers.at != recorded_at
    about = (
        numbers.model if numbers.model != "unknown" else "",
        f"{count:,} messages" if count > 1 else "",
        f"{numbers.input_tokens:,} tokens" if is_model and numbers.input_tokens else "",
        f"made {iso(numbers.at)[:16].replace('T', ' ')}" if is_older else "",
    )
    last = text_in_words(call.messages[-1].text) if call.messages else ""
    whom = {"mock": "rules were"}.get(numbers.provider) or f"{_writer(numbers.provider)} was"
    again = " again" if numbers.attempt > 1 else ""
    return EventWords(last, ", ".join(filter(None, about)), f"The {whom} asked{again}")


def _writer(provider: str) -> str:
    return NO_MODELS.get(provider, "model")


def _words_of_answer(call: ToldCall) -> EventWords:
    """What could not be used is named as what came."""
    numbers = call.numbers
    said = text_in_words(call.answer, ANSWER_MAX) if call.answer else ""
    if said and not call.is_used and read_answer_value(call.answer) is None:
        said = f"{len(call.answer):,} characters, no JSON object"
    tools = (f"calls {name} {text_in_words(given)}" for name, given in call.tools)
    refused = call.refused if not numbers.judged else ""
    about = []
    if numbers.provider not in NO_MODELS:
        if numbers.output_tokens is not None:
            about.append(f"{numbers.output_tokens:,} tokens")
        if numbers.latency_ms is not None:
            about.append(span(numbers.latency_ms / 1_000))
    told = (said, *tools, shortened(one_line(refused), SAID_MAX))
    return EventWords("; ".join(filter(None, told)), ", ".join(about))


# 2. All others -------------------------------------------------------------------------------

_UNSAID: Final = ("", None, (), False, UNSET, UNSEEN)
_SPOKEN: Final = frozenset(
    ("answers", "reason", "because", "text", "message", "error", "question", "path", "patch")
)
"""Fields that say what an event is about, beside that which its own name has."""
_QUOTED_TIME: Final = late_pattern(r'"(\d{4}-\d\d-\d\d \d\d:\d\d):\d\d UTC"')
_ID: Final = late_pattern(r"\A[0-9a-f]{8}(?:-[0-9a-f]{4}){4}([0-9a-f]{8})\Z")
_TIMES: Final = 10**15  # what is more is no count: microseconds since 1970, of 2001 or later
_HIDDEN: Final = frozenset(
    ("at", "actor", "heuristics", "pack", "inlined", "setup", "context", "project", "told", "uid")
) | {"call", "contract", "program", "prompts", "request_id", "sha256"}
"""Fields that stand elsewhere, are the same everywhere, or say nothing to people."""


def event_values_in_words(event: Event) -> str:
    """The payload in short; what the event's own name or another field says is not said again."""
    return "; ".join(filter(None, _values_of_event(event)))


def _values_of_event(event: Event) -> EventWords:
    """What the event is about, and its other fields with their names."""
    named = event_in_words(event.tag).split()
    said, main = dict[object, str](), ""
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if name in _HIDDEN or value in _UNSAID or (isinstance(value, str) and value in said):
            continue
        is_main = not main and (name in named or name in _SPOKEN)
        key = value if isinstance(value, str) else (name,)
        said[key] = "" if is_main else _field_in_words(name, value, is_named=name not in named)
        main = _short_field_value(name, value) if is_main else main
    return EventWords(main, "; ".join(filter(None, said.values())))


def _field_in_words(name: str, value: object, *, is_named: bool) -> str:
    words, unit = (name[:-3], " ms") if name.endswith("_ms") else (name, "")
    if value is True:
        return words.replace("_", " ")
    text = f"{_short_field_value(name, value)}{unit}"
    return f"{words.replace('_', ' ')} {text}" if is_named else text


def _short_field_value(name: str, value: object) -> str:
    if isinstance(value, Signature):
        return made_with(value)
    if isinstance(value, Evidence):
        return shortened(one_line(str(value)), VALUE_MAX)
    if isinstance(value, Actor):
        return actor_in_words(value.kind, value.name)
    if isinstance(value, str) and value.startswith(("{", "[")):  # JSON is read as a value
        return text_in_words(value)
    plain = _plain_value(value)
    if name == "answers" and isinstance(plain, dict) and len(plain) == 1:
        plain = next(iter(plain.values()))  # the question stands in an event before
    shown = value_of_pointer(name, plain)
    if name in CLOSED and isinstance(shown, str) and " " not in str(plain):
        return shown
    return shortened(_QUOTED_TIME.sub(r"\1", value_in_words(shown)), VALUE_MAX)


def _plain_value(value: object) -> Any:
    """As JSON has it, without fields that people do not read; pairs of texts as an object."""
    match value:
        case str():
            return _ID.sub(r"\1", value)
        case int() if value >= _TIMES:
            return iso(value)
        case tuple():
            pairs = [one for one in value if isinstance(one, tuple) and len(one) == len(PAIR)]
            if value and len(pairs) == len(value):
                return {str(name): _plain_value(one) for name, one in pairs}
            answers = {o.key: ", ".join(o.values) for o in value if isinstance(o, GivenAnswer)}
            return answers or [*map(_plain_value, value)]
        case SourceSession():
            return short_session(value.session_id)
        case Question():
            return value.question
        case msgspec.Struct():
            fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
            told = ((name, one) for name, one in fields if one not in _UNSAID)
            return {name: _plain_value(one) for name, one in told if name not in _HIDDEN}
        case _:
            return value
