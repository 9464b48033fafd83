"""Calls on their way into the log: freed of secrets, brought to their session, appended in groups.

A call has the id of its source, else one made from what it says, keyed by the log: a second import
of the same file adds nothing, also after an erasure, and a longer one goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, Final, NamedTuple

import msgspec

from preflights_es.features.calls.cleaning import (
    CallCleaner,
    CleanedCall,
    describe_left_out,
    digest_kept_turns,
    digest_request,
)
from preflights_es.features.calls.domain import WORKFLOW, dialects
from preflights_es.features.calls.domain.calls import AnsweredCalls, join_calls
from preflights_es.features.calls.domain.events import (
    ABOUT_MAX,
    CALL_MAX,
    CALLS_MAX,
    SESSION_MAX,
    SOURCE_MAX,
    CallRecorded,
    CallsMissed,
    CallsOpened,
    CallSource,
    RecordedAnswer,
    RecordedRequest,
)
from preflights_es.features.calls.source_calls import SourceCall, UnreadLine
from preflights_es.kernel import __version__, ids
from preflights_es.kernel.errors import (
    Conflict,
    DuplicateInput,
    Refused,
    StoreUnavailable,
    UnwritableEvent,
)
from preflights_es.kernel.events import Input
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.session import begin
from preflights_es.kernel.text import NAME_MAX, one_line, shortened
from preflights_es.runtime.runner import CONFLICTS_MAX, Handle, InputGroup, Runner
from preflights_es.use.request import Request

TOGETHER: Final = 500  # calls of one transaction
TOGETHER_BYTES: Final = 8_000_000  # of one transaction
SORTED: Final = 5_000  # calls that are put in order of time before they are taken
SORTED_BYTES: Final = 64_000_000
OPEN_MAX: Final = 2_000  # conversations that are held at once
TOO_BUSY: Final = f"the log is too busy: {CONFLICTS_MAX} tries failed"
UNREAD_MAX: Final = 20  # lines that are named one by one
ABOUT_READ: Final = 10_000  # characters of the first turn


class TakenCounts(msgspec.Struct):
    """What became of the calls of a source."""

    added: int = 0
    present: int = 0
    """They were in the log."""
    elsewhere: int = 0
    """They are in the log in a session of another name."""
    unread: int = 0
    """Lines that hold no call that can be read, or another one than the log has with its id."""
    unread_lines: list[UnreadLine] = []
    """The first of them."""
    erased: int = 0
    """Their session was erased: they stay out."""
    new_sessions: int = 0
    sessions: set[str] = msgspec.field(default_factory=set)
    """That calls were added to."""
    refused: Counter[str] = msgspec.field(default_factory=Counter)
    """Calls that could not be recorded, by the reason."""
    redacted: Counter[str] = msgspec.field(default_factory=Counter)
    """Of secrets that were taken out."""
    left_out: int = 0
    """Requests and answers that are too large to keep."""

    def add_unread(self, line: UnreadLine) -> None:
        """Count one more, and keep it where it is among the first."""
        self.unread += 1
        if len(self.unread_lines) < UNREAD_MAX:
            self.unread_lines.append(line)


# 1. The sessions that they belong to ---------------------------------------------------------


class WaitingInput(NamedTuple):
    """An Input that is recorded with the next transaction."""

    new: Input
    id: str
    call: CleanedCall | None = None
    """None of the Input that opens a session, or says what it lacks."""


class OpenConversation:
    """A session that calls are brought to, and what waits to be recorded in it."""

    def __init__(self, handle: Handle, turns: Iterable[Sequence[str]] = ()) -> None:
        self.handle = handle
        self.calls = 0
        self._nodes: dict[tuple[int, str], int] = {}
        """A tree of the turns of its calls: the number of a node, by its parent and its turn."""
        self._latest: dict[int, int] = {}
        """By node, the number of the latest call whose turns lead there."""
        for one in turns:
            self.add_call(one)
        self.size: int = handle.session.state.size
        self.waiting: list[WaitingInput] = []

    def has_room(self, size: int) -> bool:
        """Whether one more call fits."""
        return self.calls < CALLS_MAX and self.size + size <= SESSION_MAX

    def add_call(self, turns: Sequence[str]) -> None:
        """Hold one more call, by the digests of its turns."""
        self.calls += 1
        node = 0
        for turn in turns:
            node = self._nodes.setdefault((node, turn), len(self._nodes) + 1)
            self._latest[node] = self.calls

    def find_likest(self, turns: Sequence[str]) -> tuple[int, int]:
        """The number of the call with which most first turns are shared, and how many; 0 and 0."""
        node = like = shared = 0
        for turn in turns:
            if (node := self._nodes.get((node, turn), 0)) == 0:
                break
            like, shared = self._latest[node], shared + 1
        return like, shared


class _KnownCall(NamedTuple):
    """What tells a call of the log from another one with its id."""

    digest: str
    answer: int
    """A hash, as all that is held of many sessions."""
    made_at: int | None
    is_changed: bool
    """Whether something was taken out, or left out."""


class Intake:
    """Takes calls into the log."""

    def __init__(self, request: Request, file: str, source: CallSource) -> None:
        process = request.process
        self._runner: Runner = process.runner
        self._project = process.project
        self._actor = request.actor
        self._source = source
        self._file = file
        self._cleaner = CallCleaner(process.log_id(), source, process.settings.redact_calls)
        self.counts = TakenCounts()
        self._session_of: dict[str, str] = {}
        """Ids of sessions, by the name that the source has for a conversation."""
        self._answered = AnsweredCalls()
        self._known: dict[str, dict[str, _KnownCall]] = {}
        """By session and id, calls of the log that come once more."""
        self._open: dict[str, OpenConversation] = {}
        """By session, the latest last."""
        self._waiting = self._waiting_bytes = 0
        self._newest_id = ""

    def take(
        self, calls: Iterable[SourceCall | UnreadLine], told: Callable[[int], object]
    ) -> TakenCounts:
        """Record the calls of a source; in order of time, as far as they can be held at once.

        Args:
            told: takes how many characters of request and answer are done.
        """
        self.counts = TakenCounts()
        held: list[tuple[SourceCall, int]] = []
        size = 0
        for call in calls:
            if isinstance(call, UnreadLine):
                self.counts.add_unread(call)
                continue
            held.append((call, len(call.answer) + len(canonical_json(call.request))))
            size += held[-1][1]
            if len(held) >= SORTED or size >= SORTED_BYTES:
                self._take_sorted(held, told)
                held, size = [], 0
        self._take_sorted(held, told)
        self._flush()
        return self.counts

    def count_missed(self, session: str, missed: CallsMissed) -> None:
        """Record, once for a conversation, that calls of it are missing."""
        input_id = self._cleaner.name("missed", session)
        nothing = self._cleaner.clean(SourceCall(line=0, session=session, request={}), "")
        for _ in range(CONFLICTS_MAX):
            if self._runner.store.session_of_input(input_id) is not None:
                return
            if (conversation := self._conversation_of(nothing)) is None:
                return
            conversation.waiting.append(WaitingInput(missed, input_id))
            self._flush()
        raise StoreUnavailable(TOO_BUSY)

    def _take_sorted(
        self, held: list[tuple[SourceCall, int]], told: Callable[[int], object]
    ) -> None:
        if all(call.at is not None for call, _ in held):
            held.sort(key=lambda one: one[0].at or 0)
        for call, size in held:
            self._take_one(call)
            told(size)

    def _take_one(self, source: SourceCall) -> None:
        input_id = self._cleaner.name_call(source)
        if self._is_present(source, input_id):
            return
        try:
            call = self._cleaner.clean(source, input_id)
        except Refused as error:
            self.counts.refused[one_line(str(error))] += 1
            return
        self._bring(call)
        if self._waiting >= TOGETHER or self._waiting_bytes >= TOGETHER_BYTES:
            self._flush()

    def _is_present(self, source: SourceCall, input_id: str) -> bool:
        """Whether the log has a call with this id; it is counted then."""
        found = self._runner.store.session_of_input(input_id)
        if found is not None:
            self._count_present(source, input_id, found)
            if not source.session:
                self._add_answered(source, found)
        return found is not None

    def _bring(self, call: CleanedCall) -> OpenConversation | None:
        """The session in which the call waits; None where it was erased."""
        conversation = self._conversation_of(call)
        if conversation is None:
            self.counts.erased += 1
        else:
            self._add_waiting(conversation, call)
        return conversation

    def _count_present(self, source: SourceCall, input_id: str, session_id: str) -> None:
        """A call whose id is in the log: as this call, or as another one."""
        known = self._known.get(session_id)
        if known is None or (known and input_id not in known):
            if len(self._known) >= OPEN_MAX:
                self._known.clear()
            known = self._known[session_id] = self._read_known(session_id)
        if (before := known.get(input_id)) is None:
            self.counts.erased += 1
            return
        if source.session and not (source.id or self._is_of(session_id, source.session)):
            self.counts.elsewhere += 1
            return
        if not source.id or self._is_known(source, before):
            self.counts.present += 1
            return
        named = self._cleaner.clean_label(source.id, NAME_MAX)
        self.counts.add_unread(
            UnreadLine(source.line, f"the log has another call with its id {named!r}")
        )

    def _is_of(self, session_id: str, name: str) -> bool:
        """Whether a session is of the conversation that its source calls so."""
        for part in count(1):
            input_id = self._cleaner.name("conversation", f"{name}\0{part}")
            found = self._runner.store.session_of_input(input_id)
            if found in (None, session_id):
                return found is not None
        return False

    def _read_known(self, session_id: str) -> dict[str, _KnownCall]:
        """The calls of a session, by their id; none where it was erased."""
        codec = self._runner.codec(WORKFLOW)
        stored = [one for one in self._runner.store.read(session_id) if one.data is not None]
        events = ((one.input_id, codec.decode(one)) for one in stored if one.input_id)
        return {
            id_: _KnownCall(
                digest=one.request.digest,
                answer=hash(one.answer.text),
                made_at=one.made_at,
                is_changed=bool(one.taken_out or one.left_out),
            )
            for id_, one in events
            if isinstance(one, CallRecorded)
        }

    def _is_known(self, source: SourceCall, before: _KnownCall) -> bool:
        """What was redacted by other rules, or left out, is known by its time."""
        if before.is_changed and source.at == before.made_at is not None:
            return True
        method, path = self._cleaner.clean_address(source)
        for request, answer in (
            (source.request, source.answer),
            self._cleaner.clean(source, "")[2:4],
        ):
            digest = digest_request(method, path, canonical_json(request))
            if (digest, hash(answer)) == before[:2]:
                return True
        return False

    # 2. Which session ------------------------------------------------------------------------

    def _conversation_of(self, call: CleanedCall) -> OpenConversation | None:
        """The session of a call; None where it was erased."""
        if name := call.source.session:
            for part in count(1):
                found = self._named_conversation(call, f"{name}\0{part}")
                if found is None or found.has_room(call.size):
                    return found
        earlier = self._answered.find_earlier(call.source.request)
        # One that was begun here may not be recorded.
        if earlier and (earlier in self._open or self._runner.store.head(earlier)):
            found = self._opened(earlier)
            if found is None or found.has_room(call.size):
                return found
        return self._begin(call, self._cleaner.name("opening", call.input_id))

    def _named_conversation(self, call: CleanedCall, name: str) -> OpenConversation | None:
        """The session of a conversation that its source names; begun where there is none."""
        input_id = self._cleaner.name("conversation", name)
        session_id = self._session_of.get(name)
        if session_id not in self._open:
            session_id = self._runner.store.session_of_input(input_id)
        found = self._opened(session_id) if session_id else self._begin(call, input_id)
        if found is not None:
            self._session_of[name] = found.handle.session_id
        return found

    def _opened(self, session_id: str) -> OpenConversation | None:
        """A session of the log that goes on; None where it was erased."""
        if session_id in self._open:
            return self._open[session_id]
        handle = self._runner.load(session_id)
        if handle.session.closed:
            return None
        codec = self._runner.codec(handle.workflow)
        whole = join_calls(map(codec.decode, self._runner.store.read(session_id)))
        found = OpenConversation(handle, (digest_kept_turns(one.request) for one in whole))
        self._open[session_id] = found
        return found

    def _begin(self, call: CleanedCall, input_id: str) -> OpenConversation:
        made = ids.keep_id_ascending(self._runner.new_id(), self._newest_id or self._newest())
        self._newest_id = made
        handle = Handle(made, self._project, WORKFLOW, begin(WORKFLOW.decider))
        found = self._open[made] = OpenConversation(handle)
        source, cleaner = call.source, self._cleaner
        new = CallsOpened(
            at=self._runner.now(),
            actor=self._actor,
            source=self._source,
            file=cleaner.clean_words(self._file, SOURCE_MAX),
            conversation=cleaner.clean_label(source.session, NAME_MAX),
            about=shortened(one_line(_first_words(call.request)[:ABOUT_READ]), ABOUT_MAX),
            program=__version__,
        )
        found.waiting.append(WaitingInput(new, input_id))
        return found

    def _newest(self) -> str:
        newest = self._runner.store.heads(self._project, 1)
        return newest[0].session_id if newest else ""

    # 3. Recording ----------------------------------------------------------------------------

    def _add_waiting(self, conversation: OpenConversation, call: CleanedCall) -> None:
        new = self._build_input(conversation, call)
        size = len(new.request.body.encode()) + len(new.answer.text.encode())
        conversation.add_call(call.turns if new.request.body else ())
        conversation.size += size
        conversation.waiting.append(WaitingInput(new, call.input_id, call))
        self._waiting += 1
        self._waiting_bytes += size
        if not call.source.session:
            self._add_answered(call.source, conversation.handle.session_id)

    def _add_answered(self, call: SourceCall, session_id: str) -> None:
        dialect = dialects.recognize_dialect(call.path, call.request)
        answer = dialects.read_answer(dialect, call.content_type, call.answer)
        self._answered.add(call.request, answer, session_id)

    def _build_input(self, conversation: OpenConversation, call: CleanedCall) -> CallRecorded:
        source, cleaner = call.source, self._cleaner
        like, keeps = conversation.find_likest(call.turns)
        whole = canonical_json(call.request)
        body = canonical_json(dialects.split_request(call.request, keeps)) if keeps else whole
        answer = call.answer
        left_out = [*source.left_out, *([call.left_out] if call.left_out else [])]
        if any(one.part == "request" for one in source.left_out):
            body, like, keeps = b"", 0, 0
        if len(body) > CALL_MAX:
            left_out.append(describe_left_out("request", whole, "application/json"))
            body, like, keeps = b"", 0, 0
        if len(body) + len(answer.encode()) > CALL_MAX:
            left_out.append(describe_left_out("answer", answer.encode(), source.content_type))
            answer = ""
        method, path = cleaner.clean_address(source)
        is_unchanged = answer == source.answer
        return CallRecorded(
            at=self._runner.now(),
            actor=self._actor,
            made_at=source.at,
            request=RecordedRequest(
                route=cleaner.clean_label(source.route, NAME_MAX),
                method=method,
                path=path,
                headers=tuple(cleaner.clean_headers(source.headers)),
                like=like,
                keeps=keeps,
                body=body.decode(),
                digest=digest_request(method, path, whole),
                users=call.users,
            ),
            answer=RecordedAnswer(
                status=source.status,
                type=cleaner.clean_label(source.content_type, NAME_MAX),
                text=answer,
                ended=cleaner.clean_words(source.ended, NAME_MAX),
                cuts=source.cuts if is_unchanged else (),
                gaps_ms=source.gaps_ms if is_unchanged else (),
            ),
            left_out=tuple(left_out),
            taken_out=call.kinds,
        )

    def _flush(self) -> None:
        """Record what waits in one transaction; one by one where that fails."""
        waiting = [one for one in self._open.values() if one.waiting]
        try:
            self._record(waiting)
        except (Conflict, DuplicateInput, UnwritableEvent):
            for one in waiting:
                del self._open[one.handle.session_id]
            for call in (inner.call for one in waiting for inner in one.waiting):
                if call is not None:
                    self._record_alone(call)
        for session_id in [*self._open][:-OPEN_MAX]:
            del self._open[session_id]

    def _record(self, waiting: Sequence[OpenConversation]) -> None:
        self._waiting = self._waiting_bytes = 0
        groups = [InputGroup(c.handle, tuple((w.new, w.id) for w in c.waiting)) for c in waiting]
        after = self._runner.submit_groups(groups) if groups else ()
        for one, handle in zip(waiting, after, strict=True):
            self._count_recorded(one, handle)
            one.waiting.clear()

    def _record_alone(self, call: CleanedCall) -> None:
        """Another process takes in the same calls, two have one id, or one cannot be written.

        What a call shares with those before it depends on what of them is recorded: it is brought
        anew to its session, as that stands. A session is opened with a call or not at all.
        """
        for _ in range(CONFLICTS_MAX):
            if self._is_present(call.source, call.input_id):
                return
            if (conversation := self._bring(call)) is None:
                return
            try:
                self._record([conversation])
            except (Conflict, DuplicateInput):
                del self._open[conversation.handle.session_id]
            except UnwritableEvent as error:
                del self._open[conversation.handle.session_id]
                self.counts.refused[one_line(str(error))] += 1
                return
            else:
                return
        raise StoreUnavailable(TOO_BUSY)

    def _count_recorded(self, conversation: OpenConversation, handle: Handle) -> None:
        before, after = conversation.handle.session, handle.session
        recorded = after.state.calls[len(before.state.calls) :]
        calls = [one.call for one in conversation.waiting if one.call is not None]
        assert len(recorded) >= len(calls), "there was room for each"
        self.counts.added += len(calls)
        self.counts.sessions.add(handle.session_id)
        self.counts.new_sessions += before.version == 0
        self.counts.left_out += sum(
            len(one.new.left_out)
            for one in conversation.waiting
            if isinstance(one.new, CallRecorded)
        )
        for call in calls:
            self.counts.redacted.update(call.kinds)
        conversation.handle = handle


def _first_words(request: Any) -> str:
    words = dialects.words_of_turns(dialects.turns_of_request(request))
    return next((text for role, text in words if role == "user"), words[0][1] if words else "")
