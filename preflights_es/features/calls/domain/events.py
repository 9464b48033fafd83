"""What a log says of calls of models that another program made (docs/specs/calls.md).

Values and limits first, then settings, Inputs, Decisions, and the list of all.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal

import msgspec

from preflights_es.features.calls.domain.dialects import Dialect
from preflights_es.kernel.events import Count, Decision, Event, Input, Typed, Value, Whole
from preflights_es.kernel.ports import SettingsSource, SettingsTable
from preflights_es.kernel.text import ANSWER_MAX, NAME_MAX
from preflights_es.words.questions import Refusal

# 1. Values and limits ------------------------------------------------------------------------

CallSource = Literal["jsonl", "openai-batch", "litellm", "langfuse", "otel", "llm", "record"]
"""The form of the file that calls were taken from; `record` of those of a program that ran."""

CALL_MAX: Final = (
    8_000_000  # bytes of a request and its answer; a line of 17 MB cannot be read back
)
SESSION_MAX: Final = 64_000_000  # bytes of all calls of a session
CALLS_MAX: Final = 1_000  # of a session
ABOUT_MAX: Final = 300  # characters
SOURCE_MAX: Final = 4_000  # characters of a path
EXPECTED_MAX: Final = 100_000  # characters
PIECES_MAX: Final = 10_000  # of an answer whose pieces are kept


class LeftOut(Value, frozen=True, kw_only=True):
    """A request or an answer that is not kept, since a call would be too large with it."""

    part: Literal["request", "answer"]
    size: Count
    """Bytes."""
    type: str
    """Its content type; empty where none was said."""
    sha256: str
    """Of its bytes, in hexadecimal."""


class RecordedRequest(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What was sent."""

    route: str = ""
    """The name of the provider, as the source has it; empty where it does not say."""
    method: str = "POST"
    path: str = ""
    """Without the parts of its query that may hold a secret."""
    headers: tuple[tuple[str, str], ...] = ()
    like: Count = 0
    """The number of the call whose first turns this one repeats; 0 without one."""
    keeps: Count = 0
    """How many turns of that call come first; they are not kept again."""
    body: str = ""
    """Canonical JSON, without those turns; empty where it is left out."""
    digest: str = ""
    """SHA-256 of method, path and the whole body as it is kept, in hexadecimal."""
    users: tuple[str, ...] = ()
    """Salted hashes of the ids of those whom the program served."""


