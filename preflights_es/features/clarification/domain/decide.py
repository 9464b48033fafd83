"""What follows from an Input: the branches are here, the rules in `rules.py`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce
from typing import Any, Final, Literal

from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.features.clarification.domain import lead, reasons, rules
from preflights_es.features.clarification.domain.events import (
    AnswersRelayed,
    AnswersRevised,
    ArtifactFiled,
    CategoryDetected,
    ClarificationAnswerAccepted,
    ClarificationAnswerRefused,
    ClarificationAnswersGiven,
    ClarificationChangeRefused,
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
    FiledAsTask,
    IntentionDeclared,
    PatchProposed,
    QuestionsEnded,
    QuestionSuggested,
    RationaleGiven,
    RationaleNoted,
    ReferenceRenumbered,
    ReplacementChosen,
    ReplacementNoted,
    ScopeNoted,
    TopicDismissed,
    TopicDropped,
)
from preflights_es.features.clarification.domain.evolve import evolve
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    asks_on,
    asks_which,
    can_dismiss,
    end_reason,
    holds_words,
    is_accepted_by_person,
    is_asking,
    is_due,
    is_terminal,
    path_of,
    related_to,
    response_of,
    stated_by_key,
)
from preflights_es.features.clarification.domain.values import (
    COMPANION,
    OTHER_OPTION,
    SCOPE,
    Answer,
    DecisionPatch,
    Field,
)
from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.events import (
    ArtifactDue,
    ArtifactRemoved,
    ArtifactWritten,
    Decision,
    Input,
    SessionAbandoned,
    state_after,
)
from preflights_es.kernel.lead import FellBack, LeadChanged, StepRetried, decide_lead_takeover
from preflights_es.kernel.text import SCOPE_MAX, composed, one_line
from preflights_es.words.decisions import Accepting, Reach, RejectedAlternative
from preflights_es.words.language import StatedDecision, canonical
from preflights_es.words.questions import Answers, GivenAnswer, is_placeholder, is_slip, stripped

Decisions = tuple[Decision, ...]

SENTENCE_MAX: Final = 20  # words of an intention that is decided as it stands
FOUND: Final = ("detected", "stated")  # in the intention: an answer wins over it


def decide(state: ClarificationState, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case IntentionDeclared() if state.turns.input is None:
            return _decide_opening(state, new)
        case ClarificationAnswersGiven() | AnswersRevised() | AnswersRelayed():
            return _decide_clarification_answers(state, new)
        case RationaleGiven() if state.turns.input is not None:
            return _decide_rationale(state, new)
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return _decide_clarification_outcome(state, new)
        case StepRetried() if state.led.stalled and (again := _decide_next_step(state)):
            return again
        case LeadChanged() if state.turns.input and not (state.led.request or is_terminal(state)):
            return decide_lead_takeover(evolve, state, new, _decide_next_step, goes_on=True)
        case DecisionAcknowledged():
            return _acknowledged(state, new)
        case ArtifactWritten(path=path) | ArtifactRemoved(path=path):
            return (ArtifactFiled(path=path),)
        case _:
            return _decide_change(state, new)


# 1. Opening ----------------------------------------------------------------------------------


def _decide_opening(state: ClarificationState, new: IntentionDeclared) -> Decisions:
    """The category, by a topic of the pack or by a keyword of the team; then what was stated."""
    decisions: Decisions = ()
    if new.pack is not None:
        # Imported where a session of a pack begins: no other step needs its words.
        from preflights_es.features.clarification.domain.topics import find, own_names, with_present

        own = own_names(new.context, new.told or ())
        decisions = (with_present(new, find(new.intention, new.language, new.inlined, own)),)
    if found := rules.detected(new.intention, new.heuristics):
        decisions += (CategoryDetected(category=found.category.name, keyword=found.keyword),)
    if new.scope:
        decisions += (ScopeNoted(scope=composed(new.scope)),)
    after = state_after(evolve, state, new, decisions)
    if after.found.writer is not None:  # the writer asks, whatever the intention says
        return (*decisions, lead.request_clarification_step(after, "clarify"))
    decisions += _accept_stated_value(after)
    if new.answers:
        after = state_after(evolve, state, new, decisions)
        decisions += _decide_on_each_answer(after, new.answers, revising=False)
    return decisions + _decide_next_step(state_after(evolve, state, new, decisions))


def _accept_stated_value(state: ClarificationState) -> Decisions:
    """The answer that stands in the intention, where its question is the session's."""
    found = state.found.topics
    if found is None or state.found.writer is not None:
        return ()
    if state.found.category is None or state.found.category[0].primary is None:
        return ()
    field = state.found.category[0].primary
    value = None if field.id in state.turns.answers else stated_by_key(state).get(field.id)
    if value is None:
        return ()
    said = ClarificationAnswerAccepted(
        key=field.id, answer=value, field=field.name, value=value, source="stated"
    )
    if not found.because:
        return (said,)
    reason = RationaleNoted(because=found.because, consequences=(), alternatives=())
    return (said, reason)


