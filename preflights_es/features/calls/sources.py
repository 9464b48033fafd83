"""Reads calls of models out of other tools' files: one after the other, never a whole file.

Two exceptions: a file that is one JSON value (at most `DOCUMENT_MAX`), and the database of `llm`.
Nothing is made up: what cannot be read, or holds no words, is named by its line.
"""

from __future__ import annotations

import gzip
import io
import sqlite3
import sys
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, Self

import msgspec

from preflights_es.features.calls.domain.dialects import (
    WORDS,
    json_items,
    json_mapping,
    json_string,
    json_text,
    parse_json_text,
)
from preflights_es.features.calls.domain.events import LeftOut
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import ABSENT, NESTED_MAX, decode_plain_json, is_too_deep
from preflights_es.kernel.text import one_line, shortened

LINE_MAX: Final = 64 * 1024 * 1024  # bytes; what of a call is too large to keep is left out
DOCUMENT_MAX: Final = 64 * 1024 * 1024  # bytes of a file that is one JSON value
WAITING_MAX: Final = 100_000  # lines of a batch that wait for their other half; OpenAI takes 50,000

SourceForm = Literal["jsonl", "openai-batch", "litellm", "langfuse", "otel", "llm"]


class SourceCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call as the source holds it."""

    line: int
    """From 1; of a file that is one JSON value, or of a database, the number of the entry."""
    id: str = ""
    """The source's own; empty where it has none."""
    session: str = ""
    """What the source calls a conversation, trace or session."""
    at: int | None = None
    """Microseconds since 1970, UTC."""
    user: str = ""
    route: str = ""
    """The provider, as the source names it."""
    method: str = "POST"
    path: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    request: Any
    """A JSON object, where the source holds files; of a program that ran, what its body holds."""
    status: int = 200
    """Of HTTP; 0 where there was no answer of HTTP."""
    content_type: str = "application/json"
    answer: str = ""
    """Byte for byte where the source holds the bytes, else canonical JSON, or the words alone."""
    ended: str = ""
    """Empty where the answer is whole, else why it is not."""
    cuts: tuple[int, ...] = ()
    """Bytes of each piece in which the answer came; empty where the source does not say."""
    gaps_ms: tuple[int, ...] = ()
    """Milliseconds before each of them."""
    left_out: tuple[LeftOut, ...] = ()
    """What of it is no text; the request is then a text that stands for it."""


class UnreadLine(msgspec.Struct, frozen=True):
    """What is no call that can be taken in, and why."""

    line: int
    why: str


Found = Iterator[SourceCall | UnreadLine]
Objects = Iterator[tuple[int, dict[str, Any]] | UnreadLine]
Places = Mapping[str, Sequence[str]]
"""By name of a value, the JSON Pointers (RFC 6901) where it may stand, or words that say where."""


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
        self._streams: list[Any] = [gzip.GzipFile(fileobj=raw), raw] if is_packed else [raw]
        self.is_database = head == b"SQLite format 3\0"
        self._held = io.BytesIO()  # what was read as one JSON value, and is lines
        self._number = 1
        self._line = b"" if self.is_database else self._read(LINE_MAX + 1)
        self._line = self._line.removeprefix(b"\xef\xbb\xbf")
        while self._line and not self._line.strip():
            self._advance()
        self._document = self._read_document()
        values = self._document or [_decoded_line(self._line)[0]]
        self.first = json_mapping(values[0])
        """The first object; empty where there is none."""

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
        if not (line.startswith(b"[") or (line.startswith(b"{") and line.endswith((b"{", b"[")))):
            return None
        data = self._line + self._read(DOCUMENT_MAX, is_line=False)
        value, why = _decoded_line(data)
        if why:
            rest = data[len(self._line) :]
            if not (_decoded_line(line)[1] and _decoded_line(rest.partition(b"\n")[0])[1]):
                self._held = io.BytesIO(rest)
                return None
            self.broken = f"it begins one JSON value that is cut off, or above 64 MB: {why}"
            return []
        return json_items(value) or [value]

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
            yield from _llm_calls(source)
        return
    places = _places_of(pointers or {}, form)
    objects = _objects_of(sources)
    for found in _joined_batch(objects) if form == "openai-batch" else objects:
        if isinstance(found, UnreadLine):
            yield found
        elif form == "otel":
            yield from _otel_calls(*found)
        else:
            for record in _entries_of_export(form, found[1]):
                why = _export_trouble(form, record)
                values = _values_at(record, places)
                yield UnreadLine(found[0], why) if why else _call_of(found[0], values, places)


