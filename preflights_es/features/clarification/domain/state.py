"""What the log of a clarification folds to, and what can be said of it: topics, values, title."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import (
    IntentionDeclared,
    QuestionSuggested,
    TopicsFound,
)
from preflights_es.features.clarification.domain.rules import (
    OUR_FORM,
    TURNS_MAX,
    document_path,
    response_in,
)
from preflights_es.features.clarification.domain.standing import DecisionStanding
from preflights_es.features.clarification.domain.values import (
    TITLES,
    TOPIC,
    CategoryMatch,
    DecisionPatch,
    Field,
    HeuristicsConfig,
    Hint,
    LLMResponse,
    Mark,
    Provenance,
    Resolved,
)
from preflights_es.kernel.events import Actor, Growing, Input, WrittenFile
from preflights_es.kernel.ids import iso
from preflights_es.kernel.lead import LeadState, Setup
from preflights_es.kernel.text import composed, cut_at_word, late_pattern, one_line
from preflights_es.words.decisions import (
    OTHER,
    Rationale,
    Reach,
    RecordForm,
    Related,
    list_superseded,
)
from preflights_es.words.language import (
    ALTERNATIVE,
    canonical,
    collect_search_words,
    fold_letters,
    read_small_words,
    written_as_name,
)
from preflights_es.words.questions import Language, Question

if TYPE_CHECKING:
    from preflights_es.features.clarification.domain.pack import Topic

NO_ACTOR = Actor("script")
UNDECIDED: Final = ("task", "kept")
"""Why nothing more is asked, where an actor says that there is no decision to take."""


NOT_OPENED: Final = IntentionDeclared(
    at=0,
    actor=NO_ACTOR,
    intention="",
    project="",
    uid="",
    setup=Setup("", "", ""),
    heuristics=HeuristicsConfig(),
)


class FoundCategory(msgspec.Struct, frozen=True, gc=False):
    """What the intention is about, and what a model or an actor asks of it."""

    heuristics: HeuristicsConfig = HeuristicsConfig()
    topics: TopicsFound | None = None
    """What the intention is about, by the pack."""
    detected: str = ""
    """The category that a word of the intention or its topic named, as it was decided then."""
    category: CategoryMatch | None = None
    """The category, and how it became known: what the rest gives, since everything asks for it."""
    framed: QuestionSuggested | None = None
    """The category and first question of a model or writer, while its category holds."""
    further: tuple[QuestionSuggested, ...] = ()
    """The model's further questions, which depend on the answers before."""
    writer: Actor | None = None
    """Who wrote the first question, where no model is asked for it."""

    def fields(self) -> tuple[Field, ...]:
        """Those of the category, its primary first; none without one."""
        return self.category[0].fields() if self.category is not None else ()


class ClarificationTurns(msgspec.Struct, frozen=True, gc=False):
    """What was asked and said."""

    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    asked: Growing[Question] = Growing()
    question: Question | None = None
    """The open one."""
    turn: int = 1
    """One more than the questions that were answered."""
    answers: dict[str, Resolved] = {}
    """By key, as they were accepted: no rule of today judges an answer of before again."""
    provenance: tuple[Provenance, ...] = ()
    redacted: Growing[str] = Growing()


class OfferedDecision(msgspec.Struct, frozen=True, gc=False):
    """What is proposed, or why nothing is, and what is said of it."""

    patch: DecisionPatch | None = None
    hint: Hint = "unsure"
    """As the patch was proposed."""
    stopped: str = ""
    """Why nothing more is asked without a patch; empty otherwise."""
    rationale: Rationale = Rationale()
    offered_by: str = ""
    """The model that asked or offered reasons last."""
    scope: str = ""
    """What the decision is for; empty for the whole project."""
    proposed_scope: str = ""
    """The same, as the patch was proposed."""
    reach: Reach = Reach()
    """Where and how strongly it holds."""
    mark: Mark = ""


class FiledDocument(msgspec.Struct, frozen=True, gc=False):
    """Its document."""

    number: int | None = None
    folder: str = ""
    form: RecordForm = OUR_FORM
    """Of the records in the folder."""
    day: str = ""
    """Of the last acknowledgement, ISO 8601."""
    dues: int = 0
    """Documents that were asked for so far."""
    written: WrittenFile | None = None
    beside: str = ""
    """Path of a `.new` file that waits beside one that was edited."""
    hashes: Growing[str] = Growing()
    """The hashes of every written document."""