def _decide_next_step(state: ClarificationState) -> Decisions:
    """The next question, the patch, or the end; nothing where all that is said already."""
    if state.led.request is not None:
        return ()
    found = state.found.category
    turn = response_of(state)
    if turn.questions:
        if turn.questions[0] == state.turns.question:
            return ()
        return (
            (lead.request_clarification_step(state, "clarify"),)
            if state.led.lead
            else _ask_due_question(state)
        )
    if asks_on(state):
        return (lead.request_clarification_step(state, "clarify"),)
    patch = rules.patch_in(state.turns.answers, found)
    if patch is not None:
        if state.led.lead and not turn.missing_info:
            return (*_recommended(state, patch), lead.request_clarification_step(state, "decide"))
        if patch == state.offer.patch:
            return ()
        scope = state.offer.scope or UNSET
        proposed = PatchProposed(patch=patch, hint=turn.decision_hint, scope=scope)
        return (*_recommended(state, patch), proposed)
    if state.offer.stopped:
        return ()
    return (ClarificationStopped(reason="turns_used" if turn.missing_info else "nothing_to_ask"),)


def _recommended(state: ClarificationState, patch: DecisionPatch) -> Decisions:
    """What the writer of the question said of a value that is new; a model says it with the patch.

    Where the rules go on after a model, its words about its own question count all the same.
    """
    framed = state.found.framed
    is_models = state.led.lead is not None and state.found.writer is None
    if framed is None or is_models:
        return ()
    before = dict(state.offer.patch.fields) if state.offer.patch else {}
    name = framed.field.name
    value = dict(patch.fields).get(name)
    if value is None or value == before.get(name) or patch.category != framed.category:
        return ()
    offer = reasons.offer_recommended_rationale(state.offer.rationale, framed, value)
    return (offer,) if offer else ()


def _ask_due_question(state: ClarificationState) -> Decisions:
    """The question that is due, as it stands."""
    turn = response_of(state)
    if not turn.questions:
        return _decide_next_step(state)
    return (ClarificationQuestionAsked(question=turn.questions[0], turn=state.turns.turn),)


def _decide_clarification_outcome(
    state: ClarificationState, new: CompletionReceived | CompletionFailed
) -> Decisions:
    """What a model's answer comes to; the rules go on where it came to nothing."""
    decisions = lead.conclude_clarification_step(state, new)
    after = state_after(evolve, state, new, decisions)
    match decisions[-1]:
        case QuestionSuggested() if said := _accept_stated_value(after):
            decisions += said
            return decisions + _decide_next_step(state_after(evolve, state, new, decisions))
        case QuestionSuggested():
            return decisions + _ask_due_question(after)
        case FellBack() | QuestionsEnded():
            return decisions + _decide_next_step(after)
        case _:
            return decisions


# 2. Answering --------------------------------------------------------------------------------


def _decide_clarification_answers(state: ClarificationState, new: Answers) -> Decisions:
    if is_terminal(state):
        return tuple(
            ClarificationAnswerRefused(key=given.key, reason="closed") for given in new.answers
        ) or (ClarificationAnswerRefused(key="", reason="closed"),)
    said = _decide_on_each_answer(
        evolve(state, new), new.answers, revising=isinstance(new, AnswersRevised)
    )
    return (*said, *_decide_next_step(state_after(evolve, state, new, said))) or (
        ClarificationAnswerRefused(key="", reason="blank"),
    )


def _decide_on_each_answer(
    after: ClarificationState, answers: tuple[GivenAnswer, ...], *, revising: bool
) -> Decisions:
    """A verdict for each answer; then what the intention states of a category that they named."""
    scopes = tuple(given for given in answers if given.key.endswith(SCOPE))
    decisions: list[Decision] = []
    for given in scopes:
        said = _scoped(after, given)
        decisions += said
        after = reduce(evolve, said, after)
    for given, other in _order_with_companions(
        after, tuple(one for one in answers if one not in scopes)
    ):
        named = _accept_implied_category(after, given.key)
        verdict = _answer_verdict(reduce(evolve, named, after), given, other, revising=revising)
        taken: Decisions = (verdict,)
        if isinstance(verdict, ClarificationAnswerAccepted):
            taken = (*named, *_in_own_words(after, verdict))
        decisions += taken
        after = reduce(evolve, taken, after)
    return (*decisions, *_accept_stated_value(after))


