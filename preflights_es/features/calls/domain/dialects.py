"""Where the dialects of providers keep turns, words, tool calls and counts; pure.

What stands in a body came from anywhere: no function here raises on a value of JSON, or on a text.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Hashable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec

from preflights_es.kernel.events import INT_MAX
from preflights_es.kernel.json import ABSENT, canonical_json, decode_plain_json, is_too_deep
from preflights_es.kernel.text import one_line

Dialect = Literal["openai-chat", "openai-responses", "anthropic", "other"]

FORMS_MAX: Final = 50_000  # turns of which is known what they say
WORDS: Final = "text/plain"
"""Content type of an answer that is the words of the model alone: it is never read as JSON."""

# --- 1. Which dialect ---

_PATHS: Final[tuple[tuple[str, Dialect], ...]] = (
    ("/chat/completions", "openai-chat"),
    ("/responses", "openai-responses"),
    ("/messages", "anthropic"),
)
_ANTHROPIC_FIELDS: Final = frozenset(("anthropic_version", "system", "stop_sequences"))
_ANTHROPIC_BLOCKS: Final = frozenset(("tool_use", "tool_result", "thinking", "redacted_thinking"))
_EMBEDDING_FIELDS: Final = frozenset(("dimensions", "encoding_format", "input_type"))


def recognize_dialect(path: str, request: object) -> Dialect:
    """By the path of the HTTP request; where there is none, by the shape of its body.

    Args:
        path: with or without host and query; empty where the source does not say it.
    """
    if path:
        bare = path.partition("?")[0].rstrip("/")
        if "/threads/" in bare:  # messages of OpenAI's assistants
            return "other"
        return next((dialect for end, dialect in _PATHS if bare.endswith(end)), "other")
    body = json_mapping(request)
    if isinstance(body.get("messages"), list):
        return "anthropic" if _is_anthropic(body) else "openai-chat"
    model = json_string(body.get("model"))
    is_embedding = _EMBEDDING_FIELDS & body.keys() or "embed" in model or "moderation" in model
    turns = body.get("input")
    is_turns = isinstance(turns, str) or any(isinstance(turn, dict) for turn in json_items(turns))
    return "openai-responses" if is_turns and not is_embedding else "other"


def _is_anthropic(body: dict[str, Any]) -> bool:
    if _ANTHROPIC_FIELDS & body.keys():
        return True
    if any("input_schema" in json_mapping(tool) for tool in json_items(body.get("tools"))):
        return True
    blocks = (
        json_mapping(block)
        for turn in body["messages"]
        for block in json_items(json_mapping(turn).get("content"))
    )
    return any("source" in b or json_string(b.get("type")) in _ANTHROPIC_BLOCKS for b in blocks)


# --- 2. Turns of a request ---


def turns_field(request: object) -> str:
    """Name of the field that holds the turns of a conversation; empty where there is none."""
    body = json_mapping(request)
    lists = (field for field in ("messages", "input") if isinstance(body.get(field), list))
    return next(lists, "input" if isinstance(body.get("input"), str) else "")


def turns_of_request(request: object) -> list[Any]:
    """Oldest first; an `input` that is a text alone is one turn of the user."""
    field = turns_field(request)
    turns = json_mapping(request).get(field, [])
    return [{"role": "user", "content": turns}] if isinstance(turns, str) else turns


def split_request(request: Any, count: int) -> Any:
    """The request without its first turns; an `input` that is a text alone stays as it is."""
    field = turns_field(request)
    if not field or isinstance(request[field], str):
        return request
    return {**request, field: request[field][count:]}


def join_request(rest: Any, before: Sequence[Any]) -> Any:
    """The request that `split_request` took those turns from, in the same order of fields."""
    field = turns_field(rest)
    if not field or isinstance(rest[field], str):
        return rest
    return {**rest, field: [*before, *rest[field]]}


# --- 3. Answers ---


class ReadAnswer(msgspec.Struct, frozen=True):
    """What a model answered, in no dialect."""

    text: str = ""
    tools: tuple[tuple[str, str], ...] = ()
    """Pairs of name and arguments: JSON with sorted names, or the text where it is no JSON."""
    stop: str = ""
    """Why the model stopped, in the dialect's word; empty where it is not said, or cut off."""
    model: str = ""
    id: str = ""
    """Of a response that a later request may name."""
    tokens_in: int = 0
    """As the provider counts them; 0 where it does not say."""
    tokens_out: int = 0
    refusal: str = ""
    """Why the model refused, in its words."""
    error: str = ""
    """What the provider says went wrong."""


