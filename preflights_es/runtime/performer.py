"""Performing a call: claim it, ask the provider, make the Outcome.

The only `await` on a provider stands here. A call that was begun counts, whatever becomes of the
process that began it: it may have been paid (docs/decisions/0005).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Awaitable, Callable, Container, Iterator
from typing import Any, Final

import msgspec

from preflights_es.kernel.completions import (
    Completion,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    get_call_facts,
)
from preflights_es.kernel.errors import (
    CallHeld,
    LLMError,
    LLMLostError,
    LLMRequestRejectedError,
    ReportedCall,
    StoreError,
)
from preflights_es.kernel.events import Actor, Outcome
from preflights_es.kernel.ids import iso
from preflights_es.kernel.ports import Claim, Provider, Store
from preflights_es.kernel.session import Session
from preflights_es.redaction.patterns import SECRETS, SecretKind

CALL_MS: Final = 60_000  # what a call may take where the provider does not tell its `timeout_s`
MARGIN_MS: Final = 15_000  # beyond the call: a recording may wait as long for the log (log.md, 10)
CLAIM_MAX_MS: Final = 600_000  # of a claim, whatever a provider tells

PROGRAM: Final = Actor("script")
LOST: Final = "the process that made this call never reported back"


class Performed(msgspec.Struct, frozen=True):
    """An Outcome and the id under which it is recorded, however often that is tried."""

    outcome: Outcome
    input_id: str


class Performer:
    """Makes the calls of one process, each at most once; any of its threads may ask.

    A call is under way from `performed` to the end of `recording`: one task has it, and the others
    are refused. What could not be recorded is handed to the next task, which has the call then.
    """

    def __init__(
        self,
        store: Store,
        owner: str,
        now: Callable[[], int],
        new_id: Callable[[], str],
        sleep: Callable[[float], Awaitable[None]] | None,
        recorded_as_is: Container[str] = (),
        kinds: tuple[SecretKind, ...] = SECRETS,
    ) -> None:
        """Args:
        recorded_as_is: what a recording holds already; a rerun records it unchanged.
        kinds: of secrets that go from what a provider says.
        """
        self._kinds = kinds
        self._store = store
        self._owner = owner
        self._now = now
        self._new_id = new_id
        self._sleep = sleep
        self._recorded_as_is = recorded_as_is
        self._lock = threading.Lock()
        self._under_way: set[tuple[str, str]] = set()
        """By session and call."""
        self._unrecorded: dict[tuple[str, str], Performed] = {}
        """What came of a call where recording it failed; no task has the call now."""

    async def performed(
        self, session_id: str, request: CompletionRequested, provider: Provider
    ) -> Performed | None:
        """What came of a call, to be recorded within `recording`; None where it is open no more.

        Raises:
            CallHeld: another process, or another task of this one, has the call.
        """
        key = (session_id, request.call)
        with self._lock:
            if key in self._under_way:  # by another task of this process, whose owner is the same
                raise _build_held_error(session_id, request)
            self._under_way.add(key)
            made = self._unrecorded.pop(key, None)
        if made is not None:
            return made
        outcome = None
        try:
            outcome = await self._outcome(session_id, request, provider)
        finally:
            if outcome is None:  # also where Ctrl-C ended it: the call is free again
                self._free(key)
        return None if outcome is None else Performed(outcome, self._new_id())

    def unrecorded(self, session_id: str) -> Performed | None:
        """What came of one of a session's calls and is not in the log, because the log failed.

        It is to be recorded within `recording`.
        """
        with self._lock:
            for key in self._unrecorded:
                if key[0] == session_id:
                    self._under_way.add(key)
                    return self._unrecorded.pop(key)
        return None

    @contextlib.contextmanager
    def recording(self, session_id: str, made: Performed) -> Iterator[None]:
        """While this runs, its task records what came of a call; it is kept where that fails."""
        key = (session_id, made.outcome.call)
        try:
            yield
        except BaseException:  # also Ctrl-C: what was paid for is recorded later; raised on
            self._free(key, made)
            raise
        self._free(key)

    def _free(self, key: tuple[str, str], unrecorded: Performed | None = None) -> None:
        with self._lock:
            self._under_way.discard(key)
            if unrecorded is not None:
                self._unrecorded[key] = unrecorded

    async def _outcome(
        self, session_id: str, request: CompletionRequested, provider: Provider
    ) -> Outcome | None:
        until_ms = claim_ms(request, provider)
        claim = self._claim(session_id, request.call, until_ms)
        if claim == "taken" and request.wait_ms and self._sleep is not None:
            try:
                await self._sleep(request.wait_ms / 1_000)
            except BaseException:  # also Ctrl-C; raised on
                # The provider was not asked yet: the call is as it was before.
                with contextlib.suppress(StoreError):
                    self._store.give_back(session_id, request.call, self._owner)
                raise
            # Once more: while this machine slept, another process may have claimed it.
            claim = self._claim(session_id, request.call, until_ms)
        match claim:
            case "taken":
                return await self._asked(session_id, request, provider)
            case "overdue":
                return self._failed(request, LLMLostError(LOST), None)
            case "held":
                until = self._store.claimed_until(session_id, request.call)
                # An end that no claim of ours can have was written by another program.
                is_ours = until <= self._now() + CLAIM_MAX_MS * 1_000
                raise _build_held_error(session_id, request, until if is_ours else 0)
            case "not_open":
                return None

    async def _asked(
        self, session_id: str, request: CompletionRequested, provider: Provider
    ) -> Outcome:
        began = self._now()
        try:
            got = await provider.respond(request)
        except LLMError as error:
            return self._failed(request, error, self._since_ms(began))
        except BaseException:  # also Ctrl-C and a bug of ours; raised on
            # The call may have been paid: it counts, and a resuming process need not wait for it.
            with contextlib.suppress(StoreError):
                self._claim(session_id, request.call, 0)
            raise
        said = None if got.text is None else self._safe(got.text, _redact_response_text)
        text, raw = _valid(said)
        return CompletionReceived(
            at=self._now(),
            actor=PROGRAM,
            call=request.call,
            text=text,
            text_base64=got.text_base64 or raw,
            latency_ms=self._since_ms(began),
            **self._safe_facts(got),
        )

    def _failed(
        self, request: CompletionRequested, error: LLMError, latency_ms: int | None
    ) -> CompletionFailed:
        failed = CompletionFailed(
            at=self._now(),
            actor=PROGRAM,
            call=request.call,
            kind=error.kind,
            message=self._safe(_spell_out_surrogates(str(error)), _redacted),
            retry_after_ms=error.retry_after_ms,
            latency_ms=latency_ms,
        )
        if isinstance(error, LLMRequestRejectedError) and error.untaken:
            return msgspec.structs.replace(failed, untaken=error.untaken)
        if not isinstance(error, ReportedCall):
            return failed
        return msgspec.structs.replace(
            failed,
            received=self._safe(_spell_out_surrogates(error.received), _cut_off),
            **self._safe_facts(error),
        )

    def _safe_facts(self, said: Completion | ReportedCall) -> dict[str, Any]:
        return {
            name: self._safe(_spell_out_surrogates(fact), _redact_response_label)
            if isinstance(fact, str)
            else fact
            for name, fact in get_call_facts(said).items()
        }

    def _safe(self, text: str, redacted: Redacting) -> str:
        return text if text in self._recorded_as_is else redacted(text, self._kinds)

    def _since_ms(self, began: int) -> int:
        """0 where the clock stepped back meanwhile."""
        return max(0, self._now() - began) // 1_000

    def _claim(self, session_id: str, call: str, for_ms: int) -> Claim:
        now = self._now()
        until = now + for_ms * 1_000
        return self._store.claim(session_id, call, self._owner, now=now, until=until)


def open_completion(session: Session[Any]) -> CompletionRequested | None:
    """The call that a session waits for; the oldest where there are several."""
    return next((call for call in session.calls if isinstance(call, CompletionRequested)), None)


def claim_ms(request: CompletionRequested, provider: Provider) -> int:
    """Milliseconds that a call may take before its performer counts as dead.

    Source: docs/decisions/0005.
    """
    # Not part of the port: a provider written for a test need not have it.
    told: float | None = getattr(provider, "timeout_s", None)
    call_ms = CALL_MS if told is None else int(told * 1_000)
    return min(request.wait_ms + call_ms + MARGIN_MS, CLAIM_MAX_MS)


def _build_held_error(session_id: str, request: CompletionRequested, until: int = 0) -> CallHeld:
    """Args:
    until: when the claim ends; 0 where that is not known.
    """
    at = f"{iso(until)[11:19]} UTC" if until else ""
    return CallHeld(session_id, request.provider, request.model, at)


def _valid(text: str | None) -> tuple[str | None, str | None]:
    """The text, or its bytes in base64 where a lone surrogate keeps it from being UTF-8."""
    if text is None:
        return None, None
    try:
        text.encode()
    except UnicodeEncodeError:
        import base64

        raw = text.encode("utf-8", "surrogatepass")
        return None, base64.b64encode(raw).decode()
    return text, None


# Redaction is imported where a call was made: reading a session needs none of it.


Redacting = Callable[[str, tuple[SecretKind, ...]], str]


def _redact_response_text(text: str, kinds: tuple[SecretKind, ...]) -> str:
    from preflights_es.redaction.masking import response_redacted

    return response_redacted(text, kinds)


def _redact_response_label(text: str, kinds: tuple[SecretKind, ...]) -> str:
    from preflights_es.redaction.masking import label_redacted

    return label_redacted(text, kinds)


def _redacted(text: str, kinds: tuple[SecretKind, ...]) -> str:
    from preflights_es.redaction.masking import redact_hidden

    return redact_hidden(text, kinds).text


def _cut_off(text: str, kinds: tuple[SecretKind, ...]) -> str:
    """A response that is no answer: it decides nothing, so that every kind of secret goes."""
    return _redacted(_redact_response_text(text, kinds), kinds)


def _spell_out_surrogates(text: str) -> str:
    """The text with lone surrogates spelled out: what was paid for must not be lost for a name."""
    return text.encode("utf-8", "backslashreplace").decode()
