"""What can be shown of a clarification; all of it derived, none of it stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from preflights_es.features.clarification.domain import rules
from preflights_es.features.clarification.domain.events import KnownLine, TopicsFound
from preflights_es.features.clarification.domain.standing import standing_relations
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    asked_by,
    can_dismiss,
    end_reason,
    instead_of,
    is_accepted_by_person,
    is_asking,
    is_due,
    response_of,
    title_of,
    topics_of,
)
from preflights_es.features.clarification.domain.values import (
    Category,
    DecisionPatch,
    HeuristicsConfig,
    Hint,
    Provenance,
    TopicValue,
)
from preflights_es.kernel.events import Actor, Evidence, Value
from preflights_es.kernel.ids import iso
from preflights_es.kernel.lead import no_answer
from preflights_es.kernel.text import one_line
from preflights_es.words.decisions import (
    AttributedReason,
    Hold,
    KeptDecision,
    NotChosen,
    OlderDecision,
    Related,
    Relations,
    Speaker,
    list_superseded,
)
from preflights_es.words.language import canonical
from preflights_es.words.questions import (
    EvidenceLines,
    Language,
    Observed,
    Option,
    Question,
    Reached,
    Recommended,
    asked_elsewhere,
)
from preflights_es.words.signing import Signed
from preflights_es.words.workflow import View, taken_out

if TYPE_CHECKING:  # imported where a session has a pack: its classes cost time
    from preflights_es.features.clarification.domain.pack import Topic


class StatedValue(Value, frozen=True):
    """A value that stands in the intention, and the question that it answers."""

    key: str
    category: str
    field: str
    value: str


class Offer(Value, frozen=True, kw_only=True):
    """The open question as a model, an agent or a person wrote it."""

    by: str
    """Name of the agent, person or model."""
    kind: str
    """`agent`, `user`, `script` or `model`."""
    why: str
    """Why it matters."""
    options: tuple[Option, ...]
    recommended: Recommended | None
    quote: str
    """Words of the intention in which a model reads the first option as said."""
    evidence: tuple[EvidenceLines, ...]

    @property
    def default(self) -> str:
        """The option that Enter takes; empty where there is none."""
        if self.recommended is not None:
            return self.recommended.option
        return self.options[0].label if self.quote and self.options else ""


class KnownDecision(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A decision in force that is said before anything is asked."""

    line: str
    session_id: str
    """Empty for a record of another tool."""
    uid: str
    number: int | None
    path: str
    """Of a record of another tool; else empty."""
    same_place: bool
    differs: bool
    """Whether it contradicts what is proposed: it has another value at the same place."""
    turned_down: str = ""
    """What is proposed, or was stated, where this decision turned it down; else empty."""
    says_same: bool = False
    """Whether it has what is proposed already, at the same place."""

    def said(self, say: Callable[..., str] = str.format) -> str:
        """Its line, behind a word for how it stands to what is proposed."""
        relation = say(self.relation, value=self.turned_down)
        return f"{relation}: {self.line}" if relation else self.line

    @property
    def relation(self) -> str:
        """How it stands to what is proposed, with a gap for a value; empty at the same place."""
        if self.turned_down:
            return "contradicts, turned {value} down" if self.differs else "turned {value} down"
        if self.differs:
            return "contradicts"
        if self.says_same:
            return "says the same"
        return "" if self.same_place else "related"

    @classmethod
    def of(cls, one: KnownLine, value: str) -> KnownDecision:
        """As the session has it.

        Args:
            value: what is proposed, or was when another one was kept; empty where nothing is.
        """
        old, here = one.kept, one.is_here and bool(value)
        was = one.values[0] if one.values else ""
        is_same = canonical(was) == canonical(value)
        other = one.turned_down or ""
        return cls(
            line=one.line,
            session_id=old.session_id,
            uid=old.uid,
            number=old.number,
            path=one.path,
            same_place=one.is_here,
            differs=here and bool(was) and not is_same,
            turned_down="" if value and canonical(value) != canonical(other) else other,
            says_same=here and is_same,
        )


class AskedField(Value, frozen=True, kw_only=True):
    """One of the lines of a record that are asked for, where no topic covers the intention."""

    key: str
    label: str
    required: bool
    how: str = ""
    """The words that give it at the command line; empty elsewhere."""


