"""What a judgement comes to: accepted or rejected, with words of ours that no library can change.

A rejection is a Decision in the log and is computed again at replay, so nothing in it may depend
on the wording or the order of a library's errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

import msgspec

from preflights_es.kernel.events import Value
from preflights_es.kernel.text import one_line, shortened, shown

if TYPE_CHECKING:
    from preflights_es.kernel.lead import Policy

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
        said = said or one_line(shown(shortened(self.details, EXCERPT_MAX)))
        return f"{_SENTENCES[self.kind]}: {said}" if said else _SENTENCES[self.kind]


def rejected(kind: FlawKind, message: str, excerpt: str = "") -> Rejected:
    """A rejection of the response as a whole."""
    return Rejected(kind, (Violation("", message),), excerpt)


def excerpt(text: str, start: int = 0) -> str:
    """A look at a text from a place on, at most `EXCERPT_MAX` safe characters on one line."""
    look = text[max(start, 0) : max(start, 0) + 2 * EXCERPT_MAX]
    return shortened(one_line(shown(look)), EXCERPT_MAX)


def pointer(path: Iterable[str | int]) -> str:
    """A path as a JSON Pointer (RFC 6901)."""
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in path]
    return shortened(shown("".join(f"/{part}" for part in parts)), POINTER_MAX)


def quoted(value: object, width: int = 60) -> str:
    """A foreign value within a message: JSON, shortened and safe."""
    return shortened(shown(msgspec.json.encode(value).decode()), width)


class Judge(Protocol):
    """What a response of a step must be; a contract is one."""

    @property
    def id(self) -> str:
        """`name.vN`, as it stands in a `CompletionRequested`."""

    @property
    def policy(self) -> Policy:
        """What follows where a call brings nothing that meets it."""

    def judge(self, raw: str) -> Accepted | Rejected:
        """The payload of a response, or the first reason to reject it."""