def _in_own_words(state: ClarificationState, said: ClarificationAnswerAccepted) -> Decisions:
    """An answer; one that states a value as an intention would is that value, instead of another.

    "Moment.js", to "No more Moment.js here", is the intention.

    Source: docs/specs/clarification.md, section 12.5.
    """
    found, opened = state.found, state.opened
    is_own = said.source in ("custom", "typed") and said.key != found.heuristics.category.id
    if not is_own or found.topics is None or found.writer is not None:
        return (said,)
    # Imported where a person answers in own words: no other step needs its words.
    from preflights_es.features.clarification.domain.topics import own_names, stated_by

    own = own_names(opened.context, opened.told or ())
    stated = stated_by(said.value, opened.inlined, own) or _intention_repeated(state, said)
    if stated is None:
        return (said,)
    decisions: Decisions = (replace(said, value=stated.value),)
    if stated.scope and not state.offer.scope:
        decisions += (ScopeNoted(scope=stated.scope),)
    others = (RejectedAlternative(stated.replaced),) if stated.replaced else ()
    if stated.because or others:
        why = RationaleNoted(because=stated.because, consequences=(), alternatives=others)
        decisions += (why,)
    return decisions


def _intention_repeated(
    state: ClarificationState, said: ClarificationAnswerAccepted
) -> StatedDecision | None:
    """The intention, where an answer names a part of it alone; what it rules out is turned down."""
    # Whether the person chose the part or is against it stands in no list of words.
    sentence, found = one_line(state.opened.intention), state.found
    is_open = said.key == found.heuristics.description.id and not asks_which(state)
    if not is_open or len(sentence.split()) > SENTENCE_MAX or not holds_words(sentence, said.value):
        return None
    known = {canonical(one.value) for one in found.topics.replaced} if found.topics else set()
    return StatedDecision(sentence, said.value if canonical(said.value) in known else "")


def _scoped(state: ClarificationState, given: GivenAnswer) -> Decisions:
    """What is said of the scope counts, and changes a patch that is proposed."""
    texts = [text for value in given.values if (text := composed(one_line(stripped(value))))]
    keys = (state.found.heuristics.category.id, *_known_fields(state))
    refused = partial(ClarificationAnswerRefused, key=given.key)
    if given.key.removesuffix(SCOPE) not in keys:
        expected = tuple(f"{key}{SCOPE}" for key in keys)
        return (refused(reason="unknown_question", expected=expected),)
    if len(texts) > 1:
        return (refused(reason="several_values"),)
    scope = texts[0] if texts else ""
    if scope and is_placeholder(scope):
        return (refused(reason="placeholder"),)
    if len(scope) > SCOPE_MAX:
        return (refused(reason="too_long"),)
    noted = ScopeNoted(scope=scope)
    patch, hint = state.offer.patch, state.offer.hint
    if patch is None:
        return (noted,)
    return (noted, PatchProposed(patch=patch, hint=hint, scope=scope or UNSET))


def _accept_implied_category(
    state: ClarificationState, key: str
) -> tuple[ClarificationAnswerAccepted, ...]:
    """The category that an answer to one of its keys names, where a pack found another or none."""
    config = state.found.heuristics
    own = config.category.id
    turns = state.turns
    answered = [p for p in turns.provenance if p.key != own and p.source not in FOUND]
    is_named = own in turns.answers or bool(answered) or key in _known_fields(state)
    if state.found.topics is None or is_named:
        return ()
    for category in config.categories:
        if any(field.id == key for field in category.fields()):
            name = category.name
            return (
                ClarificationAnswerAccepted(
                    key=config.category.id,
                    answer=name,
                    field="Category",
                    value=name,
                    source="chosen",
                ),
            )
    return ()


def _order_with_companions(
    state: ClarificationState, answers: tuple[GivenAnswer, ...]
) -> list[tuple[GivenAnswer, tuple[str, ...] | None]]:
    """Answers with their companions' texts; the category first, since it decides what is known.

    A companion alone stands for `Other (specify)` with its text.
    """
    values: dict[str, tuple[str, ...]] = {}
    for given in answers:
        values[given.key] = (*values.get(given.key, ()), *given.values)
    others = {
        key.removesuffix(COMPANION): values.pop(key) for key in [*values] if key.endswith(COMPANION)
    }
    for key in others:
        values.setdefault(key, (OTHER_OPTION,))
    first = state.found.heuristics.category.id
    keys = sorted(values, key=lambda key: key != first)
    return [(GivenAnswer(key, values[key]), others.get(key)) for key in keys]