def _objects_of(sources: Sequence[SourceFile]) -> Objects:
    for source in sources:
        for line, value, why in source.entries():
            if isinstance(value, dict):
                yield line, value
            else:
                yield UnreadLine(line, why or f"no JSON object: {shortened(json_text(value), 40)}")


# --- 2. A call of the values of an entry ---

_PRESETS: Final = {
    "openai-batch": {
        "id": "/answered/id /asked/custom_id",
        "time": "/answered/response/body/created /answered/response/body/created_at",
        "path": "/asked/url",
        "request": "/asked/body",
        "response": "/answered/response/body",
        "status": "/answered/response/status_code",
        "error": "/answered/error/message",
    },
    # docs.litellm.ai, StandardLoggingPayload; the proxy's table LiteLLM_SpendLogs
    "litellm": {
        "id": "/id /request_id",
        "session": "/session_id /trace_id",
        "time": "/startTime",
        "user": "/end_user /metadata/user_api_key_end_user_id",
        "route": "/custom_llm_provider",
        "call_type": "/call_type",
        "model": "/model",
        "parameters": "/model_parameters",
        "request": "/proxy_server_request /messages",
        "response": "/response",
        "status": "/error_information/error_code",
        "error": "/error_str /error_information/error_message",
    },
    # langfuse.com: observations of the API (v1, v2), of the page's export, and of blob storage
    "langfuse": {
        "id": "/id",
        "session": "/sessionId /session_id /traceId /trace_id",
        "time": "/startTime /start_time",
        "user": "/userId /user_id",
        "model": "/model /providedModelName /provided_model_name",
        "parameters": "/modelParameters /model_parameters",
        "request": "/input",
        "response": "/output",
        "error": "/statusMessage /status_message",
        "tokens_in": "/usageDetails/input /usage_details/input /usage/input",
        "tokens_out": "/usageDetails/output /usage_details/output /usage/output",
    },
}
_LITELLM_PATHS: Final = {
    "": "",
    "completion": "/v1/chat/completions",
    "acompletion": "/v1/chat/completions",
    "anthropic_messages": "/v1/messages",
    "responses": "/v1/responses",
    "aresponses": "/v1/responses",
}


def _places_of(pointers: Mapping[str, str], form: SourceForm) -> Places:
    """Raises:
    Refused: one is no JSON Pointer, or that of the request or the response is missing.
    """
    if form != "jsonl":
        return {name: between.split() for name, between in _PRESETS.get(form, {}).items()}
    for name in ("request", "response"):
        if name not in pointers:
            raise Refused(f"say where the {name} stands: --{name} /PTR", name=name)
    for pointer in pointers.values():
        if pointer and not pointer.startswith("/"):
            raise Refused(f"{pointer!r} is no JSON Pointer: it begins with /", pointer=pointer)
    return {name: [pointer] for name, pointer in pointers.items()}


def _values_at(record: dict[str, Any], places: Places) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, pointers in places.items():
        found = (_value_at(record, pointer) for pointer in pointers)
        empty: tuple[Any, ...] = (None, {}, []) if name == "response" else (None, {}, [], "")
        values[name] = next((value for value in found if value not in empty), None)
    return values


def _value_at(value: Any, pointer: str) -> Any:
    """None where nothing stands; JSON that is held as a text is entered, too."""
    for part in pointer.split("/")[1:]:
        step, value = part.replace("~1", "/").replace("~0", "~"), _structure(value)
        if isinstance(value, list) and step.isdecimal() and len(step) < 10:
            value = dict(enumerate(value)).get(int(step))
        else:
            value = json_mapping(value).get(step)
    return value


