"""What a clarification records: Inputs first, then Decisions, then the list of all."""

from typing import ClassVar, Literal

from msgspec import UNSET, UnsetType

from preflights_es.features.clarification.domain.values import (
    DecisionPatch,
    Field,
    HeuristicsConfig,
    LLMContext,
    Mark,
    PackRef,
    Source,
    TopicValue,
)
from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.events import (
    ARTIFACT_EVENTS,
    UNSEEN,
    Actor,
    Decision,
    Event,
    Evidence,
    Input,
    RecordNumber,
    Signable,
    Typed,
    Value,
    Whole,
)
from preflights_es.kernel.events import SourceSession as SessionSource
from preflights_es.kernel.lead import LED_EVENTS, Setup
from preflights_es.kernel.text import ANSWER_MAX, INTENTION_MAX, SCOPE_MAX
from preflights_es.words.decisions import (
    Hold,
    Reach,
    RecordForm,
    RejectedAlternative,
    Related,
    Resolution,
)
from preflights_es.words.items import ItemRef
from preflights_es.words.path_patterns import PATTERN_MAX
from preflights_es.words.questions import (
    AnswerRefusal,
    Answers,
    EvidenceLines,
    Language,
    Observed,
    Opening,
    Option,
    Question,
    Recommended,
    Refusal,
)


class DecisionForModel(Value, frozen=True):
    """A decision of the project that was accepted before; a model sees the title and the patch."""

    title: str
    patch: DecisionPatch
    source: SessionSource
    """The session that it was read from."""
    scope: str | UnsetType = UNSET
    """What it is for; not written where that is the whole project."""
    because: str | UnsetType = UNSET
    """Not written where no reason was given."""


class KnownLine(Value, frozen=True, kw_only=True):
    """A decision in force that is said before anything is asked."""

    line: str
    """Its number or path, title, day and reason; at most `LINE_MAX` characters."""
    kept: Related
    """Without a session for a record of another tool."""
    since: Whole
    """When it was accepted, in microseconds since 1970 UTC; 0 where that is not known."""
    is_here: bool
    """Whether it is at the same place: of the topic that is asked about, and for the same."""
    source: SessionSource | None = None
    """Its session, as it was read."""
    path: str = ""
    """Of the file of a record of another tool."""
    values: tuple[str, ...] | UnsetType = UNSET
    """What it decided; not written where that is not known."""
    turned_down: str | UnsetType = UNSET
    """The value of the intention that it turned down; not written where it did not."""


class Present(Value, frozen=True):
    """A value that the repository has already."""

    value: str
    """In the spelling of the pack."""
    sign: str
    """What says so: `psycopg is in pyproject.toml`."""


# 1. Inputs -----------------------------------------------------------------------------------


class IntentionDeclared(Opening, frozen=True):
    """The actor states an intention; opens the session and carries all that a replay needs."""

    tag: ClassVar[str] = "clarification.intention_declared.v1"
    verb: ClassVar[str] = "started"
    typed: ClassVar = {
        "intention": Typed(INTENTION_MAX, "say in a sentence what you want to build"),
        "scope": Typed(SCOPE_MAX, "say in a few words what the decision is for"),
        "answers": Typed(ANSWER_MAX),
    }
    intention: str
    project: str
    uid: str
    """Of the decision this session may come to; immutable."""
    setup: Setup
    heuristics: HeuristicsConfig
    context: LLMContext | None = None
    mark: Mark = ""
    """`task` or `adr`, where a person said so."""
    supersedes: Related | None = None
    """The decision that this one is to replace, as it stood when the session began."""
    known: tuple[DecisionForModel, ...] = ()
    """Accepted decisions of the project, where a model leads."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""
    supersedes_source: SessionSource | None = None
    """The session that `supersedes` was read from; None for a record without one."""
    pack: PackRef | None = None
    """The topics; `heuristics` are then only the team's own tables. None for the reference."""
    inlined: str = ""
    """The pack's text, where it is a file of the team."""
    language: Language | None = None
    """As a person or a setting said it; None where the intention shows it."""
    item: ItemRef | UnsetType = UNSET
    """The task that is clarified, where there is one; not written where there is none."""
    observed: Observed | UnsetType = UNSET
    """Where an agent asked the question, if it was not asked here; not written otherwise."""
    scope: str | UnsetType = UNSET
    """What the decision is for, where the actor says so beside the intention."""
    told: tuple[KnownLine, ...] | UnsetType = UNSET
    """Decisions in force that were said first; not written where there are none."""


