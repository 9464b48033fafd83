"""A call as a source holds it, and how it is made of the values of an entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec

from preflights_es.features.calls.domain.dialects import (
    WORDS,
    json_items,
    json_mapping,
    json_string,
    json_text,
    read_structure,
    read_word,
    value_at_pointer,
)
from preflights_es.features.calls.domain.events import LeftOut
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import ABSENT, canonical_json
from preflights_es.kernel.text import one_line

SourceForm = Literal["jsonl", "openai-batch", "litellm", "langfuse", "otel", "llm"]


class SourceCall(msgspec.Struct, kw_only=True):
    """A call as the source holds it."""

    line: int
    """From 1; of a file that is one JSON value, or of a database, the number of the entry."""
    id: str = ""
    """The source's own; empty where it has none."""
    entry: str = ""
    """SHA-256 of the line, which names a call without an id wherever its parts are looked for."""
    session: str = ""
    """What the source calls a conversation, trace or session."""
    at: int | None = None
    """Microseconds since 1970, UTC."""
    users: tuple[str, ...] = ()
    """Whom the program served, as the source or a header says; fields of the request say more."""
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
        "headers": "/metadata/requester_custom_headers",
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
USER_HEADERS: Final = frozenset(
    (
        "helicone-user-id",
        "langfuse_trace_user_id",
        "x-litellm-customer-id",
        "x-litellm-end-user-id",
        "x-openwebui-user-id",
    )
)
"""Of requests, in small letters: docs.helicone.ai, docs.litellm.ai, docs.openwebui.com."""
_LITELLM_PATHS: Final = {
    "": "",
    "completion": "/v1/chat/completions",
    "acompletion": "/v1/chat/completions",
    "anthropic_messages": "/v1/messages",
    "responses": "/v1/responses",
    "aresponses": "/v1/responses",
}


def find_value_places(pointers: Mapping[str, str], form: SourceForm) -> Places:
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
            raise Refused(f"{pointer!r} is no JSON Pointer: write /{pointer}", pointer=pointer)
    beside = pointers["request"].rpartition("/")[0]
    headers = [f"{beside}/headers", f"{beside}/request_headers"]
    return {name: [pointer] for name, pointer in pointers.items()} | {"headers": headers}


def read_values_at(record: dict[str, Any], places: Places) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, pointers in places.items():
        found = (value_at_pointer(record, pointer) for pointer in pointers)
        said_nothing = () if name == "response" else ("",)
        empty: tuple[Any, ...] = (ABSENT, None, {}, [], *said_nothing)
        values[name] = next((value for value in found if value not in empty), None)
    return values


def build_source_call(
    line: int, values: Mapping[str, Any], places: Places, entry: object = None
) -> SourceCall | UnreadLine:
    call_type, body = json_string(values.get("call_type")), _request_of(values.get("request"))
    response, error = values.get("response"), json_string(values.get("error"))
    failed = response is None and error != ""
    for name, is_missing in (("request", not body), ("response", response is None and not failed)):
        if is_missing:
            where = " or ".join(places.get(name, ())) or "it"
            return UnreadLine(line, f"no {name} in {where}")
    if values.get("model") and "model" not in body:
        body = {
            "model": values["model"],
            **body,
            **json_mapping(read_structure(values["parameters"])),
        }
    if call_type.endswith("responses") and "messages" in body:
        body["input"] = body.pop("messages")
    answer, content_type = _answer_of(response)
    if failed or "tokens_in" in values:
        content_type = "application/json"
        failure = {"error": {"message": error}}
        answer = json_text(failure) if failed else _chat_answer(response, values)
    return SourceCall(
        line=line,
        id=read_word(values.get("id")),
        entry=sha256(canonical_json(entry)).hexdigest() if entry else "",
        session=read_word(values.get("session")),
        at=microseconds_of(values.get("time")),
        users=tuple(
            filter(None, (read_word(values.get("user")), *find_header_users(values.get("headers"))))
        ),
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
    held = read_structure(value)
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
    held = json_mapping(read_structure(value))
    is_body = "choices" in held or held.get("object") == "response" or "stop_reason" in held
    return value, "application/json" if is_body else WORDS


def _chat_answer(value: Any, values: Mapping[str, Any]) -> str:
    """A body of OpenAI's chat around the message, or the words, that a source holds."""
    message = read_structure(value)
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


def find_header_users(headers: object) -> Iterator[str]:
    """Ids of whom a program served, in the headers of a request."""
    for name, value in json_mapping(headers).items():
        if name.lower() in USER_HEADERS:
            yield from map(read_word, value if isinstance(value, list) else [value])


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
