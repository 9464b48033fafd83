"""The patches of a clarification, where each value came from, and what it says of others."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import (
    AnswersRelayed,
    CategoryDetected,
    ClarificationAnswerAccepted,
    ClarificationQuestionAsked,
    DecisionAcknowledged,
    DecisionForModel,
    DecisionKept,
    DecisionKeptBeside,
    DecisionMarkedSuperseded,
    DecisionRecorded,
    DecisionSuperseded,
    IntentionDeclared,
    PatchProposed,
    QuestionSuggested,
    RationaleNoted,
    ReachNoted,
    ReplacementChosen,
    TopicsFound,
)
from preflights_es.features.clarification.domain.standing import standing_relations
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    category_of,
    is_accepted_by_person,
    title_of,
)
from preflights_es.features.clarification.domain.values import Provenance
from preflights_es.features.clarification.domain.views import expected_record_kind, provenance
from preflights_es.kernel.completions import CompletionReceived
from preflights_es.kernel.events import Actor, Event, Input, Quoted, SourceSession
from preflights_es.kernel.session import Session
from preflights_es.kernel.text import one_line
from preflights_es.words.decisions import (
    DecidedPatch,
    FormerStanding,
    Origin,
    Reach,
    Related,
    Standing,
)
from preflights_es.words.questions import OriginDetails

MODEL = Actor("agent")
"""The actor of a value that a model gave."""


class DecisionCause(msgspec.Struct, frozen=True):
    """The Decision by which something counts, and the Input before it; versions of both."""

    version: int
    input: int
    new: Input


class PatchTrail:
    """What was seen of a session so far."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        """By key: the last time that it was asked."""
        self.worded: dict[str, int] = {}
        """By key: the response that worded its question."""
        self.said: dict[str, DecisionCause] = {}
        """By key: what made its value count."""
        self.suggested: DecisionCause | None = None
        """The model's category."""
        self.patches: list[DecidedPatch] = []
        self.recorded: int | None = None
        self.key: str | UnsetType = UNSET
        """Of the signature of its acknowledgement."""
        self.superseded_at: int | None = None
        self.former: list[FormerStanding] = []
        """What the acknowledged decision was before something of it changed."""


def decided_in_sessions(
    events: Sequence[Event], sessions: Sequence[Session[ClarificationState]]
) -> tuple[DecidedPatch, ...]:
    """Every patch of a session, oldest first.

    Args:
        sessions: how the session stood after each event.
    """
    if PatchProposed not in map(type, events):
        return ()
    trail = PatchTrail()
    new: Input | None = None
    at = 0
    before = ClarificationState()
    for version, (event, session) in enumerate(zip(events, sessions, strict=True), 1):
        state = session.state
        if session.undecided is not None:  # as it is behind an Input, and never behind a Decision
            new, at = session.undecided, version
        elif new is not None:
            _see(trail, event, DecisionCause(version, at, new), state)
        if state is not before:
            if new is not None and state.standing.acknowledgement is not None:
                _record_former_decision(trail, before, state, new.at)
            before = state
    *former, last = trail.patches
    ended = _finish_last_patch(last, trail, sessions[-1])
    return (*(replace(patch, standing="replaced") for patch in former), ended)


def _see(trail: PatchTrail, event: Event, said: DecisionCause, state: ClarificationState) -> None:
    """Take note of a Decision."""
    category = state.found.heuristics.category.id
    match event:
        case ClarificationQuestionAsked(question=question):
            trail.asked[question.id] = said.version
            trail.recorded = None
        case CategoryDetected() | TopicsFound() if state.found.detected:
            trail.said[category] = said
        case ClarificationAnswerAccepted(key=key):
            trail.said[key] = said
        case QuestionSuggested(field=field):
            trail.worded[field.id] = said.input
            trail.suggested = said
            if state.found.writer is not None:  # the response is the writer's word
                trail.said[category] = replace(
                    said, new=replace(said.new, actor=state.found.writer)
                )
        case PatchProposed():
            trail.recorded = None
            trail.patches.append(_patch(trail, event, said, state))
        case RationaleNoted() | ReachNoted() if trail.patches and state.offer.patch is not None:
            now = replace(trail.patches[-1], rationale=state.offer.rationale, reach=_reach(state))
            trail.patches[-1] = now
        case DecisionRecorded():
            trail.recorded = said.version
            signature = getattr(said.new, "signature", UNSET)
            trail.key = signature.key if signature else UNSET
        case DecisionMarkedSuperseded():
            trail.superseded_at = said.new.at


def _record_former_decision(
    trail: PatchTrail, before: ClarificationState, state: ClarificationState, at: int
) -> None:
    """What an acknowledged decision was until now, where it is something else from now on."""
    if before.standing.acknowledgement != state.standing.acknowledgement:
        trail.former = []
        return
    was = _former_standing(before, at)
    if was != _former_standing(state, at):
        trail.former.append(was)


def _former_standing(state: ClarificationState, until: int) -> FormerStanding:
    """How a decision stood before that time, at which a later one changed it."""
    standing, filed = state.standing, state.filed
    return FormerStanding(
        until, filed.number, standing.supersedes, filed.written, kept=standing.kept
    )


