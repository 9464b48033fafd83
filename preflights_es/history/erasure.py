"""What erases the contents of sessions, and finds who quotes them."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.history.verification import verify_session_events
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import (
    CommitUnknown,
    Conflict,
    ErasedSession,
    PreflightsError,
    Refused,
    SessionFaulted,
    StoreUnavailable,
    UnknownSession,
    UnreadableEvent,
    WorkflowMissing,
)
from preflights_es.kernel.events import (
    ArtifactDue,
    ArtifactWritten,
    Event,
    How,
    Quoted,
    SessionClosed,
    SessionErased,
    Signable,
    has_sources,
    sources,
)
from preflights_es.kernel.ids import decision_uid, short_session
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.ports import AppendBatch, Archive, Draft, Head, Stored
from preflights_es.kernel.text import ANSWER_MAX, one_line, visible
from preflights_es.records.files import fronts
from preflights_es.runtime.inputs import Inputs
from preflights_es.runtime.runner import CONFLICTS_MAX, Runner
from preflights_es.runtime.sessions import Sessions
from preflights_es.store.stored_events import erased_before, shared_event
from preflights_es.system.files import Unreadable, regular
from preflights_es.words.signing import proposal_text, read_input_content
from preflights_es.words.workflow import UNKNOWN, compute_session_status


class Quote(msgspec.Struct, frozen=True):
    """A session that holds words of another one."""

    session_id: str
    """Whose log holds them."""
    quoted: str
    """The session whose words they are."""
    how: How
    documents: tuple[str, ...] = ()
    """Paths of the quoting session's documents on this disk that name the other one."""


class Quotes(msgspec.Struct, frozen=True):
    """All that could be found."""

    found: tuple[Quote, ...]
    unread: tuple[str, ...]
    """Sessions that could not be looked at: damaged, of a newer version or an absent workflow."""


def quotes_of(runner: Runner, project: str, quoted: Collection[str]) -> Quotes:
    """The sessions of a project that quote others of it.

    Args:
        quoted: ids of those others.
    """
    of_uid = {decision_uid(session_id): session_id for session_id in quoted}
    found: dict[Quote, None] = {}
    unread: list[str] = []
    for head in runner.store.heads(project):
        try:
            held = () if head.session_id in quoted else tuple(_find_session_quotes(runner, head))
        except PreflightsError:
            unread.append(head.session_id)
            continue
        for one in held:
            named = of_uid.get(one.session_id, one.session_id)
            if named in quoted:
                found[Quote(head.session_id, named, one.how)] = None
    return Quotes(tuple(found), tuple(unread))


def _find_session_quotes(runner: Runner, head: Head) -> Iterator[Quoted]:
    """What the Inputs of a session name of others."""
    workflow = runner.workflow(head.workflow)
    classes = {cls.tag: cls for cls in workflow.decider.events}
    quotes = workflow.filed.quotes or (lambda _: ())
    for stored in runner.store.read(head.session_id):
        cls = classes.get(stored.type)
        may_name = workflow.filed.quotes is not None or cls is None or has_sources(cls)
        if stored.input_id is None or stored.data is None or not may_name:
            continue
        event = runner.codec(workflow).decode(stored)
        named = quotes(event)
        yield from named
        known = {quoted.session_id for quoted in named}
        for source in sources(event):
            if source.session_id not in known:
                yield Quoted("known" if stored.version == 1 else "named", source.session_id)


def _status_and_title(runner: Runner, stored: Sequence[Stored]) -> tuple[str, str]:
    """Of a session as far as it can be folded: neither a bug nor other code holds an erasure up."""
    try:
        workflow = runner.workflow(stored[0].workflow)
        session, status = runner.folded(workflow, stored), ""
    except (WorkflowMissing, UnreadableEvent) as error:
        return UNKNOWN, one_line(str(error))
    except SessionFaulted as fault:
        session, status = runner.folded(workflow, stored[: fault.version - 1]), "faulted"
    title = one_line(workflow.shown.view(session.state).intention)
    return status or compute_session_status(workflow, session), title