def _structure(value: object) -> Any:
    """JSON that is held as a text; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        held = parse_json_text(value)
        return value if held is ABSENT else held
    return value


def _call_of(line: int, values: Mapping[str, Any], places: Places) -> SourceCall | UnreadLine:
    call_type, body = json_string(values.get("call_type")), _request_of(values.get("request"))
    response, error = values.get("response"), json_string(values.get("error"))
    failed = response is None and error != ""
    for name, is_missing in (("request", not body), ("response", response is None and not failed)):
        if is_missing:
            where = " or ".join(places.get(name, ())) or "it"
            return UnreadLine(line, f"no {name} in {where}")
    if values.get("model") and "model" not in body:
        body = {"model": values["model"], **body, **json_mapping(_structure(values["parameters"]))}
    if call_type.endswith("responses") and "messages" in body:
        body["input"] = body.pop("messages")
    answer, content_type = _answer_of(response)
    if failed or "tokens_in" in values:
        content_type = "application/json"
        failure = {"error": {"message": error}}
        answer = json_text(failure) if failed else _chat_answer(response, values)
    named = body.get("user") or json_mapping(body.get("metadata")).get("user_id")
    return SourceCall(
        line=line,
        id=_word(values.get("id")),
        session=_word(values.get("session")),
        at=microseconds_of(values.get("time")),
        user=_word(values.get("user")) or _word(named),
        route=json_string(values.get("route")),
        path=json_string(values.get("path")) or _LITELLM_PATHS.get(call_type, f"/{call_type}"),
        request=body,
        status=_whole_number(values.get("status")) or (0 if failed else 200),
        content_type=content_type,
        answer=answer,
        ended=one_line(error) if failed else "",
    )


def _request_of(value: object) -> dict[str, Any]:
    """A body of a request: a text alone, or JSON that is no turn, is one turn of the user."""
    held = _structure(value)
    if isinstance(held, dict) or value in (None, "redacted-by-litellm"):
        return json_mapping(held)
    are_turns = [json_mapping(turn).keys() & {"role", "type"} for turn in json_items(held)]
    if are_turns and all(are_turns):
        return {"messages": held}
    text = value if isinstance(value, str) else json_text(value)
    return {"messages": [{"role": "user", "content": text}]}


def _answer_of(value: object) -> tuple[str, str]:
    """An answer and its content type: the bytes of HTTP, JSON, or the words alone."""
    if not isinstance(value, str):
        return json_text(value), "application/json"
    if value.startswith(("data:", "event:")):
        return value, "text/event-stream"
    held = json_mapping(_structure(value))
    is_body = "choices" in held or held.get("object") == "response" or "stop_reason" in held
    return value, "application/json" if is_body else WORDS


def _chat_answer(value: Any, values: Mapping[str, Any]) -> str:
    """A body of OpenAI's chat around the message, or the words, that a source holds."""
    message = _structure(value)
    if isinstance(message, list) and message:
        message = message[-1]
    if "choices" in json_mapping(message):
        return json_text(message)
    if not json_mapping(message).keys() & {"role", "content", "tool_calls"}:
        message = {"content": value if isinstance(value, str) else json_text(value)}
    message = {"role": "assistant", **message}
    stop = message.pop("finish_reason", None) or values.get("stop")
    choice = {"index": 0, "message": message, "finish_reason": stop}
    usage = {
        "prompt_tokens": _whole_number(values["tokens_in"]),
        "completion_tokens": _whole_number(values["tokens_out"]),
    }
    model = values.get("answered_by") or values["model"]
    return json_text({"model": model, "choices": [choice], "usage": usage})


def _word(value: object) -> str:
    """An id: a text, or a number as one."""
    return str(value) if type(value) in (str, int) else ""


