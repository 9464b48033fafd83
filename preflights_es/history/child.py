"""A session run again in memory, and where it first differs from the recorded one."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from preflights_es.history.recording import Recording, Turn, collect_provider_texts
from preflights_es.kernel import ids
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import SessionFaulted, WorkflowBug
from preflights_es.kernel.events import Decision, Input, InputIgnored, InputQuarantined, Outcome
from preflights_es.kernel.json import ABSENT, decode_plain_json, decoder, differences
from preflights_es.kernel.lead import StepRetried
from preflights_es.kernel.ports import AppendBatch, Provider, Stored
from preflights_es.kernel.session import Session
from preflights_es.providers.base import Unanswered
from preflights_es.runtime.performer import Performer, open_completion
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.store.stored_events import (
    GENESIS,
    digest_payload,
    hash_event_link,
    stream_prefix,
)
from preflights_es.words.event_names import pointer_in_words
from preflights_es.words.questions import Question, Refusal
from preflights_es.words.workflow import Workflow, is_stalled

ABSENT_TEXT = "(absent)"

_request = decoder(CompletionRequested)


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """One value that today's code decides differently."""

    version: int
    """Of the event, in the session."""
    type: str
    """Of the event: as recorded, or as computed where nothing was recorded there."""
    pointer: str
    """JSON Pointer into the payload; empty for the event as a whole."""
    place: str
    """The same in words, as in `setup, prompt clarify`."""
    recorded: Any
    computed: Any
    cause: str = ""
    """Of a request, what changed, as in `prompt clarify.v1 changed`; of a response, who answers
    otherwise; empty where the values say all."""


Encoded = tuple[str, bytes]
"""Tag and canonical payload of an event."""


def find_event_divergences(
    version: int, recorded: Encoded | None, computed: Encoded | None, cause: str = ""
) -> list[Divergence]:
    """Every value in which two events at one place differ; an absent event is None.

    Args:
        cause: of all of them; of a request it is found here.
    """
    if recorded is None or computed is None or recorded[0] != computed[0]:
        tag = (recorded or computed or ("", b""))[0]
        return [
            Divergence(
                version=version,
                type=tag,
                pointer="",
                place=pointer_in_words(""),
                recorded=_show_whole_event(recorded),
                computed=_show_whole_event(computed),
                cause=cause,
            )
        ]
    payloads = decode_plain_json(recorded[1]), decode_plain_json(computed[1])
    found = list(differences(*payloads))
    if found and not cause and recorded[0] == CompletionRequested.tag:
        cause = _cause(recorded[1], computed[1])
    return [
        Divergence(
            version=version,
            type=recorded[0],
            pointer=pointer,
            place=pointer_in_words(pointer, *_payloads_with(payloads, a, b)),
            recorded=show_absent_value(a),
            computed=show_absent_value(b),
            cause=cause,
        )
        for pointer, a, b in found
    ]


def _payloads_with(payloads: tuple[Any, Any], a: Any, b: Any) -> tuple[Any, ...]:
    """The payloads in which a place is."""
    pairs = zip(payloads, (a, b), strict=True)
    return tuple(payload for payload, found in pairs if found is not ABSENT)


def _cause(recorded: bytes, computed: bytes) -> str:
    try:
        return ", ".join(causes(_request(recorded), _request(computed)))
    except msgspec.DecodeError:
        return ""  # the fold decodes it too, and says what is wrong with it


def _show_whole_event(event: Encoded | None) -> Any:
    return ABSENT_TEXT if event is None else {"type": event[0], "data": decode_plain_json(event[1])}


def show_absent_value(value: Any) -> Any:
    """A value as it is shown, also where there is none."""
    return ABSENT_TEXT if value is ABSENT else value


def trace(events: Sequence[Encoded]) -> str:
    """SHA-256 over type and payload of every event, in hexadecimal."""
    found = sha256()
    for tag, data in events:
        found.update(b"%d:%s%d:" % (len(tag), tag.encode(), len(data)) + data)
    return found.hexdigest()


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Deciding or folding an event raises."""

    version: int
    error: str
    """The exception's type."""
    message: str
    file: str
    line: int
    recorded: bool
    """True when the log itself ends there: the recorded bug, raised again."""


def fault_of(version: int, error: BaseException, *, recorded: bool) -> Fault:
    """An exception, and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    file, line = (last.filename, last.lineno or 0) if last else ("", 0)
    if isinstance(error, WorkflowBug) and error.place[1]:  # what gave it has returned
        file, line = error.place
    return Fault(
        version=version,
        error=type(error).__name__,
        message=str(error),
        file=file,
        line=line,
        recorded=recorded,
    )


Changed = Callable[[Turn, Session[Any]], Awaitable[Input | None]]
"""The Input that a child gets in place of a recorded one; None leaves it out."""


class InputLeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded Input that the child did not get, or did not take."""

    version: int
    """Of the Input, in the recorded session; 0 for one that is new."""
    type: str
    reason: str


