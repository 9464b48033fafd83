"""A provider call: its prompt files, the request, what came of it, and the verdict on that.

Request and outcome are events. A rejection is a Decision in the log and is computed again at
replay, so nothing in it may depend on the wording or the order of a library's errors.
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Any, ClassVar, Final, Literal, Protocol

import msgspec
from msgspec import UNSET, UnsetType

from preflights_es.kernel.events import Count, Event, Outcome, OutsideRequest, Value, Whole
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import escaped_text, late_pattern, one_line, shortened


class Message(Value, frozen=True):
    """One turn of the conversation that is sent."""

    role: Literal["system", "user", "assistant"]
    content: str


class CompletionRequested(OutsideRequest, frozen=True):
    """Everything that is sent to a provider; durable before the call is made."""

    tag: ClassVar[str] = "completion.requested.v1"
    provider: str
    model: str
    messages: tuple[Message, ...]
    parameters: tuple[tuple[str, str], ...] = ()
    """Pairs of name and value as sent; only what the provider's API takes."""
    contract: str = ""
    """`name.vN` of what the response must meet; empty for free text."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of a prompt file's `name.vN` and the SHA-256 of its bytes, in hexadecimal."""
    attempt: Whole = 1
    """1 for the first try of a step; a retry counts on."""
    wait_ms: Whole = 0
    """Milliseconds that the performer waits before the call; a replay does not wait."""
    output: str | UnsetType = UNSET
    """The JSON Schema that the provider holds its response to; not written where it gets none. Our
    own judging stays the same."""
    without: tuple[str, ...] | UnsetType = UNSET
    """Parameters that the server refused: the same attempt again, without them. Not written in any
    other request."""


class CompletionReceived(Outcome, frozen=True):
    """The response, without its keys, tokens and e-mail addresses."""

    tag: ClassVar[str] = "completion.received.v1"
    answers: ClassVar[type[OutsideRequest]] = CompletionRequested
    text: str | None
    """None when the bytes were not valid UTF-8: then `text_base64` holds them."""
    text_base64: str | None = None
    model: str = ""
    """As the provider reports it."""
    stop_reason: str = ""
    request_id: str = ""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    latency_ms: Whole | None = None


class CompletionFailed(Outcome, frozen=True):
    """No usable response came."""

    tag: ClassVar[str] = "completion.failed.v1"
    answers: ClassVar[type[OutsideRequest]] = CompletionRequested
    kind: str
    """`timeout`, `rate_limit`, `api_error`, or another kind of `kernel.errors.LLMError`."""
    message: str
    retry_after_ms: Whole | None = None
    latency_ms: Whole | None = None
    received: str = ""
    """What came of a response that was cut off or refused, as far as the provider keeps it."""
    model: str = ""
    """This and the next four as in `CompletionReceived`, where there was a response."""
    stop_reason: str = ""
    request_id: str = ""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    untaken: tuple[str, ...] | UnsetType = UNSET
    """Parameters that the server refuses; not written where it names none."""


class Completion(Value, frozen=True):
    """What a provider hands back for one request."""

    text: str | None
    text_base64: str | None = None
    model: str = ""
    stop_reason: str = ""
    request_id: str = ""
    input_tokens: Count | None = None
    output_tokens: Count | None = None


def get_call_facts(said: object) -> dict[str, Any]:
    """What a server said of a call, as a completion, its outcome and an error all have it."""
    names = ("model", "stop_reason", "request_id", "input_tokens", "output_tokens")
    return {name: getattr(said, name) for name in names}


COMPLETION_EVENTS: tuple[type[Event], ...] = (
    CompletionRequested,
    CompletionReceived,
    CompletionFailed,
)


_ID: Final = late_pattern(r"[a-z][a-z_]*\.v[1-9][0-9]{0,3}")


class Prompt(msgspec.Struct, frozen=True):
    """One version of a prompt, as its file holds it."""

    id: str
    """`name.vN`, the file's name without its ending."""
    text: str
    sha256: str
    """The SHA-256 of the file's bytes, in hexadecimal."""