def _whole_number(value: object) -> int:
    """From 0; of a text, too, as protobuf writes numbers."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        return int(value)
    return value if type(value) is int and value >= 0 else 0


def microseconds_of(value: object) -> int | None:
    """Of ISO 8601 (UTC where no zone is said), or of seconds, milli-, micro- or nanoseconds.

    None where it is no time from 1970 on. The size of a number says its unit: 1e11 seconds are the
    year 5138, 1e11 milliseconds are 1973, and so on by thousands.
    """
    number: Any = value
    if isinstance(value, str) and value.replace(".", "", 1).isdecimal() and len(value) < 25:
        number = float(value) if "." in value else int(value)
    elif isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return max(0, since // timedelta(microseconds=1)) or None
    if type(number) not in (int, float) or not 0 < number < 1e20:
        return None
    for top, factor in ((1e11, 1_000_000), (1e14, 1_000), (1e17, 1)):
        if number < top:
            microseconds: int = round(number * factor)
            return microseconds
    return int(number) // 1000


# --- 3. What exports need besides ---


def _joined_batch(objects: Objects) -> Objects:
    """Lines of requests and of answers, in any order and number of files, joined by `custom_id`."""
    waiting: dict[tuple[str, bool], tuple[int, bytes]] = {}  # compressed: a batch has 200 MB
    joined: set[str] = set()
    for found in objects:
        if isinstance(found, UnreadLine):
            yield found
            continue
        line, record = found
        id_, is_answer = _word(record.get("custom_id")), "response" in record or "error" in record
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

# --- 4. OpenTelemetry ---

_OTEL_OPERATIONS: Final = (
    "chat",
    "completion",
    "acompletion",
    "text_completion",
    "generate_content",
)
_OTEL_HOLDERS: Final = (
    "gen_ai.content.prompt",
    "gen_ai.content.completion",
    "gen_ai.client.inference.operation.details",
)
"""Events that hold what other drafts hold in attributes of the span."""
_OTEL_PARAMETERS: Final = (
    "temperature",
    "top_p",
    "max_tokens",
    "frequency_penalty",
    "presence_penalty",
    "seed",
)
_OTEL_PLACES: Final[Places] = dict.fromkeys(
    ("request", "response"), ("a span of it: its messages were not captured",)
)


def _otel_calls(line: int, record: dict[str, Any]) -> Found:
    """OTLP JSON: GenAI semantic conventions up to 1.36 and from 1.37 on, and of OpenLLMetry."""
    if "resourceSpans" not in record:
        yield UnreadLine(line, "no traces in OTLP JSON: resourceSpans is missing")
    for resource in map(json_mapping, json_items(record.get("resourceSpans"))):
        for scope in map(json_mapping, json_items(resource.get("scopeSpans"))):
            for span in map(json_mapping, json_items(scope.get("spans"))):
                held = _attributes_of(span)
                operation = held.get("gen_ai.operation.name", held.get("llm.request.type"))
                is_old = operation is None and "gen_ai.request.model" in held
                if is_old or operation in _OTEL_OPERATIONS:
                    yield _call_of(line, _otel_values(span, held), _OTEL_PLACES)


def _otel_values(span: dict[str, Any], held: dict[str, Any]) -> dict[str, Any]:
    asked, answered = [], []
    for event in map(json_mapping, json_items(span.get("events"))):
        name, told = json_string(event.get("name")), _attributes_of(event)
        if name in _OTEL_HOLDERS:
            held = {**told, **held}
        elif name == "gen_ai.choice":
            answered.append(_event_message("assistant", told))
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            asked.append(_event_message(name.split(".")[1], told))
    system = _otel_turns(held, "gen_ai.system_instructions", "-", "system")
    stated = _otel_turns(held, "gen_ai.input.messages", "gen_ai.prompt", "user")
    asked = stated or _chat_turns(asked, "user")
    stated = _otel_turns(held, "gen_ai.output.messages", "gen_ai.completion", "assistant")
    answered = stated or _chat_turns(answered, "assistant")
    parameters = {name: held.get(f"gen_ai.request.{name}") for name in _OTEL_PARAMETERS}
    parameters["stop"] = held.get("gen_ai.request.stop_sequences")
    parameters["tools"] = _structure(held.get("gen_ai.tool.definitions"))
    status = json_mapping(span.get("status"))
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")

    def first_of(*names: str) -> Any:
        return next((held[name] for name in names if held.get(name)), None)

    return {
        "id": f"{span['traceId']}/{span['spanId']}" if {"traceId", "spanId"} <= span.keys() else "",
        "session": first_of("gen_ai.conversation.id", "session.id") or span.get("traceId"),
        "time": span.get("startTimeUnixNano"),
        "user": first_of("user.id", "enduser.id"),
        "route": first_of("gen_ai.provider.name", "gen_ai.system"),
        "path": "/v1/chat/completions",
        "model": held.get("gen_ai.request.model"),
        "answered_by": held.get("gen_ai.response.model"),
        "parameters": {name: value for name, value in parameters.items() if value is not None},
        "request": [*system, *asked] if asked else None,
        "response": answered[0] if answered else None,
        "stop": next(iter(json_items(held.get("gen_ai.response.finish_reasons"))), None),
        "tokens_in": first_of("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        "tokens_out": first_of("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        "error": json_string(status.get("message")) or "the span failed" if failed else "",
    }


def _attributes_of(holder: dict[str, Any]) -> dict[str, Any]:
    pairs = map(json_mapping, json_items(holder.get("attributes")))
    return {json_string(pair.get("key")): _otlp_value(pair.get("value")) for pair in pairs}


def _otlp_value(value: object) -> Any:
    kind, held = next(iter(json_mapping(value).items()), ("", None))
    if kind == "intValue":
        return parse_json_text(held) if isinstance(held, str) else held
    if kind == "arrayValue":
        return [_otlp_value(one) for one in json_items(json_mapping(held).get("values"))]
    if kind == "kvlistValue":
        return _attributes_of({"attributes": json_mapping(held).get("values")})
    return held


def _event_message(role: str, held: dict[str, Any]) -> dict[str, Any]:
    """A message that is an event: its body stands in attributes, or as JSON in one of them."""
    body = json_mapping(_structure(held.get("gen_ai.event.content"))) or held
    inner = _structure(body.get("message"))
    message = {"role": role, "content": None if isinstance(inner, dict) else inner}
    message.update(json_mapping(inner))
    for name in ("role", "content", "tool_calls", "finish_reason"):
        if body.get(name):
            message[name] = body[name] if name == "content" else _structure(body[name])
    return {**message, "tool_call_id": body.get("id")} if role == "tool" else message


def _otel_turns(held: dict[str, Any], name: str, older: str, role: str) -> list[dict[str, Any]]:
    """Turns of an attribute, or of attributes such as `gen_ai.prompt.0.tool_calls.0.name`."""
    value = _structure(held.get(name, held.get(older)))
    if role == "system" and isinstance(value, list):
        value = [{"parts": value}]
    if isinstance(value, dict):
        value = value.get("messages", [value])
    if value is None:
        tree: dict[str, Any] = {}
        for path, leaf in held.items():
            *above, last = path.removeprefix(f"{older}.").split(".")
            node = tree if path.startswith(f"{older}.") else {}
            for step in above:
                node = json_mapping(node.setdefault(step, {}))
            node[last] = leaf
        value = _numbered(tree)
    return _chat_turns(value if isinstance(value, list) else [value], role)


def _numbered(tree: object) -> list[Any]:
    held = json_mapping(tree)
    return [
        held[key] for key in sorted(filter(str.isdecimal, held), key=lambda key: (len(key), key))
    ]


def _chat_turns(messages: list[Any], role: str) -> list[dict[str, Any]]:
    """Turns of OpenAI's chat, of messages in the shape of any draft."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        held = json_mapping(message) or {"content": message}
        turn = {"role": role, **{name: held[name] for name in held if name != "parts"}}
        content, calls = json_items(_structure(held.get("content"))), held.get("tool_calls")
        is_parts = content and all("type" in json_mapping(part) for part in content)
        turn["content"] = content if is_parts else held.get("content")
        calls = [_chat_call(call) for call in json_items(calls) or _numbered(calls)]
        if "parts" in held:
            parts = list(map(json_mapping, json_items(held["parts"])))
            calls = [_chat_call(part) for part in parts if part.get("type") == "tool_call"]
            turns += [_chat_result(p) for p in parts if p.get("type") == "tool_call_response"]
            content = [_chat_part(part) for part in parts if part.get("type") not in _NO_CONTENT]
            is_text = len(content) == 1 and content[0].get("type") == "text"
            turn["content"] = content[0]["text"] if is_text else content or None
            if not content and not calls:
                continue
        turns.append({**turn, "tool_calls": calls} if calls else turn)
    return turns


