"""Every error a caller can meet, one tree.

PreflightsError
├── Refused                 said before anything is recorded: the words or the moment are wrong
│   ├── UnknownSession
│   │   ├── OnlyInFile              a session file has it, and the log does not
│   │   └── RecordWithoutSession    another tool or a person wrote the record
│   ├── AmbiguousSession, ErasedSession
│   ├── CallHeld            another process is asking the provider
│   └── SessionMoved        `--expect VERSION` did not hold
├── SettingsError           a settings file or variable is wrong
│   └── ProviderMissing     its key or its package is not here
├── LogDamaged              what was stored does not verify
│   ├── NotSessionFile      a file that should hold sessions holds something else
│   └── ProjectionDamaged   nothing of the log: it can be made again
├── AnotherVersion          this version of the program cannot read it
│   ├── LogFromFuture           a newer one wrote it
│   │   └── NewerProjection
│   ├── LogFromDevelopment      one before the first release wrote it
│   └── UnreadableEvent         its chain holds, and the code of its workflow does not take it
├── SessionFaulted          `decide` or `evolve` raised: a bug, kept for replay
├── RoundsExhausted         a session does not come to rest
├── ArtifactOutside         a path that leaves the configured folder
├── StoreError
│   ├── Conflict            the head moved: read again, decide again
│   ├── DuplicateInput      this Input is recorded already
│   ├── NumberTaken         another record of this project took the number
│   ├── CommitUnknown       the connection broke while committing: look the Input up
│   └── StoreUnavailable    the database or its disk fails
│       ├── LogBusy             another process is writing
│       ├── NoLog               nothing was ever recorded where it is said to lie
│       └── ReadOnlyLog         it is opened for reading, or the role may only read
└── LLMError                a provider gave no usable response (seed 2, section 7.1)
    ├── LLMAPIError
    │   ├── LLMEmptyError       it answered without a text; also a ValueError
    │   └── LLMRequestRejectedError     a wrong key, model or address: asking again is no use
    ├── LLMTimeoutError     also a TimeoutError
    │   └── LLMLostError        the process that made the call never reported back
    ├── LLMRateLimitError
    ├── LLMOutputError      it answered, with what cannot be used
    │   ├── InvalidJSONError            also a ValueError
    │   ├── SchemaViolationError, CodeInOutputError
    │   ├── MultipleArtifactsError, ExplanatoryTextError
    │   └── LLMUnfinishedError
    │       ├── LLMTruncatedError   cut off at a limit of tokens
    │       └── LLMRefusedError     the model, or a filter, refused
    └── LLMDeclinedError
        ├── LLMMissingInformationError      the model says what it would have to know
        └── LLMInvalidRequestError          the model says why it cannot answer this

Refusals that concern the *meaning* of an Input are no errors: they are Decisions in the log. What a
person should know of something that went well is a `Notice`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from preflights_es.kernel.completions import Violation


class PreflightsError(Exception):
    """Root of the tree; `str()` is one line, without advice that names a command."""

    kind = ""
    """Of a provider's failure: its name in the log."""

    def __init__(self, message: str, *, code: str = "", **fields: Any) -> None:
        """Args:
        fields: the plain values that advice on it needs.
        """
        super().__init__(message)
        self.code = code or code_of(type(self))
        """Stable, in snake case: what went wrong."""
        self.fields = fields


def code_of(error: type[PreflightsError]) -> str:
    """The code of errors that are given none: the name of the class, or of the failure."""
    if error.kind:
        return f"llm_{error.kind}"
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in error.__name__).removeprefix("_")


class Refused(PreflightsError):
    """Nothing was recorded: what was found, what was expected, what to do."""


class UnknownSession(Refused):
    """No session of this log bears the id that was typed."""

    def __init__(self, typed: str, message: str = "") -> None:
        super().__init__(message or f"no session matches {typed!r}", typed=typed)
        self.typed = typed


class OnlyInFile(UnknownSession):
    """A session file has what was typed; the log, in which commands write, does not."""

    def __init__(self, typed: str) -> None:
        Refused.__init__(self, f"only a session file has {typed}", typed=typed)
        self.typed = typed