class ClarificationAnswersGiven(Answers, frozen=True):
    """Answers to what was asked, or to what was not asked but is known."""

    tag: ClassVar[str] = "clarification.answers_given.v1"
    verb: ClassVar[str] = "answered in"


class AnswersRevised(Answers, frozen=True):
    """Answers that replace earlier ones; those stay in the log."""

    tag: ClassVar[str] = "clarification.answers_revised.v1"
    verb: ClassVar[str] = "revised an answer in"


class AnswersRelayed(Answers, frozen=True):
    """Answers in the words of a person, whom the log does not see; the actor is that person."""

    tag: ClassVar[str] = "clarification.answers_relayed.v1"
    verb: ClassVar[str] = "answered in"
    relayed_by: Actor | None = None
    """The agent or script that passed them on."""


class RationaleGiven(Input, frozen=True):
    """The actor says why, and where the decision holds; it adds to what was said before."""

    tag: ClassVar[str] = "clarification.rationale_given.v1"
    verb: ClassVar[str] = "gave reasons in"
    typed: ClassVar = {
        "because": Typed(ANSWER_MAX),
        "consequences": Typed(ANSWER_MAX),
        "alternatives": Typed(ANSWER_MAX),
        "paths": Typed(PATTERN_MAX),
    }
    because: str = ""
    """Empty where no reason is given."""
    consequences: tuple[str, ...] = ()
    alternatives: tuple[RejectedAlternative, ...] = ()
    replaces: bool = False
    """Whether it is the whole: what was said before is dropped."""
    paths: tuple[str, ...] | UnsetType = UNSET
    """Patterns of the files that it holds for, in place of those before."""
    hold: Hold | UnsetType = UNSET
    """How strongly it holds."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""
    relayed_by: Actor | None = None
    """Who passed the actor's reasons on, with an acceptance (`--by`); None where the actor did."""


class DecisionAcknowledged(Signable, frozen=True):
    """The actor accepts the patch as it was shown."""

    tag: ClassVar[str] = "clarification.decision_acknowledged.v1"
    verb: ClassVar[str] = "accepted"
    patch: DecisionPatch | None
    """As shown; None accepts that nothing was decided."""
    folder: str
    """Where the document goes, relative to the project's root."""
    number: RecordNumber | None = None
    """Of the record, allocated for this acknowledgement; None for a task."""
    form: RecordForm | UnsetType = UNSET
    """Of the folder's records; not written where they have ours, and of a task."""
    mark: Mark = ""
    relayed_by: Actor | None = None
    """Who passed the actor's word on (`--by`); None where the actor gave it."""
    evidence: Evidence = UNSEEN
    """What was seen of who was at work."""
    resolved: tuple[Resolution, ...] | UnsetType = UNSET
    """What a person chose about decisions that differ; not written where there are none."""
    scope: str | UnsetType = UNSET
    """As shown; not written where it is the whole project."""
    reach: Reach | UnsetType = UNSET
    """As shown; not written where it tells everywhere."""


class DecisionKept(Input, frozen=True):
    """A decision in force is kept, and nothing else is decided."""

    tag: ClassVar[str] = "clarification.decision_kept.v1"
    verb: ClassVar[str] = "kept a decision in"
    kept: Related
    """Without a session for a record of another tool."""
    since: Whole
    """When it was accepted, in microseconds since 1970 UTC; 0 where that is not known."""
    source: SessionSource | None
    """Its session, as it was read."""
    path: str = ""
    """Of the file of a record of another tool."""
    relayed_by: Actor | None = None
    """Who passed the actor's word on, with an acceptance (`--by`); None where the actor gave it."""


class ReplacementChosen(Input, frozen=True):
    """Of the decisions in force that were said first, this one is to be replaced."""

    tag: ClassVar[str] = "clarification.replacement_chosen.v1"
    verb: ClassVar[str] = "chose the decision that is replaced in"
    replaces: Related
    """Without a session for a record of another tool."""
    source: SessionSource | None
    """Its session, as it was read."""


class TopicDismissed(Input, frozen=True):
    """The menu that is open is about something else; the actor decides in own words."""

    tag: ClassVar[str] = "clarification.topic_dismissed.v1"
    verb: ClassVar[str] = "dismissed the topic of"


class FiledAsTask(Input, frozen=True):
    """The question that is open stays without an answer: a task is left, which can be accepted."""

    tag: ClassVar[str] = "clarification.filed_as_task.v1"
    verb: ClassVar[str] = "made a task of"