_NO_CONTENT: Final = ("tool_call", "tool_call_response", "reasoning")


def _chat_part(part: dict[str, Any]) -> dict[str, Any]:
    is_text = part.get("type") == "text"
    return {"type": "text", "text": json_string(part.get("content"))} if is_text else part


def _chat_call(call: Any) -> dict[str, Any]:
    asked = json_mapping(json_mapping(call).get("function")) or json_mapping(call)
    given = asked.get("arguments", {})
    given = given if isinstance(given, str) else json_text(given)
    function = {"name": asked.get("name"), "arguments": given}
    return {"id": json_mapping(call).get("id"), "type": "function", "function": function}


def _chat_result(part: dict[str, Any]) -> dict[str, Any]:
    result = part.get("response", part.get("result"))
    text = result if isinstance(result, str) else json_text(result)
    return {"role": "tool", "tool_call_id": part.get("id"), "content": text}


# --- 5. The database of llm ---


def _llm_calls(source: SourceFile) -> Found:
    """Of `logs.db`: rows of `turns` from 0.32 on, of `responses` before; opened for reading alone.

    Raises:
        Refused: it is no database of llm, or damaged.
    """
    try:
        uri = f"{Path(source.path).resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as base:
            base.row_factory = sqlite3.Row
            base.text_factory = partial(str, encoding="utf-8", errors="replace")
            tables = {row["name"] for row in base.execute("SELECT name FROM sqlite_master")}
            if not tables & {"turns", "responses"}:
                raise Refused(f"{source.path!r} is no database of llm: it has no table turns")
            known: set[str] = set()
            if "turns" in tables:
                for row in base.execute("SELECT rowid AS line, * FROM turns ORDER BY id"):
                    known.add(row["id"])  # once, both tables were written
                    yield _llm_turn(base, dict(row))
            if "responses" in tables:
                rows = base.execute("SELECT rowid AS line, * FROM responses ORDER BY id")
                older = [dict(row) for row in rows if row["id"] not in known]
                yield from _llm_responses(base, tables, older)
    except sqlite3.Error as error:
        raise Refused(f"{source.path!r} cannot be read as a database of llm: {error}") from error