class RecordedAnswer(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What came back."""

    status: Count = 200
    type: str = ""
    """Its content type."""
    text: str = ""
    """Byte for byte as the source holds it; where a secret was taken out, without it."""
    ended: str = ""
    """Why it is not whole, in a few words; empty where it is."""
    cuts: tuple[Count, ...] = ()
    """Bytes of each piece in which it came; empty where it came whole or was changed since."""
    gaps_ms: tuple[Count, ...] = ()
    """Milliseconds before each of them: since the request was sent, then since the one before."""


# 2. Settings ---------------------------------------------------------------------------------


class CallsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Its keys."""

    ignore: list[str] = []
    """JSON Pointers to fields of requests, such as ids and times, that a replay leaves out."""
    request: str = ""
    """JSON Pointer to where it stands in a line of the form `jsonl`, as for those that follow."""
    response: str = ""
    session: str = ""
    time: str = ""
    user: str = ""

    @property
    def places(self) -> dict[str, str]:
        """By name, where what is said stands in a line."""
        names = self.__struct_fields__[1:]
        return {name: pointer for name in names if (pointer := getattr(self, name))}


def calls_settings_table() -> SettingsTable:
    """The table as it was given, its pointers checked."""
    return SettingsTable(CallsTable, _check_pointers, CallsTable())


def _check_pointers(source: SettingsSource, given: Any) -> CallsTable:
    table: CallsTable = given
    for name, pointer in (*(("ignore", one) for one in table.ignore), *table.places.items()):
        if not pointer.startswith("/"):
            expected = "expected a JSON Pointer such as /metadata/request_id"
            raise source.wrong(("calls", name), f"found {pointer!r}, {expected}")
    return table


# 3. Inputs -----------------------------------------------------------------------------------


class CallsOpened(Input, frozen=True):
    """The actor takes in a conversation that another program had with a model."""

    tag: ClassVar[str] = "calls.opened.v1"
    verb: ClassVar[str] = "took in the calls of"
    typed: ClassVar = {
        "file": Typed(SOURCE_MAX),
        "conversation": Typed(NAME_MAX),
        "about": Typed(ABOUT_MAX),
    }
    source: CallSource
    file: str
    """As it was named; `-` for standard input. Of a program that ran, its command line."""
    conversation: str
    """The id that the source has for it; empty without one. Of a program that ran, the run's."""
    about: str
    """How the first person's turn begins."""
    program: str
    """The version of the program that took it in."""
    user: str = ""
    """Of older logs, as `users` of each request: of whom the program served first."""


class CallRecorded(Input, frozen=True):
    """One call, as its source holds it."""

    tag: ClassVar[str] = "calls.recorded.v1"
    made_at: Whole | None
    """When it was made, in microseconds since 1970 UTC; None where the source does not say."""
    request: RecordedRequest
    answer: RecordedAnswer
    left_out: tuple[LeftOut, ...] = ()
    taken_out: tuple[str, ...] = ()
    """The kinds of what was taken out as a secret."""


class CallsMissed(Input, frozen=True):
    """The log is not whole: calls were made that it does not hold."""

    tag: ClassVar[str] = "calls.missed.v1"
    verb: ClassVar[str] = "counted calls that are missing in"
    typed: ClassVar = {"why": Typed(ANSWER_MAX)}
    count: Count
    first_at: Whole | None
    """When the first of them was made; None where that is not known."""
    last_at: Whole | None
    why: str


class CallJudged(Input, frozen=True):
    """The actor says whether an answer to a call is right, or which value is."""

    tag: ClassVar[str] = "calls.judged.v1"
    verb: ClassVar[str] = "judged a call of"
    typed: ClassVar = {"why": Typed(ANSWER_MAX)}
    call: Count
    answer: str
    """The words of the answer that was seen; empty where only the right value is said."""
    digest: str
    """Of that answer, as answers are compared; empty as above."""
    is_right: bool | None
    """None where only the right value is said."""
    expected: str | None
    """The right value as JSON; None where it is not said."""
    why: str = ""


# 4. Decisions --------------------------------------------------------------------------------


class CallsBegun(Decision, frozen=True):
    """The session holds calls from here on."""

    tag: ClassVar[str] = "calls.begun.v1"


class CallKept(Decision, frozen=True):
    """The call is one of the session's."""

    tag: ClassVar[str] = "calls.kept.v1"
    call: Count
    """Its number, from 1."""
    dialect: Dialect
    model: str
    status: Count
    stop: str
    """Why the model stopped, in the provider's word; empty where it did not say."""
    input_tokens: Count | None
    output_tokens: Count | None
    size: Count
    """Bytes that it has of `SESSION_MAX`."""


class MissingCallsCounted(Decision, frozen=True):
    """The session says that it is not whole."""

    tag: ClassVar[str] = "calls.missing_counted.v1"
    count: Count
    """Of all that it lacks."""


class CallJudgementKept(Decision, frozen=True):
    """The judgement counts, or is kept beside those that do."""

    tag: ClassVar[str] = "calls.judgement_kept.v1"
    call: Count
    counts: bool
    """Whether a person judged; what a script or an agent says is kept and does not count."""


class CallNotTaken(Refusal, frozen=True):
    """The Input does not fit the session."""

    tag: ClassVar[str] = "calls.not_taken.v1"
    reason: Literal["not_opened", "opened", "full", "no_such_call", "nothing_said"]


EVENTS: Final[tuple[type[Event], ...]] = (
    CallsOpened,
    CallRecorded,
    CallsMissed,
    CallJudged,
    CallsBegun,
    CallKept,
    MissingCallsCounted,
    CallJudgementKept,
    CallNotTaken,
)