@lru_cache(maxsize=64)
def prompt(package: str, id_: str) -> Prompt:
    """A prompt of a workflow; the file is part of the program, read once.

    Raises:
        FileNotFoundError: there is no such version.
    """
    if not _ID.fullmatch(id_):
        raise FileNotFoundError(id_)
    from importlib.resources import files  # with a temporary folder, and what that needs

    data = (files(package) / "data" / "prompts" / f"{id_}.md").read_bytes()
    return Prompt(id_, data.decode(), sha256(data).hexdigest())


@lru_cache(maxsize=64)
def read_prompt_schema(package: str, id_: str) -> Prompt:
    """A schema file of a workflow, as it stands in a prompt."""
    from importlib.resources import files

    data = (files(package) / "data" / "schemas" / f"{id_}.json").read_bytes()
    return Prompt(id_, data.decode(), sha256(data).hexdigest())


def decode_prompt_schema(package: str, id_: str) -> dict[str, Any]:
    """The same, as a value of the caller's own."""
    found: dict[str, Any] = msgspec.json.decode(read_prompt_schema(package, id_).text)
    return found


_UNTAKEN: Final = frozenset(
    ("default", "maxItems", "maxLength", "minItems", "minLength", "pattern", "title")
)
"""Keywords that providers' structured output does not take; our own judging holds to them."""


@lru_cache(maxsize=64)
def native(package: str, id_: str) -> str:
    """A schema file as providers' structured output takes it: every property is required."""
    return canonical_json(_fit_schema_to_providers(decode_prompt_schema(package, id_))).decode()