class RecordWithoutSession(UnknownSession):
    """The number or name that was typed is that of records which Preflights did not write."""

    def __init__(self, typed: str, number: int | None, paths: tuple[str, ...]) -> None:
        named = "" if paths == (typed,) else f": {' and '.join(map(repr, paths))}"
        message = f"{typed} has no session: it is a record of another tool{named}"
        Refused.__init__(self, message, session=typed, paths=paths)
        self.typed, self.number, self.paths = typed, number, paths


class AmbiguousSession(Refused):
    """More than one session bears the id, or the number of a record, that was typed."""

    def __init__(
        self,
        typed: str,
        matches: tuple[str, ...],
        advice: str = "type more of the id",
        code: str = "",
    ) -> None:
        some = ", ".join(matches[:4]) + (", ..." if len(matches) > 4 else "")
        of = "records" if code else "sessions"
        message = f"{typed!r} matches several {of} ({some}): {advice}"
        super().__init__(message, code=code, typed=typed, matches=matches)


class ErasedSession(Refused):
    """The session was erased: its payloads are gone."""

    def __init__(self, session_id: str) -> None:
        id_ = session_id[-8:]
        super().__init__(f"session {id_} was erased: its payloads are gone", session=id_)


class CallHeld(Refused):
    """Another process is asking the provider: this one does not ask as well."""

    def __init__(self, session_id: str, provider: str, model: str, until: str = "") -> None:
        """Args:
        until: the time of day at which its claim ends, and the call may be made again.
        """
        who = " ".join(word for word in (provider, model) if word)
        self.asking = f"another process is asking the provider ({who})"
        """The same, where something was recorded meanwhile."""
        if until:
            self.asking += f" and holds the call until {until}"
        super().__init__(f"session {session_id[-8:]}: {self.asking}", session=session_id[-8:])


class SessionMoved(Refused):
    """The session is at another version than the caller expected."""

    def __init__(self, session_id: str, expected: int, found: int) -> None:
        id_ = session_id[-8:]
        message = f"session {id_} is at version {found}, not {expected}"
        super().__init__(message, session=id_, expected=expected, found=found)


class SettingsError(PreflightsError):
    """A settings file, option or variable has a wrong value; names the key and its line."""


class ProviderMissing(SettingsError):
    """A provider that was chosen rightly cannot be asked: its key or its package is not here."""


class ExtraMissing(SettingsError):
    """Packages of an extra are not installed."""

    def __init__(self, what: str, extra: str) -> None:
        """Args:
        what: needs it.
        """
        super().__init__(f"{what} needs the extra `{extra}`", extra=extra)


class LogDamaged(PreflightsError):
    """What was stored does not verify.

    `version` is the first event that is wrong, 0 where no event can be named.
    """

    def __init__(self, where: str, version: int, found: str, **fields: Any) -> None:
        at = f", event {version}" if version else ""
        super().__init__(f"damaged log: {where}{at}: {found}", version=version, **fields)
        self.where, self.version, self.found = where, version, found


class NotSessionFile(LogDamaged):
    """A file that should hold sessions says no format of them."""

    def __init__(self, file: str, line: int, found: str) -> None:
        super().__init__(f"{file}, line {line}", 0, found)
        self.args = (f"{file} is not a session file: line {line}: {found}",)


class ProjectionDamaged(LogDamaged):
    """What a projection keeps is nothing that this program wrote; the log is another matter."""

    def __init__(self, name: str, found: str) -> None:
        super().__init__(f"projection {name!r}", 0, found, name=name)


class AnotherVersion(PreflightsError):
    """A log, a file or an event that another version of this program wrote."""


class LogFromFuture(AnotherVersion):
    """A newer version wrote it; says to upgrade."""


class LogFromDevelopment(AnotherVersion):
    """A version before the first release wrote it: it stays as it is, and is never upgraded."""


