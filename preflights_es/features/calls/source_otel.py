"""Calls of models in traces of OpenTelemetry: OTLP JSON of several drafts."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.calls.domain.dialects import (
    json_items,
    json_mapping,
    json_string,
    json_text,
    parse_json_text,
    read_structure,
)
from preflights_es.features.calls.source_calls import Found, Places, UnreadLine, build_source_call

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


def read_span_calls(line: int, record: dict[str, Any]) -> Found:
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
                    yield build_source_call(line, _otel_values(span, held), _OTEL_PLACES)


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
    asked = stated or read_chat_turns(asked, "user")
    stated = _otel_turns(held, "gen_ai.output.messages", "gen_ai.completion", "assistant")
    answered = stated or read_chat_turns(answered, "assistant")
    parameters = {name: held.get(f"gen_ai.request.{name}") for name in _OTEL_PARAMETERS}
    parameters["stop"] = held.get("gen_ai.request.stop_sequences")
    parameters["tools"] = read_structure(held.get("gen_ai.tool.definitions"))
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
    body = json_mapping(read_structure(held.get("gen_ai.event.content"))) or held
    inner = read_structure(body.get("message"))
    message = {"role": role, "content": None if isinstance(inner, dict) else inner}
    message.update(json_mapping(inner))
    for name in ("role", "content", "tool_calls", "finish_reason"):
        if body.get(name):
            message[name] = body[name] if name == "content" else read_structure(body[name])
    return {**message, "tool_call_id": body.get("id")} if role == "tool" else message


def _otel_turns(held: dict[str, Any], name: str, older: str, role: str) -> list[dict[str, Any]]:
    """Turns of an attribute, or of attributes such as `gen_ai.prompt.0.tool_calls.0.name`."""
    value = read_structure(held.get(name, held.get(older)))
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
    return read_chat_turns(value if isinstance(value, list) else [value], role)


def _numbered(tree: object) -> list[Any]:
    held = json_mapping(tree)
    return [
        held[key] for key in sorted(filter(str.isdecimal, held), key=lambda key: (len(key), key))
    ]


def read_chat_turns(messages: list[Any], role: str) -> list[dict[str, Any]]:
    """Turns of OpenAI's chat, of messages in the shape of any draft."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        held = json_mapping(message) or {"content": message}
        turn = {"role": role, **{name: held[name] for name in held if name != "parts"}}
        content, calls = json_items(read_structure(held.get("content"))), held.get("tool_calls")
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
