"""Reads calls of models out of other tools' files: one after the other, never a whole file.

Two exceptions: a file that is one JSON value (at most `DOCUMENT_MAX`), and the database of `llm`.
Nothing is made up: what cannot be read, or holds no words, is named by its line.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self

import msgspec

from preflights_es.features.calls.domain.calls import CONVERSATION_NAMES
from preflights_es.features.calls.domain.dialects import (
    json_items,
    json_mapping,
    json_text,
    parse_json_text,
    read_word,
)
from preflights_es.features.calls.source_calls import (
    Found,
    Objects,
    Places,
    SourceForm,
    UnreadLine,
    build_source_call,
    find_value_places,
    read_values_at,
)
from preflights_es.features.calls.source_llm import read_llm_calls
from preflights_es.features.calls.source_otel import read_span_calls
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import ABSENT, NESTED_MAX, decode_plain_json, is_too_deep
from preflights_es.kernel.text import one_line, shortened

GUESSED_FROM: Final = 8 * 1024 * 1024  # bytes of lines that are looked at to see what a file is
LINE_MAX: Final = 64 * 1024 * 1024  # bytes; what of a call is too large to keep is left out
DOCUMENT_MAX: Final = 64 * 1024 * 1024  # bytes of a file that is one JSON value
WAITING_MAX: Final = 100_000  # lines of a batch that wait for their other half; OpenAI takes 50,000


class SourceGuess(msgspec.Struct, frozen=True):
    form: SourceForm | None
    sentence: str
    """What the source looks like, for people."""
    pointers: dict[str, str] = {}


# --- 1. Files, lines, JSON ---


class SourceFile:
    """An open source: a path or `-`, compressed by gzip or not; closed by `with`."""

    def __init__(self, path: str) -> None:
        """Raises:
        Refused: it cannot be opened.
        """
        self.path = path
        self.broken = ""
        """Why reading ended before the end."""
        try:
            raw: Any = sys.stdin.buffer if path == "-" else open(path, "rb")  # noqa: SIM115
            head = raw.peek(16)[:16]
        except OSError as error:
            raise Refused(f"{path!r} cannot be read: {error.strerror}", path=path) from error
        is_packed = head.startswith(b"\x1f\x8b")
        self.size = 0 if path == "-" else os.fstat(raw.fileno()).st_size
        """Bytes, as far as that is known."""
        self._streams: list[Any] = [gzip.GzipFile(fileobj=raw), raw] if is_packed else [raw]
        self.is_database = head == b"SQLite format 3\0"
        self._held = io.BytesIO()  # what was read as one JSON value, and is lines
        self._number = 1
        self._line = b"" if self.is_database else self._read(LINE_MAX + 1)
        self._line = self._line.removeprefix(b"\xef\xbb\xbf")
        while self._line and not self._line.strip():
            self._advance()
        self._document = self._read_document()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for stream in self._streams[:-1] if self.path == "-" else self._streams:
            stream.close()  # but not the standard input, which is the program's

    def _read(self, size: int, *, is_line: bool = True) -> bytes:
        held, stream = self._held.readline(size), self._streams[0]
        if held.endswith(b"\n") or len(held) == size:
            return held
        try:
            more: bytes = stream.readline(size - len(held)) if is_line else stream.read(size)
        except (OSError, EOFError, zlib.error) as error:
            self.broken, more = f"the file cannot be read further: {error}", b""
        return held + more

    def _advance(self) -> None:
        self._number, self._line = self._number + 1, self._read(LINE_MAX + 1)

    def _read_document(self) -> list[Any] | None:
        """The entries of a file that is one JSON value: an array, or an object on several lines."""
        line = self._line.strip()
        if not line.startswith((b"[", b"{")) or isinstance(_decoded_line(line)[0], dict):
            return None
        rest = self._read(DOCUMENT_MAX, is_line=False)
        value, why = _decoded_line(self._line + rest)
        if why:
            self._held = io.BytesIO(rest)
            return None
        return json_items(value) or [value]

    def first_objects(self) -> list[dict[str, Any]]:
        """The first objects, as far as they are looked at.

        Lines that cannot be read are left out: a log that was rotated begins with half a line.
        """
        values = [] if self.is_database else self._document
        if values is None:
            ahead, size = [self._line], len(self._line)
            while size < GUESSED_FROM and (line := self._read(GUESSED_FROM)):
                ahead.append(line)
                size += len(line)
            self._held = io.BytesIO(b"".join(ahead[1:]) + self._held.read())
            values = [_decoded_line(line)[0] for line in ahead]
        return [value for value in values if isinstance(value, dict)]

    def entries(self) -> Iterator[tuple[int, Any, str]]:
        """Triples of line, value and, where there is no value, why."""
        for number, value in enumerate(self._document or [], 1):
            yield number, value, ""
        while self._document is None and self._line:
            number = self._number
            if len(self._line) > LINE_MAX and not self._line.endswith(b"\n"):
                while self._line and not self._line.endswith(b"\n"):  # never held whole
                    self._line = self._read(LINE_MAX)
                yield number, None, f"longer than {LINE_MAX // 1024 // 1024} MB"
            elif self._line.strip():
                yield number, *_decoded_line(self._line)
            self._advance()
        if self.broken:
            yield self._number, None, self.broken


def _decoded_line(line: bytes) -> tuple[Any, str]:
    """A value, or why there is none."""
    try:
        value = decode_plain_json(line)
    except UnicodeDecodeError:
        return None, "no UTF-8"
    except RecursionError:
        return None, f"nests deeper than {NESTED_MAX} levels"
    except ValueError as error:
        is_half = parse_json_text(line.decode(errors="replace")) is not ABSENT
        return None, "half of a surrogate pair" if is_half else f"no whole JSON: {error}"
    return (None, f"nests deeper than {NESTED_MAX} levels") if is_too_deep(line) else (value, "")


def read_source_calls(
    sources: Sequence[SourceFile], form: SourceForm, pointers: Mapping[str, str] | None = None
) -> Found:
    """Each call, in the order of the source; between them what could not be read.

    Args:
        pointers: of the form `jsonl`, by name: JSON Pointers (RFC 6901) of `request` and
            `response`, and where there are, of `session`, `time` and `user`.

    Raises:
        Refused: a pointer is none or is missing; a database cannot be read.
    """
    if form == "llm":
        for source in sources:
            yield from read_llm_calls(source.path)
        return
    places = find_value_places(pointers or {}, form)
    if form == "openai-batch" or len(sources) == 1:
        yield from _calls_of(sources, form, places)
        return
    for source in sources:
        for found in _calls_of([source], form, places):
            if isinstance(found, UnreadLine):
                yield UnreadLine(found.line, f"{found.why}, in {source.path}")
            else:
                yield found


def _calls_of(sources: Sequence[SourceFile], form: SourceForm, places: Places) -> Found:
    objects = _objects_of(sources)
    for found in _joined_batch(objects) if form == "openai-batch" else objects:
        if isinstance(found, UnreadLine):
            yield found
        elif form == "otel":
            yield from read_span_calls(*found)
        else:
            for record in _entries_of_export(form, found[1]):
                why = _export_trouble(form, record)
                values = read_values_at(record, places)
                yield (
                    UnreadLine(found[0], why)
                    if why
                    else build_source_call(found[0], values, places, record)
                )


def _objects_of(sources: Sequence[SourceFile]) -> Objects:
    for source in sources:
        for line, value, why in source.entries():
            if isinstance(value, dict):
                yield line, value
            else:
                yield UnreadLine(line, why or f"no JSON object: {shortened(json_text(value), 40)}")


# --- 2. What exports need besides ---


def _joined_batch(objects: Objects) -> Objects:
    """Lines of requests and of answers, in any order and number of files, joined by `custom_id`."""
    waiting: dict[tuple[str, bool], tuple[int, bytes]] = {}  # compressed: a batch has 200 MB
    joined: set[str] = set()
    for found in objects:
        if isinstance(found, UnreadLine):
            yield found
            continue
        line, record = found
        id_, is_answer = (
            read_word(record.get("custom_id")),
            "response" in record or "error" in record,
        )
        half = waiting.pop((id_, not is_answer), None)
        if not id_ or not (is_answer or "body" in record):
            yield UnreadLine(
                line, "no line of a batch: custom_id, and body or response, are missing"
            )
        elif half is not None:
            joined.add(id_)
            other = decode_plain_json(zlib.decompress(half[1]))
            asked, answered = (other, record) if is_answer else (record, other)
            yield line if is_answer else half[0], {"asked": asked, "answered": answered}
        elif id_ in joined or (id_, is_answer) in waiting:
            yield UnreadLine(line, f"a second line with custom_id {id_!r}")
        elif len(waiting) >= WAITING_MAX:
            yield UnreadLine(line, f"more than {WAITING_MAX} lines wait for their other half")
        else:
            waiting[id_, is_answer] = line, zlib.compress(json_text(record).encode(), 1)
    for (id_, is_answer), (line, _) in waiting.items():
        lacking = "request" if is_answer else "answer"
        other_file = "" if joined else f": give the file of the {lacking}s, too"
        yield UnreadLine(line, f"no {lacking} with custom_id {id_!r}{other_file}")


def _entries_of_export(form: SourceForm, record: dict[str, Any]) -> list[dict[str, Any]]:
    """What one object holds: of Langfuse a call, or among others those of a trace or of a page."""
    if form == "litellm":
        return [json_mapping(record.get("standard_logging_object")) or record]
    if form != "langfuse":
        return [record]
    trace = json_mapping(record.get("trace")) or record
    context = {name: trace[name] for name in ("sessionId", "userId") if name in trace}
    inner = json_items(record.get("observations", record.get("data")))
    entries = [{**json_mapping(entry), **context} for entry in inner] or [record]
    return [entry for entry in entries if entry.get("type", "GENERATION") == "GENERATION"]


def _export_trouble(form: SourceForm, record: dict[str, Any]) -> str:
    """Why an entry of an export, which may look whole, is no call."""
    if form == "litellm" and "(litellm_truncated " in json_text(record):
        return "LiteLLM cut off a text of it"
    if form == "langfuse" and not record.keys() & {"type", *_LANGFUSE_MODELS}:
        return "no observation of Langfuse: it has neither type nor model"
    return ""


_LANGFUSE_MODELS: Final = ("model", "providedModelName", "provided_model_name")

# --- 3. What a source looks like ---


def recognize_source(source: SourceFile, known: Mapping[str, str] | None = None) -> SourceGuess:
    """By the first bytes of a database, and by the names in the first object of any other file, or
    in the second where the first is a header of another kind.

    Args:
        known: where the parts of a call stand in a file of no tool's form, if that is known.
    """
    if source.is_database:
        return SourceGuess("llm", "a SQLite database: it is read as logs.db of llm")
    objects = source.first_objects() or [{}]
    guesses = [_recognize_objects(objects[at:], known or {}) for at, _ in enumerate(objects[:2])]
    return next((guess for guess in guesses if guess.form), guesses[0])


def _recognize_objects(objects: Sequence[dict[str, Any]], known: Mapping[str, str]) -> SourceGuess:
    first = objects[0]
    observed = [first, *map(json_mapping, json_items(first.get("observations", first.get("data"))))]
    if "resourceSpans" in first:
        return SourceGuess("otel", "traces of OpenTelemetry in OTLP JSON")
    if "custom_id" in first:
        return SourceGuess("openai-batch", "a batch of OpenAI: requests and answers by custom_id")
    if first.keys() & {"call_type", "standard_logging_object"}:
        return SourceGuess("litellm", "calls that LiteLLM logged")
    if any({"traceId", "trace_id"} & one.keys() and "type" in one for one in observed):
        return SourceGuess("langfuse", "observations that Langfuse exported")
    found = {**_guessed_pointers(objects), **known}
    pointers = {name: found[name] for name in _GUESSES if name in found}
    if {"request", "response"} <= pointers.keys():
        told = " ".join(f"--{name} {pointer}" for name, pointer in pointers.items())
        return SourceGuess("jsonl", f"JSON Lines, read with {told}", pointers)
    if not first:
        return SourceGuess(None, f"its first lines hold no JSON object: expected {TAKEN}")
    places = (
        place
        for name, value in first.items()
        for place in [f"/{name}/{below}" for below in json_mapping(value)] or [f"/{name}"]
    )
    there = shortened(one_line(", ".join(places)), PLACES_SHOWN)
    where = "say which is the --request and which the --response"
    return SourceGuess(None, f"JSON with values at {there}: {where}")


PLACES_SHOWN: Final = 160  # characters of JSON Pointers
TAKEN: Final = "JSON Lines, an export of a tool in JSON, or llm's database; a CSV is not read"
_GUESSES: Final = {
    "request": ("request", "request_body", "input", "prompt", "messages", "question"),
    "response": ("response", "response_body", "output", "completion", "answer"),
    "session": CONVERSATION_NAMES,
    "time": ("timestamp", "time", "ts", "created_at", "start_time"),
    "user": ("user_id", "user"),
}


def _guessed_pointers(objects: Sequence[dict[str, Any]]) -> dict[str, str]:
    """By name the first of each list that the object has, or the `body` below it."""
    first, found = objects[0], {}
    for name, guesses in _GUESSES.items():
        likely = _names_in_all(objects, guesses) if name == "session" else guesses
        for guess in reversed([guess for guess in likely if first.get(guess)]):
            found[name] = f"/{guess}/body" if "body" in json_mapping(first[guess]) else f"/{guess}"
    return found


def _names_in_all(objects: Sequence[dict[str, Any]], names: Sequence[str]) -> list[str]:
    """Those under which all objects that are looked at hold an id; first those that repeat."""
    ids = {name: [read_word(one.get(name)) for one in objects] for name in names}
    named = [name for name, found in ids.items() if all(found)]
    return sorted(named, key=lambda name: len({*ids[name]}) == len(objects))