class UnreadableEvent(AnotherVersion):
    """The code of the workflow does not take an event that is as it was recorded.

    A field was renamed or is new, or a value left its closed list. Only the event's own workflow is
    concerned: chain, export, backup and erasure do not read it.
    """

    def __init__(
        self, *, session_id: str, version: int, workflow: str, tag: str, why: str, also: str = ""
    ) -> None:
        """Args:
        tag: as today's code calls the event.
        also: what else is to be said, with the sign in front of it.
        """
        message = f"this code cannot read event {version} ({tag}: {why}); the chain holds{also}"
        super().__init__(message, session=session_id[-8:], version=version, workflow=workflow)
        self.session_id, self.version, self.workflow = session_id, version, workflow
        self.tag, self.why = tag, why


class WorkflowMissing(LogFromFuture, KeyError):
    """A session of a workflow whose package is not installed, or does not load."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the workflow {name!r} is not known here: {why}", name=name)
        self.name = name
        self.why = why

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError quotes its message


class NewerProjection(LogFromFuture):
    """A newer version of this program keeps a projection of the log."""

    def __init__(self, name: str) -> None:
        found = f"a newer version of preflights keeps the projection {name!r} of this log"
        super().__init__(f"{found}: upgrade preflights", name=name)


class SessionFaulted(PreflightsError):
    """`decide` or `evolve` raised on a recorded Input; `__cause__` is what was raised.

    `version` is that Input's, and the Input is durable: the session replays to the same error and
    goes on after the fix.
    """

    def __init__(self, session_id: str, version: int, error: BaseException, workflow: str) -> None:
        id_, what = session_id[-8:], f"{type(error).__name__}: {error}"
        message = f"session {id_} stopped at event {version}: {what}"
        super().__init__(message, session=id_, version=version)
        self.session_id, self.version, self.error = session_id, version, error
        self.workflow = workflow


class WorkflowBug(TypeError):
    """What a workflow's code gave cannot be recorded, and nothing of it is.

    `made_by` is what gave it: the workflow's `decide`, or an Input's class.
    """

    def __init__(self, message: str, made_by: Callable[..., object]) -> None:
        super().__init__(message)
        self.made_by = made_by

    @property
    def place(self) -> tuple[str, int]:
        """File and line of what gave it, which has returned; empty and 0 without a source."""
        import inspect  # few commands meet a bug

        made_by = inspect.unwrap(self.made_by)
        try:
            return inspect.getsourcefile(made_by) or "", inspect.getsourcelines(made_by)[1]
        except (TypeError, OSError):
            return "", 0


class UnwritableEvent(WorkflowBug):
    """An event that a workflow made cannot be read back."""

    def __init__(self, workflow: str, tag: str, why: str, made_by: Callable[..., object]) -> None:
        super().__init__(f"{tag} cannot be read back: {why}", made_by)
        self.workflow, self.tag, self.why = workflow, tag, why


class RoundsExhausted(PreflightsError):
    """A session asks and is answered, again and again, and does not come to rest."""

    def __init__(self, session_id: str, rounds: int, what: str) -> None:
        id_ = session_id[-8:]
        message = f"session {id_} {what} {rounds} times without an end; what was recorded stays"
        super().__init__(message, session=id_, rounds=rounds)


class ArtifactOutside(PreflightsError):
    """A file would lie outside the project's root or its configured folder."""


class StoreError(PreflightsError):
    """The store failed."""


class Conflict(StoreError):
    """The session's head moved since it was read."""

    def __init__(self, session_id: str, expected: int) -> None:
        super().__init__(f"session {session_id[-8:]} moved past version {expected}")
        self.session_id = session_id
        self.expected = expected


class DuplicateInput(StoreError):
    """An Input with this id is in the log already."""

    def __init__(self, input_id: str) -> None:
        super().__init__(f"input {input_id} is recorded already")
        self.input_id = input_id


class NumberTaken(StoreError):
    """Another session of the project holds this number."""

    def __init__(self, project: str, number: int) -> None:
        super().__init__(f"number {number} of project {project!r} is taken")
        self.number = number


class CommitUnknown(StoreError):
    """It is not known whether the last transaction was committed."""


class StoreUnavailable(StoreError):
    """The database cannot be reached, read or written."""


