"""What every log is made of: Inputs, Decisions, and the few events that belong to no workflow.

    log := (Input Decision+)*      at most one undecided Input at the end

An Input comes from outside and is recorded before it is judged. A Decision follows from it by a
pure function and is computed again at replay. A Request is a Decision that asks the outside for
something (a completion, a file); an Outcome is the Input that answers it and names its call. What
one session reads of another enters as an Input that names its `Source`.
"""

# No module whose Structs are decoded by most commands imports `annotations` from `__future__`: what
# is text then, msgspec compiles and evaluates in every process.

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, reduce
from itertools import chain
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, TypeVar, get_args

import msgspec
from msgspec import UNSET, UnsetType

from preflights_es.kernel.text import ANSWER_MAX

ActorKind = Literal["user", "agent", "script"]
ACTOR_WORDS: Final[Mapping[str, str]] = {
    "user": "a person",
    "agent": "an agent",
    "script": "a script",
}
"""What people read in place of the name that an actor does not have."""

INT_MAX: Final = 2**63 - 1  # the largest whole number that every database keeps
NUMBER_MAX: Final = 999_999_999  # of a record; a document's name has six digits at most

Whole = Annotated[int, msgspec.Meta(ge=-INT_MAX - 1, le=INT_MAX)]
"""Times and the like; a clock that stepped back leaves a negative latency."""
Count = Annotated[int, msgspec.Meta(ge=0, le=INT_MAX)]
RecordNumber = Annotated[int, msgspec.Meta(ge=1, le=NUMBER_MAX)]
"""No program ever recorded a whole number outside of these ranges: what bears one is refused."""


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A part of an event: immutable, compared by its fields; nothing in it can refer back to it."""


class Actor(Value, frozen=True):
    """Who made an Input; the name stands in the payload, so that it can be erased."""

    kind: ActorKind
    name: str = ""
    """The configured name, or git's; empty without both."""


class Evidence(Value, frozen=True):
    """What was seen of who is at work."""

    variables: tuple[str, ...] = ()
    """Names of the variables of an agent that were set, sorted; never their values."""
    terminal: bool = False
    """Whether standard input and output were a terminal."""
    client: str = ""
    """Name and version of the server's client, as it says them; empty elsewhere."""
    way: Literal["browser"] | UnsetType = UNSET
    """How the word came, where no terminal and no client brought it; not written elsewhere."""

    @property
    def brought(self) -> str:
        """`browser, unsigned`: how a word came that proves nothing; empty elsewhere."""
        return "" if self.way is UNSET else f"{self.way}, unsigned"

    @property
    def set(self) -> str:
        """`CODEX_CI is set`; empty where no variable shows an agent."""
        if not self.variables:
            return ""
        return f"{', '.join(self.variables)} {'are' if self.variables[1:] else 'is'} set"

    def __str__(self) -> str:
        """`CODEX_CI, a terminal`; empty where nothing was seen."""
        return ", ".join(
            (
                *self.variables,
                *(("a terminal",) if self.terminal else ()),
                *filter(None, (self.client, self.brought)),
            )
        )


UNSEEN: Final = Evidence()
"""Of a caller that says nothing of itself."""


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, gc=False):
    """One immutable fact of a session."""

    tag: ClassVar[str] = ""
    """`workflow.snake_name.vN`; frozen once a session may have used it."""


class Typed(msgspec.Struct, frozen=True):
    """A text that a person typed: it is checked, and its secrets are taken out."""

    limit: int
    """Characters."""
    needed: str = ""
    """What to do where it is empty; it is stripped then. Nothing of a text that may be empty."""
    parts: tuple[str, ...] = ()
    """Of values that a program read: the fields that hold such texts, or more of such values."""


class Input(Event, frozen=True):
    """Something that came from outside."""

    verb: ClassVar[str] = "recorded something in"
    """What its actor did, before `session 3f9a12c4`."""
    typed: ClassVar[Mapping[str, Typed]] = {}
    """The fields that hold text of a person: a text, or pairs of name and text."""
    at: Whole
    """When it came, in microseconds since 1970 UTC, by the clock of who recorded it."""
    actor: Actor


class Decision(Event, frozen=True):
    """Something that follows from the Input before it."""


class OutsideRequest(Decision, frozen=True):
    """Asks the outside for something; open until an Outcome names the same call."""

    call: str
    """Unique within its session."""


