"""A recorded session: its Inputs, what is computed anew, and who answers when it runs again."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import (
    Completion,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    get_call_facts,
)
from preflights_es.kernel.errors import LLMError, LLMLostError, LogDamaged
from preflights_es.kernel.events import Event, Input, InputQuarantined, Outcome, ResponseIgnored
from preflights_es.kernel.lead import Lead, setup_of
from preflights_es.kernel.ports import Provider, Stored
from preflights_es.kernel.session import Decider, Session
from preflights_es.providers.base import RecordedProvider, Unanswered, Unrecorded
from preflights_es.redaction import patterns
from preflights_es.redaction.masking import redact, response_redacted
from preflights_es.redaction.patterns import SecretKind
from preflights_es.runtime.performer import open_completion
from preflights_es.runtime.runner import steps
from preflights_es.store.stored_events import Codec, verified
from preflights_es.words.workflow import Workflow, find_known_workflow

T = TypeVar("T")

CACHED: Final = 256  # providers that are kept; sessions of one batch share most of them


class Code(NamedTuple):
    """The providers that are code of ours, as the composition root knows them."""

    generation: Callable[[CompletionRequested, Decider[Any]], str | None]
    """The model by which a request is answered today; None where that is no code of ours."""
    made: Callable[[Lead], Provider]


class Reasking:
    """Asks them, and keeps them from one session to the next."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._made: dict[tuple[str, tuple[tuple[str, str], ...], str | None], Provider] = {}

    def generation(self, request: CompletionRequested, decider: Decider[Any]) -> str | None:
        """The model by which it is answered today; None where that is no code of ours."""
        return self._code.generation(request, decider)

    def again(
        self, request: CompletionRequested, recorded: CompletionReceived | CompletionFailed
    ) -> Outcome:
        """What would be recorded now; time and latency are the recording's."""
        try:
            got = driven(self.provider(request).respond(request))
        except LLMError as error:
            return CompletionFailed(
                at=recorded.at,
                actor=recorded.actor,
                call=recorded.call,
                kind=error.kind,
                message=_redact_as_recorded(str(error), recorded, _freed),
                retry_after_ms=error.retry_after_ms,
                latency_ms=recorded.latency_ms,
            )
        return CompletionReceived(
            at=recorded.at,
            actor=recorded.actor,
            call=recorded.call,
            text=None
            if got.text is None
            else _redact_as_recorded(got.text, recorded, response_redacted),
            text_base64=got.text_base64,
            latency_ms=recorded.latency_ms,
            **get_call_facts(got),
        )

    def provider(self, request: CompletionRequested) -> Provider:
        """The provider of the request, made once a contract: it knows the workflows met so far."""
        key = (request.provider, request.parameters, request.contract)
        if key not in self._made:
            if len(self._made) >= CACHED:
                self._made.clear()
            self._made[key] = self._code.made(Lead(request.provider, request.model, key[1]))
        return self._made[key]


def _freed(text: str, kinds: tuple[SecretKind, ...]) -> str:
    return redact(text, kinds).text


def _redact_as_recorded(
    text: str,
    recorded: CompletionReceived | CompletionFailed,
    redacted: Callable[[str, tuple[SecretKind, ...]], str],
) -> str:
    """As it is recorded already, whichever kinds of secrets went then; else without secrets."""
    known = collect_provider_texts((recorded,))
    if text in known or redacted(text, patterns.KINDS) not in known:
        return text if text in known else redacted(text, patterns.SECRETS)
    return redacted(text, patterns.KINDS)


def collect_provider_texts(events: Iterable[Event]) -> frozenset[str]:
    """What providers said, as it is recorded: it may be older than today's redaction."""
    found: set[str | None] = set()
    for event in events:
        if isinstance(event, CompletionReceived):
            found |= {event.text, event.model, event.stop_reason, event.request_id}
        elif isinstance(event, CompletionFailed):
            found |= {event.message, event.received}
            found |= {event.model, event.stop_reason, event.request_id}
    return frozenset(text for text in found if text)


def is_provider_s(outcome: CompletionReceived | CompletionFailed) -> bool:
    """Whether a provider said it, and not that the call was lost."""
    return isinstance(outcome, CompletionReceived) or outcome.kind != LLMLostError.kind