class ClarificationState(msgspec.Struct, frozen=True, gc=False):
    """Everything `decide` and the views look at; two logs with equal states go on alike.

    An event replaces the parts that it says something of; the others are shared.
    """

    opened: IntentionDeclared = NOT_OPENED
    """Its first Input, which nothing changes."""
    found: FoundCategory = FoundCategory()
    turns: ClarificationTurns = ClarificationTurns()
    offer: OfferedDecision = OfferedDecision()
    standing: DecisionStanding = DecisionStanding()
    filed: FiledDocument = FiledDocument()
    led: LeadState = LeadState()
    """Who leads, and the conversation with whom."""

    @property
    def actor(self) -> Actor:
        """Of the last Input."""
        return self.turns.input.actor if self.turns.input is not None else NO_ACTOR


def suggested_in(state: ClarificationState) -> tuple[QuestionSuggested, ...]:
    """The questions that a model or writer asked and that count, in their order."""
    return () if state.found.framed is None else (state.found.framed, *state.found.further)


def asked_by(state: ClarificationState, key: str) -> QuestionSuggested | None:
    """The question of a model or writer that has a key."""
    return next((one for one in suggested_in(state) if one.field.id == key), None)


def is_followed(state: ClarificationState) -> bool:
    """Whether the first question is answered, so that another one of the model follows it."""
    return state.found.framed is not None and state.found.framed.field.id in state.turns.answers


def asks_on(state: ClarificationState) -> bool:
    """Whether the model that leads asks another question, now that its last one is answered."""
    last = suggested_in(state)[-1:]
    return (
        state.led.lead is not None
        and state.found.writer is None
        and bool(last)
        and last[0].more
        and last[0].field.id in state.turns.answers
        and state.turns.turn <= TURNS_MAX
    )


def response_of(state: ClarificationState) -> LLMResponse:
    """What is due; nothing where there is no decision, and none was named."""
    if state.offer.stopped in UNDECIDED:
        return LLMResponse(progress=1.0)
    first = response_in(
        state.found.heuristics, state.turns.answers, state.turns.turn, state.found.category
    )
    if first.missing_info or state.found.category is None or not state.found.framed:
        return first
    fields = (one.field for one in state.found.further)
    due = next((field for field in fields if field.id not in state.turns.answers), None)
    if due is None:
        return replace(first, progress=0.5) if asks_on(state) else first
    return replace(
        first,
        questions=(due.asked(),) if state.turns.turn <= TURNS_MAX else (),
        missing_info=(due.id,),
        progress=0.5,
    )


def is_accepted_by_person(state: ClarificationState) -> bool:
    """Whether a person has accepted."""
    recorded = state.standing.recorded
    return recorded is not None and recorded.status == "accepted"


def related_to(state: ClarificationState) -> tuple[Related, ...]:
    """The decisions that its document names."""
    standing = state.standing
    later = (standing.superseded_by,) if standing.superseded_by is not None else ()
    return (*list_superseded(standing), *later, *(one.related for one in standing.kept))


def is_due(state: ClarificationState) -> bool:
    """Whether there is something to accept: a patch, or that nothing was decided."""
    return state.offer.patch is not None or bool(state.offer.stopped)


def end_reason(state: ClarificationState) -> Literal["", "already_accepted", "kept"]:
    """Why no answer can change anything any more; empty while one can.

    The document of an accepted decision may still be renamed.
    """
    if is_accepted_by_person(state):
        return "already_accepted"
    return "kept" if state.standing.keeps is not None else ""


def is_terminal(state: ClarificationState) -> bool:
    """Whether no answer can change anything any more."""
    return bool(end_reason(state))


def is_asking(state: ClarificationState) -> bool:
    """Whether a model is asked, or has to be again: then a question of before is no more."""
    return bool(state.led.stalled) or state.led.request is not None


def can_dismiss(state: ClarificationState) -> bool:
    """Whether a menu is open that a topic or keyword led to, and nothing is answered."""
    asked, found = state.turns.question, state.found.category
    if asked is None or found is None or state.found.framed is not None or is_asking(state):
        return False
    is_own = found[1].source == "detected" and found[0].name != OTHER
    primary = found[0].primary
    return is_own and primary is not None and asked.id == primary.id and not state.turns.answers


# The topics of its pack, and what was stated --------------------------------------------------


def topics_of(state: ClarificationState) -> Mapping[str, Topic]:
    """The topics of the session's pack, by id; none without a pack."""
    if state.opened.pack is None:
        return {}
    from preflights_es.features.clarification.domain.pack import topics_by_id

    return topics_by_id(state.opened.inlined)


