"""The state of a clarification after one more event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.features.clarification.domain import reasons
from preflights_es.features.clarification.domain.events import (
    AnswersRelayed,
    AnswersRevised,
    CategoryDetected,
    ClarificationAnswerAccepted,
    ClarificationAnswersGiven,
    ClarificationQuestionAsked,
    ClarificationStopped,
    DecisionAcknowledged,
    DecisionKept,
    DecisionKeptBeside,
    DecisionMarkedKept,
    DecisionMarkedSuperseded,
    DecisionRecorded,
    DecisionRenumbered,
    DecisionSuperseded,
    IntentionDeclared,
    PatchProposed,
    QuestionsEnded,
    QuestionSuggested,
    RationaleGiven,
    RationaleNoted,
    RationaleSuggested,
    ReachNoted,
    ReferenceRenumbered,
    ReplacementChosen,
    ReplacementNoted,
    ScopeNoted,
    TopicDropped,
    TopicsFound,
)
from preflights_es.features.clarification.domain.rules import OUR_FORM
from preflights_es.features.clarification.domain.state import (
    UNDECIDED,
    Acknowledgement,
    ClarificationState,
    acknowledgement_day,
    is_followed,
    suggested_in,
    topics_of,
)
from preflights_es.features.clarification.domain.values import (
    OTHER,
    CategoryMatch,
    DecisionPatch,
    HeuristicsConfig,
    Provenance,
    Resolved,
    Source,
)
from preflights_es.kernel import lead as leading
from preflights_es.kernel.completions import CompletionReceived
from preflights_es.kernel.events import (
    Actor,
    ArtifactDue,
    ArtifactRemoved,
    ArtifactWritten,
    Event,
    Growing,
    Input,
    SessionAbandoned,
    WrittenFile,
)
from preflights_es.kernel.lead import WRITERS, FellBack
from preflights_es.words.decisions import (
    KeptDecision,
    Rationale,
    RejectedAlternative,
    Related,
    Resolution,
)
from preflights_es.words.questions import Answers
from preflights_es.words.signing import made_with


def evolve(state: ClarificationState, event: Event) -> ClarificationState:
    """The state after one more event; any event in any state."""
    after = _AFTER.get(type(event))
    if after is not None:
        return after(state, event)
    if isinstance(event, Input):
        return replace(state, actor=event.actor, input=event)
    return _after_led(state, event)


# The category --------------------------------------------------------------------------------


def _categorized(state: ClarificationState) -> ClarificationState:
    """With the category that the rest of it gives."""
    return replace(state, found=_resolve_category(state, state.answers, state.detected))


def _resolve_category(
    state: ClarificationState, answers: dict[str, Resolved], detected: str
) -> CategoryMatch | None:
    config, framed, writer = state.heuristics, state.framed, state.writer
    found = _category_of_resolved(
        config, answers.get(config.category.id) or Resolved(detected, "detected")
    )
    if framed is None or (found and found[1].source != "detected" and not _frames(framed, found)):
        return found
    framed_category = config.named(framed.category) or config.other()
    base = found[0] if found and _frames(framed, found) else framed_category
    source: Source = "suggested" if writer is None else "chosen"
    resolved = found[1] if found and _frames(framed, found) else Resolved(base.name, source)
    further = {one.field.id: one.field for one in state.further}
    others = tuple(one for one in base.secondary if one.id not in further)
    secondary = (*others, *further.values())
    return replace(base, primary=framed.field, secondary=secondary), resolved


def _category_of_resolved(config: HeuristicsConfig, by: Resolved) -> CategoryMatch | None:
    """The category of an accepted answer, or of a word of the intention."""
    is_own = by.source == "custom"  # a person's own label, also where a category is called like it
    known = config.named(by.value) if by.value and not is_own else None
    if by.source == "detected" and known is None and by.value != OTHER:
        return None
    return known or config.other(), by


def _frames(framed: QuestionSuggested, found: CategoryMatch) -> bool:
    return framed.category == found[0].name


# Of Inputs -----------------------------------------------------------------------------------


def _after_intention(state: ClarificationState, new: IntentionDeclared) -> ClarificationState:
    if state.input is not None:
        return replace(state, actor=new.actor, input=new)
    lead = new.setup.lead
    return replace(
        state,
        writer=new.actor if lead is not None and lead.provider in WRITERS else None,
        intention=new.intention,
        uid=new.uid,
        heuristics=new.heuristics,
        mark=new.mark,
        supersedes=new.supersedes,
        supersedes_source=new.supersedes_source,
        item=None if new.item is UNSET else new.item,
        observed=None if new.observed is UNSET else new.observed,
        actor=new.actor,
        input=new,
        redacted=state.redacted.plus(*new.redacted),
        led=leading.open_lead_state(new.setup),
        known=new.known,
        told=() if new.told is UNSET else new.told,
        pack=new.pack,
        inlined=new.inlined,
        context=new.context,
    )


def _after_answers(state: ClarificationState, new: Answers | RationaleGiven) -> ClarificationState:
    redacted = state.redacted.plus(*new.redacted)
    return replace(state, actor=new.actor, input=new, redacted=redacted)


def _after_writing(state: ClarificationState, new: ArtifactWritten) -> ClarificationState:
    hashes = state.hashes.plus(new.sha256)
    if new.beside:
        return replace(state, actor=new.actor, input=new, beside=new.path, hashes=hashes)
    written = WrittenFile(new.path, new.sha256)
    return replace(state, actor=new.actor, input=new, written=written, beside="", hashes=hashes)


def _after_removal(state: ClarificationState, new: ArtifactRemoved) -> ClarificationState:
    return replace(
        state, actor=new.actor, input=new, written=None, beside="", hashes=Growing[str]()
    )


def _after_rejection(state: ClarificationState, new: SessionAbandoned) -> ClarificationState:
    return replace(state, actor=new.actor, input=new, rejected=new)


# Of Decisions --------------------------------------------------------------------------------


def _after_category(state: ClarificationState, event: CategoryDetected) -> ClarificationState:
    name = event.category
    found = Provenance(state.heuristics.category.id, "Category", name, "detected", state.actor.kind)
    provenance = _replace_provenance(state.provenance, found)
    category = _resolve_category(state, state.answers, name)
    return replace(state, detected=name, provenance=provenance, found=category)


def _after_topics(state: ClarificationState, event: TopicsFound) -> ClarificationState:
    from preflights_es.features.clarification.domain.pack import (
        asked_topic,
        load_pack,
        merge_session_tables,
        narrowed,
    )

    if state.pack is None:
        return state
    config = merge_session_tables(state.inlined, event.language, state.heuristics)
    topic = asked_topic(load_pack(state.inlined), event)
    after = replace(state, topics=event, scope=event.scope)
    if event.stated:
        after = replace(after, rationale=_instead_of(after))
    if topic is None or config.named(topic.category) is None:
        return _categorized(replace(after, heuristics=config, detected=OTHER))
    named = replace(after, heuristics=narrowed(config, topic, event), detected=topic.category)
    key = config.category.id
    found = Provenance(key, "Category", topic.category, "detected", state.actor.kind)
    return _categorized(replace(named, provenance=_replace_provenance(state.provenance, found)))


def _after_dropping(state: ClarificationState, _: TopicDropped) -> ClarificationState:
    """As where no topic covers the intention."""
    found, key = state.topics, state.heuristics.category.id
    if found is not None:
        found = replace(found, kind="open", topics=(), present=UNSET)
    kept = tuple(one for one in state.provenance if one.key != key)
    return _categorized(
        replace(state, topics=found, detected=OTHER, provenance=kept, question=None)
    )


def _instead_of(state: ClarificationState) -> Rationale:
    """With what a stated value replaces: who states it turns that down."""
    topics, found = topics_of(state), state.topics
    assert found is not None, "it was found just now"
    named = tuple(
        RejectedAlternative(
            topics[one.topic].said(one.value, found.language) if one.topic else one.value
        )
        for one in found.replaced
        if not one.topic or one.topic in topics
    )
    new = RationaleNoted(because="", consequences=(), alternatives=named)
    return reasons.added(state.rationale, new, state.actor.kind)


def _after_question(
    state: ClarificationState, event: ClarificationQuestionAsked
) -> ClarificationState:
    return replace(
        state,
        asked=state.asked.plus(event.question),
        question=event.question,
        patch=None,
        stopped="",
        acknowledgement=None,
    )


def _after_noted(state: ClarificationState, event: RationaleNoted) -> ClarificationState:
    rationale = reasons.added(state.rationale, event, state.actor.kind)
    led = state.led
    if event.because:
        led = leading.add_user_message(led, f"Reason: {event.because}")
    return replace(state, rationale=rationale, led=led)


def _after_offer(state: ClarificationState, event: RationaleSuggested) -> ClarificationState:
    """A model's, where one leads and answers; else the recommendation of the question's writer."""
    is_models = state.led.lead is not None and isinstance(state.input, CompletionReceived)
    if state.writer is not None and not is_models:
        rationale = reasons.added(state.rationale, event, state.writer.kind)
    else:
        rationale = reasons.merge_model_rationale(state.rationale, event)
    lead = state.led.lead
    return replace(state, rationale=rationale, offered_by=lead.model if lead else state.offered_by)


def _after_scope(state: ClarificationState, event: ScopeNoted) -> ClarificationState:
    return replace(state, scope=event.scope)


def _after_reach(state: ClarificationState, event: ReachNoted) -> ClarificationState:
    return replace(state, reach=event.reach)


def _after_patch(state: ClarificationState, event: PatchProposed) -> ClarificationState:
    scope = event.scope or ""
    return replace(
        state,
        scope=scope,
        proposed_scope=scope,
        patch=event.patch,
        hint=event.hint,
        question=None,
        stopped="",
        acknowledgement=None,
        provenance=_with_suggested(state, event.patch),
    )


def _after_stop(state: ClarificationState, event: ClarificationStopped) -> ClarificationState:
    keeps = state.input if isinstance(state.input, DecisionKept) else None
    return replace(
        state,
        patch=None,
        question=None,
        stopped=event.reason,
        acknowledgement=None,
        keeps=keeps if event.reason == "kept" else None,
        mark="task" if event.reason == "task" else state.mark,
    )


def _after_due(state: ClarificationState, _: ArtifactDue) -> ClarificationState:
    return replace(_after_renumbering(state), dues=state.dues + 1)


def _after_fallback(state: ClarificationState, event: FellBack) -> ClarificationState:
    led = leading.evolve_lead_state(state.led, state.input, event)
    # The model's questions that a person has answered: those answers count on.
    kept = tuple(one for one in suggested_in(state) if one.field.id in state.answers)
    framed = kept[0] if kept else None
    return _categorized(replace(state, led=led, framed=framed, further=kept[1:]))


def _after_led(state: ClarificationState, event: Event) -> ClarificationState:
    led = leading.evolve_lead_state(state.led, state.input, event)
    return state if led is state.led else replace(state, led=led)


def _after_answer(
    state: ClarificationState, event: ClarificationAnswerAccepted
) -> ClarificationState:
    answers = {**state.answers, event.key: Resolved(event.value, event.source)}
    relayed_by = state.input.relayed_by if isinstance(state.input, AnswersRelayed) else None
    by = state.actor.kind
    filed = Provenance(event.key, event.field, event.value, event.source, by, relayed_by)
    answers_open = state.question is not None and state.question.id == event.key
    if _depends_on(state, event):  # what was asked after another answer falls with it
        keys = {one.field.id for one in state.further}
        answers = {k: v for k, v in answers.items() if k not in keys}
        kept = tuple(one for one in state.provenance if one.key not in keys)
        state = _categorized(replace(state, further=(), provenance=kept))
    provenance = _replace_provenance(state.provenance, filed)
    found = state.found
    rationale = _still_true(state, event)
    if event.key == state.heuristics.category.id:
        found = _resolve_category(state, answers, state.detected)
        if state.found is None or found is None or state.found[0].name != found[0].name:
            # They answer none of the new category's questions; the log has them.
            answers = {event.key: answers[event.key]}
            provenance = (filed,)
            if state.found is not None:
                rationale = Rationale()
    return replace(
        state,
        answers=answers,
        found=found,
        provenance=provenance,
        rationale=rationale,
        question=None if answers_open else state.question,
        stopped="" if state.stopped in UNDECIDED else state.stopped,
        led=leading.add_user_message(state.led, f"{event.field}: {event.value}"),
        turn=state.turn + answers_open,
    )


def _depends_on(state: ClarificationState, event: ClarificationAnswerAccepted) -> bool:
    """Whether further questions were asked because of another answer to the first."""
    first = state.framed
    if not state.further or first is None or event.key != first.field.id:
        return False
    return all(one.value != event.value for one in state.provenance if one.key == event.key)


def _still_true(state: ClarificationState, event: ClarificationAnswerAccepted) -> Rationale:
    """What was said of the decision, once an answer counts."""
    primary = state.found[0].primary if state.found else None
    if primary is None or event.key != primary.id:
        return state.rationale
    former = next((p.value for p in state.provenance if p.key == event.key), event.value)
    if former == event.value:
        return reasons.of_value(state.rationale, event.value)
    return reasons.of_another_value(state.rationale, event.value)


def _after_suggestion(state: ClarificationState, event: QuestionSuggested) -> ClarificationState:
    lead = state.led.lead
    if state.writer is not None and lead is not None and lead.provider in WRITERS:
        return _after_written(state, event, state.writer)
    if state.writer is None and is_followed(state):
        return _categorized(replace(state, further=(*state.further, event)))
    by = lead.model if lead is not None else state.offered_by
    after = _categorized(replace(state, framed=event, further=(), writer=None, offered_by=by))
    found = after.found
    if found is None or found[1].source != "suggested":
        return after
    key = state.heuristics.category.id
    suggested = Provenance(key, "Category", found[0].name, "suggested", "model")
    return replace(after, provenance=_replace_provenance(state.provenance, suggested))


def _after_written(
    state: ClarificationState, event: QuestionSuggested, writer: Actor
) -> ClarificationState:
    """The rules lead from here on."""
    led = replace(state.led, lead=None)
    after = _categorized(replace(state, framed=event, led=led))
    key = state.heuristics.category.id
    chosen = Provenance(key, "Category", event.category, "chosen", writer.kind)
    return replace(after, provenance=_replace_provenance(state.provenance, chosen))


def _after_questions(state: ClarificationState, _: QuestionsEnded) -> ClarificationState:
    if state.framed is None:
        return state
    *asked, last = suggested_in(state)
    framed, *further = (*asked, replace(last, more=False))
    return replace(state, framed=framed, further=tuple(further))


def _with_suggested(state: ClarificationState, patch: DecisionPatch) -> tuple[Provenance, ...]:
    """The provenance, with values that a model read out of what was said."""
    filed = [p.field for p in state.provenance]
    suggested = [(name, value) for name, value in patch.fields if name not in filed]
    if not suggested:
        return state.provenance
    fields = {field.name: field.id for field in state.found[0].fields()} if state.found else {}
    added = (
        Provenance(fields[name], name, value, "suggested", "model")
        for name, value in suggested
        if name in fields
    )
    return (*state.provenance, *added)


def _after_record(state: ClarificationState, event: DecisionRecorded) -> ClarificationState:
    new = state.input
    if not isinstance(new, DecisionAcknowledged):
        return state
    if event.status == "accepted" and new.resolved is not UNSET:
        state = _after_choices(state, new.resolved)
    if event.status == "accepted" and state.reach.paths:
        state = replace(state, reach=replace(state.reach, by=new.actor.kind))
    return replace(
        state,
        acknowledgement=Acknowledgement(
            new.at,
            new.actor,
            event.status,
            event.kind,
            new.relayed_by,
            new.evidence,
            made_with(new.signature),
        ),
        mark=new.mark or state.mark,
        number=event.number,
        folder=new.folder,
        day=acknowledgement_day(new.at),
        form=OUR_FORM if new.form is UNSET else new.form,
    )


def _replace_provenance(
    provenance: tuple[Provenance, ...], found: Provenance
) -> tuple[Provenance, ...]:
    return (*[p for p in provenance if p.key != found.key], found)


# Other decisions -----------------------------------------------------------------------------


def _after_choices(
    state: ClarificationState, resolved: tuple[Resolution, ...]
) -> ClarificationState:
    """With what a person chose about decisions that differ."""
    found = ((one.choice, one.finding.related, one.reason) for one in resolved)
    chosen = {_related_key(related): (choice, related, reason) for choice, related, reason in found}
    replaced = [related for choice, related, _ in chosen.values() if choice == "supersedes"]
    kept = [
        KeptDecision(related, why) for choice, related, why in chosen.values() if choice == "keeps"
    ]
    own = tuple([_related_key(one.related) for one in kept])
    return replace(_replacing(state, replaced), kept=tuple(kept), kept_by_choice=own)


def _replacing(state: ClarificationState, more: Sequence[Related]) -> ClarificationState:
    """With more decisions that it replaces, each once."""
    before = (state.supersedes, *state.also_supersedes)
    named = {_related_key(one): one for one in (*before, *more) if one is not None}
    first, *others = (*named.values(), None)
    return replace(state, supersedes=first, also_supersedes=tuple(filter(None, others)))


def _related_key(one: Related) -> str:
    """What no other decision or record has."""
    return one.uid or one.path or ""


def _after_replacement(state: ClarificationState, _: ReplacementNoted) -> ClarificationState:
    new = state.input
    if not isinstance(new, ReplacementChosen):
        return state
    source = state.supersedes_source if state.supersedes else new.source
    return replace(_replacing(state, [new.replaces]), supersedes_source=source)


def _after_supersession(
    state: ClarificationState, _: DecisionMarkedSuperseded
) -> ClarificationState:
    """Another decision took its place."""
    by = state.input.by if isinstance(state.input, DecisionSuperseded) else None
    return replace(state, superseded_by=by or state.superseded_by)


def _after_keeping(state: ClarificationState, _: DecisionMarkedKept) -> ClarificationState:
    """Another decision was accepted beside it; a second reason replaces the first.

    That of its own acceptance stays: a person may have signed it.
    """
    new = state.input
    if not isinstance(new, DecisionKeptBeside) or new.by.uid in state.kept_by_choice:
        return state
    others = (one for one in state.kept if one.related.uid != new.by.uid)
    return replace(state, kept=(*others, KeptDecision(new.by, new.reason)))


def _after_renumbering(state: ClarificationState) -> ClarificationState:
    """Its record, or one that it names, has another number."""
    match state.input:
        case DecisionRenumbered(number=number):
            return replace(state, number=number)
        case ReferenceRenumbered() as new:
            return replace(
                state,
                supersedes=_renumber_optional_related(state.supersedes, new),
                superseded_by=_renumber_optional_related(state.superseded_by, new),
                also_supersedes=tuple(
                    _renumber_related_decision(one, new) for one in state.also_supersedes
                ),
                kept=tuple(
                    replace(o, related=_renumber_related_decision(o.related, new))
                    for o in state.kept
                ),
            )
        case _:
            return state


def _renumber_optional_related(related: Related | None, new: ReferenceRenumbered) -> Related | None:
    return None if related is None else _renumber_related_decision(related, new)


def _renumber_related_decision(related: Related, new: ReferenceRenumbered) -> Related:
    if related.uid != new.uid:
        return related
    return replace(related, number=new.number, path=new.path)


_AFTER: Final[Mapping[type[Event], Callable[[ClarificationState, Any], ClarificationState]]] = {
    IntentionDeclared: _after_intention,
    ClarificationAnswersGiven: _after_answers,
    AnswersRevised: _after_answers,
    AnswersRelayed: _after_answers,
    RationaleGiven: _after_answers,
    ArtifactWritten: _after_writing,
    ArtifactRemoved: _after_removal,
    SessionAbandoned: _after_rejection,
    CategoryDetected: _after_category,
    TopicsFound: _after_topics,
    TopicDropped: _after_dropping,
    ClarificationQuestionAsked: _after_question,
    QuestionSuggested: _after_suggestion,
    QuestionsEnded: _after_questions,
    ClarificationAnswerAccepted: _after_answer,
    RationaleNoted: _after_noted,
    ScopeNoted: _after_scope,
    ReachNoted: _after_reach,
    RationaleSuggested: _after_offer,
    PatchProposed: _after_patch,
    ClarificationStopped: _after_stop,
    DecisionRecorded: _after_record,
    ReplacementNoted: _after_replacement,
    DecisionMarkedSuperseded: _after_supersession,
    DecisionMarkedKept: _after_keeping,
    ArtifactDue: _after_due,
    FellBack: _after_fallback,
}
"""By their classes: a fold of a million events looks each of them up once."""