class RelatedDecision(Value, frozen=True, kw_only=True):
    """A decision in force, and how the one that is accepted stands to it."""

    uid: str
    session_id: str
    date: str
    """Of its acceptance, ISO 8601, UTC."""
    number: int | None
    title: str
    category: str
    values: tuple[tuple[str, str], ...]
    """Pairs of field and value."""
    evolution: str

    @classmethod
    def of(cls, one: OlderDecision) -> RelatedDecision:
        """As it was found."""
        old = one.related
        return cls(
            uid=old.uid,
            session_id=old.session_id,
            date=iso(one.accepted_at).partition("T")[0],
            number=old.number,
            title=old.title,
            category=one.category,
            values=one.fields,
            evolution=one.evolution,
        )

    @property
    def needs_choice(self) -> bool:
        """Whether a person has to choose: it has another value."""
        return self.evolution in ("update", "contradict", "exception")


class Gate(Value, frozen=True, kw_only=True):
    """What accepting a proposal will stop."""

    stops: tuple[str, ...]
    """Products that were turned down."""
    elsewhere: tuple[str, ...]
    """Those that are not stopped, because another decision in force has them."""
    folders: tuple[str, ...]
    """Folders that the scope names, where it names no files."""
    line: str
    """All of it, in English."""


_NO_FILES: Final = (
    "Stops nothing: it is for {scope} and names no files; `--path`, or e at a terminal, names them"
)