class LogBusy(StoreUnavailable):
    """Another process holds a lock of the database for longer than this one waits."""


class ReadOnlyLog(StoreUnavailable):
    """The log can be read; this process, or its role, may not write it."""


class NoLog(StoreUnavailable):
    """A log is to be read, and there is none at this address."""

    def __init__(self, where: str) -> None:
        super().__init__(f"there is no log at {where}", where=where)


class LLMError(PreflightsError):
    """A provider gave no usable response.

    `retry_after_ms` is the provider's hint in milliseconds, None without one.
    """

    kind = "error"

    def __init__(self, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class LLMAPIError(LLMError):
    """The provider's API failed."""

    kind = "api_error"


class ReportedCall:
    """What a response reported that was paid, and cannot be used: fields of a `Completion`."""

    received: str = ""
    stop_reason: str = ""
    model: str = ""
    request_id: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class LLMEmptyError(LLMAPIError, ReportedCall, ValueError):
    """The response holds no text."""


class LLMRequestRejectedError(LLMAPIError):
    """The provider rejected the request itself: the same request would be rejected again."""

    kind = "request_rejected"
    untaken: tuple[str, ...] = ()
    """Parameters of the request that the server does not take: without them it may answer."""


class LLMTimeoutError(LLMError, TimeoutError):
    """No response within the time allowed."""

    kind = "timeout"


class LLMLostError(LLMTimeoutError):
    """The process that made the call never reported back: it may have been answered, and paid."""

    kind = "lost"


class LLMRateLimitError(LLMError):
    """The provider refused for too many requests."""

    kind = "rate_limit"


class LLMOutputError(LLMError):
    """The provider answered, with what cannot be used: most often its contract refuses it.

    `violations` are pairs of JSON Pointer and message, `excerpt` is the place in the response,
    at most 200 characters and safe on a terminal.
    """

    kind = "output_error"

    def __init__(
        self, message: str, *, violations: tuple[Violation, ...] = (), excerpt: str = ""
    ) -> None:
        super().__init__(message)
        self.violations = violations
        self.excerpt = excerpt


class LLMUnfinishedError(LLMOutputError, ReportedCall):
    """What was received is not the whole of a response; it is kept as far as it is short.

    Root of a cut-off and of a refused response.
    """

    def __init__(self, message: str, *, received: str = "", **said: str | int | None) -> None:
        super().__init__(message, excerpt=received[:200])
        self.received = received
        vars(self).update(said)


class LLMTruncatedError(LLMUnfinishedError):
    """The response was cut off at a limit of tokens."""

    kind = "truncated"


class LLMRefusedError(LLMUnfinishedError):
    """The model, or a filter around it, refused to answer."""

    kind = "refused"


class InvalidJSONError(LLMOutputError, ValueError):
    """The response holds no JSON value, a damaged one, or one that is not strict JSON."""

    kind = "invalid_json"


class SchemaViolationError(LLMOutputError):
    """The value does not meet the schema or the checks of its contract."""

    kind = "schema_violation"


class CodeInOutputError(LLMOutputError):
    """A value or a key is source code, where the contract asks for a plan."""

    kind = "code_in_output"


class MultipleArtifactsError(LLMOutputError):
    """The response holds more than one JSON value."""

    kind = "multiple_artifacts"


class ExplanatoryTextError(LLMOutputError):
    """There is text around the value, where the contract refuses it."""

    kind = "explanatory_text"


class LLMDeclinedError(LLMError):
    """The model answered, and not what was asked for; `details` is what it says of that."""

    def __init__(self, message: str, *, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class LLMMissingInformationError(LLMDeclinedError):
    """The model answered that it lacks information; `details` says which, in its words."""

    kind = "missing_information"


class LLMInvalidRequestError(LLMDeclinedError):
    """The model answered that the request is wrong; `details` says how, in its words."""

    kind = "invalid_request"


class Notice(msgspec.Struct, frozen=True):
    """A warning; advice that names a command is its reader's to add."""

    code: str
    """Stable, in snake case: what happened."""
    text: str
    """The same in words."""
    fields: dict[str, Any] = {}
    """The values that the text names, to word it again."""