class DecisionSuperseded(Input, frozen=True):
    """Another session's decision was accepted in place of this one."""

    tag: ClassVar[str] = "clarification.decision_superseded.v1"
    verb: ClassVar[str] = "superseded the decision of"
    by: Related


class DecisionKeptBeside(Input, frozen=True):
    """Another session's decision was accepted beside this one; a person said why both stay."""

    tag: ClassVar[str] = "clarification.decision_kept_beside.v1"
    verb: ClassVar[str] = "kept another decision beside"
    typed: ClassVar = {"reason": Typed(ANSWER_MAX)}
    by: Related
    reason: str


class DecisionRenumbered(Input, frozen=True):
    """The record's number collided with another's and is changed."""

    tag: ClassVar[str] = "clarification.decision_renumbered.v1"
    verb: ClassVar[str] = "renumbered the record of"
    number: RecordNumber


class ReferenceRenumbered(Input, frozen=True):
    """A record that this one points at, or that points here, has a new number."""

    tag: ClassVar[str] = "clarification.reference_renumbered.v1"
    verb: ClassVar[str] = "renumbered a reference in"
    uid: str
    number: RecordNumber
    path: str | UnsetType = UNSET
    """As in `Related`."""


# 2. Decisions --------------------------------------------------------------------------------


class CategoryDetected(Decision, frozen=True):
    """A word of the intention names the category, so that phase 1 is skipped."""

    tag: ClassVar[str] = "clarification.category_detected.v1"
    category: str
    keyword: str


class TopicDropped(Decision, frozen=True):
    """The session has no topic and no category of a word any more."""

    tag: ClassVar[str] = "clarification.topic_dropped.v1"


class TopicsFound(Decision, frozen=True):
    """What the intention is about, by the session's pack."""

    tag: ClassVar[str] = "clarification.topics_found.v1"
    kind: Literal["choice", "stated", "open"]
    """`choice` asks for one of a topic; `stated` has nothing open; `open` is anything else."""
    language: Language
    """Of questions, options and titles."""
    topics: tuple[str, ...] = ()
    """The one that a choice is asked of; none else."""
    stated: tuple[TopicValue, ...] = ()
    """At most one; its topic is empty where no topic has it."""
    replaced: tuple[TopicValue, ...] = ()
    """What it takes away or rules out, also where it states nothing; never an option."""
    mentioned: tuple[TopicValue, ...] = ()
    """Values that are named and not stated: the first options."""
    scope: str = ""
    """What the decision is for; empty for the whole project."""
    because: str = ""
    """Why, as the intention says it."""
    is_between: bool = False
    """Whether the intention asks about the named values alone: `X or Y?`."""
    present: tuple[Present, ...] | UnsetType = UNSET
    """Values of the first topic that the repository has; not written where it has none."""


class QuestionSuggested(Decision, frozen=True):
    """A model, an agent or a person chose the topic and worded the question; keys are the rules'.

    The recommended option is the first one.
    """

    tag: ClassVar[str] = "clarification.question_suggested.v1"
    category: str
    field: Field
    why: str = ""
    """Why it matters."""
    offered: tuple[Option, ...] = ()
    """The options of the field, in its order, with what is said of each."""
    recommended: Recommended | None = None
    quote: str = ""
    """Words of the intention in which the model reads the first option as said."""
    more: bool = False
    """Whether the model asks again once this is answered."""
    consequences: tuple[str, ...] = ()
    """What follows from the recommended option."""
    evidence: tuple[EvidenceLines, ...] = ()


class QuestionsEnded(Decision, frozen=True):
    """The model asks nothing more, although it had said so."""

    tag: ClassVar[str] = "clarification.questions_ended.v1"
    reason: str


class ClarificationQuestionAsked(Decision, frozen=True):
    """The one question of this turn; any earlier one is no longer open."""

    tag: ClassVar[str] = "clarification.question_asked.v1"
    question: Question
    turn: Whole


class ClarificationAnswerAccepted(Decision, frozen=True):
    """An answer counts."""

    tag: ClassVar[str] = "clarification.answer_accepted.v1"
    key: str
    answer: str | tuple[str, ...]
    """As given, stripped."""
    field: str
    """`Category`, or the patch's field."""
    value: str
    """As filed: an option in its own spelling, or the person's own words."""
    source: Source
    other: str | None = None
    """The text of `Other (specify)`, where that was chosen."""


class ClarificationAnswerRefused(AnswerRefusal, frozen=True):
    """An answer does not count; the question stays as it was."""

    tag: ClassVar[str] = "clarification.answer_refused.v1"