def topic_of(state: ClarificationState, key: str) -> Topic | None:
    """The topic whose question has a key."""
    return next((topic for topic in topics_of(state).values() if topic.key == key), None)


def language_of(state: ClarificationState) -> Language:
    """Of questions, options and titles."""
    return state.found.topics.language if state.found.topics is not None else "en"


def stated_by_key(state: ClarificationState) -> dict[str, str]:
    """The values that the intention states, by the key of the question they answer."""
    if state.found.topics is None:
        return {}
    topics, language = topics_of(state), state.found.topics.language
    found: dict[str, str] = {}
    for named in state.found.topics.stated:
        topic = topics.get(named.topic)
        if topic is None:
            found[state.found.heuristics.description.id] = named.value
        else:
            found[topic.key] = topic.said(named.value, language)
    return found


def instead_of(state: ClarificationState) -> tuple[str, ...]:
    """What stands under *Instead of* before an actor says anything: what the intention rules out.

    Nothing where a value is stated: what that replaces is turned down as the intention says it.
    """
    found = state.found.topics
    if found is None or found.stated:
        return ()
    taken = [value for _, value in state.offer.patch.fields] if state.offer.patch else []
    taken += [one.name for one in state.offer.rationale.alternatives]
    said = {canonical(one) for one in taken}
    named = (one.value for one in found.replaced)
    return tuple(value for value in named if canonical(value) not in said)


def category_of(state: ClarificationState) -> str:
    """The category of the patch; in place of `Other` a person's label, or the question's topic."""
    patch, framed = state.offer.patch, state.found.framed
    if patch is None or patch.category != OTHER:
        return patch.category if patch else ""
    said = state.turns.answers.get(state.found.heuristics.category.id)
    if said is not None and said.source == "custom":
        return one_line(said.value)
    own = (TOPIC, state.found.heuristics.description.name)
    return OTHER if framed is None or framed.field.name in own else one_line(framed.field.name)


# Its title (docs/specs/clarification.md, section 13.5) ----------------------------------------

VALUE_MAX: Final = 80  # characters of a value in a title
_USE_FOR: Final = late_pattern(
    r"[Uu]se .+? for ((?:(?:the|our) )?[\w-]+(?: (?!because\b|since\b)[\w-]+)?)"
    r"(?: (?:because|since) .+)?"
)
"""An intention that states a value, and what it is for in few words."""


def title_of(state: ClarificationState) -> str:
    """What is decided, in a few words; the intention while nothing is."""
    if state.offer.patch is None or not state.offer.patch.fields:
        return state.opened.intention
    name, value = state.offer.patch.fields[0]
    said = cut_at_word(one_line(value), VALUE_MAX)
    if one_line(value) == one_line(state.opened.intention):
        return said.rstrip(".! ")  # "Stop using Moment.js", and no more was answered
    fields = {field.name: field.id for field in state.found.fields()}
    key, language = fields.get(name, ""), language_of(state)
    scope = with_article(one_line(state.offer.scope), state.opened.intention)
    topic = topic_of(state, key)
    if _is_value_name(state, key, topic, value):
        if topic is not None and not scope:
            purpose = _stated_purpose(state, key)
            own = scoped(said, purpose, language) if purpose else topic.title(said, language)
            return one_line(own)
        if key in TITLES and not scope:
            return TITLES[key].format(value=said)
        if scope or key == state.found.heuristics.description.id:
            return scoped(said, scope, language)
    elif len(said.split()) > SHORT_MAX and _says_subject(state, value):
        return said.removesuffix(".")
    said, about = said.removesuffix("."), _title_subject(state, name, key, topic)
    if not about:
        return _title_of_own_words(state, said)
    if scope and not about.endswith("?"):
        about = f"{about} f\u00fcr {scope}" if language == "de" else f"{about} for {scope}"
    return f"{about}{'' if about.endswith('?') else ':'} {said}"


def _title_of_own_words(state: ClarificationState, said: str) -> str:
    """A decision alone, or behind the intention that it is about."""
    intention = one_line(state.opened.intention).rstrip(".! ")
    words_max = SHORT_MAX if said[:1].islower() else BARE_MAX
    if not _is_subject(state) or len(said.split()) > words_max:
        return said
    if _says_subject(state, said) and not holds_words(intention, said):
        return said
    return f"{intention}{'' if intention.endswith('?') else ':'} {said}"