def read_answer(dialect: Dialect, content_type: str, answer: str) -> ReadAnswer:
    """Of a whole body, of a stream of server-sent events, or of words alone; total.

    A stream that was cut off gives what came of it. A body of no known shape is the words of the
    model (a source keeps structured answers as they are), but in the dialect "other".
    """
    if content_type.startswith(WORDS):
        return ReadAnswer(text=whole_text(answer))
    is_stream = "event-stream" in content_type or answer.startswith(("data:", "event:"))
    parts = list(_streamed_parts(answer)) if is_stream else []
    parts = parts or [parse_json_text(answer)]
    gathered = _Gathered()
    known = [gathered.take(part) for part in parts]
    if any(known):
        return gathered.read()
    is_unread = dialect == "other" and isinstance(parts[0], (dict, list))
    is_unread = is_unread or "event-stream" in content_type
    return ReadAnswer(text="" if is_unread else whole_text(answer))


def answers_agree(a: ReadAnswer, b: ReadAnswer) -> bool:
    """Whether words and tool calls are equal: as JSON where both are, else but for blanks.

    An error of the provider is no answer, and agrees with nothing.
    """
    return not (a.error or b.error) and canonical_answer(a) == canonical_answer(b)


def canonical_answer(answer: ReadAnswer) -> list[str]:
    """What counts in an answer: equal for two that agree."""
    said = [_canonical_text(words_of_answer(answer))]
    return said + [part for name, given in answer.tools for part in (name, _canonical_text(given))]


def _canonical_text(text: str) -> str:
    value = parse_json_text(text)
    return one_line(text) if value is ABSENT else ordered_json(_whole_numbers(value))


