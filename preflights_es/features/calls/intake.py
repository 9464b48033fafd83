"""Calls on their way into the log: freed of secrets, brought to their session, appended in groups.

A call has the id of its source, else one made from what it says, keyed by the log: a second import
of the same file adds nothing, also after an erasure, and a longer one goes on.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import count, takewhile
from typing import Any, Final, NamedTuple, get_args
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from preflights_es.features.calls.domain import WORKFLOW, dialects
from preflights_es.features.calls.domain.calls import join_calls
from preflights_es.features.calls.domain.dialects import ReadAnswer
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
    LeftOut,
    RecordedAnswer,
    RecordedRequest,
)
from preflights_es.features.calls.source_calls import SourceCall
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
from preflights_es.redaction.answers import redact_answer
from preflights_es.redaction.bodies import redact_body
from preflights_es.redaction.masking import label_redacted, redact_hidden
from preflights_es.redaction.patterns import SECRETS, SecretKind
from preflights_es.runtime.runner import CONFLICTS_MAX, Handle, InputGroup, Runner
from preflights_es.use.process import Process
from preflights_es.use.request import Request

TOGETHER: Final = 500  # calls of one transaction
TOGETHER_BYTES: Final = 8_000_000  # of one transaction
SORTED: Final = 5_000  # calls that are put in order of time before they are taken
SORTED_BYTES: Final = 64_000_000
HEADERS: Final = frozenset(("content-type", "request-id", "x-request-id", "retry-after"))
"""Of a request or an answer that are kept."""
QUERY: Final = frozenset(("api-version", "beta", "limit", "order", "stream"))
"""Keys of a query that are kept."""
INPUT_ID: Final = "calls-"
OPEN_MAX: Final = 2_000  # conversations that are held at once
ANSWERED_MAX: Final = 20_000  # calls without a named conversation that a later one may go on from
FORMS_MAX: Final = 50_000  # turns of which is known what they say
ALIKE_MAX: Final = 50  # of them with the same turns
LABELS_MAX: Final = 1_000  # labels of which is known what is recorded
PATH_MAX: Final = 1_000  # characters
ABOUT_READ: Final = 10_000  # characters of the first turn, whose secrets have gone


class TakenCounts(msgspec.Struct):
    """What became of the calls of a source."""

    added: int = 0
    present: int = 0
    """They were in the log."""
    erased: int = 0
    """Their session was erased: they stay out."""
    new_sessions: int = 0
    sessions: set[str] = msgspec.field(default_factory=set)
    """That calls were added to."""
    refused: Counter[str] = msgspec.field(default_factory=Counter)
    """Calls that could not be recorded, by the reason."""
    kinds: Counter[str] = msgspec.field(default_factory=Counter)
    """Of secrets that were taken out."""
    left_out: int = 0
    """Requests and answers that are too large to keep."""


# 1. One call ---------------------------------------------------------------------------------


class CleanedCall(NamedTuple):
    """A call without its secrets, not yet at its place in a session."""

    source: SourceCall
    input_id: str
    request: Any
    answer: str
    turns: Sequence[str]
    """A digest of each turn, to the last byte; none where no turn can be left to another call."""
    kinds: tuple[str, ...]
    size: int
    left_out: LeftOut | None
    """An answer that is too large by itself."""


class CallCleaner:
    """Frees calls of secrets, and names them, by the rules of one log."""

    def __init__(self, log_id: str, source: CallSource, kinds: Sequence[SecretKind]) -> None:
        self._log_id = log_id
        self._source = source
        self._kinds = (*SECRETS, *kinds)
        self._alike: Counter[bytes] = Counter()
        self._labels: dict[str, str] = {}

    def name(self, what: str, text: str) -> str:
        """The id of an Input, which only this log gives."""
        return name_input(self._log_id, self._source, what, text)

    def name_call(self, call: SourceCall) -> str:
        """The id of its Input."""
        return self.name("call", call.id or self._name_by_content(call))

    def clean(self, call: SourceCall, input_id: str) -> CleanedCall:
        """The call as it may be recorded."""
        request, kinds = call.request, tuple[str, ...]()
        if not any(one.part == "request" for one in call.left_out):  # else it is a hash
            request, kinds = redact_body(request, self._kinds)
        data = call.answer.encode("utf-8", "surrogatepass")
        left_out = None
        if len(data) > CALL_MAX:  # reading a stream of this size takes a hundred times its memory
            left_out = _describe_left_out("answer", data, call.content_type)
            call = msgspec.structs.replace(call, answer="")
        answer, more = redact_answer(call.answer, call.content_type, self._kinds)
        return CleanedCall(
            source=call,
            input_id=input_id,
            request=request,
            answer=answer,
            turns=digest_kept_turns(request),
            kinds=(*kinds, *more),
            # What does not fit is left out.
            size=min(len(canonical_json(request)) + len(answer.encode()), CALL_MAX),
            left_out=left_out,
        )

    def _name_by_content(self, call: SourceCall) -> str:
        """Equal calls without an id of their own are told apart by how many came before."""
        said = msgspec.structs.replace(call, line=0)
        digest = sha256(canonical_json(said)).digest()
        self._alike[digest] += 1
        return f"{digest.hex()} {self._alike[digest]}"

    def clean_address(self, call: SourceCall) -> tuple[str, str]:
        """Method and path, as they are recorded."""
        path = self.clean_label(remove_query_secrets(call.path), PATH_MAX)
        return self.clean_label(call.method, NAME_MAX), path

    def clean_label(self, text: str, limit: int) -> str:
        """An id, a path or a header as it is recorded: one line, no longer than the limit."""
        if (label := self._labels.get(text)) is None:  # most calls of a source share theirs
            if len(self._labels) >= LABELS_MAX:
                self._labels.clear()
            label = self._labels[text] = one_line(label_redacted(text, self._kinds))
        return shortened(label, limit)

    def clean_words(self, text: str, limit: int) -> str:
        """Words of a person, as they are recorded."""
        return shortened(one_line(redact_hidden(text, self._kinds).text), limit)


def digest_request(method: str, path: str, body: bytes) -> str:
    """SHA-256 of method, path and canonical body, in hexadecimal."""
    return sha256(f"{method} {path}\n".encode() + body).hexdigest()


def name_input(log_id: str, source: str, what: str, text: str) -> str:
    """The id of an Input, made from what its source calls it, by the log's own key."""
    named = f"{what}\0{source}\0{text}".encode("utf-8", "surrogatepass")
    return INPUT_ID + hmac.new(log_id.encode(), named, sha256).hexdigest()[:32]