def _patch(
    trail: PatchTrail, event: PatchProposed, said: DecisionCause, state: ClarificationState
) -> DecidedPatch:
    is_response = isinstance(said.new, CompletionReceived)
    found = state.found.topics
    return DecidedPatch(
        version=said.version,
        uid=state.opened.uid,
        title=title_of(state),
        category=category_of(state),
        fields=event.patch.fields,
        origins=tuple(_origin(trail, one, said) for one in provenance(state)),
        standing="ready",
        kind=expected_record_kind(state),
        number=None,
        proposed_at=said.new.at,
        response=said.input if is_response else None,
        supersedes=state.standing.supersedes,
        rationale=state.offer.rationale,
        scope=event.scope,
        reach=_reach(state),
        replaced=tuple(one.value for one in found.replaced) if found and found.replaced else UNSET,
    )


def _reach(state: ClarificationState) -> Reach | UnsetType:
    return UNSET if state.offer.reach.is_everywhere else state.offer.reach


def _origin(trail: PatchTrail, one: Provenance, patch: DecisionCause) -> Origin:
    """The event a value comes from; the model read a value that was not typed out of the text."""
    by_model = one.source == "suggested"
    said = trail.said.get(one.key, patch)
    if by_model:
        said = trail.suggested if one.field == "Category" and trail.suggested else patch
    asked = trail.asked.get(one.key)
    return Origin(
        key=one.key,
        field=one.field,
        value=one.value,
        source=one.source,
        by=MODEL if by_model else _input_speaker(said.new),
        at=said.new.at,
        version=said.version,
        input=said.input,
        asked=asked if asked is not None and asked < said.version else None,
        response=said.input if by_model else trail.worded.get(one.key),
    )


def _input_speaker(new: Input) -> Actor:
    """Who spoke to the log: a person's words may be relayed."""
    relayed_by = new.relayed_by if isinstance(new, AnswersRelayed) else None
    return relayed_by or new.actor


def _finish_last_patch(
    last: DecidedPatch, trail: PatchTrail, session: Session[ClarificationState]
) -> DecidedPatch:
    """The last patch as the session leaves it."""
    state = session.state
    done, recorded = state.standing.acknowledgement, state.standing.recorded
    return replace(
        last,
        standing=_patch_standing(session),
        kind=recorded.kind if recorded else last.kind,
        number=state.filed.number if done else None,
        recorded=trail.recorded,
        key=trail.key if done else UNSET,
        acknowledged_at=done.at if done else None,
        acknowledged_by=done.actor if done else None,
        relayed_by=done.relayed_by if done else None,
        superseded_at=trail.superseded_at,
        **standing_relations(state.standing),
        written=state.filed.written,
        former=tuple(trail.former) if done else (),
    )


def _patch_standing(session: Session[ClarificationState]) -> Standing:
    state = session.state
    if state.standing.superseded_by is not None:
        return "superseded"
    if is_accepted_by_person(state):
        return "accepted"
    if session.closed:
        return "abandoned" if state.standing.rejected is None else "rejected"
    if state.offer.patch is None:
        return "replaced"
    return "ready" if state.standing.acknowledgement is None else "proposed"


def sessions_behind(event: Event) -> OriginDetails:
    """What an event says of where a decided value came from."""
    match event:
        case IntentionDeclared():
            item = None if event.item is UNSET else event.item
            observed = None if event.observed is UNSET else event.observed
            return OriginDetails(intention=event.intention, item=item, observed=observed)
        case CategoryDetected():
            return OriginDetails(keyword=event.keyword)
        case ClarificationQuestionAsked():
            return OriginDetails(question=event.question)
        case _:
            return OriginDetails()


# Other sessions -------------------------------------------------------------------------------


def quotes(event: Event) -> tuple[Quoted, ...]:
    """The decisions that an event names beside a value, and not as its `Source`."""
    match event:
        case IntentionDeclared(supersedes=Related(uid=uid, session_id=old)) if uid:
            return (Quoted("supersedes", old),)  # a record without a session has no uid
        case DecisionAcknowledged(resolved=resolved) if resolved is not UNSET:
            found = ((one.choice == "keeps", one.finding.related) for one in resolved)
            return tuple(
                Quoted("kept" if keeps else "supersedes", old.session_id)
                for keeps, old in found
                if old.session_id  # a record of another tool has none
            )
        case ReplacementChosen(replaces=Related(uid=uid, session_id=old)) if uid:
            return (Quoted("supersedes", old),)
        case DecisionKept(kept=kept) if kept.session_id:
            return (Quoted("kept", kept.session_id),)
        case DecisionSuperseded(by=by):
            return (Quoted("superseded_by", by.session_id),)
        case DecisionKeptBeside(by=by):
            return (Quoted("kept", by.session_id),)
        case _:
            return ()


def told_of(state: ClarificationState, source: SourceSession) -> DecisionForModel | None:
    """What a model is told of a decision that a person accepted; None of any other session."""
    if not is_accepted_by_person(state) or state.offer.patch is None:
        return None
    because = state.offer.rationale.because
    return DecisionForModel(
        one_line(title_of(state)),
        state.offer.patch,
        source,
        scope=state.offer.scope or UNSET,
        because=one_line(because.text) if because else UNSET,
    )
