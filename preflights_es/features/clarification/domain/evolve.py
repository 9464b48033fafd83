"""The state of a clarification after one more event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
from preflights_es.features.clarification.domain.standing import (
    renumbered,
    with_choices,
    with_kept,
    with_replaced,
)
from preflights_es.features.clarification.domain.state import (
    UNDECIDED,
    ClarificationState,
    FoundCategory,
    acknowledgement_day,
    is_accepted_by_person,
    is_followed,
    suggested_in,
    topics_of,
)
from preflights_es.features.clarification.domain.values import (
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
from preflights_es.words.decisions import OTHER, Rationale, RejectedAlternative, Speaker
from preflights_es.words.questions import Answers


def evolve(state: ClarificationState, event: Event) -> ClarificationState:
    """The state after one more event; any event in any state."""
    after = _AFTER.get(type(event))
    if after is not None:
        return after(state, event)
    if isinstance(event, Input):
        return _after_input(state, event)
    led = leading.evolve_lead_state(state.led, state.turns.input, event)
    return state if led is state.led else replace(state, led=led)


# The category --------------------------------------------------------------------------------


def _categorized(state: ClarificationState) -> ClarificationState:
    """With the category that the rest of it gives."""
    category = _resolve_category(state.found, state.turns.answers)
    return replace(state, found=replace(state.found, category=category))


def _resolve_category(state: FoundCategory, answers: dict[str, Resolved]) -> CategoryMatch | None:
    config, framed = state.heuristics, state.framed
    found = _category_of_resolved(
        config, answers.get(config.category.id) or Resolved(state.detected, "detected")
    )
    if framed is None or (found and found[1].source != "detected" and not _frames(framed, found)):
        return found
    framed_category = config.named(framed.category) or config.other()
    base = found[0] if found and _frames(framed, found) else framed_category
    source: Source = "suggested" if state.writer is None else "chosen"
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


def _after_input(state: ClarificationState, new: Input) -> ClarificationState:
    return replace(state, turns=replace(state.turns, input=new))


def _after_intention(state: ClarificationState, new: IntentionDeclared) -> ClarificationState:
    if state.turns.input is not None:
        # Only a log that was forged has two; `evolve` never fails, and what was opened stays.
        return _after_input(state, new)
    lead = new.setup.lead
    is_written = lead is not None and lead.provider in WRITERS
    return ClarificationState(
        opened=new,
        found=replace(
            state.found, heuristics=new.heuristics, writer=new.actor if is_written else None
        ),
        turns=replace(state.turns, input=new, redacted=state.turns.redacted.plus(*new.redacted)),
        offer=replace(state.offer, mark=new.mark),
        standing=replace(
            state.standing, supersedes=new.supersedes, supersedes_source=new.supersedes_source
        ),
        filed=state.filed,
        led=leading.open_lead_state(new.setup),
    )


def _after_answers(state: ClarificationState, new: Answers | RationaleGiven) -> ClarificationState:
    redacted = state.turns.redacted.plus(*new.redacted)
    return replace(state, turns=replace(state.turns, input=new, redacted=redacted))


def _after_writing(state: ClarificationState, new: ArtifactWritten) -> ClarificationState:
    filed = replace(state.filed, hashes=state.filed.hashes.plus(new.sha256))
    if new.beside:
        filed = replace(filed, beside=new.path)
    else:
        filed = replace(filed, written=WrittenFile(new.path, new.sha256), beside="")
    return replace(_after_input(state, new), filed=filed)


def _after_removal(state: ClarificationState, new: ArtifactRemoved) -> ClarificationState:
    filed = replace(state.filed, written=None, beside="", hashes=Growing[str]())
    return replace(_after_input(state, new), filed=filed)


def _after_rejection(state: ClarificationState, new: SessionAbandoned) -> ClarificationState:
    return replace(_after_input(state, new), standing=replace(state.standing, rejected=new))


# Of Decisions --------------------------------------------------------------------------------


def _after_category(state: ClarificationState, event: CategoryDetected) -> ClarificationState:
    found = replace(state.found, detected=event.category)
    return _categorized(_with_category_named(replace(state, found=found), event.category))


def _with_category_named(
    state: ClarificationState, name: str, source: Source = "detected", by: Speaker | None = None
) -> ClarificationState:
    """With how the category became known, in place of what was so before."""
    key = state.found.heuristics.category.id
    named = Provenance(key, "Category", name, source, by=by or state.actor.kind)
    provenance = _replace_provenance(state.turns.provenance, named)
    return replace(state, turns=replace(state.turns, provenance=provenance))


def _after_topics(state: ClarificationState, event: TopicsFound) -> ClarificationState:
    from preflights_es.features.clarification.domain.pack import (
        asked_topic,
        load_pack,
        merge_session_tables,
        narrowed,
    )

    opened = state.opened
    if opened.pack is None:
        return state
    config = merge_session_tables(opened.inlined, event.language, state.found.heuristics)
    topic = asked_topic(load_pack(opened.inlined), event)
    found = replace(state.found, topics=event, heuristics=config, detected=OTHER)
    offer = replace(state.offer, scope=event.scope)
    if event.stated:
        offer = replace(offer, rationale=_instead_of(state, event))
    after = replace(state, found=found, offer=offer)
    if topic is None or config.named(topic.category) is None:
        return _categorized(after)
    named = narrowed(config, topic, event)
    found = replace(found, heuristics=named, detected=topic.category)
    return _categorized(_with_category_named(replace(after, found=found), topic.category))


def _after_dropping(state: ClarificationState, _: TopicDropped) -> ClarificationState:
    """As where no topic covers the intention."""
    topics, key = state.found.topics, state.found.heuristics.category.id
    if topics is not None:
        topics = replace(topics, kind="open", topics=(), present=UNSET)
    kept = tuple(one for one in state.turns.provenance if one.key != key)
    found = replace(state.found, topics=topics, detected=OTHER)
    turns = replace(state.turns, provenance=kept, question=None)
    return _categorized(replace(state, found=found, turns=turns))


def _instead_of(state: ClarificationState, found: TopicsFound) -> Rationale:
    """With what a stated value replaces: who states it turns that down."""
    topics = topics_of(state)
    named = tuple(
        RejectedAlternative(
            topics[one.topic].said(one.value, found.language) if one.topic else one.value
        )
        for one in found.replaced
        if not one.topic or one.topic in topics
    )
    new = RationaleNoted(because="", consequences=(), alternatives=named)
    return reasons.added(state.offer.rationale, new, state.actor.kind)


def _after_question(
    state: ClarificationState, event: ClarificationQuestionAsked
) -> ClarificationState:
    asked = state.turns.asked.plus(event.question)
    return replace(
        state,
        turns=replace(state.turns, asked=asked, question=event.question),
        offer=replace(state.offer, patch=None, stopped=""),
        standing=replace(state.standing, acknowledgement=None, recorded=None),
    )


def _after_noted(state: ClarificationState, event: RationaleNoted) -> ClarificationState:
    rationale = reasons.added(state.offer.rationale, event, state.actor.kind)
    led = state.led
    if event.because:
        led = leading.add_user_message(led, f"Reason: {event.because}")
    return replace(state, offer=replace(state.offer, rationale=rationale), led=led)


def _after_offer(state: ClarificationState, event: RationaleSuggested) -> ClarificationState:
    """A model's, where one leads and answers; else the recommendation of the question's writer."""
    lead, writer, before = state.led.lead, state.found.writer, state.offer.rationale
    is_models = lead is not None and isinstance(state.turns.input, CompletionReceived)
    if writer is not None and not is_models:
        rationale = reasons.added(before, event, writer.kind)
    else:
        rationale = reasons.merge_model_rationale(before, event)
    by = lead.model if lead else state.offer.offered_by
    return replace(state, offer=replace(state.offer, rationale=rationale, offered_by=by))


def _after_scope(state: ClarificationState, event: ScopeNoted) -> ClarificationState:
    return replace(state, offer=replace(state.offer, scope=event.scope))


def _after_reach(state: ClarificationState, event: ReachNoted) -> ClarificationState:
    return replace(state, offer=replace(state.offer, reach=event.reach))


def _after_patch(state: ClarificationState, event: PatchProposed) -> ClarificationState:
    scope, patch, hint = event.scope or "", event.patch, event.hint
    offer = replace(
        state.offer, scope=scope, proposed_scope=scope, patch=patch, hint=hint, stopped=""
    )
    return replace(
        state,
        turns=replace(state.turns, question=None, provenance=_with_suggested(state, patch)),
        offer=offer,
        standing=replace(state.standing, acknowledgement=None, recorded=None),
    )


def _after_stop(state: ClarificationState, event: ClarificationStopped) -> ClarificationState:
    new, mark = state.turns.input, state.offer.mark
    keeps = new if isinstance(new, DecisionKept) and event.reason == "kept" else None
    mark = "task" if event.reason == "task" else mark
    return replace(
        state,
        turns=replace(state.turns, question=None),
        offer=replace(state.offer, patch=None, stopped=event.reason, mark=mark),
        standing=replace(state.standing, acknowledgement=None, recorded=None, keeps=keeps),
    )


def _after_due(state: ClarificationState, _: ArtifactDue) -> ClarificationState:
    new, filed, standing = state.turns.input, state.filed, state.standing
    if isinstance(new, DecisionRenumbered):
        filed = replace(filed, number=new.number)
    elif isinstance(new, ReferenceRenumbered):  # a record that it names has another number
        standing = renumbered(standing, new)
    return replace(state, standing=standing, filed=replace(filed, dues=filed.dues + 1))


def _after_fallback(state: ClarificationState, event: FellBack) -> ClarificationState:
    led = leading.evolve_lead_state(state.led, state.turns.input, event)
    # The model's questions that a person has answered: those answers count on.
    kept = tuple(one for one in suggested_in(state) if one.field.id in state.turns.answers)
    found = replace(state.found, framed=kept[0] if kept else None, further=kept[1:])
    return _categorized(replace(state, led=led, found=found))


def _after_answer(
    state: ClarificationState, event: ClarificationAnswerAccepted
) -> ClarificationState:
    new, turns, offer = state.turns.input, state.turns, state.offer
    answers = {**turns.answers, event.key: Resolved(event.value, event.source)}
    relayed_by = new.relayed_by if isinstance(new, AnswersRelayed) else None
    by = state.actor.kind
    given = Provenance(
        event.key, event.field, event.value, source=event.source, by=by, relayed_by=relayed_by
    )
    answers_open = turns.question is not None and turns.question.id == event.key
    found, before = state.found, turns.provenance
    if _depends_on(state, event):  # what was asked after another answer falls with it
        keys = {one.field.id for one in found.further}
        answers = {k: v for k, v in answers.items() if k not in keys}
        before = tuple(one for one in before if one.key not in keys)
        found = replace(found, further=())
        found = replace(found, category=_resolve_category(found, turns.answers))
    provenance = _replace_provenance(before, given)
    rationale = _still_true(found, before, offer.rationale, event)
    if event.key == found.heuristics.category.id:
        former, category = found.category, _resolve_category(found, answers)
        found = replace(found, category=category)
        if former is None or category is None or former[0].name != category[0].name:
            # They answer none of the new category's questions; the log has them.
            answers = {event.key: answers[event.key]}
            provenance = (given,)
            if former is not None:
                rationale = Rationale()
    return replace(
        state,
        found=found,
        turns=replace(
            turns,
            answers=answers,
            provenance=provenance,
            question=None if answers_open else turns.question,
            turn=turns.turn + answers_open,
        ),
        offer=replace(
            offer, rationale=rationale, stopped="" if offer.stopped in UNDECIDED else offer.stopped
        ),
        led=leading.add_user_message(state.led, f"{event.field}: {event.value}"),
    )


def _depends_on(state: ClarificationState, event: ClarificationAnswerAccepted) -> bool:
    """Whether further questions were asked because of another answer to the first."""
    first = state.found.framed
    if not state.found.further or first is None or event.key != first.field.id:
        return False
    given = state.turns.provenance
    return all(one.value != event.value for one in given if one.key == event.key)


def _still_true(
    found: FoundCategory,
    provenance: Iterable[Provenance],
    rationale: Rationale,
    event: ClarificationAnswerAccepted,
) -> Rationale:
    """What was said of the decision, once an answer counts."""
    primary = found.category[0].primary if found.category else None
    if primary is None or event.key != primary.id:
        return rationale
    former = next((p.value for p in provenance if p.key == event.key), event.value)
    if former == event.value:
        return reasons.of_value(rationale, event.value)
    return reasons.of_another_value(rationale, event.value)


def _after_suggestion(state: ClarificationState, event: QuestionSuggested) -> ClarificationState:
    lead, found = state.led.lead, state.found
    if found.writer is not None and lead is not None and lead.provider in WRITERS:
        # The rules lead from here on.
        led, framed = replace(state.led, lead=None), replace(found, framed=event)
        after = _categorized(replace(state, found=framed, led=led))
        return _with_category_named(after, event.category, "chosen", found.writer.kind)
    if found.writer is None and is_followed(state):
        further = (*found.further, event)
        return _categorized(replace(state, found=replace(found, further=further)))
    by = lead.model if lead is not None else state.offer.offered_by
    found = replace(found, framed=event, further=(), writer=None)
    offer = replace(state.offer, offered_by=by)
    after = _categorized(replace(state, found=found, offer=offer))
    category = after.found.category
    if category is None or category[1].source != "suggested":
        return after
    return _with_category_named(after, category[0].name, "suggested", "model")


def _after_questions(state: ClarificationState, _: QuestionsEnded) -> ClarificationState:
    if state.found.framed is None:
        return state
    *asked, last = suggested_in(state)
    framed, *further = (*asked, replace(last, more=False))
    return replace(state, found=replace(state.found, framed=framed, further=tuple(further)))


def _with_suggested(state: ClarificationState, patch: DecisionPatch) -> tuple[Provenance, ...]:
    """The provenance, with values that a model read out of what was said."""
    filed = [p.field for p in state.turns.provenance]
    suggested = [(name, value) for name, value in patch.fields if name not in filed]
    if not suggested:
        return state.turns.provenance
    fields = {field.name: field.id for field in state.found.fields()}
    added = (
        Provenance(fields[name], name, value, "suggested", by="model")
        for name, value in suggested
        if name in fields
    )
    return (*state.turns.provenance, *added)


def _after_record(state: ClarificationState, event: DecisionRecorded) -> ClarificationState:
    new = state.turns.input
    if not isinstance(new, DecisionAcknowledged):
        return state
    offer, standing = replace(state.offer, mark=new.mark or state.offer.mark), state.standing
    if event.status == "accepted" and new.resolved is not UNSET:
        standing = with_choices(standing, new.resolved)
    if event.status == "accepted" and offer.reach.paths:
        offer = replace(offer, reach=replace(offer.reach, by=new.actor.kind))
    return replace(
        state,
        offer=offer,
        standing=replace(standing, acknowledgement=new, recorded=event),
        filed=replace(
            state.filed,
            number=event.number,
            folder=new.folder,
            day=acknowledgement_day(new.at),
            form=OUR_FORM if new.form is UNSET else new.form,
        ),
    )


def _replace_provenance(
    provenance: tuple[Provenance, ...], found: Provenance
) -> tuple[Provenance, ...]:
    return (*[p for p in provenance if p.key != found.key], found)


# Other decisions -----------------------------------------------------------------------------


def _after_replacement(state: ClarificationState, _: ReplacementNoted) -> ClarificationState:
    new, standing = state.turns.input, state.standing
    if not isinstance(new, ReplacementChosen) or is_accepted_by_person(state):
        return state  # only a log that was forged replaces more behind the acceptance
    source = standing.supersedes_source if standing.supersedes else new.source
    standing = replace(with_replaced(standing, [new.replaces]), supersedes_source=source)
    return replace(state, standing=standing)


def _after_supersession(
    state: ClarificationState, _: DecisionMarkedSuperseded
) -> ClarificationState:
    """Another decision took its place."""
    new = state.turns.input
    if not isinstance(new, DecisionSuperseded):
        return state
    return replace(state, standing=replace(state.standing, superseded_by=new.by))


def _after_keeping(state: ClarificationState, _: DecisionMarkedKept) -> ClarificationState:
    """Another decision was accepted beside it; a second reason replaces the first.

    That of its own acceptance stays: a person may have signed it.
    """
    new, standing = state.turns.input, state.standing
    if not isinstance(new, DecisionKeptBeside) or new.by.uid in standing.kept_by_choice:
        return state
    return replace(state, standing=with_kept(standing, new))


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