def find_conversation(process: Process, name: str) -> str:
    """The session of a conversation, by the name that its source has for it; empty without one."""
    log_id = process.log_id()
    for source in get_args(CallSource):
        input_id = name_input(log_id, source, "conversation", f"{name}\0{1}")
        if found := process.store.session_of_input(input_id):
            return found
    return ""


def name_user(log_id: str, user: str) -> str:
    """What a log calls a person whom a program served; by the id it is found again."""
    said = f"user\0{user}".encode("utf-8", "surrogatepass")
    return hmac.new(log_id.encode(), said, sha256).hexdigest()[:32]


def digest_kept_turns(request: Any) -> list[str]:
    """Of each turn that an earlier call may hold; an input that is a text alone is kept whole."""
    field = dialects.turns_field(request)
    if not field or isinstance(request[field], str):
        return []
    return [sha256(canonical_json(turn)).hexdigest() for turn in request[field]]


def remove_query_secrets(path: str) -> str:
    """A path without the parts of its query that may hold a secret."""
    parts = urlsplit(path)
    kept = [(key, value) for key, value in parse_qsl(parts.query) if key in QUERY]
    return parts.path + (f"?{urlencode(kept)}" if kept else "")


# 2. The sessions that they belong to ---------------------------------------------------------


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
        self.turns = [*turns]
        """The digests of the turns of each of its calls."""
        self.size: int = handle.session.state.size
        self.waiting: list[WaitingInput] = []

    def has_room(self, size: int) -> bool:
        """Whether one more call fits."""
        return len(self.turns) < CALLS_MAX and self.size + size <= SESSION_MAX

    def find_likest(self, turns: Sequence[str]) -> tuple[int, int]:
        """The number of the call with which most first turns are shared, and how many; 0 and 0."""
        best = like = 0
        for number in range(len(self.turns), 0, -1):
            before = self.turns[number - 1]
            shared = _count_shared(before, turns)
            if shared > best:
                best, like = shared, number
            if shared and shared == len(before):
                break  # an agent repeats all of the call before
        return like, best