def driven(asking: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits; an event loop would cost more than it."""
    try:
        asking.send(None)
    except StopIteration as done:
        found: T = done.value
        return found
    asking.close()
    raise AssertionError("a provider of this program waited, which it must not")


class Turn(NamedTuple):
    """An Input, and how the session stood when it came."""

    version: int
    """Of the Input."""
    input: Input
    input_id: str
    decisions: tuple[Event, ...]
    before: Session[Any]
    aside: bool
    """The next Input set it aside: it is not decided."""

    @property
    def is_asking(self) -> bool:
        """Whether a provider was being asked."""
        return open_completion(self.before) is not None

    @property
    def is_late(self) -> bool:
        """Whether it answers a call that was not open any more."""
        return any(isinstance(decision, ResponseIgnored) for decision in self.decisions)

    @property
    def is_provider_s(self) -> bool:
        """Whether it is what came of asking a provider."""
        asked = isinstance(self.input, (CompletionReceived, CompletionFailed))
        return asked and not self.is_late


class Recording(NamedTuple):
    """A whole session."""

    workflow: Workflow[Any]
    stored: tuple[Stored, ...]
    events: tuple[Event, ...]
    turns: tuple[Turn, ...]
    session: Session[Any]
    """As all of it folds."""

    @property
    def lead(self) -> Lead | None:
        """Who leads the session at its end, or led it before a fallback."""
        setup = setup_of(self.events[0])
        first = setup.lead if setup is not None else None
        return self.workflow.led.lead(self.session.state) or first

    @property
    def lost(self) -> dict[str, str]:
        """By call: what was said of those that were lost."""
        failed = (event for event in self.events if isinstance(event, CompletionFailed))
        return {one.call: one.message for one in failed if one.kind == LLMLostError.kind}

    @property
    def session_id(self) -> str:
        """Of the recorded session; a child in memory has the same."""
        return self.stored[0].session_id


def recording(
    workflows: Mapping[str, Workflow[Any]], stored: Sequence[Stored], head: bytes | None = None
) -> Recording:
    """A session, verified and read.

    Raises:
        LogDamaged: it does not verify, or its events follow no grammar.
        AnotherVersion: a newer version wrote it, or its code cannot read an event.
        WorkflowMissing: its workflow is not here.
        SessionFaulted: `evolve` raises on it.
    """
    if not stored:
        raise LogDamaged("the session", 0, "it has no events")
    workflow = find_known_workflow(workflows, stored[0].workflow)
    verified(stored, head)
    session = kernel.begin(workflow.decider)
    events: list[Event] = []
    begun: list[tuple[int, Input, Session[Any]]] = []
    for event, after in steps(Codec(workflow.decider), stored, session):
        events.append(event)
        if isinstance(event, Input):
            begun.append((len(events), event, session))
        session = after
    turns = []
    ends = [*(version - 1 for version, _, _ in begun[1:]), len(events)]
    for i, ((version, new, before), end) in enumerate(zip(begun, ends, strict=True)):
        next_ = begun[i + 1][1] if i + 1 < len(begun) else None
        aside = end == version and isinstance(next_, InputQuarantined)
        input_id = stored[version - 1].input_id
        assert input_id is not None, "an Input has an id: its place was checked"
        following = tuple(events[version:end])
        turns.append(Turn(version, new, input_id, following, before=before, aside=aside))
    return Recording(workflow, tuple(stored), tuple(events), tuple(turns), session=session)


Models = Callable[[CompletionRequested], Provider]
"""The paid provider that a request names."""

_ATTEMPT = re.compile(r"(?P<step>.+)\.[1-9][0-9]*")


class Answering:
    """Code of ours where it leads; else what was recorded for the same request; else a model."""

    def __init__(
        self, recording: Recording, kept: int, reasking: Reasking, models: Models | None, most: int
    ) -> None:
        """Args:
        kept: events that the child has already; what was said there is not said again.
        most: calls of a model that were announced.
        """
        self.needed: CompletionRequested | None = None
        """What only a model could answer, where none may be asked."""
        self.asked = 0
        """Calls of a model so far."""
        outcomes = (CompletionReceived, CompletionFailed)
        every = enumerate(recording.events, 1)
        later = (one for n, one in every if n > kept or not isinstance(one, outcomes))
        self._recorded = RecordedProvider(later, by_call=False)
        self._workflow = recording.workflow
        self._reasking = reasking
        self._models = models
        self._most = most

    async def respond(self, request: CompletionRequested) -> Completion:
        """One response.

        Raises:
            LLMError: as the provider that answers.
            Unanswered: no provider may answer.
        """
        if self._reasking.generation(request, self._workflow.decider) is not None:
            return await self._reasking.provider(request).respond(request)
        try:
            return await self._recorded.respond(request)
        except Unrecorded:
            if self._models is None:
                self.needed = request
                raise
        if self.asked >= self._most:
            raise Unanswered(request, f"{self._most} calls were announced, and have been made")
        self.asked += 1
        return await self._models(request).respond(request)


def step_of(call: str) -> str:
    """`clarify-1` for `clarify-1.2`; a call without an attempt is its own step."""
    found = _ATTEMPT.fullmatch(call)
    return found["step"] if found else call