def _fit_schema_to_providers(value: Any) -> Any:
    if isinstance(value, list):
        return [_fit_schema_to_providers(one) for one in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for name, one in value.items():
        if name in ("properties", "$defs"):  # names of others' choice, which are no keywords
            found[name] = {key: _fit_schema_to_providers(inner) for key, inner in one.items()}
        elif name not in _UNTAKEN:
            found[name] = _fit_schema_to_providers(one)
    if "properties" in value:
        found |= {"required": [*value["properties"]], "additionalProperties": False}
    return found


def read_wanted_prompt(
    package: str, name: str, pairs: Iterable[tuple[str, str]], default: str
) -> Prompt:
    """The version of a prompt that a session uses.

    A version that is not known here gives way to the default: deciding never fails for it, and a
    replay shows the difference.

    Args:
        pairs: of prompt name and version, as the session records them.
    """
    try:
        return prompt(package, dict(pairs).get(name, default))
    except FileNotFoundError:
        return prompt(package, default)


def tried(found: Prompt, candidates: Iterable[tuple[str, str]]) -> Prompt:
    """A prompt with the text that is tried in its place, where there is one.

    Args:
        candidates: pairs of `name.vN` and text.
    """
    text = dict(candidates).get(found.id)
    if text is None:
        return found
    return Prompt(found.id, text, sha256(text.encode()).hexdigest())


def versions(package: str, name: str) -> tuple[str, ...]:
    """Every version of a prompt that exists, the oldest first."""
    from importlib.resources import files

    found = (
        entry.name.removesuffix(".md") for entry in (files(package) / "data" / "prompts").iterdir()
    )
    ours = [id_ for id_ in found if _ID.fullmatch(id_) and id_.rpartition(".v")[0] == name]
    return tuple(sorted(ours, key=lambda id_: int(id_.rpartition(".v")[2])))


EXCERPT_MAX: Final = 200  # characters shown of a response: a look, not a copy; the log has it whole
MESSAGE_MAX: Final = 300  # characters of one violation's message
POINTER_MAX: Final = 300  # characters of a JSON Pointer; a key may be as long as the response
DETAILS_MAX: Final = 4_000  # characters of what a model says of its failure
VIOLATIONS_MAX: Final = 20  # named at once; a person or a model cannot use more

FlawKind = Literal[
    "invalid_json",
    "schema_violation",
    "code_in_output",
    "multiple_artifacts",
    "explanatory_text",
    "missing_information",
    "invalid_request",
]
Path = tuple[str | int, ...]
"""Keys and indexes from the top of a value."""

_SENTENCES: Final[dict[FlawKind, str]] = {
    "invalid_json": "the response is not valid JSON",
    "schema_violation": "the response did not match the schema",
    "code_in_output": "the response holds source code",
    "multiple_artifacts": "the response holds more than one JSON value",
    "explanatory_text": "the response holds text around its JSON",
    "missing_information": "the model lacks information",
    "invalid_request": "the model refuses the request",
}


class Violation(Value, frozen=True):
    """One thing that is wrong, and where."""

    pointer: str
    """A JSON Pointer into the value, empty for its top; shortened and safe on a terminal."""
    message: str
    """What is wrong there, in words of ours."""


class Accepted(msgspec.Struct, frozen=True):
    """The response meets its contract."""

    payload: Any
    """The value: dicts, lists, text and numbers."""
    prose: str = ""
    """The beginning of the text around the value that was dropped; empty when there was none."""
    dropped: tuple[str, ...] = ()
    """JSON Pointers of properties that the contract does not know and that were dropped."""


class Rejected(msgspec.Struct, frozen=True):
    """The response does not meet its contract; the first rejection of the stages."""

    kind: FlawKind
    violations: tuple[Violation, ...] = ()
    """Empty for a failure object, else at least one."""
    excerpt: str = ""
    """Of the response, on one line, safe on a terminal; empty where no place can be named."""
    details: str = ""
    """Of a failure object: what the model said, as it said it, shortened."""

    @property
    def message(self) -> str:
        """One line for a person."""
        said = "; ".join(
            f"{v.pointer}: {v.message}" if v.pointer else v.message for v in self.violations[:3]
        )
        more = len(self.violations) - 3
        said += f"; and {more} more" if more > 0 else ""
        said = said or one_line(escaped_text(shortened(self.details, EXCERPT_MAX)))
        sentence = _SENTENCES.get(self.kind, f"the response was refused ({self.kind})")
        return f"{sentence}: {said}" if said else sentence


def rejected(kind: FlawKind, message: str, excerpt: str = "") -> Rejected:
    """A rejection of the response as a whole."""
    return Rejected(kind, (Violation("", message),), excerpt)


def excerpt(text: str, start: int = 0) -> str:
    """A look at a text from a place on, at most `EXCERPT_MAX` safe characters on one line."""
    look = text[max(start, 0) : max(start, 0) + 2 * EXCERPT_MAX]
    return shortened(one_line(escaped_text(look)), EXCERPT_MAX)


def format_json_pointer(path: Iterable[str | int]) -> str:
    """A path as a JSON Pointer (RFC 6901)."""
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in path]
    return shortened(escaped_text("".join(f"/{part}" for part in parts)), POINTER_MAX)


def quote_foreign_value(value: object, width: int = 60) -> str:
    """A foreign value within a message: JSON, shortened and safe."""
    return shortened(escaped_text(msgspec.json.encode(value).decode()), width)


class Policy(Value, frozen=True, kw_only=True):
    """What follows where a call of a step brings nothing that can be used; a contract says it."""

    bad_output: int = 1
    """Retries of a step after an output that breaks its contract, was cut off or refused."""
    failed_transport: int = 1
    """Retries after a call that brought nothing; retries for the other reason count, too."""
    then: Literal["rules", "person", "report"] = "rules"
    """Who goes on: the rules for the rest of the session, a person, or nothing but a report. The
    report of a bad output ends the step; after a failed call the step waits to be retried."""

    @property
    def calls_max(self) -> int:
        """Calls of one step."""
        return 1 + max(self.bad_output, self.failed_transport)


class ResponseJudge(Protocol):
    """What a response of a step must be; a contract is one."""

    @property
    def id(self) -> str:
        """`name.vN`, as it stands in a `CompletionRequested`."""

    @property
    def policy(self) -> Policy:
        """What follows where a call brings nothing that meets it."""

    def judge(self, raw: str) -> Accepted | Rejected:
        """The payload of a response, or the first reason to reject it."""