def _count_shared(one: Sequence[str], other: Sequence[str]) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


class _AnsweredCall(NamedTuple):
    session_id: str
    turns: list[Any]
    answer: ReadAnswer


class AnsweredCalls:
    """The latest calls whose conversation has no name: by their turns, each with its answer."""

    def __init__(self) -> None:
        self._by_turns: dict[bytes, list[_AnsweredCall]] = {}
        self._forms: dict[bytes, bytes] = {}
        """`digest_turn` of turns, by a digest of their bytes: conversations repeat their turns."""

    def add(self, call: SourceCall, session_id: str) -> None:
        """A call that a later one may go on from."""
        turns = dialects.turns_of_request(call.request)
        dialect = dialects.recognize_dialect(call.path, call.request)
        answer = dialects.read_answer(dialect, call.content_type, call.answer)
        key = self._digest_firsts(turns)[-1]
        alike = self._by_turns.pop(key, [])
        self._by_turns[key] = [*alike[-ALIKE_MAX + 1 :], _AnsweredCall(session_id, turns, answer)]
        if len(self._by_turns) > ANSWERED_MAX:
            del self._by_turns[next(iter(self._by_turns))]

    def find_earlier(self, call: SourceCall) -> str:
        """The session of the call that this one goes on from; empty where there is none."""
        turns = dialects.turns_of_request(call.request)
        for key in reversed(self._digest_firsts(turns)[1:-1]):
            for one in reversed(self._by_turns.get(key, [])):
                if dialects.continues(turns, one.turns, one.answer):
                    return str(one.session_id)
        return ""

    def _digest_firsts(self, turns: Sequence[Any]) -> list[bytes]:
        """Of the first turns: of none, of one, and so on to all; each turn is read once."""
        digest = sha256()
        digests = [digest.digest()]
        for turn in turns:
            key = sha256(canonical_json(turn)).digest()
            if (form := self._forms.get(key)) is None:
                if len(self._forms) >= FORMS_MAX:
                    self._forms.clear()
                form = self._forms[key] = bytes.fromhex(dialects.digest_turn(turn))
            digest.update(form)
            digests.append(digest.digest())
        return digests