def _llm_turn(base: sqlite3.Connection, row: dict[str, Any]) -> SourceCall | UnreadLine:
    asked = _llm_messages(base, row["parent_message_hash"], None)
    answered = _llm_messages(base, row["tip_message_hash"], row["parent_message_hash"])
    tools = base.execute(
        "SELECT DISTINCT name, description, input_schema AS parameters FROM turn_tools"
        " JOIN tools ON tools.id = tool_id WHERE turn_id = ? ORDER BY tools.id",
        (row["id"],),
    )
    functions = [
        {**tool, "parameters": _structure(tool["parameters"])} for tool in map(dict, tools)
    ]
    called = {**row, "session": row["thread_id"], "functions": functions}
    return _llm_call(called, asked, answered[0] if answered else None)


def _llm_call(row: dict[str, Any], asked: list[Any], answer: Any) -> SourceCall | UnreadLine:
    parameters = dict(json_mapping(_structure(row["options_json"])))
    if row.get("functions"):
        parameters["tools"] = [{"type": "function", "function": f} for f in row["functions"]]
    values = {
        "id": row["id"],
        "session": row["session"],
        "time": row["datetime_utc"],
        "path": "/v1/chat/completions",
        "model": row["model"],
        "answered_by": row.get("resolved_model"),
        "parameters": parameters,
        "request": asked or None,
        "response": answer,
        "tokens_in": row.get("input_tokens"),
        "tokens_out": row.get("output_tokens"),
    }
    return _call_of(row["line"], values, {})


def _llm_messages(base: sqlite3.Connection, tip: Any, end: Any) -> list[dict[str, Any]]:
    """The chain of messages up to a tip, from behind another on, as turns of OpenAI's chat."""
    rows = base.execute(
        "WITH RECURSIVE chain(hash, parent, role, depth) AS ("
        "  SELECT hash, parent_hash, role, 0 FROM messages WHERE hash = ? AND hash IS NOT ?"
        "  UNION ALL SELECT m.hash, m.parent_hash, m.role, depth + 1 FROM messages m JOIN chain"
        "  ON m.hash = chain.parent WHERE m.hash IS NOT ? AND depth < 10000"
        ") SELECT hash, role, type, text, payload FROM chain"
        " JOIN parts ON message_hash = hash ORDER BY depth DESC, position",
        (tip, end, end),
    )
    messages: dict[str, dict[str, Any]] = {}
    for hash_, role, kind, text, payload in rows:
        message = messages.setdefault(hash_, {"role": role, "parts": []})
        message["parts"].append(_llm_part(base, kind, text, json_mapping(_structure(payload))))
    return _chat_turns(list(messages.values()), "user")