class Outcome(Input, frozen=True):
    """What came of a Request."""

    answers: ClassVar[type[OutsideRequest]] = OutsideRequest
    """The kind of Request that it can answer."""
    call: str


PROPOSAL_MAX: Final = 400_000  # characters; a decision with every field at its limit has fewer
BASE64_MAX: Final = 12_000  # characters; a signature with a certificate has some 3,000

Act = Literal["acceptance", "approval", "rejection", "erasure"]
"""What can be signed."""
Base64 = Annotated[
    str, msgspec.Meta(pattern=r"\A[A-Za-z0-9+/]{16,}={0,2}\Z", max_length=BASE64_MAX)
]
"""Bytes, and no text of a person: redaction does not read it."""
RepositoryId = Annotated[
    str, msgspec.Meta(pattern=r"\A([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?\Z")
]


class Signature(Value, frozen=True):
    """What a key says of an act (docs/specs/log.md, section 14)."""

    proposal: Annotated[str, msgspec.Meta(max_length=PROPOSAL_MAX)]
    """What was seen, as canonical JSON."""
    key: Base64
    """The public key as OpenSSH encodes it, without its comment."""
    sshsig: Base64
    """The signature as OpenSSH encodes it, without the lines around it."""
    repository: RepositoryId = ""
    """The id of the repository that it was made for; in another one it proves nothing."""


class Signable(Input, frozen=True, kw_only=True):
    """An Input that its actor may sign; `decide` does not look at the signature."""

    act: ClassVar[Act] = "acceptance"
    signature: Signature | UnsetType = UNSET
    """Not written where there is none."""


class SessionAbandoned(Input, frozen=True):
    """The actor gave the session up."""

    tag: ClassVar[str] = "session.abandoned.v1"
    verb: ClassVar[str] = "abandoned"
    typed: ClassVar = {"reason": Typed(ANSWER_MAX)}
    reason: str = ""


class InputQuarantined(Input, frozen=True):
    """The undecided Input before this one is set aside, because deciding it raises.

    Reaches no workflow: a bug there cannot hold the session.
    """

    tag: ClassVar[str] = "session.input_quarantined.v1"
    verb: ClassVar[str] = "set an Input aside in"
    version: Whole
    """The version of the Input that is set aside."""
    error: str = ""
    """Type and message of what deciding it raised, as the process that quarantined it saw them."""


class SessionErased(Signable, frozen=True):
    """The actor erased the session: the payloads of all events before are gone.

    Reaches no workflow, and holds nothing of what is gone.
    """

    tag: ClassVar[str] = "session.erased.v1"
    act: ClassVar[Act] = "erasure"
    reason: str = ""


class SessionClosed(Decision, frozen=True):
    """Nothing more is decided in this session."""

    tag: ClassVar[str] = "session.closed.v1"
    status: Literal["abandoned", "erased"]


class ResponseIgnored(Decision, frozen=True):
    """An Outcome came for a call that is not open; it is kept and counted, and changes nothing."""

    tag: ClassVar[str] = "session.response_ignored.v1"
    call: str
    reason: Literal["not_open", "closed"]


class InputIgnored(Decision, frozen=True):
    """An Input came after the session was closed, or sets aside what is decided already."""

    tag: ClassVar[str] = "session.input_ignored.v1"
    reason: Literal["closed", "not_undecided"]


ERASED_TAG = SessionErased.tag
"""Tag of the event that must cover every payload that is gone (docs/specs/log.md)."""

SESSION_EVENTS: tuple[type[Event], ...] = (
    SessionAbandoned,
    InputQuarantined,
    SessionErased,
    SessionClosed,
    ResponseIgnored,
    InputIgnored,
)


class ArtifactDue(OutsideRequest, frozen=True):
    """A file must be written, rendered from the log as it stands at this event."""

    tag: ClassVar[str] = "artifact.due.v1"
    template: str
    """`name.vN`, a frozen file of `preflights_es/records/templates`."""
    path: str
    """Relative to the project's root, with forward slashes."""


class ArtifactWritten(Outcome, frozen=True):
    """The file lies where it should, or beside it."""

    tag: ClassVar[str] = "artifact.written.v1"
    answers: ClassVar[type[OutsideRequest]] = ArtifactDue
    path: str
    sha256: str
    """The SHA-256 of the written bytes, in hexadecimal."""
    beside: bool = False
    """True when a person's edits were found and `path` is a `.new` file next to them."""


