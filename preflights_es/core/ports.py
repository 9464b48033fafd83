"""The outside, as the kernel sees it: a store of opaque events, and a provider of completions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from preflights_es.core.completions import Completion, CompletionRequested


class Draft(msgspec.Struct, frozen=True):
    """An event that is not stored yet."""

    type: str
    data: bytes
    """The canonical JSON of the payload."""
    decider: str
    input_id: str | None = None
    """Set for an Input: unique in the log, chosen before the first try."""
    actor_kind: str | None = None


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be appended to one session."""

    session_id: str
    project: str
    workflow: str
    expected_version: int
    """0 opens the session."""
    expected_hash: bytes
    """Of the head as it was read; empty for a new session."""
    events: tuple[Draft, ...]
    opens: tuple[str, ...] = ()
    """Calls that these events open."""
    closes: tuple[str, ...] = ()
    """Calls that these events answer."""
    number: int | None = None
    """A number of the project that this session takes; no other session can have it."""


class Stored(msgspec.Struct, frozen=True):
    """An event at rest: the envelope, the payload's bytes and the chain (docs/specs/log.md)."""

    session_id: str
    project: str
    workflow: str
    version: int
    type: str
    recorded_at: int
    """Microseconds since 1970 UTC, by the store's clock."""
    input_id: str | None
    actor_kind: str | None
    decider: str
    data: bytes | None
    """None after an erasure."""
    salt: bytes | None
    digest: bytes
    hash: bytes


class Head(msgspec.Struct, frozen=True):
    """Where a session stands."""

    session_id: str
    project: str
    workflow: str
    version: int
    hash: bytes


Claim = Literal["taken", "overdue", "held", "not_open"]
"""What came of claiming a call.

`taken`: it is the owner's, and nobody else has begun it. `overdue`: it is the owner's now, and
whoever had it did not answer in time: it may have been made. `held`: another owner makes it.
"""


class Store(Protocol):
    """Streams of opaque events, one a session; knows no workflow."""

    def append(self, batches: Sequence[Batch]) -> tuple[Head, ...]:
        """Append to several sessions, all or nothing; durable when it returns.

        Raises:
            Conflict: a head is not at the expected version.
            DuplicateInput: an Input's id is in the log already.
            NumberTaken: another session holds the number.
            CommitUnknown: the outcome of the commit is not known.
            StoreUnavailable: the database cannot be written.
        """

    def read(self, session_id: str, after: int = 0) -> tuple[Stored, ...]:
        """A session's events behind a version, in order; empty for an unknown session."""

    def head(self, session_id: str) -> Head | None:
        """Where a session stands, without reading it."""

    def heads(self, project: str | None, limit: int | None = None) -> tuple[Head, ...]:
        """Sessions of a project (of all: None), newest first."""

    def matching(self, typed: str) -> tuple[str, ...]:
        """Ids that begin or end with what was typed, at most a handful."""

    def session_of_input(self, input_id: str) -> str | None:
        """The session that holds an Input; None when no event bears the id."""

    def open_calls(self, project: str) -> tuple[tuple[str, str], ...]:
        """Pairs of session id and call, for every call of the project that is open."""

    def claim(self, session_id: str, call: str, owner: str, now: int, until: int) -> Claim:
        """Take an open call unless another owner's claim holds; times in microseconds."""

    def give_back(self, session_id: str, call: str, owner: str) -> None:
        """Undo the owner's claim: nobody began the call. Nothing where it is another's."""

    def numbers(self, project: str) -> dict[int, str]:
        """The numbers the project has given out, with the session that holds each."""

    def close(self) -> None:
        """Give connections back."""


class Provider(Protocol):
    """Text in, text out; every judgement of the text is the workflow's."""

    async def respond(self, request: CompletionRequested) -> Completion:
        """One response to one request.

        Raises:
            LLMError: no usable response; never anything else for what a provider does.
        """