def holds_words(text: str, said: str) -> bool:
    """Whether a text holds some words whole and with their marks: C++ is not C."""
    folded = fold_letters(one_line(text))
    return re.search(rf"(?<!\w){re.escape(fold_letters(said))}(?!\w)", folded) is not None


def asks_which(state: ClarificationState) -> bool:
    """Whether the intention asks, or names what one may choose from: it rules nothing out."""
    intention = fold_letters(one_line(state.opened.intention))
    return intention.endswith("?") or ALTERNATIVE.search(f" {intention} ") is not None


def with_article(scope: str, intention: str) -> str:
    """What a decision is for, with the article that the intention has before it."""
    line = " ".join(composed(intention).split())
    said = re.search(rf"(\w+) {re.escape(scope)}(?!\w)", line) if scope else None
    return (
        f"{said[1].lower()} {scope}"
        if said and fold_letters(said[1]) in read_small_words("articles")
        else scope
    )


SHORT_MAX: Final = 6  # words of a value that a topic stands before; more are a sentence of its own
BARE_MAX: Final = 3  # words of one with a capital that does not say what it is about
SUBJECT_MAX: Final = 8  # words of an intention that a title takes as its subject


def _says_subject(state: ClarificationState, value: str) -> bool:
    """Whether a decision in own words says itself what it is about, or no short intention does."""
    return not _is_subject(state) or not {*collect_search_words(value)}.isdisjoint(
        collect_search_words(f"{state.opened.intention} {state.offer.scope}")
    )


def _is_subject(state: ClarificationState) -> bool:
    """Whether the intention is short enough to stand in a title."""
    return state.found.topics is not None and len(state.opened.intention.split()) <= SUBJECT_MAX


def _title_subject(state: ClarificationState, name: str, key: str, topic: Topic | None) -> str:
    """What a value that is no name is about; empty where nothing but the decision says it."""
    assert state.offer.patch is not None, "the caller looked"
    category = state.offer.patch.category
    if topic is not None:
        return one_line(topic.noun(language_of(state)))
    if name == TOPIC and state.found.framed is not None:
        return one_line(state.found.framed.field.question)
    if category == OTHER:
        return "" if key == state.found.heuristics.description.id else one_line(name)
    table = state.found.heuristics.named(category)
    is_primary = table is not None and table.primary is not None and table.primary.id == key
    return one_line(category if is_primary else name)


def _is_value_name(state: ClarificationState, key: str, topic: Topic | None, value: str) -> bool:
    """Whether a value is a name, as those are that an intention states (section 12.1)."""
    if _is_stated(state, key):
        return True
    if topic is not None and topic.names(value):
        return True
    table = state.found.category[0].primary if state.found.category else None
    if key in TITLES and table is not None and value in table.options:
        return True
    return written_as_name(value, language_of(state))


def _is_stated(state: ClarificationState, key: str) -> bool:
    """Whether a form of section 12.1 says the value."""
    return any(one.key == key and one.source == "stated" for one in state.turns.provenance)


def _stated_purpose(state: ClarificationState, key: str) -> str:
    """What an intention says that a stated value is for, where that names the topic alone."""
    said = _USE_FOR.fullmatch(one_line(state.opened.intention).rstrip(".! "))
    return said[1] if said and _is_stated(state, key) else ""


def scoped(value: str, scope: str, language: Language) -> str:
    """The title of a decision for a name."""
    if language == "de":
        return f"{value} f\u00fcr {scope} verwenden" if scope else f"{value} verwenden"
    return f"Use {value} for {scope}" if scope else f"Use {value}"


# Its document ---------------------------------------------------------------------------------


def path_of(state: ClarificationState) -> str:
    """Where the document of what was acknowledged goes, relative to the project's root."""
    kind: Literal["adr", "task"] = "task" if state.filed.number is None else "adr"
    place = (state.filed.folder, kind, state.filed.number, state.opened.uid, title_of(state))
    return document_path(*place, state.filed.form, state.filed.day)


def acknowledgement_day(at: int) -> str:
    """A day of UTC, ISO 8601; of what no calendar has, the nearest that it has."""
    return iso(at).partition("T")[0]


def as_related(state: ClarificationState, session_id: str, folder: str) -> Related:
    """An acknowledged decision, as a document in a folder points at it."""
    title = title_of(state)
    found = Related(state.opened.uid, title, state.filed.number, session_id)
    usual = document_path(folder, "adr", state.filed.number, state.opened.uid, title=title)
    if state.filed.number is None or path_of(state) == usual:
        return found
    return replace(found, path=path_of(state))