class ArtifactRemoved(Outcome, frozen=True):
    """The file of a rejected proposal is gone: git did not know it, and no person had edited it."""

    tag: ClassVar[str] = "artifact.removed.v1"
    answers: ClassVar[type[OutsideRequest]] = ArtifactDue
    path: str


ARTIFACT_EVENTS: tuple[type[Event], ...] = (ArtifactDue, ArtifactWritten, ArtifactRemoved)


class WrittenFile(Value, frozen=True):
    """What a session knows of its file on disk."""

    path: str
    sha256: str


class Filing(msgspec.Struct, frozen=True, kw_only=True):
    """Files that sessions of a workflow owe, and that are no records: where, and what they hold."""

    folder: str
    """Relative to the project's root, with forward slashes."""
    name: str
    """A pattern that the whole name of each file matches; no other file is written."""
    template: str
    """As in `ArtifactDue`."""
    text: Callable[[Any], str]
    """The whole file, from a state as it was behind the `ArtifactDue`."""


class SourceSession(Value, frozen=True):
    """Another session, as it was read; stands beside what was taken from it."""

    session_id: str
    version: Count
    """Of the last event that was read."""
    hash: str
    """Of the chain at that version, in hexadecimal; it holds after an erasure, too."""


How = Literal["known", "supersedes", "superseded_by", "kept", "named"]
"""`known`: a model was told what it decided or planned. `kept`: both stay in force, with a reason.
`named`: a later Input names it."""


class Quoted(msgspec.Struct, frozen=True):
    """Another session that an event names, by its id or its decision's uid."""

    how: How
    session_id: str


def sources(event: Event) -> tuple[SourceSession, ...]:
    """All that an event names, in the order of its fields, each once."""
    return tuple(dict.fromkeys(_walk_sources(event)))


def _walk_sources(value: object) -> Iterator[SourceSession]:
    if isinstance(value, SourceSession):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name in _find_source_fields(type(value)):
            yield from _walk_sources(getattr(value, name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _walk_sources(one)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _walk_sources(one)


def has_sources(cls: type[msgspec.Struct]) -> bool:
    """Whether an event of a class may name another session."""
    return bool(_find_source_fields(cls))


@cache
def _find_source_fields(cls: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a class in which a `Source` may stand."""
    return tuple(
        field.name for field in msgspec.structs.fields(cls) if _holds(field.type, frozenset())
    )


def _holds(kind: Any, seen: frozenset[Any]) -> bool:
    """Whether a value of a type may hold a `Source`.

    Args:
        seen: classes that are being looked at: one may hold others of its kind.
    """
    if kind is SourceSession:
        return True
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if kind in seen:
            return False
        within = msgspec.structs.fields(kind)
        return any(_holds(field.type, seen | {kind}) for field in within)
    return any(_holds(one, seen) for one in get_args(kind))


T = TypeVar("T")

CHUNK: Final = 64  # items that are copied at most when one comes; the others are shared


class Growing(Value, Generic[T], frozen=True):
    """Grows at its end, and shares what it holds with those that it grew from.

    A tuple would be copied whole for each item. Two that grew by the same items are equal.
    """

    full: tuple[tuple[T, ...], ...] = ()
    """Each of `CHUNK` items."""
    last: tuple[T, ...] = ()
    """The newest, at most as many."""

    def plus(self, *items: T) -> "Growing[T]":
        """With more items at the end."""
        grown = self
        for item in items:
            if len(grown.last) < CHUNK:
                grown = Growing(grown.full, (*grown.last, item))
            else:
                grown = Growing((*grown.full, grown.last), (item,))
        return grown

    def __iter__(self) -> Iterator[T]:
        return chain(chain.from_iterable(self.full), self.last)

    def __len__(self) -> int:
        return CHUNK * len(self.full) + len(self.last)


S = TypeVar("S")


def state_after(
    evolve: Callable[[S, Event], S], state: S, new: Input, decisions: Iterable[Decision]
) -> S:
    """A workflow's state once an Input counts, and the Decisions that follow from it so far."""
    return reduce(evolve, decisions, evolve(state, new))