def _whole_numbers(value: Any) -> Any:
    """14.0 as 14: they are equal."""
    if isinstance(value, dict):
        return {name: _whole_numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def words_of_answer(answer: ReadAnswer) -> str:
    """What the model said, a refusal too."""
    return answer.text or answer.refusal


def _streamed_parts(answer: str) -> Iterator[Any]:
    """The JSON values of server-sent events; without a last one that was cut off."""
    lines = answer.replace("\r\n", "\n").replace("\r", "\n")
    for block in lines.split("\n\n"):
        data = [line[5:].strip() for line in block.split("\n") if line.startswith("data:")]
        value = parse_json_text("\n".join(data))
        if isinstance(value, dict):
            yield value


class _Gathered:
    """What the parts of one answer held so far."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.refusals: list[str] = []
        self.calls: dict[Hashable, list[str]] = {}  # a name, and the pieces of its arguments
        self.stop = self.model = self.error = self.id = ""
        self.tokens_in = self.tokens_out = 0

    def read(self) -> ReadAnswer:
        calls = self.calls.values()
        return ReadAnswer(
            text="".join(self.texts),
            tools=tuple((name, _arguments("".join(given))) for name, *given in calls),
            stop=self.stop,
            model=self.model,
            id=self.id,
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            refusal="".join(self.refusals),
            error=self.error,
        )

    def take(self, part: object) -> bool:
        """Whether a body, or an event of a stream, is of a known shape."""
        body = json_mapping(part)
        kind, error = json_string(body.get("type")), body.get("error")
        if isinstance(body.get("choices"), list):
            self._take_choices(body)
        elif kind.startswith("response.") or body.get("object") == "response":
            self._take_response(kind, body)
        elif kind == "error" or json_mapping(error).get("message") or (error and len(body) == 1):
            told = json_string(json_mapping(error or body).get("message")) or json_string(error)
            self.error = told or json_text(body)
        elif kind.startswith(("message_", "content_block_")) or kind == "ping":
            self._take_anthropic(kind, body)
        elif body.get("role") == "assistant":  # a message of Anthropic, or the message alone
            self._take_head(body)
            self._take_turn(body)
            self.stop = json_string(body.get("stop_reason"))
        else:
            return False
        return True

    def _take_head(self, body: dict[str, Any]) -> None:
        """Model, usage and error, which stand at the same place in a body and in its events."""
        usage = json_mapping(body.get("usage"))
        tokens_in = usage.get("input_tokens", usage.get("prompt_tokens"))
        tokens_out = usage.get("output_tokens", usage.get("completion_tokens"))
        self.tokens_in = _count_of(tokens_in) or self.tokens_in
        self.tokens_out = _count_of(tokens_out) or self.tokens_out
        self.model = json_string(body.get("model")) or self.model
        self.error = json_string(json_mapping(body.get("error")).get("message")) or self.error

    def _take_turn(self, turn: dict[str, Any]) -> None:
        for piece in _pieces_of_turn(turn)[1]:
            match piece.kind:
                case "text":
                    self.texts.append(piece.words)
                case "refusal":
                    self.refusals.append(piece.words)
                case "call":
                    self.calls[len(self.calls)] = [piece.name, piece.words]

    def _take_choices(self, body: dict[str, Any]) -> None:
        """A body or an event of OpenAI's chat; of several choices the first."""
        self._take_head(body)
        for choice in map(json_mapping, body["choices"]):
            if _count_of(choice.get("index")) != 0:
                continue
            delta = json_mapping(choice.get("delta"))
            said = {"content": delta.get("content"), "refusal": delta.get("refusal")}
            self._take_turn(said if delta else json_mapping(choice.get("message")))
            self.stop = json_string(choice.get("finish_reason")) or self.stop
            for call in _calls_of(delta):
                asked = _asked_of(call)
                key, id_ = ("call", _count_of(call.get("index"))), json_string(call.get("id"))
                if id_ and key in self.calls:  # of another id: another call
                    key = ("call", len(self.calls))
                held = self.calls.setdefault(key, [""])
                held[0] = json_string(asked.get("name")) or held[0]
                held.append(json_string(asked.get("arguments", asked.get("input"))))

    def _take_anthropic(self, kind: str, body: dict[str, Any]) -> None:
        self._take_head(body)
        key, delta = ("block", _count_of(body.get("index"))), json_mapping(body.get("delta"))
        match kind:
            case "message_start":
                self._take_head(json_mapping(body.get("message")))
            case "content_block_start":
                block = json_mapping(body.get("content_block"))
                if block.get("type") == "tool_use":
                    self.calls[key] = [json_string(block.get("name"))]
                else:
                    self._take_turn({"content": [block]})
            case "content_block_delta":
                self.texts.append(json_string(delta.get("text")))
                if "partial_json" in delta:
                    held = self.calls.setdefault(key, [""])
                    held.append(json_string(delta["partial_json"]))
            case "message_delta":
                self.stop = json_string(delta.get("stop_reason")) or self.stop

    def _take_response(self, kind: str, body: dict[str, Any]) -> None:
        """A body of OpenAI's Responses, or an event of its stream."""
        key, delta = ("item", _count_of(body.get("output_index"))), json_string(body.get("delta"))
        match kind:
            case "response.output_text.delta":
                self.texts.append(delta)
            case "response.refusal.delta":
                self.refusals.append(delta)
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                self.calls.setdefault(key, [""]).append(delta)
            case "response.output_item.added" | "response.output_item.done":
                for piece in _pieces_of_turn(body.get("item"))[1]:
                    if piece.kind == "call":
                        self.calls[key] = [piece.name, piece.words if kind.endswith("done") else ""]
            case _:
                self._take_whole_response(json_mapping(body.get("response") or body))

    def _take_whole_response(self, response: dict[str, Any]) -> None:
        self._take_head(response)
        self.id = json_string(response.get("id")) or self.id
        output = json_items(response.get("output"))
        if output:  # all that came before it, once more
            self.texts, self.refusals, self.calls = [], [], {}
        for item in output:
            self._take_turn(item)
        status = json_string(response.get("status"))
        if status not in ("in_progress", "queued"):
            reason = json_mapping(response.get("incomplete_details")).get("reason")
            self.stop = json_string(reason) or status or self.stop


# --- 4. Answers among turns ---


def digest_answered(turns: Sequence[Any], answer: ReadAnswer, known: dict[bytes, bytes]) -> bytes:
    """What a request begins with that goes on from a call: all its turns *and its answer*.

    Empty for an answer without words and tool calls, which nothing goes on from: two customers who
    say hello are two. Blanks, ids, cache marks and reasoning make no difference.

    Args:
        known: digests of turns by those of their bytes, which it adds to.
    """
    words, tools = one_line(words_of_answer(answer)), list(answer.tools)
    if not turns or not (words or tools):
        return b""
    return _digest_with_answer(_digest_firsts(turns, known)[-1], words, tools)


def digest_beginnings(turns: Sequence[Any], known: dict[bytes, bytes]) -> Iterator[bytes]:
    """`digest_answered` of the calls that a request may go on from, the longest first."""
    firsts = _digest_firsts(turns, known)
    said, calls = "", list[tuple[str, str]]()
    for at in range(len(turns) - 1, 0, -1):
        role, pieces = _pieces_of_turn(turns[at])
        if role != "assistant":
            said, calls = "", []
            continue
        said = "".join(piece.words for piece in pieces if piece.kind in _SAID) + said
        calls = [(piece.name, piece.words) for piece in pieces if piece.kind == "call"] + calls
        yield _digest_with_answer(firsts[at], one_line(said), calls)


def _digest_with_answer(first: bytes, words: str, calls: list[tuple[str, str]]) -> bytes:
    return sha256(first + canonical_json((words, calls))).digest()


def _digest_firsts(turns: Sequence[Any], known: dict[bytes, bytes]) -> list[bytes]:
    """Of the first turns: of none, of one, and so on to all."""
    digest = sha256()
    digests = [digest.digest()]
    for turn in turns:
        key = sha256(canonical_json(turn)).digest()
        if key not in known:
            if len(known) >= FORMS_MAX:
                known.clear()
            known[key] = sha256(canonical_json(_turn_form(turn))).digest()
        digest.update(known[key])
        digests.append(digest.digest())
    return digests


def words_of_turns(turns: Sequence[Any]) -> list[tuple[str, str]]:
    """Pairs of role and words, as people read them: what is no text is a line in brackets."""
    found = []
    for turn in turns:
        role, pieces = _pieces_of_turn(turn)
        lines: list[str] = []
        for piece in pieces:
            match piece.kind:
                case "text" | "refusal":
                    lines.append(piece.words)
                case "call":
                    spaced = json.dumps(read_json_or_text(piece.words), ensure_ascii=False)
                    lines.append(f"[calls {piece.name} {one_line(spaced)}]")
                case "result":
                    lines.append(f"[result: {one_line(piece.words)}]")
                case _:
                    lines.append(f"[{piece.words}]")
        found.append((role, "\n".join(line for line in lines if line)))
    return found


_SAID: Final = ("text", "refusal")


class _Piece(msgspec.Struct, frozen=True):
    """A part of a turn, in no dialect."""

    kind: Literal["text", "refusal", "call", "result", "reasoning", "other"]
    words: str
    name: str = ""
    """Of a call the tool's, of what is no text its canonical JSON."""


def _turn_form(turn: object) -> tuple[str, str, list[_Piece]]:
    """Equal for two turns that say the same: role, words, and what is no text."""
    role, pieces = _pieces_of_turn(turn)
    said = "".join(piece.words for piece in pieces if piece.kind in _SAID)
    return role, one_line(said), [p for p in pieces if p.kind not in (*_SAID, "reasoning")]


def _pieces_of_turn(turn: object) -> tuple[str, list[_Piece]]:
    if not isinstance(turn, dict):
        return "user", [_Piece("text", turn if isinstance(turn, str) else json_text(turn))]
    kind = json_string(turn.get("type"))
    if kind and "role" not in turn:  # an item of Responses that stands where a turn does
        return "tool" if kind.endswith("_output") else "assistant", [_piece_of_part(turn)]
    role = json_string(turn.get("role")) or "user"
    content = turn.get("content", turn.get("parts"))
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else json_items(content)
    pieces = [_piece_of_part(part) for part in parts]
    if isinstance(turn.get("refusal"), str):
        pieces.append(_Piece("refusal", turn["refusal"]))
    if role in ("tool", "function"):
        pieces = [_Piece("result", p.words) if p.kind == "text" else p for p in pieces]
    return role, pieces + [_piece_of_call(_asked_of(call)) for call in _calls_of(turn)]


def _calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Of a message of OpenAI's chat, or of what came of one; of old, one without a list."""
    older = [{"function": message["function_call"]}] if message.get("function_call") else []
    return list(map(json_mapping, [*json_items(message.get("tool_calls")), *older]))


def _asked_of(call: dict[str, Any]) -> dict[str, Any]:
    return json_mapping(call.get("function") or call.get("custom") or call)


def _piece_of_call(call: dict[str, Any]) -> _Piece:
    given = call.get("arguments", call.get("input", ""))
    return _Piece("call", _arguments(given), json_string(call.get("name")))


def _piece_of_part(part: object) -> _Piece:
    if not isinstance(part, dict):
        return _Piece("text", part if isinstance(part, str) else json_text(part))
    match part.get("type"):
        case "text" | "input_text" | "output_text":
            return _Piece("text", json_string(part.get("text", part.get("content"))))
        case "refusal":
            return _Piece("refusal", json_string(part.get("refusal")))
        case "function_call" | "custom_tool_call" | "tool_use" | "tool_call":
            return _piece_of_call(part)
        case "function_call_output" | "custom_tool_call_output" | "tool_result":
            held = part.get("output", part.get("content"))
            inner = [held] if isinstance(held, str) else json_items(held)
            return _Piece("result", " ".join(_piece_of_part(block).words for block in inner))
        case "reasoning" | "thinking" | "redacted_thinking":
            return _Piece("reasoning", "reasoning")
        case _:
            kept = {name: value for name, value in part.items() if name != "cache_control"}
            return _Piece("other", json_string(part.get("type")) or "part", json_text(kept))


# --- 5. JSON of any kind ---


def parse_json_text(text: str) -> Any:
    """The value that a text stands for; `ABSENT` where it is no JSON, or nests too deep."""
    data = whole_text(text).encode()
    try:
        try:
            value = decode_plain_json(data)
        except ValueError:
            if "\\u" not in text:
                raise
            # half of a surrogate pair, which only the standard library lets through
            data = whole_text(json.dumps(json.loads(text), ensure_ascii=False)).encode()
            value = decode_plain_json(data)
    except (ValueError, RecursionError):
        return ABSENT
    return ABSENT if is_too_deep(data) else value


_ordered: Final = msgspec.json.Encoder(order="sorted").encode


def ordered_json(value: object) -> str:
    """JSON with names in order, so that equal values are equal texts."""
    return _ordered(value).decode()


def json_text(value: object) -> str:
    """Canonical JSON, with names as they stand."""
    return canonical_json(value).decode()


def _arguments(given: object) -> str:
    """Of a tool call: no text is no arguments, one that is no JSON stays as it is."""
    value = parse_json_text(given or "{}") if isinstance(given, str) else given
    return str(given) if value is ABSENT else ordered_json(value)


def read_json_or_text(text: str) -> Any:
    """The value that a text stands for, or the text where it is no JSON."""
    value = parse_json_text(text)
    return text if value is ABSENT else value


def split_pointer(pointer: str) -> list[str]:
    """The steps of a JSON Pointer (RFC 6901)."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def value_at_pointer(value: Any, pointer: str) -> Any:
    """What stands there, `ABSENT` where nothing does; JSON that is held as a text is entered."""
    for step in split_pointer(pointer):
        value = read_structure(value)
        if isinstance(value, list) and step.isdecimal() and len(step) < 10:
            value = dict(enumerate(value))
            value = value.get(int(step), ABSENT)
        else:
            value = json_mapping(value).get(step, ABSENT)
    return value


def without_fields(body: Any, pointers: Sequence[str]) -> Any:
    """A body without the fields at some JSON Pointers."""
    left = copy.deepcopy(body) if pointers else body
    for pointer in pointers:
        holder = value_at_pointer(left, pointer.rpartition("/")[0])
        json_mapping(holder).pop(split_pointer(pointer)[-1], None)
    return left


def read_structure(value: object) -> Any:
    """JSON that is held as a text; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        return read_json_or_text(value)
    return value


def whole_text(text: str) -> str:
    """Halves of surrogate pairs joined; one that stays alone is a replacement character."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count_of(value: object) -> int:
    return value if type(value) is int and 0 <= value <= INT_MAX else 0


def json_mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def json_items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def json_string(value: object) -> str:
    return value if isinstance(value, str) else ""


def read_word(value: object) -> str:
    """An id: a text, or a number as one."""
    return str(value) if type(value) in (str, int) else ""