QUOTE_MIN: Final = 8  # characters; a shorter text of a program's stands in many sentences by chance
TYPED_MIN: Final = 3  # characters of what a person typed: "no" and "10" stand in many as well
NAME_MIN: Final = 2  # characters of a whole name; of a part of one as many as of a typed text

QuoteKind = Literal["name", "typed", "offered", "said"]
"""`typed` by a person, `offered` as an option, `said` by a model, or derived from either."""

_OFFERED: Final = frozenset(("options", "menu"))
_DERIVED: Final = frozenset(("title", "content", "value", "other"))
"""The fields of Decisions that hold words of people and models, perhaps in another form."""
# The second part holds words of other sessions, which are not erased with this one.
_NOT_WORDS: Final = frozenset(
    """
    at call folder key kind language lead mark message model noted_at pass_type path project prompts
    redacted request_id setup sha256 standing status stop_reason text_base64 time_zone type uid
    layout left_out

    by decisions hash known plans session_id supersedes
    """.split()  # noqa: SIM905  a table
)
"""The fields of Inputs that no person types and no model says; every other field is compared."""
_FROM_A_MODEL: Final = tuple(
    tag.rpartition(".")[0] + "." for tag in (CompletionReceived.tag, CompletionFailed.tag)
)
_WORD: Final = re.compile(r"[^\W_]+")
_UNSEEN: Final = ("Mn", "Cf")  # accents, and what has no width: another spelling of one word


class ErasureReason:
    """The words of a reason, in a form in which texts are looked up."""

    def __init__(self, text: str) -> None:
        self._words = _normalize_reason_words(text)

    def repeats(self, stored: Iterable[Stored]) -> bool:
        """Whether it holds a text or a name of a session, in any case, spacing and punctuation."""
        found = [pair for one in stored for pair in _of_event(one)]
        offered = {_normalize_reason_words(text) for kind, text in found if kind == "offered"}
        return any(
            self.quotes(line, "offered" if _normalize_reason_words(line) in offered else kind)
            for kind, text in found
            if kind != "offered"
            for line in text.splitlines()
        )

    def quotes(self, text: str, kind: QuoteKind) -> bool:
        """Whether it holds a text as whole words; of a name also a part of it."""
        if kind == "name":
            parts = _normalize_reason_words(text).split()
            return self._holds(text, NAME_MIN) or any(self._holds(p, TYPED_MIN) for p in parts)
        return self._holds(text, TYPED_MIN if kind == "typed" else QUOTE_MIN)

    def _holds(self, text: str, least: int) -> bool:
        words = _normalize_reason_words(text)
        bare = words.strip()
        if len(bare) < (NAME_MIN if _is_unspaced(bare) else least):
            return False
        return (bare if _is_unspaced(bare) else words) in self._words


def _normalize_reason_words(text: str) -> str:
    """Words in lower case between single blanks, with a blank around: a whole word is ` word `."""
    letters = unicodedata.normalize("NFKD", text).replace("\u02bc", "'")
    seen = "".join(one for one in letters if unicodedata.category(one) not in _UNSEEN)
    return f" {' '.join(_WORD.findall(seen.casefold()))} "


def _is_unspaced(text: str) -> bool:
    """Whether it holds letters of a script without case, such as Chinese: words may lack blanks."""
    return any(unicodedata.category(character) == "Lo" for character in text)


def _of_event(one: Stored) -> Iterator[tuple[QuoteKind, str]]:
    if one.data is None:
        return
    try:
        payload = decode_plain_json(one.data)
    except (ValueError, RecursionError):  # none of ours: it is compared as one text
        yield "said", one.data.decode(errors="replace")
        return
    if one.input_id is None:
        yield from _quote_decided_texts(payload)
    elif str(one.type).startswith(_FROM_A_MODEL):
        yield from _quote_model_texts(payload)
    else:
        yield from _typed(payload)


