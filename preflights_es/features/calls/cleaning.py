"""A call on its way into the log: named by what its source calls it, and freed of secrets."""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple, get_args
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from preflights_es.features.calls.domain import WORKFLOW, dialects
from preflights_es.features.calls.domain.calls import CONVERSATION_NAMES
from preflights_es.features.calls.domain.dialects import json_mapping, json_text, read_word
from preflights_es.features.calls.domain.events import CALL_MAX, CallSource, LeftOut
from preflights_es.features.calls.source_calls import SourceCall
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import NAME_MAX, one_line, shortened
from preflights_es.redaction.answers import redact_answer
from preflights_es.redaction.bodies import redact_body
from preflights_es.redaction.masking import label_redacted, redact_hidden
from preflights_es.redaction.patterns import SECRETS, SecretKind
from preflights_es.runtime.finder import LAST
from preflights_es.use.process import Process
from preflights_es.use.request import Request

TRIED_AGAIN: Final = ("retry-after", "retry-after-ms", "x-should-retry")
HEADERS: Final = frozenset(("request-id", "x-request-id", *TRIED_AGAIN))
"""Of an answer that are kept, with where a redirect leads."""
USER_FIELDS: Final = ("user", "safety_identifier", "user_id")
"""Of a request that hold the id of a user; the last of its `metadata`."""
QUERY: Final = frozenset(("api-version", "beta", "limit", "order", "stream"))
"""Keys of a query that are kept."""
INPUT_ID: Final = "calls-"
LABELS_MAX: Final = 1_000  # labels of which is known what is recorded
PATH_MAX: Final = 1_000  # characters


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
    users: tuple[str, ...]
    """Hashes of the ids of those whom the program served."""


class CallCleaner:
    """Frees calls of secrets, and names them, by the rules of one log."""

    def __init__(self, log_id: str, source: CallSource, kinds: Sequence[SecretKind]) -> None:
        self._log_id = log_id
        self._source = source
        self._kinds = (*SECRETS, *kinds)
        self._alike: Counter[str] = Counter()
        self._labels: dict[str, str] = {}

    def name(self, what: str, text: str) -> str:
        """The id of an Input, which only this log gives."""
        return name_input(self._log_id, self._source, what, text)

    def name_call(self, call: SourceCall) -> str:
        """The id of its Input."""
        return self.name("call", call.id or self._name_by_content(call))

    def clean(self, call: SourceCall, input_id: str) -> CleanedCall:
        """The call as it may be recorded."""
        users = dict.fromkeys(name_user(self._log_id, id_) for id_ in call.users if id_)
        request, answer = self._hash_users(call.request, call.answer, users)
        call, kinds = msgspec.structs.replace(call, answer=answer), tuple[str, ...]()
        if not any(one.part == "request" for one in call.left_out):  # else it is a hash
            whole = request
            request, kinds = redact_body(whole, self._kinds)
            request = self._hash_conversation(whole, request)
        data = call.answer.encode("utf-8", "surrogatepass")
        left_out = None
        if len(data) > CALL_MAX:  # reading a stream of this size takes a hundred times its memory
            left_out = describe_left_out("answer", data, call.content_type)
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
            users=tuple(users),
        )

    def _hash_users(self, request: Any, answer: str, users: dict[str, None]) -> tuple[Any, str]:
        """Both with hashes for the ids of a user; some answers repeat them."""
        metadata = json_mapping(json_mapping(request).get("metadata"))
        for name in USER_FIELDS:
            holder = metadata if name == "user_id" else json_mapping(request)
            if not (id_ := read_word(holder.get(name))):
                continue
            hashed = name_user(self._log_id, id_)
            users[hashed] = None
            renamed = {**holder, name: hashed}
            request = {**request, "metadata": renamed} if name == "user_id" else renamed
            before = rf'(?<="{name}":)(\s*){re.escape(json_text(id_))}'
            answer = re.sub(before, rf'\g<1>"{hashed}"', answer)
        return request, answer

    def _hash_conversation(self, whole: Any, redacted: Any) -> Any:
        """Hashes for ids of the conversation that redaction took out: else all would have one."""
        before, after = (
            json_mapping(json_mapping(one).get("metadata")) for one in (whole, redacted)
        )
        ids = {name: read_word(before.get(name)) for name in CONVERSATION_NAMES}
        taken = {
            name: name_user(self._log_id, id_)
            for name, id_ in ids.items()
            if id_ != read_word(after.get(name))
        }
        return {**redacted, "metadata": {**after, **taken}} if taken else redacted

    def _name_by_content(self, call: SourceCall) -> str:
        """Equal calls without an id of their own are told apart by how many came before."""
        said = (call.session, call.at, call.users, call.route, call.path, call.request)
        whole = (*said, call.status, call.answer)
        digest = call.entry or sha256(canonical_json(whole)).hexdigest()
        self._alike[digest] += 1
        return f"{digest} {self._alike[digest]}"

    def clean_address(self, call: SourceCall) -> tuple[str, str]:
        """Method and path, as they are recorded."""
        return self.clean_label(call.method, NAME_MAX), self._clean_path(call.path)

    def clean_headers(self, headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Those of an answer that are kept, as they are recorded."""
        for name, value in headers:
            if name == "location" and value.startswith("../"):  # else it leads elsewhere
                yield name, self._clean_path(value)
            elif name in HEADERS:
                yield name, self.clean_words(value, NAME_MAX)

    def _clean_path(self, path: str) -> str:
        return self.clean_label(remove_query_secrets(path), PATH_MAX)

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


def find_conversation(process: Process, name: str, part: int = 1) -> str:
    """The session of a conversation, by the name that its source has for it; empty without one.

    Args:
        part: which of its sessions, where one does not hold all.
    """
    log_id = process.log_id()
    for source in get_args(CallSource):
        input_id = name_input(log_id, source, "conversation", f"{name}\0{part}")
        if found := process.store.session_of_input(input_id):
            return found
    return ""


def find_conversation_parts(process: Process, name: str) -> list[str]:
    """Its sessions: one for as many calls as each holds; none where no source has the name."""
    parts = list[str]()
    while session_id := find_conversation(process, name, len(parts) + 1):
        parts.append(session_id)
    return parts


def find_calls_sessions(request: Request, named: str) -> list[str]:
    """Sessions of calls, by an id, or by what a source calls the conversation.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
    """
    parts = [] if named == LAST else find_conversation_parts(request.process, named)
    return parts or [request.sessions.resolved(named, WORKFLOW.name)]


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


def describe_left_out(part: Any, data: bytes, kind: str) -> LeftOut:
    """What stands for a part that is not kept."""
    return LeftOut(part=part, size=len(data), type=kind, sha256=sha256(data).hexdigest())