class Intake:
    """Takes calls into the log."""

    def __init__(self, request: Request, file: str, source: CallSource, project: str = "") -> None:
        """Args:
        project: of the sessions; empty for the one of here.
        """
        process = request.process
        self._runner: Runner = process.runner
        self._project = project or process.project
        self._actor = request.actor
        self._source = source
        self._file = file
        self._log_id = process.log_id()
        self._cleaner = CallCleaner(self._log_id, source, process.settings.redact_calls)
        self.counts = TakenCounts()
        self._session_of: dict[str, str] = {}
        """Ids of sessions, by the name that the source has for a conversation."""
        self._answered = AnsweredCalls()
        self._open: dict[str, OpenConversation] = {}
        """By session, the latest last."""
        self._moved: dict[str, str] = {}
        """Of a session that was begun here and is not recorded: where its calls are, or empty."""
        self._waiting = self._waiting_bytes = 0
        self._newest_id = ""

    def take(self, calls: Iterable[SourceCall], told: Callable[[int], object]) -> TakenCounts:
        """Record all calls of a source; in order of time, as far as they can be held at once."""
        held: list[SourceCall] = []
        size = 0
        for call in calls:
            held.append(call)
            size += len(call.answer) + len(canonical_json(call.request))
            if len(held) >= SORTED or size >= SORTED_BYTES:
                self._take_sorted(held, told)
                held, size = [], 0
        self._take_sorted(held, told)
        self._flush()
        return self.counts

    def count_missed(self, session: str, number: int, missed: CallsMissed) -> None:
        """Record that calls of a conversation are missing.

        Args:
            number: which of its counts it is: one that is recorded is not recorded again.
        """
        input_id = self._cleaner.name("missed", f"{session}\0{number}")
        if self._runner.store.session_of_input(input_id) is not None:
            return
        nothing = SourceCall(line=0, session=session, request={})
        conversation = self._conversation_of(self._cleaner.clean(nothing, ""))
        if conversation is not None:
            conversation.waiting.append(WaitingInput(missed, input_id))
            self._flush()

    def _take_sorted(self, held: list[SourceCall], told: Callable[[int], object]) -> None:
        if all(call.at is not None for call in held):
            held.sort(key=lambda call: call.at or 0)
        for call in held:
            self._take_one(call)
            told(1)

    def _take_one(self, source: SourceCall) -> None:
        input_id = self._cleaner.name_call(source)
        found = self._runner.store.session_of_input(input_id)
        if found is not None:
            self.counts.present += 1
            if not source.session:
                self._answered.add(source, found)
            return
        try:
            call = self._cleaner.clean(source, input_id)
        except Refused as error:
            self.counts.refused[one_line(str(error))] += 1
            return
        conversation = self._conversation_of(call)
        if conversation is None:
            self.counts.erased += 1
            return
        self._add_waiting(conversation, call)
        if self._waiting >= TOGETHER or self._waiting_bytes >= TOGETHER_BYTES:
            self._flush()

    # 3. Which session ------------------------------------------------------------------------

    def _conversation_of(self, call: CleanedCall) -> OpenConversation | None:
        """The session of a call; None where it was erased."""
        if name := call.source.session:
            for part in count(1):
                found = self._named_conversation(call, f"{name}\0{part}")
                if found is None or found.has_room(call.size):
                    return found
        earlier = self._answered.find_earlier(call.source)
        if session_id := self._moved.get(earlier, earlier):
            found = self._opened(session_id)
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
            file=cleaner.clean_label(self._file, SOURCE_MAX),
            conversation=cleaner.clean_label(source.session, NAME_MAX),
            about=cleaner.clean_words(_first_words(call.request)[:ABOUT_READ], ABOUT_MAX),
            user=name_user(self._log_id, source.user) if source.user else "",
            program=__version__,
        )
        found.waiting.append(WaitingInput(new, input_id))
        return found

    def _newest(self) -> str:
        newest = self._runner.store.heads(self._project, 1)
        return newest[0].session_id if newest else ""

    # 4. Recording ----------------------------------------------------------------------------

    def _add_waiting(self, conversation: OpenConversation, call: CleanedCall) -> None:
        new = self._build_input(conversation, call)
        size = len(new.request.body.encode()) + len(new.answer.text.encode())
        conversation.turns.append(call.turns if new.request.body else ())
        conversation.size += size
        conversation.waiting.append(WaitingInput(new, call.input_id, call))
        self._waiting += 1
        self._waiting_bytes += size
        if not call.source.session:
            self._answered.add(call.source, conversation.handle.session_id)

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
            left_out.append(_describe_left_out("request", whole, "application/json"))
            body, like, keeps = b"", 0, 0
        if len(body) + len(answer.encode()) > CALL_MAX:
            left_out.append(_describe_left_out("answer", answer.encode(), source.content_type))
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
                headers=_keep_headers(source.headers, cleaner),
                like=like,
                keeps=keeps,
                body=body.decode(),
                digest=digest_request(method, path, whole),
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
        self._waiting = self._waiting_bytes = 0
        groups = [InputGroup(c.handle, tuple((w.new, w.id) for w in c.waiting)) for c in waiting]
        try:
            after = self._runner.submit_groups(groups) if groups else ()
        except (Conflict, DuplicateInput, UnwritableEvent):
            for one in waiting:
                self._record_singly(one)
        else:
            for one, handle in zip(waiting, after, strict=True):
                self._count_recorded(one, handle)
                one.waiting.clear()
        for session_id in [*self._open][:-OPEN_MAX]:
            del self._open[session_id]

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
            self.counts.kinds.update(call.kinds)
        conversation.handle = handle

    def _record_singly(self, conversation: OpenConversation) -> None:
        """Another process takes in the same calls, two have one id, or one cannot be written."""
        waiting, conversation.waiting = conversation.waiting, []
        begun, opening = conversation.handle, None
        self._open.pop(begun.session_id, None)
        if begun.version == 0:
            opening = waiting.pop(0)
        for one in waiting:
            if one.call is None:
                self._record_other(begun, opening, one)
                continue
            tries = (self._is_settled(begun, opening, one.call) for _ in range(CONFLICTS_MAX))
            if not any(tries):
                raise StoreUnavailable(f"the log is too busy: {CONFLICTS_MAX} tries failed")
        store = self._runner.store
        if opening is not None and store.head(begun.session_id) is None:
            ids = (opening.id, *(one.id for one in waiting))
            self._moved[begun.session_id] = next(filter(None, map(store.session_of_input, ids)), "")

    def _record_other(
        self, begun: Handle, opening: WaitingInput | None, other: WaitingInput
    ) -> None:
        """An Input that holds no call, such as how many are missing."""
        opened = begun.session_id
        if opening is not None:
            opened = self._runner.store.session_of_input(opening.id) or ""
        first = [opening] if opening is not None and not opened else []
        handle = self._runner.load(opened) if opened else begun
        inputs = tuple((one.new, one.id) for one in (*first, other))
        with suppress(DuplicateInput):
            self._runner.submit_groups([InputGroup(handle, inputs)])

    def _is_settled(self, begun: Handle, opening: WaitingInput | None, call: CleanedCall) -> bool:
        """Whether it is known what became of a call; not, where the log has moved meanwhile.

        What a call shares with those before it depends on what of them is recorded: it is built
        anew, for the session as it stands. A session is opened with a call or not at all.
        """
        store = self._runner.store
        if store.session_of_input(call.input_id) is not None:
            self.counts.present += 1
            return True
        opened = begun.session_id if opening is None else store.session_of_input(opening.id)
        now = OpenConversation(begun) if opened is None else self._opened(opened)
        if now is None:
            self.counts.erased += 1
            return True
        if not now.has_room(call.size):  # another process has filled it
            found = self._conversation_of(call)
            assert found is not None, "a further session is new, or has room"
            now = found
        elif opened is None and opening is not None:
            now.waiting.append(opening)
        now.waiting.append(WaitingInput(self._build_input(now, call), call.input_id, call))
        self._open.pop(now.handle.session_id, None)
        try:
            inputs = tuple((one.new, one.id) for one in now.waiting)
            (handle,) = self._runner.submit_groups([InputGroup(now.handle, inputs)])
        except (Conflict, DuplicateInput):
            return False
        except UnwritableEvent as error:
            self.counts.refused[one_line(str(error))] += 1
        else:
            self._count_recorded(now, handle)
        return True


def _first_words(request: Any) -> str:
    words = dialects.words_of_turns(dialects.turns_of_request(request))
    return next((text for role, text in words if role == "user"), words[0][1] if words else "")


def _describe_left_out(part: Any, data: bytes, kind: str) -> LeftOut:
    return LeftOut(part=part, size=len(data), type=kind, sha256=sha256(data).hexdigest())


def _keep_headers(
    headers: Iterable[tuple[str, str]], cleaner: CallCleaner
) -> tuple[tuple[str, str], ...]:
    kept = ((name.lower(), value) for name, value in headers if name.lower() in HEADERS)
    return tuple((name, cleaner.clean_label(value, NAME_MAX)) for name, value in kept)