def _answer_verdict(
    state: ClarificationState, given: GivenAnswer, other: tuple[str, ...] | None, *, revising: bool
) -> ClarificationAnswerAccepted | ClarificationAnswerRefused:
    key, config = given.key, state.found.heuristics
    fields, refused = _known_fields(state), partial(ClarificationAnswerRefused, key=given.key)
    if key != config.category.id and key not in fields:
        return refused(reason="unknown_question", expected=(config.category.id, *fields))
    if not revising and _is_settled(state, key):
        return refused(reason="already_answered")
    answer: Answer = tuple(stripped(value) for value in given.values)
    if len(answer) == 1:
        answer = answer[0]
    is_category = key == config.category.id
    question = config.category_question() if is_category else fields[key].asked()
    if rules.is_left_undecided(question, (*given.values, *(other or ()))):
        return refused(reason="undecided")
    if is_category:
        found = rules.category_judged(config, answer, other)
        name, resolved = "Category", found if isinstance(found, str) else found[1]
    else:
        name, resolved = fields[key].name, rules.resolve_answer(question, answer, other)
    if isinstance(resolved, str):
        return refused(reason=resolved)
    if key == config.description.id and is_slip(resolved.value):
        return refused(reason="placeholder")
    return ClarificationAnswerAccepted(
        key=key,
        answer=answer,
        other=next(iter(rules.other_texts(question, other)), None),
        field=name,
        value=resolved.value,
        source=resolved.source,
    )


def _known_fields(state: ClarificationState) -> dict[str, Field]:
    return {field.id: field for field in state.found.fields()}


def _is_settled(state: ClarificationState, key: str) -> bool:
    """Whether another answer to the key would be a revision.

    What was found in the intention is not: an answer that is given wins over it.
    """
    found, turns, offer = state.found, state.turns, state.offer
    if key == found.heuristics.category.id and turns.question is None:
        said = any(one.source not in FOUND for one in turns.provenance)
        return said or (found.topics is None and bool(offer.patch or offer.stopped))
    return key in turns.answers and not any(
        one.key == key and one.source == "stated" for one in turns.provenance
    )


def _decide_rationale(state: ClarificationState, new: RationaleGiven) -> Decisions:
    refused = partial(ClarificationChangeRefused, change="rationale")
    if reason := end_reason(state):
        return (refused(reason=reason),)
    placed = reasons.judge_reach(state.offer.reach, new)
    if isinstance(placed, str):
        return (refused(reason=placed),)
    noted = reasons.noted(state.offer.rationale, new)
    said: Decisions = placed
    if noted != "blank" or not placed:
        if isinstance(noted, str):
            return (refused(reason=noted),)
        said = (noted, *placed)
    if state.standing.acknowledgement is None:
        return said
    return (*said, _due(state_after(evolve, state, new, said)))


# 3. Accepting, and what is said of an accepted decision later -----------------------------------


def _acknowledged(state: ClarificationState, new: DecisionAcknowledged) -> Decisions:
    """The word by which a proposal counts."""
    earlier = state.standing.acknowledgement
    by_person = new.actor.kind == "user"
    refused = partial(ClarificationChangeRefused, change="acknowledgement")
    if reason := end_reason(state):
        return (refused(reason=reason),)
    if state.led.request is not None or not is_due(state):
        return (refused(reason="question_open"),)
    shown = (new.patch, new.scope or "", new.reach or Reach())
    if shown != (state.offer.patch, state.offer.proposed_scope, state.offer.reach):
        return (refused(reason="patch_changed"),)
    if earlier is not None and not by_person:
        return (refused(reason="already_proposed"),)
    kind = rules.choose_record_kind(state.offer.patch, new.mark or state.offer.mark)
    if kind == "adr" and new.number is None:
        return (refused(reason="number_missing"),)
    if (objection := _objection(new)) is not None:
        return (refused(reason=objection),)
    number = new.number if kind == "adr" else None
    recorded = DecisionRecorded(
        status="accepted" if by_person else "proposed", kind=kind, number=number
    )
    return (recorded, _due(state_after(evolve, state, new, (recorded,))))


def _objection(new: DecisionAcknowledged) -> Literal["blank", "placeholder"] | None:
    """Why a choice about another decision does not count: keeping both needs a reason."""
    resolved = () if new.resolved is UNSET else new.resolved
    texts = [stripped(one.reason) for one in resolved if one.choice == "keeps"]
    if not all(texts):
        return "blank"
    return "placeholder" if any(map(is_placeholder, texts)) else None