def _llm_part(
    base: sqlite3.Connection, kind: str, text: str | None, held: dict[str, Any]
) -> dict[str, Any]:
    """A part under the names of OpenTelemetry, which `_chat_turns` reads."""

    def one_of(query: str, id_: Any) -> Any:
        return base.execute(query, (id_,)).fetchone()

    if kind == "tool_result":
        response = held.get("output")
        return {"type": "tool_call_response", "id": held.get("tool_call_id"), "response": response}
    if kind == "attachment":
        id_ = json_mapping(held.get("attachment")).get("id")
        query = "SELECT type, path, url, content FROM attachments WHERE id = ?"
        mime, path, url, content = one_of(query, id_) or ("", "", "", None)
        data = f"data:{mime};base64,{b64encode(content or b'').decode()}"
        if json_string(mime).startswith("image/") and (content or url):
            return {"type": "image_url", "image_url": {"url": data if content else url}}
        return {"type": "file", "file": {"filename": path or url, "file_data": data}}
    for piece in map(json_mapping, json_items(held.get("text_ref"))):  # text that quotes fragments
        query = "SELECT content FROM fragments WHERE id = ?"
        quoted = piece.get("literal") or (one_of(query, piece.get("fragment")) or ("",))[0]
        text = (text or "") + json_string(quoted)
    return {**held, "type": kind, "id": held.get("tool_call_id"), "content": text}


def _llm_responses(base: sqlite3.Connection, tables: set[str], rows: list[dict[str, Any]]) -> Found:
    """Each row holds its own prompt; what was said before stands in its conversation's rows."""
    held_apart = {"prompt_attachments", "prompt_fragments", "system_fragments", "tool_calls"}
    lacking: set[str] = set()  # rows, and from them on their conversations
    for table in tables & {*held_apart, "tool_results"}:
        lacking |= {row[0] for row in base.execute(f"SELECT response_id FROM {table}")}  # noqa: S608
    said: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        session = row["session"] = row["conversation_id"]
        if lacking & {row["id"], session}:
            lacking.add(session)
            why = "it, or a row before it, has attachments, fragments or tool calls"
            yield UnreadLine(row["line"], why)
            continue
        turns, system = said.setdefault(session, []), {"role": "system", "content": row["system"]}
        turns += [system] if row["system"] and system not in turns else []
        turns.append({"role": "user", "content": row["prompt"]})
        yield _llm_call(row, list(turns), row["response"])
        turns.append({"role": "assistant", "content": row["response"]})


# --- 6. What a source looks like ---


def recognize_source(source: SourceFile) -> SourceGuess:
    """By the first bytes of a database, and by the names in the first object of any other file."""
    first = source.first
    observed = [first, *map(json_mapping, json_items(first.get("observations", first.get("data"))))]
    if source.is_database:
        return SourceGuess("llm", "a SQLite database: it is read as logs.db of llm")
    if "resourceSpans" in first:
        return SourceGuess("otel", "traces of OpenTelemetry in OTLP JSON")
    if "custom_id" in first:
        return SourceGuess("openai-batch", "a batch of OpenAI: requests and answers by custom_id")
    if first.keys() & {"call_type", "standard_logging_object"}:
        return SourceGuess("litellm", "calls that LiteLLM logged")
    if any({"traceId", "trace_id"} & one.keys() and "type" in one for one in observed):
        return SourceGuess("langfuse", "observations that Langfuse exported")
    pointers = _guessed_pointers(first)
    if {"request", "response"} <= pointers.keys():
        told = " ".join(f"--{name} {pointer}" for name, pointer in pointers.items())
        return SourceGuess("jsonl", f"JSON Lines, read with {told}", pointers)
    names = shortened(one_line(", ".join(first)), 80)
    where = "say --request /NAME and --response /NAME"
    return SourceGuess(None, f"JSON with the names {names}: {where}" if first else "no JSON")


_GUESSES: Final = {
    "request": ("request", "request_body", "input", "prompt", "messages", "question"),
    "response": ("response", "response_body", "output", "completion", "answer"),
    "session": ("session_id", "session", "conversation_id", "thread_id", "trace_id"),
    "time": ("timestamp", "time", "ts", "created_at", "start_time"),
    "user": ("user_id", "user"),
}


def _guessed_pointers(first: dict[str, Any]) -> dict[str, str]:
    """By name the first of each list that the object has, or the `body` below it."""
    found = {}
    for name, guesses in _GUESSES.items():
        for guess in reversed([guess for guess in guesses if first.get(guess)]):
            found[name] = f"/{guess}/body" if "body" in json_mapping(first[guess]) else f"/{guess}"
    return found