def _typed(value: Any) -> Iterator[tuple[QuoteKind, str]]:
    """The texts of an Input of a person's, the names in it, and the options that it carries."""
    match value:
        case {"kind": str(), "name": str(name)} if len(value) == 2:
            yield "name", name
        case dict():
            yield from _quote_offered_texts(value.get("heuristics"))
            for key, part in value.items():
                if key == "fields":
                    yield from _quote_field_values(part)
                elif key not in _NOT_WORDS and key != "heuristics":
                    yield from _typed(part)
        case list():
            for part in value:
                yield from _typed(part)
        case str():
            yield "typed", value


def _quote_field_values(pairs: Any) -> Iterator[tuple[QuoteKind, str]]:
    """Pairs of field and value; a short value is mostly a word of ours, such as `high`."""
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, list) and pair and isinstance(pair[-1], str):
            yield "said", pair[-1]


def _quote_model_texts(payload: Any) -> Iterator[tuple[QuoteKind, str]]:
    """What a model said; where that is JSON, each of its texts."""
    for key in ("text", "received"):
        text = payload.get(key) or ""
        yield "said", text
        with_braces = text[text.find("{") : text.rfind("}") + 1]
        try:
            value = msgspec.json.decode(with_braces)
        except (ValueError, RecursionError):  # prose, or a response that was cut off
            continue
        yield from _quote_nested_texts(value)


def _quote_nested_texts(value: Any) -> Iterator[tuple[QuoteKind, str]]:
    left = [value]
    while left:
        match left.pop():
            case str(text):
                yield "said", text
            case dict() as some:
                left += some.values()
            case list() as some:
                left += some


def _quote_decided_texts(value: Any, key: str = "") -> Iterator[tuple[QuoteKind, str]]:
    match value:
        case dict():
            yield from _quote_offered_texts(value)
            for name, part in value.items():
                yield from _quote_decided_texts(part, name)
        case list():
            for part in value:
                yield from _quote_decided_texts(part, key)
        case str() if key in _DERIVED:
            yield "said", value


def _quote_offered_texts(value: Any) -> Iterator[tuple[QuoteKind, str]]:
    match value:
        case dict():
            for key, part in value.items():
                if key in _OFFERED and isinstance(part, list):
                    yield from (("offered", text) for text in part if isinstance(text, str))
                else:
                    yield from _quote_offered_texts(part)
        case list():
            for part in value:
                yield from _quote_offered_texts(part)


DOCUMENT_MAX: Final = 4_000_000  # bytes of a document that is searched for a name

ARTIFACTS: Final = (ArtifactDue.tag, ArtifactWritten.tag)
_NEW: Final = re.compile(r"\.new\d*\Z")

PathsByUid = Mapping[str, Sequence[str]]
"""Paths of files on this disk, by the uid of the decision that their front matter names."""


class Doomed(msgspec.Struct, frozen=True):
    """A session that may be erased, and what it has left outside of the log."""

    session_id: str
    workflow: str
    status: str
    version: int
    last_at: int
    """When its latest event was recorded, in microseconds since 1970 UTC.

    Which need not be its last: the clock may have stepped back between them.
    """
    title: str | None
    """None once it is gone."""
    documents: tuple[str, ...]
    """Paths of its documents that lie on this disk, relative to the project's root."""
    sent_to: tuple[str, ...]
    """Providers that were sent its words."""