def accepting_by_mark(state: ClarificationState, said: Mapping[str, Any]) -> Accepting:
    """What an acknowledgement with this mark takes."""
    kind = rules.choose_record_kind(state.offer.patch, said.get("mark") or state.offer.mark)
    shown: dict[str, Any] = {"patch": state.offer.patch}
    if state.offer.proposed_scope:
        shown["scope"] = state.offer.proposed_scope
    if not state.offer.reach.is_everywhere:
        shown["reach"] = state.offer.reach
    return Accepting(kind, is_due(state) and kind == "adr", shown)


def abandoned(state: ClarificationState, new: SessionAbandoned) -> tuple[ArtifactDue, ...]:
    """The document of a proposal, which says from now on that it was rejected."""
    if is_accepted_by_person(state) or not state.filed.dues:
        return ()
    return (_due(evolve(state, new)),)


def _due(state: ClarificationState) -> ArtifactDue:
    """The document of what was acknowledged; a task has no number."""
    template = rules.TEMPLATES["task"] if state.filed.number is None else state.filed.form.template
    call = f"artifact-{state.filed.dues + 1}"
    return ArtifactDue(call=call, template=template, path=path_of(state))


def _decide_change(state: ClarificationState, new: Input) -> Decisions:
    """What follows from a word about an older decision, the topic, or what was acknowledged."""
    match new:
        case DecisionKept():
            is_open = state.turns.input is not None and state.led.request is None
            kept = ClarificationStopped(reason="kept")
            return _unfit(state, "keeping", is_open=is_open) or (kept,)
        case ReplacementChosen():
            return _replacing(state, new)
        case TopicDismissed():
            return _dismissed(state, new)
        case FiledAsTask():
            is_open = state.turns.question is not None and not is_asking(state)
            filed = ClarificationStopped(reason="task")
            return _unfit(state, "task", is_open=is_open) or (filed,)
        case DecisionSuperseded():
            return _marked(state, new, "supersession", DecisionMarkedSuperseded())
        case DecisionKeptBeside():
            return _marked(state, new, "keeping", DecisionMarkedKept())
        case ReferenceRenumbered() | DecisionRenumbered():
            return _renumbered(state, new)
        case _:
            return (ClarificationChangeRefused(change="input", reason="not_expected"),)


def _unfit(
    state: ClarificationState,
    change: Literal["keeping", "supersession", "topic", "task"],
    *,
    is_open: bool,
) -> Decisions:
    """Why a person's word about an open session does not count; empty where it does."""
    if reason := end_reason(state):
        return (ClarificationChangeRefused(change=change, reason=reason),)
    return () if is_open else (ClarificationChangeRefused(change=change, reason="not_expected"),)


def _replacing(state: ClarificationState, new: ReplacementChosen) -> Decisions:
    """What follows where a decision in force is chosen that this one replaces."""
    is_open = state.turns.input is not None and state.led.request is None
    if refused := _unfit(state, "supersession", is_open=is_open):
        return refused
    noted = (ReplacementNoted(),)
    if state.standing.acknowledgement is None:
        return noted
    return (*noted, _due(state_after(evolve, state, new, noted)))


def _dismissed(state: ClarificationState, new: TopicDismissed) -> Decisions:
    """What follows where the menu is about something else: the question of no topic."""
    if refused := _unfit(state, "topic", is_open=can_dismiss(state)):
        return refused
    dropped = TopicDropped()
    return (dropped, *_decide_next_step(state_after(evolve, state, new, (dropped,))))


def _marked(
    state: ClarificationState,
    new: DecisionSuperseded | DecisionKeptBeside,
    change: Literal["supersession", "keeping"],
    marked: Decision,
) -> Decisions:
    """What follows where another decision took the place of this one, or stays beside it."""
    if not is_accepted_by_person(state):
        return (ClarificationChangeRefused(change=change, reason="not_accepted"),)
    if state.standing.superseded_by is not None:
        return (ClarificationChangeRefused(change=change, reason="already_superseded"),)
    return (marked, _due(state_after(evolve, state, new, (marked,))))


def _renumbered(
    state: ClarificationState, new: DecisionRenumbered | ReferenceRenumbered
) -> Decisions:
    """What follows where the record, or one that it names, has another number."""
    done = state.standing.recorded
    refused = partial(ClarificationChangeRefused, change="renumbering")
    if isinstance(new, ReferenceRenumbered):
        is_named = new.uid in [one.uid for one in related_to(state)]
        return (_due(state) if done and is_named else refused(reason="not_related"),)
    if done is None or done.kind != "adr":
        return (refused(reason="not_accepted"),)
    return (_due(replace(state, filed=replace(state.filed, number=new.number))),)