class Child:
    """One run of a session, or of what follows a part of it."""

    def __init__(self, recording: Recording, kept: int, provider: Provider, name: str) -> None:
        """Args:
        kept: turns that stay as they are, byte for byte.
        name: the change; children of the same name have the same ids.
        """
        self.recording = recording
        self.provider = provider
        self.left: list[InputLeftOut] = []
        self.stopped = ""
        """Why the child ends before the recording does; empty where it does not."""
        self.fault: Fault | None = None
        self.now = recording.stored[0].recorded_at
        self._name = f"{recording.stored[-1].hash.hex()} {name}"
        self._count = 0
        store = MemoryStore(lambda: self.now, lambda: bytes(ids.SALT_BYTES))
        workflow = recording.workflow
        self.runner = Runner(store, {workflow.name: workflow}, lambda: self.now, self.new_id)
        as_is = collect_provider_texts(recording.events)
        self._performer = Performer(
            store,
            self.runner.owner,
            now=lambda: self.now,
            new_id=self.new_id,
            sleep=None,
            recorded_as_is=as_is,
        )
        self.handle = self._copied(kept)

    def new_id(self) -> str:
        """The next id; it follows from the recording and the child's name."""
        self._count += 1
        drawn = sha256(f"{self._name} {self._count}".encode()).digest()
        return ids.uuid7(self.now // 1_000, drawn[:10])

    @property
    def stored(self) -> tuple[Stored, ...]:
        """The child's events, so far."""
        return self.runner.store.read(self.recording.session_id)

    def questions(self) -> tuple[Question, ...]:
        """What is asked of a person now."""
        return self.handle.view.questions if self.handle.session.version else ()

    def _copied(self, kept: int) -> Handle:
        first, turns = self.recording.stored[0], self.recording.turns
        end = turns[kept].version - 1 if kept < len(turns) else len(self.recording.stored)
        workflow: Workflow[Any] = self.recording.workflow
        if end == 0:
            return Handle(first.session_id, first.project, workflow, kernel.begin(workflow.decider))
        before = turns[kept].before if kept < len(turns) else self.recording.session
        store = self.runner.store
        assert isinstance(store, MemoryStore), "made above"
        calls = sorted(call.call for call in before.calls)
        store.insert(self.recording.stored[:end], open_calls=calls)
        return self.runner.load(first.session_id)

    # 1. Playing ------------------------------------------------------------------------------

    async def play(self, changed: Changed) -> None:
        """The whole recording, and the calls that are open behind it, unless it left them so."""
        await self.run(self._played(changed))

    async def _played(self, changed: Changed) -> None:
        await self.feed(self.recording.turns, changed)
        if open_completion(self.recording.session) is None:
            await self.settle()

    async def run(self, playing: Awaitable[None]) -> None:
        """A play to its end, or to a call that no provider may answer, or to a bug."""
        try:
            await playing
        except SessionFaulted as faulted:
            self.fault = fault_of(faulted.version, faulted.error, recorded=False)
        except Unanswered as unanswered:
            self.stopped = str(unanswered)

    async def feed(self, turns: Sequence[Turn], changed: Changed) -> None:
        """Every turn in its order; a provider is asked where the recording heard of one."""
        for turn in turns:
            self.now = turn.input.at
            await self._turn(turn, changed)

    async def _turn(self, turn: Turn, changed: Changed) -> None:
        if turn.is_provider_s and turn.decisions:
            await self.ask(turn.input)
            return
        if not turn.is_asking:
            await self.settle()
        if turn.aside:
            self._set_aside(turn)
            return
        if not turn.decisions:
            self._leave(turn, "it is undecided: a strict replay says why")
            return
        new = self._fitting(turn, await changed(turn, self.handle.session))
        if new is not None:
            self.submit(turn, new)

    def _fitting(self, turn: Turn, new: Input | None) -> Input | None:
        """The Input, where the session can meet it at all."""
        workflow, session = self.recording.workflow, self.handle.session
        if new is None:
            self._leave(turn, "something else is done in its place")
        elif isinstance(new, Outcome) and not turn.is_late and not _is_call_open(session, new):
            self._leave(turn, f"the call {new.call!r} is not open")
            return None
        elif isinstance(new, StepRetried) and is_stalled(workflow, turn.before):
            if not is_stalled(workflow, session):
                self._leave(turn, "no step waits to be asked again")
                return None
        elif isinstance(new, InputQuarantined) and turn.before.undecided is not None:
            return replace(new, version=session.version)
        return new

    def submit(self, turn: Turn | None, new: Input) -> tuple[Decision, ...]:
        """One Input; what does not count of it is listed, unless it did not count before.

        Args:
            turn: in whose place it stands; None for one that is new.
        """
        input_id = turn.input_id if turn else self.new_id()
        step = self.runner.submit(self.handle, new, input_id)
        self.handle = step.handle
        for decision in step.decisions:
            reason = explain_uncounted_input(decision)
            if reason and not (turn and decision in turn.decisions):
                self._leave(turn, reason, new)
        return step.decisions

    def _set_aside(self, turn: Turn) -> None:
        """An Input that stays undecided, as it was recorded."""
        handle = self.handle
        draft = self.runner.codec(handle.workflow).draft(turn.input, turn.input_id)
        batch = AppendBatch(
            session_id=handle.session_id,
            project=handle.project,
            workflow=handle.workflow.name,
            expected_version=handle.version,
            expected_hash=handle.hash,
            events=(draft,),
        )
        self.runner.store.append([batch])
        self.handle = self.runner.load(handle.session_id)

    def _leave(self, turn: Turn | None, reason: str, new: Input | None = None) -> None:
        version, tag = (turn.version, turn.input.tag) if turn else (0, new.tag if new else "")
        self.left.append(InputLeftOut(version=version, type=tag, reason=reason))

    # 2. Asking -------------------------------------------------------------------------------

    async def ask(self, heard: Input | None = None) -> bool:
        """Make the call that the recording answers next, or the oldest; False without one."""
        calls = self.handle.session.calls
        same = (c for c in calls if isinstance(heard, Outcome) and c.call == heard.call)
        named = (c for c in same if isinstance(c, CompletionRequested))
        request = next(named, None) or open_completion(self.handle.session)
        if request is None:
            return False
        session_id = self.handle.session_id
        made = await self._performer.performed(session_id, request, self.provider)
        assert made is not None, "only this process makes the calls of a store in memory"
        with self._performer.recording(session_id, made):
            self.handle = self.runner.submit(self.handle, made.outcome, made.input_id).handle
        return True

    async def settle(self) -> None:
        """Make every call, until the session waits for a person."""
        while await self.ask():
            pass


def explain_uncounted_input(decision: Decision) -> str:
    """Why an Input does not count; empty where it does."""
    if isinstance(decision, (Refusal, InputIgnored)):
        key = getattr(decision, "key", "")
        reason = getattr(decision, "reason", "")
        return f"{key}: {reason}" if key else str(reason)
    return ""


def _is_call_open(session: Session[Any], outcome: Outcome) -> bool:
    return any(call.call == outcome.call for call in session.calls)


def sealed_as(
    session_id: str, events: Sequence[Stored], salt: Callable[[], bytes]
) -> tuple[Stored, ...]:
    """The same events under another id, salted and chained anew; their payloads stay byte for byte.

    The ids of Inputs stay too: a log that has the recorded session refuses its child.
    """
    first = events[0]
    prefix = stream_prefix(session_id, first.project, first.workflow)
    previous, made = GENESIS, []
    for event in events:
        assert event.data is not None, "what was erased was not run again"
        grain = salt()
        digest = digest_payload(grain, event.data)
        named = replace(event, session_id=session_id, salt=grain, digest=digest)
        previous = hash_event_link(previous, prefix, named)
        made.append(replace(named, hash=previous))
    return tuple(made)


def causes(recorded: CompletionRequested, computed: CompletionRequested) -> tuple[str, ...]:
    """Every part that differs: prompts, provider, model, parameters, contract, messages.

    A prompt's own words are a message too: what the prompt explains is not said twice.
    """

    def changed(*names: str) -> list[str]:
        differing = (n for n in names if getattr(recorded, n) != getattr(computed, n))
        return [f"{name} changed" for name in differing]

    prompts = _prompts(recorded, computed)
    told = [*prompts, *changed("provider", "model"), *_parameters(recorded, computed)]
    told += changed("contract") + _messages(recorded, computed, explained=bool(prompts))
    return (*told, *changed("attempt", "wait_ms"))


def _prompts(recorded: CompletionRequested, computed: CompletionRequested) -> list[str]:
    before, now = dict(recorded.prompts), dict(computed.prompts)
    kept = [id_ for id_ in before if id_ in now]
    told = [f"prompt {id_} changed" for id_ in kept if now[id_] != before[id_]]
    gone = [id_ for id_ in before if id_ not in now]
    new = [id_ for id_ in now if id_ not in before]
    if gone and new:
        return [*told, f"prompt {', '.join(gone)} became {', '.join(new)}"]
    told += [f"prompt {id_} is gone" for id_ in gone]
    return told + [f"prompt {id_} is new" for id_ in new]


def _parameters(recorded: CompletionRequested, computed: CompletionRequested) -> list[str]:
    before, now = dict(recorded.parameters), dict(computed.parameters)
    names = [*before, *(name for name in now if name not in before)]
    return [f"parameter {name} changed" for name in names if before.get(name) != now.get(name)]


def _messages(
    recorded: CompletionRequested, computed: CompletionRequested, *, explained: bool
) -> list[str]:
    """Counted from 1, as people count."""
    before, now = recorded.messages, computed.messages
    found: list[str] = []
    for i in range(max(len(before), len(now))):
        if i >= len(before):
            found.append(f"message {i + 1} is new")
        elif i >= len(now):
            found.append(f"message {i + 1} is gone")
        elif before[i] != now[i] and not (explained and before[i].role == now[i].role == "system"):
            found.append(f"message {i + 1} changed")
    return found