class Erasure(Sessions):
    """Erases sessions of one project, as one actor."""

    def __init__(
        self,
        inputs: Inputs,
        archive: Archive,
        root: Path,
        code: Sequence[str] = (),
        clear: Sequence[str] = (),
        folders: Sequence[str] = (),
    ) -> None:
        """Args:
        root: where documents lie.
        code: providers that are code of ours: what they were sent stayed here.
        clear: tables of projections, whose rows of a session go with it.
        folders: where to look for documents that a person has moved or renamed.
        """
        super().__init__(inputs)
        self._archive = archive
        self._root = root
        self._code = code
        self._clear = clear
        self._folders = folders

    # 1. Looking ------------------------------------------------------------------------------

    def doomed(self, session_id: str) -> Doomed:
        """What erasing a session would mean.

        Raises:
            UnknownSession: nothing is recorded under the id.
            ErasedSession: it is erased already.
            Refused: it belongs to another project, or an agent would erase what a person accepted.
            LogDamaged: it does not verify; erasing it would hide what was done to it.
        """
        return self._doomed(session_id, self._by_uid())

    def each_doomed(self, session_ids: Iterable[str]) -> Iterator[Doomed | PreflightsError]:
        """The same of many; trouble stands in its session's place."""
        by_uid: PathsByUid | None = None
        for session_id in session_ids:
            by_uid = self._by_uid() if by_uid is None else by_uid
            try:
                yield self._doomed(session_id, by_uid)
            except PreflightsError as error:
                yield error

    def _doomed(self, session_id: str, by_uid: PathsByUid) -> Doomed:
        head, stored = self._whole(session_id)
        status, title = _status_and_title(self._runner, stored)
        asked = [shared_event(one) for one in stored if one.type == CompletionRequested.tag]
        providers = dict.fromkeys(a.provider for a in asked if isinstance(a, CompletionRequested))
        return Doomed(
            session_id=session_id,
            workflow=head.workflow,
            status=status,
            version=len(stored),
            last_at=max(one.recorded_at for one in stored),
            title=title,
            documents=self._documents(stored, by_uid),
            sent_to=tuple(name for name in providers if name not in self._code),
        )

    def _whole(self, session_id: str) -> tuple[Head, Sequence[Stored]]:
        head = self._archive.head(session_id)
        if head is None:
            raise UnknownSession(session_id)
        if head.project != self._project:
            found = f"session {short_session(session_id)} belongs to the project {head.project!r}"
            raise Refused(f"{found}: go there, or set PREFLIGHTS_PROJECT")
        stored = verify_session_events(self._archive, head)
        if erased_before(stored):
            raise ErasedSession(session_id)
        what = f"erase session {short_session(session_id)}"
        if (workflow := self._runner.workflows.get(head.workflow)) is None:
            self.refuse_agent(f"{what}, whose workflow is not known here")
            return head, stored
        accepts = workflow.asked.acknowledges
        if any(accepts and (e.type, e.actor_kind) == (accepts.tag, "user") for e in stored):
            self.refuse_agent(f"{what}, which a person accepted")
        return head, stored

    def _by_uid(self) -> PathsByUid:
        found: dict[str, list[str]] = {}
        for path, front in fronts(self._root, self._folders):
            for uid in {decision_uid(front.session), front.uid} - {""}:
                found.setdefault(uid, []).append(path)
        return found

    def _lies(self, path: str) -> bool:
        named = PurePosixPath(path)
        if named.is_absolute() or ".." in named.parts:
            return False  # a log from elsewhere may say anything; no document of ours lies there
        try:
            return os.path.lexists(self._root / path)
        except ValueError:
            return False  # no file can bear such a name

    def quoting(self, doomed: Sequence[Doomed]) -> Quotes:
        """The other sessions of the project that hold words of these, and so do their documents."""
        quoted = dict.fromkeys(one.session_id for one in doomed)
        quotes = quotes_of(self._runner, self._project, quoted)
        by_uid = self._by_uid() if quotes.found else {}
        return replace(quotes, found=tuple(self._with_documents(q, by_uid) for q in quotes.found))

    def _with_documents(self, quote: Quote, by_uid: PathsByUid) -> Quote:
        stored = self._archive.read(quote.session_id)
        if quote.how == "named" or (quote.how == "known" and not self._files(stored[0].workflow)):
            return quote  # an Input names it, or a model was told: no document of theirs says so
        paths = self._documents(stored, by_uid)
        if quote.how == "known":
            paths = tuple(path for path in paths if self._names(path, quote.quoted))
        return replace(quote, documents=paths)

    def _names(self, path: str, session_id: str) -> bool:
        """Whether a filed document names a session that was read; one that cannot be read may."""
        head = self._archive.head(session_id)
        if head is None or self._files(head.workflow):
            return True  # it depends on what that session filed
        try:
            text = regular(self._root / path, DOCUMENT_MAX, follows=False)
        except (OSError, Unreadable):
            return True
        return decision_uid(session_id).encode() in text

    def _files(self, name: str) -> bool:
        """Whether a workflow files its documents outside the folder of records."""
        workflow = self._runner.workflows.get(name)
        return workflow is not None and workflow.filed.filing is not None

    def _documents(self, stored: Sequence[Stored], by_uid: PathsByUid) -> tuple[str, ...]:
        """Of a session, those that lie on this disk: where its log says, beside it, or moved."""
        artifacts = (shared_event(one) for one in stored if one.type in ARTIFACTS)
        paths = dict.fromkeys(_asked_for(artifacts))
        there = [path for path in paths if self._lies(path)]
        named = map(_name_files_beside, paths)
        beside = [name for names in named for name in takewhile(self._lies, names)]
        moved = by_uid.get(decision_uid(stored[0].session_id), ())
        return tuple(dict.fromkeys((*there, *beside, *moved)))

    # 2. Erasing ------------------------------------------------------------------------------

    def reason(self, reason: str, doomed: Sequence[Doomed]) -> str:
        """Why, as it will be recorded.

        Session after session is read again: the texts of many are never held together.

        Raises:
            Refused: it repeats a text, an answer or a name of a session, or cannot be recorded.
        """
        text, _ = self.sanitizer.cleaned_text("the reason", reason, ANSWER_MAX)
        said = ErasureReason(text)
        if visible(text) and any(
            said.quotes(one.title or "", "said") or said.repeats(self._archive.read(one.session_id))
            for one in doomed
        ):
            raise Refused(
                "the reason repeats a text, an answer or a name that is to be erased: "
                "say it in other words"
            )
        return text

    def erase(self, session_id: str, reason: str = "") -> Head:
        """Drop the payloads of a session for good; where it moved on meanwhile, those as well.

        Args:
            reason: as `reason` gives it.

        Raises:
            ErasedSession: another process erased it first.
            Refused, LogDamaged: as for `doomed`.
        """
        input_id = self._runner.new_id()
        for _ in range(CONFLICTS_MAX):
            head, stored = self._whole(session_id)
            batch = self._batch(head, stored[-1], reason, input_id)
            try:
                return self._archive.erase(batch, self._clear)
            except Conflict:
                continue
            except CommitUnknown:
                if self._archive.session_of_input(input_id) is None:
                    raise
                now = self._archive.head(session_id)
                assert now is not None, "it holds the erasure"
                return now
        raise StoreUnavailable(f"the log is too busy: {CONFLICTS_MAX} tries to append failed")

    def _batch(self, head: Head, last: Stored, reason: str, input_id: str) -> AppendBatch:
        """The event that says who erased the session and why, signed where that is asked for."""
        erased: Signable = SessionErased(at=self._runner.now(), actor=self._actor, reason=reason)
        if self._inputs.signer is not None:
            seen = (head.session_id, last.version, last.hash)
            shown = proposal_text(erased, read_input_content(erased))
            erased = self._inputs.signer.signed(erased, seen, shown)
        closed = SessionClosed(status="erased")
        return AppendBatch(
            session_id=head.session_id,
            project=head.project,
            workflow=head.workflow,
            expected_version=last.version,
            expected_hash=last.hash,
            events=(
                Draft(
                    erased.tag,
                    canonical_json(erased),
                    last.decider,
                    input_id,
                    actor_kind=erased.actor.kind,
                ),
                Draft(closed.tag, canonical_json(closed), last.decider),
            ),
        )


def _asked_for(artifacts: Iterable[Event | None]) -> Iterator[str]:
    """Paths that were written, at or beside one that was asked for: others are no documents."""
    due: set[str] = set()
    for artifact in artifacts:
        if isinstance(artifact, ArtifactDue):
            due.add(artifact.path)
        elif isinstance(artifact, ArtifactWritten) and _NEW.sub("", artifact.path) in due:
            yield artifact.path


def _name_files_beside(path: str) -> Iterator[str]:
    """What was written where a person had edited a document, and perhaps that as well."""
    return (f"{path}.new{n if n > 1 else ''}" for n in count(1))
