"""Where a decided value, a record or an artifact came from."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice
from typing import Any, Final, NamedTuple, NoReturn

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.completions import CompletionReceived, CompletionRequested
from preflights_es.kernel.errors import (
    ErasedSession,
    PreflightsError,
    RecordWithoutSession,
    Refused,
    UnknownSession,
)
from preflights_es.kernel.events import UNSEEN, Event, Input, Signable, SourceSession, sources
from preflights_es.kernel.ids import SHORT, iso, short_session
from preflights_es.kernel.json import decode_plain_json
from preflights_es.kernel.text import caseless
from preflights_es.projections.artifacts import decode_plan_row, plans
from preflights_es.projections.decisions import PatchRow, filter_decisions_in_force
from preflights_es.projections.projection import Read
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.finder import ANY, LAST, RECENT
from preflights_es.use.archives import ImportedBy, imports_of
from preflights_es.use.decisions import row_of
from preflights_es.use.process import Process
from preflights_es.use.reading import FoundSession
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, Who
from preflights_es.use.why_results import (
    Acknowledged,
    Intention,
    Why,
    WhyAnswer,
    WhyArtifact,
    WhyInput,
    WhyQuestion,
    WhyRecord,
    WhyResponse,
    Whys,
    WhySession,
    WhyStanding,
)
from preflights_es.words.decisions import DecidedPatch, Origin, field_label, list_superseded
from preflights_es.words.items import Planned, item_id
from preflights_es.words.questions import Answers, OriginDetails, answers_in
from preflights_es.words.signing import Signed
from preflights_es.words.workflow import compute_session_status


def trace_origins(
    request: Request, what: str, field: str | None = None
) -> tuple[Whys, tuple[str, ...]]:
    """Every value that is meant, and the workflow of each; or the artifacts.

    Args:
        what: a session or record; an artifact, by the beginning of its id; or a field, a value or
            what was turned down, among the decisions that are in force.

    Raises:
        Refused: nothing matches, or nothing is decided there.
    """
    try:
        values, artifacts, sessions = _resolve_why_target(request, what, field)
    except RecordWithoutSession as error:
        if records := tuple(_records_asked_again(request, error.paths)):
            behind = bool(request.process.projector.behind)
            return Whys(behind=behind, values=(), records=records), ()
        raise
    again = FEATURES.port("asked_again")(request) if values else {}
    whys = Whys(
        behind=bool(request.process.projector.behind),
        values=tuple(replace(o, asked_again=again.get(o.session_id, ())) for o, _ in values),
        artifacts=artifacts,
        sessions=sessions,
    )
    return whys, tuple(workflow for _, workflow in values)


def of_patch(process: Process, read: Read, version: int) -> tuple[Why, ...]:
    """Every value of a patch of a session that was read, as that session alone tells it.

    Args:
        version: of the event that proposed it.
    """
    decided = next(one for one in read.patches if one.version == version)
    tracing = _Tracing(process, read, ())
    return tuple(tracing.value(decided, origin) for origin in decided.origins)


def decided_in(request: Request, session: str) -> DecisionRow:
    """The last patch of a session, as it counts here.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        ErasedSession: what it decided, if anything, is gone.
        Refused: it could not be folded, or has no decision.
    """
    found = find_session_with(request, session, _has_decision)
    read = found.process.history(found.session_id)
    if not read.patches:
        refuse_undecided(read, "no_decision")
    patch = PatchRow(found.session_id, read.patches[-1])
    return replace(row_of(found.process, patch), file=found.file)


def _records_asked_again(request: Request, paths: Sequence[str]) -> Iterator[WhyRecord]:
    """Those of the records that were asked again, and kept."""
    again = FEATURES.port("asked_again")(request)
    for path in paths:
        if those := again.get(path):
            yield WhyRecord(path=path, asked_again=those)


def _resolve_why_target(
    request: Request, what: str, field: str | None
) -> tuple[list[tuple[Why, str]], tuple[WhyArtifact, ...], tuple[WhySession, ...]]:
    try:
        found = find_session_with(request, what, _has_origins)
    except RecordWithoutSession:
        raise
    except UnknownSession:
        artifacts = artifacts_named(request, what, field or "")
        if what == LAST or (field is not None and not artifacts):
            raise
        return ([] if artifacts else _trace_field_in_force(request, what)), artifacts, ()
    process, session_id = found.process, found.session_id
    read = process.history(session_id)
    if read.workflow.filed.planned is not None:
        return [], artifacts_of(process, read, field=field or ""), ()
    if read.workflow.filed.decided is None and field is None and (sources := _sources(read)):
        return [], (), (_session(read, sources),)
    if not read.patches:
        refuse_undecided(read, "no_decision")
    decided = read.patches[-1]
    origins = [o for o in decided.origins if field is None or _is_named(o, decided, field)]
    if not origins:
        known = ", ".join(origin.field for origin in decided.origins)
        message = f"session {short_session(session_id)} has no field {field!r}: it has {known}"
        raise Refused(message, code="no_such_field", session=short_session(session_id))
    tracing = _Tracing(process, read, imports_of(process, read))
    values = [(tracing.value(decided, origin), read.workflow.name) for origin in origins]
    return values, (), ()


def find_session_with(request: Request, typed: str, has: Callable[[Read], bool]) -> FoundSession:
    """The session that is meant; `last` is the newest that has what is asked for.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
    """
    if typed != LAST:
        return request.reading.session(typed)
    for session_id in _list_newest_with_decisions(request):
        with suppress(PreflightsError):  # one that cannot be read hides no other
            if has(request.process.history(session_id)):
                return request.reading.session(session_id)
    return request.reading.session(LAST)


def _list_newest_with_decisions(request: Request) -> Iterator[str]:
    """The newest sessions, then those that the projection knows to have decided: many may not."""
    yield from islice(request.reading.finder.list_newest(ANY), RECENT)
    process = request.process
    rows = process.projector.rows("decisions", process.project)
    yield from sorted({row["session_id"] for row in rows}, reverse=True)


def _has_decision(read: Read) -> bool:
    return bool(read.patches)


def _has_origins(read: Read) -> bool:
    filed = read.workflow.filed
    reads = filed.decided is None and bool(_sources(read))
    return filed.planned is not None or reads or _has_decision(read)


def refuse_undecided(read: Read, code: str) -> NoReturn:
    """Say why a session has no decision to tell of.

    Raises:
        ErasedSession: what it decided, if anything, is gone.
        Refused: it could not be folded, or has no decision.
    """
    if read.trouble == "erased":
        raise ErasedSession(read.head.session_id)
    id_ = short_session(read.head.session_id)
    if read.trouble:
        message = f"session {id_} is {read.trouble}, so its decision is unknown: {read.why}"
        raise Refused(message, code="decision_unknown", session=id_)
    raise Refused(f"session {id_} has no decision", code=code, session=id_)


def _trace_field_in_force(request: Request, what: str) -> list[tuple[Why, str]]:
    """A field, wherever a decision that is in force has it; the newest of the log first."""
    values = _trace_field_in_log(request, request.process, what)
    if (filed := request.reading.filed) is not None:
        known = request.process.store.head
        more = _trace_field_in_log(request, filed, what)
        values += [one for one in more if known(one[0].session_id) is None]
    if not values:
        message = (
            f"{what!r} is no session, no file here, and nothing that a decision in force names"
        )
        raise Refused(message, code="nothing_matches", typed=what)
    return values


def _trace_field_in_log(request: Request, process: Process, what: str) -> list[tuple[Why, str]]:
    rows = process.projector.rows("decisions", process.project, "in_force")
    having = [
        one
        for one in filter_decisions_in_force(rows)
        if any(_is_named(origin, one.decided, what) for origin in one.decided.origins)
    ]
    if process.projector.behind:
        request.tell(process.projector.behind)
    values = []
    for row in reversed(having):
        try:
            read = process.history(row.session_id)
        except PreflightsError as error:
            request.notice(error.code, str(error), **error.fields)
            continue  # it hides no other decision
        # A row says where to look; what is so is what the session's own log folds to.
        patches = read.patches
        if row.decided not in patches:
            id_ = short_session(row.session_id)
            text = f"the projection 'decisions' keeps of session {id_} what its log does not say"
            request.notice("projection_differs", text, session=id_)
        tracing, name = _Tracing(process, read, imports_of(process, read)), read.workflow.name
        for decided in patches:
            named = [o for o in decided.origins if _is_named(o, decided, what)]
            if decided.standing == "accepted":
                values += [(tracing.value(decided, origin), name) for origin in named]
    return values


def _is_named(origin: Origin, decided: DecidedPatch, field: str) -> bool:
    label = field_label(origin.field)
    names = [origin.field, label, origin.key, f"{decided.category}.{origin.field}", origin.value]
    if origin is decided.origins[-1]:  # what it was chosen in place of
        names += [one.name for one in decided.rationale.alternatives]
    return caseless(field) in map(caseless, names)


class _Tracing(NamedTuple):
    """A session of which it is told where its values come from."""

    process: Process
    read: Read
    came: tuple[ImportedBy, ...]
    """The imports of it."""

    def value(self, decided: DecidedPatch, origin: Origin) -> Why:
        """One value of a patch."""
        read, begun = self.read, _context_behind_version(self.read, 1)
        return Why(
            session_id=read.head.session_id,
            uid=decided.uid,
            standing=decided.standing,
            category=decided.category,
            field=origin.field,
            value=origin.value,
            source=origin.source,
            by=Who.said(origin),
            at=iso(origin.at),
            version=origin.version,
            keyword=_context_behind_version(read, origin.version).keyword,
            intention=_intention(read, begun.intention or decided.title),
            task=item_id(begun.item.source.session_id, begun.item.number) if begun.item else None,
            observed=begun.observed,
            question=_origin_question(read, origin),
            answer=_origin_answer(read, origin),
            response=response_of(read, origin.response),
            acknowledged=self._acknowledged(decided),
            imported=self.came,
            supersedes=list_superseded(decided),
            superseded_by=decided.superseded_by,
            kept=decided.kept,
            read=_sources(read),
            **msgspec.structs.asdict(decided.rationale),
        )

    def _acknowledged(self, decided: DecidedPatch) -> Acknowledged | None:
        if decided.acknowledged_at is None or decided.recorded is None:
            return None
        event = _origin_event(self.read, decided.recorded - 1)
        return Acknowledged(
            version=decided.recorded,
            by=Who.of(decided.acknowledged_by),
            relayed_by=Who.of(decided.relayed_by),
            evidence=getattr(event, "evidence", UNSEEN),
            at=iso(decided.acknowledged_at),
            signature=self._signature(decided.recorded - 1),
        )

    def _signature(self, version: int) -> Signed | None:
        """What the signature of an Input proves; None without one."""
        event = _origin_event(self.read, version)
        if not isinstance(event, Signable) or not event.signature:
            return None
        process, session_id = self.process, self.read.head.session_id
        acts = process.signatures.of(process.runner, session_id, version)
        return acts[0].signed if acts and not acts[0].is_refused else None

    def artifact(self, one: Planned) -> WhyArtifact:
        """One artifact, with what it was made from."""
        read = self.read
        first, before = read.folded[0], list(enumerate(read.folded[: one.version], 1))
        assert isinstance(first, Input), "a session begins with an Input"
        inputs = [(version, event) for version, event in before if isinstance(event, Input)]
        return WhyArtifact(
            session_id=read.head.session_id,
            id=one.id,
            type=one.type,
            subject=one.subject,
            standing=one.standing,
            version=one.version,
            created_at=iso(one.created_at),
            created_by=one.created_by,
            begun=WhyInput(version=1, by=Who.of(first.actor), at=iso(first.at)),
            files=one.files,
            records=one.records,
            answers=tuple(answer_of(e, version) for version, e in inputs if isinstance(e, Answers)),
            response=response_of(read, inputs[-1][0]),
            standings=tuple(self._standings(one)),
            reason=one.reason,
            superseded_by=one.superseded_by,
            path=one.path,
            imported=self.came,
        )

    def _standings(self, one: Planned) -> Iterator[WhyStanding]:
        """Every change of its standing, with the Input that it followed from."""
        read, planned = self.read, self.read.workflow.filed.planned
        assert planned is not None, "it made an artifact"
        before, new, heard = "", None, 0
        for version, event in enumerate(read.folded, 1):
            if isinstance(event, Input):
                new, heard = event, version
            made = planned(read.folded[:version], read.sessions[:version])
            now = next((plan.standing for plan in made if plan.id == one.id), "")
            if before and now != before and new is not None:
                yield WhyStanding(
                    version=version,
                    by=Who.of(new.actor),
                    relayed_by=Who.of(getattr(new, "relayed_by", None)),
                    evidence=getattr(new, "evidence", UNSEEN),
                    at=iso(new.at),
                    signature=self._signature(heard),
                    standing=now,
                )
            before = now


def _origin_event(read: Read, version: int | None) -> Event | None:
    return None if version is None else read.events[version - 1]


def _context_behind_version(read: Read, version: int | None) -> OriginDetails:
    event = _origin_event(read, version)
    return OriginDetails() if event is None else read.workflow.filed.behind(event)


def _intention(read: Read, text: str) -> Intention:
    first = read.events[0]
    assert isinstance(first, Input), "a session begins with an Input"
    return Intention(version=1, by=Who.of(first.actor), at=iso(first.at), text=text)


def _session(read: Read, sources: tuple[SourceSession, ...]) -> WhySession:
    last = read.sessions[-1]
    return WhySession(
        session_id=read.head.session_id,
        workflow=read.workflow.name,
        status=compute_session_status(read.workflow, last),
        begun=_intention(read, read.workflow.shown.view(last.state).intention),
        read=sources,
    )


def _origin_question(read: Read, origin: Origin) -> WhyQuestion | None:
    asked = _context_behind_version(read, origin.asked).question
    if asked is None:
        return None
    return WhyQuestion(version=origin.asked, text=asked.question, options=asked.options)


def _origin_answer(read: Read, origin: Origin) -> WhyAnswer | None:
    event = _origin_event(read, origin.input)
    if not isinstance(event, Input) or not answers_in(event):
        return None
    return answer_of(event, origin.input, (origin.key, f"{origin.key}__other"))


def answer_of(event: Input, version: int, keys: Collection[str] | None = None) -> WhyAnswer:
    """What an Input answers, to some questions or to all."""
    given = (one for one in answers_in(event) if keys is None or one.key in keys)
    return WhyAnswer(
        version=version,
        by=Who.of(event.actor),
        at=iso(event.at),
        values=tuple(value for one in given for value in one.values),
        relayed_by=Who.of(getattr(event, "relayed_by", None)),
    )


def response_of(read: Read, version: int | None) -> WhyResponse | None:
    """The response of a provider that an event holds; None of any other event."""
    event = _origin_event(read, version)
    if not isinstance(event, CompletionReceived):
        return None
    requests = (e for e in read.events if isinstance(e, CompletionRequested))
    request = next((r for r in requests if r.call == event.call), None)
    return WhyResponse(
        version=version,
        call=event.call,
        provider=request.provider if request else "",
        model=event.model or (request.model if request else ""),
        prompts=tuple(name for name, _ in request.prompts) if request else (),
        text=event.text,
    )


def _sources(read: Read) -> tuple[SourceSession, ...]:
    return tuple(dict.fromkeys(source for event in read.folded for source in sources(event)))


_ID: Final = re.compile(r"[0-9a-f]{4}[0-9a-f-]{0,32}")


def artifacts_named(request: Request, what: str, field: str = "") -> tuple[WhyArtifact, ...]:
    """The artifact whose id begins so, in the log or a session file; nothing where none does.

    Args:
        field: of its payload, as `of_session` takes it.

    Raises:
        Refused: several do, or it has no such field.
    """
    typed = what.strip().lower()
    if not _ID.fullmatch(typed):
        return ()
    rows = request.reading.rows(
        lambda of: map(decode_plan_row, of.projector.rows("artifacts", of.project))
    )
    found = {one.planned.id: one.session_id for one in rows if one.planned.id.startswith(typed)}
    if len(found) > 1:
        ids = ", ".join(found)
        raise Refused(f"several artifacts begin with {what!r}: {ids}", code="ambiguous_artifact")
    for id_, session_id in found.items():
        process = request.reading.session(session_id).process
        return artifacts_of(process, process.history(session_id), id_, field)
    return ()


def artifacts_of(
    process: Process, read: Read, id_: str = "", field: str = ""
) -> tuple[WhyArtifact, ...]:
    """The artifacts of a session, or that one of them.

    Args:
        field: of the payload: a name, or the way to it (`modules.0.name`); empty for the whole.

    Raises:
        ErasedSession: what it made is gone.
        Refused: it has none, none of them has the field, or it could not be folded.
    """
    session_id = read.head.session_id
    if read.trouble == "erased":
        raise ErasedSession(session_id)
    if read.trouble:
        message = f"session {short_session(session_id)} is {read.trouble}: {read.why}"
        raise Refused(message, code="decision_unknown", session=short_session(session_id))
    found = [one for one in plans(read) if id_ in ("", one.id)]
    if not found:
        message = f"session {short_session(session_id)} has no artifact"
        raise Refused(message, code="no_artifact", session=short_session(session_id))
    tracing = _Tracing(process, read, imports_of(process, read))
    if not field:
        return tuple(map(tracing.artifact, found))
    told, known = [], dict[str, None]()
    for plan in found:
        said = getattr(read.folded[plan.version - 1], "payload", "{}")
        payload = decode_plain_json(said.encode())
        known |= dict.fromkeys(payload if isinstance(payload, dict) else ())
        with suppress(LookupError, ValueError, TypeError):
            value = reduce(_inner, field.strip("/").replace("/", ".").split("."), payload)
            told.append(replace(tracing.artifact(plan), field=field, value=value))
    if not told:
        one = found[-1]
        has = f"it has {', '.join(known)}"
        message = f"the {one.type} {one.id[:SHORT]} has no field {field!r}: {has}"
        raise Refused(message, code="no_such_field", session=short_session(session_id))
    return tuple(told)


def _inner(value: Any, name: str) -> Any:
    """What an object or a list holds under a name or a number."""
    return value[int(name)] if isinstance(value, list) else value[name]