class ScopeNoted(Decision, frozen=True):
    """What the decision is for was said."""

    tag: ClassVar[str] = "clarification.scope_noted.v1"
    scope: str


class ReplacementNoted(Decision, frozen=True):
    """The decision that this one replaces was chosen."""

    tag: ClassVar[str] = "clarification.replacement_noted.v1"


class ReachNoted(Decision, frozen=True):
    """The files that the decision holds for, and how strongly, were said."""

    tag: ClassVar[str] = "clarification.reach_noted.v1"
    reach: Reach


class RationaleNoted(Decision, frozen=True):
    """The reasons that were given count."""

    tag: ClassVar[str] = "clarification.rationale_noted.v1"
    because: str
    """Empty where the reason stays as it was."""
    consequences: tuple[str, ...]
    alternatives: tuple[RejectedAlternative, ...]
    replaces: bool = False


class RationaleSuggested(Decision, frozen=True):
    """What a model offers beside its patch, or the writer of the question recommended."""

    tag: ClassVar[str] = "clarification.rationale_suggested.v1"
    because: str
    consequences: tuple[str, ...]
    alternatives: tuple[RejectedAlternative, ...]


class PatchProposed(Decision, frozen=True):
    """Everything needed is known; the patch waits to be accepted."""

    tag: ClassVar[str] = "clarification.patch_proposed.v1"
    patch: DecisionPatch
    hint: Literal["adr", "task", "unsure"]
    scope: str | UnsetType = UNSET
    """What it is for; not written where that is the whole project."""


class ClarificationStopped(Decision, frozen=True):
    """Nothing more is asked and nothing was decided: a valid end (locked decision 2)."""

    tag: ClassVar[str] = "clarification.stopped.v1"
    reason: Literal["turns_used", "nothing_to_ask", "kept", "task"]


class DecisionRecorded(Decision, frozen=True):
    """The acknowledgement counts."""

    tag: ClassVar[str] = "clarification.decision_recorded.v1"
    status: Literal["proposed", "accepted"]
    """`proposed` when a script or an agent acknowledged: only a person decides."""
    kind: Literal["adr", "task"]
    number: RecordNumber | None


class ClarificationChangeRefused(Refusal, frozen=True):
    """An acknowledgement, a supersession or a new number does not fit the session as it stands."""

    tag: ClassVar[str] = "clarification.change_refused.v1"
    change: Literal[
        "acknowledgement",
        "supersession",
        "keeping",
        "topic",
        "task",
        "renumbering",
        "rationale",
        "input",
    ]
    reason: Literal[
        "question_open",
        "already_accepted",
        "already_proposed",
        "patch_changed",
        "number_missing",
        "not_accepted",
        "already_superseded",
        "not_related",
        "blank",
        "placeholder",
        "too_many",
        "unfit_pattern",
        "too_many_patterns",
        "kept",
        "not_expected",
    ]


class DecisionMarkedSuperseded(Decision, frozen=True):
    """The decision is history; its document says what replaced it."""

    tag: ClassVar[str] = "clarification.decision_marked_superseded.v1"


class DecisionMarkedKept(Decision, frozen=True):
    """The decision stays in force; its document says beside what, and why."""

    tag: ClassVar[str] = "clarification.decision_marked_kept.v1"


class ArtifactFiled(Decision, frozen=True):
    """The document that was due lies on disk, or that of a rejected proposal is gone."""

    tag: ClassVar[str] = "clarification.artifact_filed.v1"
    path: str


# 3. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    IntentionDeclared,
    ClarificationAnswersGiven,
    AnswersRevised,
    AnswersRelayed,
    RationaleGiven,
    DecisionAcknowledged,
    DecisionKept,
    ReplacementChosen,
    TopicDismissed,
    FiledAsTask,
    DecisionSuperseded,
    DecisionKeptBeside,
    DecisionRenumbered,
    ReferenceRenumbered,
    CategoryDetected,
    TopicsFound,
    TopicDropped,
    QuestionSuggested,
    QuestionsEnded,
    ClarificationQuestionAsked,
    ClarificationAnswerAccepted,
    ClarificationAnswerRefused,
    ScopeNoted,
    ReplacementNoted,
    ReachNoted,
    RationaleNoted,
    RationaleSuggested,
    PatchProposed,
    ClarificationStopped,
    DecisionRecorded,
    ClarificationChangeRefused,
    DecisionMarkedSuperseded,
    DecisionMarkedKept,
    ArtifactFiled,
    *ARTIFACT_EVENTS,
    *COMPLETION_EVENTS,
    *LED_EVENTS,
)
