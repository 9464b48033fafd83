"""What a document or a brief says of a clarification."""

from __future__ import annotations

from preflights_es.features.clarification.domain.standing import standing_relations
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    acknowledgement_day,
    asked_by,
    category_of,
    is_accepted_by_person,
    language_of,
    response_of,
    title_of,
    topics_of,
)
from preflights_es.features.clarification.domain.values import Provenance
from preflights_es.kernel.events import ACTOR_WORDS, ActorKind
from preflights_es.kernel.text import caseless, one_line
from preflights_es.words.decisions import Record, RecordField, ShownQuestion, Speaker, named_instead
from preflights_es.words.questions import Option
from preflights_es.words.signing import made_with


def record_from_state(state: ClarificationState) -> Record:
    """What a document or a brief may say; `open` before an acknowledgement."""
    standing = state.standing
    done, recorded, rejected = standing.acknowledgement, standing.recorded, standing.rejected
    by_person = is_accepted_by_person(state)
    status = "superseded" if standing.superseded_by else recorded.status if recorded else "open"
    return Record(
        uid=state.opened.uid,
        session_id="",
        title=one_line(title_of(state)),
        intention=state.opened.intention,
        status="rejected" if rejected else status,
        number=state.filed.number,
        folder=state.filed.folder,
        date=acknowledgement_day(done.at) if done else "",
        decided_by=done.actor.name if done and by_person else "",
        proposed_by=None if done is None or by_person else done.actor.kind,
        rejected_by=rejected.actor if rejected else None,
        why_rejected=rejected.reason if rejected else "",
        category=_shown_name(state, category_of(state)),
        fields=_clarification_record_fields(state),
        missing=_open_questions(state),
        **standing_relations(standing),
        rationale=state.offer.rationale,
        considered=_considered(state),
        scope=state.offer.scope,
        reach=state.offer.reach,
        signed_with=made_with(done.signature) if done else "",
        shown=_collect_shown_questions(state),
        offered_by=_writer_and_model_names(state),
        language=language_of(state),
    )


def _writer_and_model_names(state: ClarificationState) -> tuple[tuple[Speaker, str], ...]:
    """The writer of the question and the model, as far as they have names."""
    named: dict[Speaker, str] = {"model": state.offer.offered_by}
    if state.found.writer is not None:
        named[state.found.writer.kind] = state.found.writer.name
    return tuple((by, name) for by, name in named.items() if name)


def _collect_shown_questions(state: ClarificationState) -> tuple[ShownQuestion, ...]:
    """The questions that were answered, as they were shown last, but for the category's."""
    answered = {one.key for one in state.turns.provenance if one.source != "stated"}
    asked = {one.id: one for one in state.turns.asked if one.id in answered}
    asked.pop(state.found.heuristics.category.id, None)
    found = []
    for key, question in asked.items():
        written = asked_by(state, key)
        if written is None and key == state.found.heuristics.description.id:
            continue  # the same words for every decision
        offered = {one.label: one for one in written.offered} if written else {}
        options = tuple(offered.get(o) or Option(o) for o in question.options[:-1])
        found.append(
            ShownQuestion(
                question=question.question,
                by="" if written is None else _writer(state),
                why=written.why if written else "",
                options=options,
                recommended=written.recommended if written else None,
                quote=written.quote if written else "",
                evidence=written.evidence if written else (),
            )
        )
    return tuple(found)


def _writer(state: ClarificationState) -> str:
    """Who wrote the questions: an agent, a person, or the model that leads or led."""
    if state.found.writer is not None:
        return state.found.writer.name or ACTOR_WORDS[state.found.writer.kind]
    return state.offer.offered_by or (state.led.lead.model if state.led.lead else "") or "a model"


def _considered(state: ClarificationState) -> tuple[str, ...]:
    """What was chosen, what was turned down, and the options of who wrote the question; each once.

    What a menu of the rules held was only offered.
    """
    if state.offer.patch is None or not state.offer.patch.fields:
        return ()
    name, chosen = state.offer.patch.fields[0]
    keys = {field.name: field.id for field in state.found.fields()}
    written = asked_by(state, keys.get(name, ""))
    offered = (one.label for one in written.offered) if written else ()
    bare = written.field.options if written else ()
    named = (one.name for one in named_instead(state.offer.rationale.alternatives))
    found: dict[str, str] = {}
    for value in (chosen, *offered, *bare, *named):
        found.setdefault(caseless(value), value)
    return tuple(found.values())


def _clarification_record_fields(state: ClarificationState) -> tuple[RecordField, ...]:
    # A patch has a category, but for one in a file that another program wrote.
    found = state.found.category
    if state.offer.patch is None or found is None:
        return ()
    # Two categories may have fields of one name; a key belongs to one alone. A model's own field is
    # the session's, and in no table.
    known = {field.name: field for field in found[0].fields()}
    sources = {p.key: p for p in state.turns.provenance}
    return tuple(
        RecordField(_shown_name(state, name, how.key), value, how.source, _value_speaker(how))
        for name, value in state.offer.patch.fields
        if name in known and (how := sources.get(known[name].id)) is not None
    )


def _shown_name(state: ClarificationState, name: str, key: str = "") -> str:
    """A category, or the field of a key; in German as the question of its topic calls it."""
    if language_of(state) != "de":
        return name
    topics = topics_of(state).values()
    named = (one for one in topics if (one.key == key if key else one.category == name))
    return next((one.german_name for one in named), name)


def _value_speaker(how: Provenance) -> ActorKind:
    """Who said a value as far as the log can know it: a record makes no person of an agent."""
    if how.relayed_by:
        return how.relayed_by.kind
    return "agent" if how.by == "model" else how.by


def _open_questions(state: ClarificationState) -> tuple[str, ...]:
    if not response_of(state).missing_info:
        return ()
    found = state.found.category
    due = found[0].primary if found else state.found.heuristics.category
    return (due.question,) if due else ()