def gate_words(
    found: ClarificationView, stops: Sequence[str], elsewhere: Sequence[str], folders: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """What accepting will stop: a sentence, and what stands in its gaps."""
    named = ", ".join(one.name for one in found.alternatives if one.by != "model")
    if found.scope and not found.paths:
        if not folders:
            return f"{_NO_FILES}.", {"scope": found.scope}
        said = {"scope": found.scope, "folders": ", ".join(folders)}
        return f"{_NO_FILES}, such as {{folders}}.", said
    if stops and found.paths:
        said = {"names": ", ".join(stops), "paths": ", ".join(found.paths)}
        return "Will be stopped: {names}, in {paths}", said
    if stops:
        return "Will be stopped: {names}, in every file", {"names": ", ".join(stops)}
    if elsewhere:
        said = {"names": ", ".join(elsewhere)}
        return "Stops nothing: another decision in force has {names}.", said
    return "Stops nothing: no package is called {names}.", {"names": named}


class ClarificationView(View, frozen=True, kw_only=True):
    """`session/1` (docs/api.md)."""

    FORMAT = "session/1"
    UNCOMPARED = frozenset(
        """
        acknowledged_by relayed_by evidence signature gate offer fields artifacts
        supersedes superseded_by also_supersedes kept keeps
        """.split()  # noqa: SIM905  a table
    )

    labels: tuple[tuple[str, str], ...] = ()
    intention: str
    missing_info: tuple[str, ...]
    decision_hint: Hint
    progress: float
    patch: DecisionPatch | None
    scope: str = ""
    provenance: tuple[Provenance, ...]
    stated: tuple[StatedValue, ...] = ()
    topics: tuple[str, ...] = ()
    """The category of which the intention asks for a choice."""
    replaced: tuple[TopicValue, ...] = ()
    instead_of: tuple[str, ...] = ()
    """What stands under *Instead of* already."""
    can_dismiss: bool = False
    """Whether the question can be answered by: it is about something else."""
    language: Language | None = None
    """Of questions and options; None without a pack."""
    observed: Observed | None = None
    """Where an agent asked the question; None where it was asked here."""
    kind: str
    """`adr` or `task`: what accepting leads to, or led to."""
    uid: str
    number: int | None
    turn: int
    acknowledged_by: Actor | None = None
    relayed_by: Actor | None = None
    evidence: Evidence | None = None
    signature: Signed | None = None
    """What the signature of a person's acceptance proves; None without one."""
    supersedes: Related | None = None
    superseded_by: Related | None = None
    also_supersedes: tuple[Related, ...] = ()
    kept: tuple[KeptDecision, ...] = ()
    keeps: Related | None = None
    known: tuple[KnownDecision, ...] = ()
    """Decisions in force that were said first, at most three."""
    fields: tuple[AskedField, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    """Options that stand first, each with why: the intention names it, the repository has it."""
    related: tuple[RelatedDecision, ...] = ()
    """What the acceptance of this call was compared with."""
    artifacts: tuple[str, ...] = ()
    offer: Offer | None = None
    title: str
    """Of the record."""
    because: AttributedReason | None = None
    consequences: tuple[AttributedReason, ...] = ()
    alternatives: tuple[NotChosen, ...] = ()
    paths: tuple[str, ...] = ()
    paths_by: Speaker | Literal[""] = ""
    """Who named them; empty where there are none."""
    hold: Hold = "tell"
    gate: Gate | None = None
    """What accepting will stop; None where nothing waits to be accepted."""


def clarification_status(state: ClarificationState) -> str:
    """One word for where the clarification stands."""
    if (recorded := state.standing.recorded) is not None:
        return recorded.status if state.standing.superseded_by is None else "superseded"
    if state.offer.patch is not None:
        return "ready"
    if is_asking(state):
        return "waiting"
    return "stopped" if state.offer.stopped else "needs_answers"


_TO_DO: Final = {
    "needs_answers": "answer the question",
    "ready": "accept the proposal, or revise an answer",
}


def view(state: ClarificationState) -> ClarificationView:
    """All that `show` says."""
    response = response_of(state)
    stands, done = clarification_status(state), state.standing.acknowledgement
    return ClarificationView(
        status=stands,
        intention=state.opened.intention,
        uid=state.opened.uid,
        questions=(state.turns.question,) if state.turns.question and not is_asking(state) else (),
        missing_info=response.missing_info,
        decision_hint=state.offer.hint if state.offer.patch else response.decision_hint,
        progress=response.progress,
        patch=state.offer.patch,
        provenance=provenance(state),
        kind=expected_record_kind(state),
        number=state.filed.number,
        turn=state.turns.turn,
        title=one_line(title_of(state)),
        **msgspec.structs.asdict(state.offer.rationale),
        paths=state.offer.reach.paths,
        paths_by=state.offer.reach.by if state.offer.reach.paths else "",
        hold=state.offer.reach.hold,
        scope=state.offer.scope,
        known=tuple(KnownDecision.of(one, _value(state)) for one in state.opened.told or ()),
        fields=_asked_fields(state),
        instead_of=() if done else instead_of(state),
        can_dismiss=can_dismiss(state),
        offer=_offer(state),
        acknowledged_by=done.actor if done else None,
        relayed_by=done.relayed_by if done else None,
        evidence=done.evidence if done else None,
        **standing_relations(state.standing),
        keeps=state.standing.keeps.kept if state.standing.keeps else None,
        artifacts=(state.filed.written.path,) if state.filed.written else (),
        **_pack_findings(state),
        written=state.filed.written,
        observed=state.opened.observed or None,
        origin=asked_elsewhere(state.opened.observed) if state.opened.observed else "",
        hashes=tuple(state.filed.hashes),
        warnings=_clarification_warnings(state),
        ended=_clarification_end_phrase(state),
        to_do=_TO_DO.get(stands, ""),
        can_accept=stands in ("ready", "stopped", "proposed") and not end_reason(state),
    )


def _value(state: ClarificationState) -> str:
    """The first value that counts; empty where none does."""
    category = state.found.heuristics.category.id
    return next((one.value for one in provenance(state) if one.key != category), "")


def _asked_fields(state: ClarificationState) -> tuple[AskedField, ...]:
    """The lines of a record, where the rules ask about what no topic of their pack covers."""
    asked = state.turns.question
    if asked is None or asked.id != state.found.heuristics.description.id:
        return ()
    if state.found.framed is not None:
        return ()
    return (
        AskedField(key=asked.id, label="Decision", required=True),
        AskedField(key="because", label="Because", required=False),
        AskedField(key="alternatives", label="Instead of", required=False),
    )


def _offer(state: ClarificationState) -> Offer | None:
    """What the writer of the open question says with it."""
    asked = asked_by(state, state.turns.question.id) if state.turns.question is not None else None
    if asked is None:
        return None
    writer, lead = state.found.writer, state.led.lead
    kind = writer.kind if writer else "model"
    return Offer(
        by=(writer.name if writer else lead.model if lead else "") or kind,
        kind=kind,
        why=asked.why,
        options=asked.offered or tuple(map(Option, asked.field.options)),
        recommended=asked.recommended,
        quote=asked.quote,
        evidence=asked.evidence,
    )


def answerable(state: ClarificationState) -> Sequence[tuple[str, Question]]:
    """The category and every field; a label is that of the session's category, where it has it."""
    config, found = state.found.heuristics, state.found.category
    return _fields_to_answer(config, found[0] if found else None)


@lru_cache(16)  # a page asks for it once a card
def _fields_to_answer(
    config: HeuristicsConfig, category: Category | None
) -> Sequence[tuple[str, Question]]:
    own = category.fields() if category else ()
    keys, labels = {field.id for field in own}, {field.name for field in own}
    others = [
        ("" if field.name in labels else field.name, field.asked())
        for other in (*config.categories, config.other())
        for field in other.fields()
        if field.id not in keys
    ]
    named = [(field.name, field.asked()) for field in own]
    return (("Category", config.category_question()), *named, *others)


def _pack_findings(state: ClarificationState) -> dict[str, Any]:
    """What the pack found in the intention."""
    found, topics = state.found.topics, topics_of(state)
    if found is None:
        return {}
    stated = [(topics[one.topic], one) for one in found.stated if one.topic in topics]
    return {
        "topic": state.found.detected,
        "topics": tuple(topics[one].category for one in found.topics if one in topics),
        "stated": tuple(
            StatedValue(
                topic.key, topic.category, topic.field, topic.said(one.value, found.language)
            )
            for topic, one in stated
        ),
        "replaced": found.replaced,
        "language": found.language,
        "beside": _first_option_reasons(found, topics),
    }


def _first_option_reasons(
    found: TopicsFound, topics: Mapping[str, Topic]
) -> tuple[tuple[str, str], ...]:
    """Why options stand first; the intention says more than the repository."""
    first = topics.get(found.topics[0]) if found.topics else None
    if first is None:
        return ()
    said = {first.said(one.value, found.language): one.sign for one in found.present or ()}
    named = (one.value for one in found.mentioned if one.topic == first.id)
    said |= {first.said(value, found.language): "named in the intention" for value in named}
    return tuple(said.items())


def _clarification_end_phrase(state: ClarificationState) -> str:
    if state.standing.keeps is not None:
        return "ended with a decision in force and takes no answers any more"
    return "is accepted and takes no answers any more" if is_accepted_by_person(state) else ""


def provenance(state: ClarificationState) -> tuple[Provenance, ...]:
    """How each value that counts came about, the category's first; a former category's do not."""
    if not state.turns.provenance:
        return ()
    by_key = {p.key: p for p in state.turns.provenance}
    keys = [state.found.heuristics.category.id, *[field.id for field in state.found.fields()]]
    return tuple([by_key[key] for key in keys if key in by_key])


def expected_record_kind(state: ClarificationState) -> rules.RecordKind:
    """What accepting led to, leads to, or would once the open question is answered."""
    if state.standing.recorded is not None:
        return state.standing.recorded.kind
    found = state.found.category
    patch = state.offer.patch
    if patch is None and found is not None and not state.offer.stopped:
        patch = DecisionPatch(found[0].name)
    return rules.choose_record_kind(patch, state.offer.mark)


def _clarification_warnings(state: ClarificationState) -> tuple[str, ...]:
    warnings = [*taken_out(state.turns.redacted)]
    if state.led.fell_back:
        warnings.append(no_answer(state.led, "the rules went on"))
    if state.led.stalled:
        warnings.append(no_answer(state.led, "resume asks it again"))
    if state.filed.beside:
        warnings.append(f"the document was edited: the new text lies in {state.filed.beside}")
    return tuple(warnings)


def clarification_reached(state: ClarificationState) -> Reached:
    """The patch, also that there is none; a person accepted it as it was shown."""
    result = {"patch": state.offer.patch} if is_due(state) else None
    if not is_accepted_by_person(state):
        return Reached(result=result)
    answers = tuple((one.key, one.value) for one in state.turns.provenance)
    return Reached(result=result, accepted=result, answers=answers)


def related(state: ClarificationState) -> Relations:
    """What an accepted decision says of others; a mere intention does not count."""
    # A record without a session says nothing of this one.
    replaced = list_superseded(state.standing) if is_accepted_by_person(state) else ()
    return Relations(
        tuple(one for one in replaced if one.uid),
        state.standing.superseded_by,
        tuple(one.related for one in state.standing.kept if one.related.uid),
    )
