"""What sessions decide: why, where each value came from, where it holds, and how strongly."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Protocol

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from preflights_es.kernel.events import (
    Actor,
    ActorKind,
    RecordNumber,
    SourceSession,
    Value,
    Whole,
    WrittenFile,
)
from preflights_es.kernel.ids import decision_name
from preflights_es.kernel.text import escaped_text, one_line, slug
from preflights_es.words.questions import EvidenceLines, Option, Recommended

Hold = Literal["tell", "ask", "deny"]
"""What a file's change meets: the agent is told, a person is asked, or the change is refused."""
HOLDS: Final[tuple[Hold, ...]] = ("tell", "ask", "deny")

HELD: Final[dict[Hold, str]] = {
    "tell": "tell an agent that edits them",
    "ask": "ask a person before an edit",
    "deny": "refuse an edit",
}
"""The same in words."""

OTHER: Final = "Other"
"""The category of what has no topic: it says nothing, and its values say nothing of each other."""


class Reach(Value, frozen=True):
    """Where and how strongly a decision holds."""

    paths: tuple[str, ...] = ()
    """Patterns; it holds everywhere where there are none."""
    hold: Hold = "tell"
    by: ActorKind | Literal["model"] = "user"
    """Who named the paths; of no meaning without any."""

    @property
    def is_everywhere(self) -> bool:
        """Whether it says nothing of places, and only tells."""
        return not self.paths and self.hold == "tell"


Speaker = Literal["user", "agent", "script", "model"]


class RejectedAlternative(Value, frozen=True):
    """What was not chosen."""

    name: str
    why_not: str = ""
    """Empty where it is not said."""


class StatedReasons(Value, frozen=True):
    """What one speaker says of a decision at once: why it is taken, and where it holds."""

    because: str = ""
    consequences: tuple[str, ...] = ()
    alternatives: tuple[RejectedAlternative, ...] = ()
    replaces: bool = False
    """Whether it is the whole: what was said before is dropped."""
    paths: tuple[str, ...] | UnsetType = UNSET
    """Patterns of the files that it holds for, in place of those before; unset leaves them."""
    hold: Hold | UnsetType = UNSET
    """How strongly it holds; unset leaves it as it is."""


class AttributedReason(Value, frozen=True):
    """A reason or a consequence."""

    text: str
    by: Speaker


class NotChosen(Value, frozen=True):
    """An alternative, and who named it."""

    name: str
    why_not: str
    by: Speaker


def named_instead(alternatives: tuple[NotChosen, ...]) -> tuple[NotChosen, ...]:
    """What was named under *Instead of*: what a model offered is not turned down."""
    return tuple(one for one in alternatives if one.by != "model")


def alternative_text(one: RejectedAlternative | NotChosen) -> str:
    """An alternative in one text."""
    return f"{one.name}: {one.why_not}" if one.why_not else one.name


class Rationale(Value, frozen=True):
    """All that is said so far."""

    because: AttributedReason | None = None
    consequences: tuple[AttributedReason, ...] = ()
    alternatives: tuple[NotChosen, ...] = ()

    @property
    def by_model(self) -> bool:
        """Whether a model said any of it."""
        said = (*((self.because,) if self.because else ()), *self.consequences, *self.alternatives)
        return any(one.by == "model" for one in said)


class RecordField(Value, frozen=True):
    """One decided value, with how it came about."""

    name: str
    value: str
    source: str
    """`detected`, `stated`, `chosen`, `custom`, `typed`, or `suggested` by a model."""
    by: ActorKind
    """The kind of actor who gave the value; of no meaning for a model's suggestion."""


class ShownQuestion(Value, frozen=True, kw_only=True):
    """A question as a person saw it and answered it."""

    question: str
    by: str = ""
    """Name of the agent, person or model that wrote it; empty for the rules."""
    why: str = ""
    options: tuple[Option, ...] = ()
    """Without the option to specify another."""
    recommended: Recommended | None = None
    quote: str = ""
    """Words of the intention in which a model read the first option as said."""
    evidence: tuple[EvidenceLines, ...] = ()


class RecordForm(Value, frozen=True):
    """How the records of a folder look; without any, `0007-use-redis.md` in the form of MADR.

    A name that no record has is refused where it is written.
    """

    before: str = ""
    """What stands before the number or day: `ADR-`, `ADR-YYYY-`, `YYYY/` of a folder per year."""
    digits: Annotated[int, Meta(ge=1, le=6)] = 4
    """How wide a number is at least."""
    separator: str = "-"
    """Between the words of a name."""
    ending: str = ".md"
    """Behind the title, `/README.md` where each record has a folder of its own; a number stands
    before it where another record of a day has the title."""
    day: str = ""
    """`YYYY-MM-DD` or `YYYYMMDD` where a name begins with a day and no number; else empty."""
    template: str = "adr.v1"

    def file_name(self, number: int, day: str, title: str) -> str:
        """The name of a record.

        Args:
            day: of the acknowledgement, ISO 8601.
        """
        name = f"{number:0{self.digits}d}"
        if self.day:
            name = day if "-" in self.day else day.replace("-", "")
        name = self.before.replace("YYYY", day[:4]) + name
        words = slug(title).replace("-", self.separator)
        return f"{name}{self.separator}{words}{self.ending}" if words else name + self.ending


class Related(Value, frozen=True):
    """Another decision that this one points at."""

    uid: str
    title: str
    number: RecordNumber | None = None
    session_id: str = ""
    path: str | UnsetType = UNSET
    """Of its record, relative to the project's root; not written where that is `NNNN-title.md` in
    the folder of the one that points at it. A record of another tool has it, and no uid."""

    @property
    def name(self) -> str:
        """What people call it."""
        return decision_name(self.number, self.uid)


class Superseding(Protocol):
    """What may name decisions that it replaces."""

    @property
    def supersedes(self) -> Related | None: ...
    @property
    def also_supersedes(self) -> tuple[Related, ...]: ...


def list_superseded(one: Superseding) -> tuple[Related, ...]:
    """All decisions that one replaces."""
    return tuple(filter(None, (one.supersedes, *one.also_supersedes)))


class KeptDecision(Value, frozen=True):
    """Another decision that stays in force beside this one, although their values differ."""

    related: Related
    reason: str
    """Why a person kept both."""


class Relations(Value, frozen=True):
    """What an accepted decision says of others; those must say the same of it."""

    supersedes: tuple[Related, ...] = ()
    superseded_by: Related | None = None
    kept: tuple[Related, ...] = ()
    """Decisions that stay in force beside it."""


class Accepting(Value, frozen=True):
    """What is recorded with an acceptance, where its Input has a field for it."""

    kind: Literal["adr", "task", ""] = ""
    """Of the document that follows: its folder stands in the field `folder`."""
    numbered: bool = False
    """Whether a record number is taken; it stands in the field `number`."""
    fields: Mapping[str, Any] = {}
    """What is accepted, as it was shown."""


class Record(Value, frozen=True):
    """What a template may say about a decision; everything in it comes from the log."""

    uid: str
    session_id: str
    title: str
    intention: str
    status: str
    """`open`, `proposed`, `rejected`, `accepted` or `superseded`."""
    number: RecordNumber | None = None
    folder: str = ""
    """Of its document or, where that has a folder of its own, above; relative to the root."""
    path: str = ""
    """Of its document, where links start; empty for one in `folder`."""
    date: str = ""
    """The date of the acknowledgement, ISO 8601, UTC; empty while open."""
    decided_by: str = ""
    """The person's name; empty when a script or an agent proposed it."""
    proposed_by: ActorKind | None = None
    rejected_by: Actor | None = None
    """Who declined or abandoned the proposal."""
    why_rejected: str = ""
    category: str = ""
    fields: tuple[RecordField, ...] = ()
    rationale: Rationale = Rationale()
    considered: tuple[str, ...] = ()
    """The value that was chosen, what was turned down, and the options of who wrote the question.
    """
    scope: str = ""
    """What it is for; empty for the whole project."""
    reach: Reach = Reach()
    signed_with: str = ""
    """The key by which its acceptance was signed; empty without a signature."""
    shown: tuple[ShownQuestion, ...] = ()
    offered_by: tuple[tuple[Speaker, str], ...] = ()
    """Names of the writer of the question and of the model, whose reasons are marked as theirs."""
    missing: tuple[str, ...] = ()
    """Questions without an answer, in the words they were asked."""
    supersedes: Related | None = None
    superseded_by: Related | None = None
    also_supersedes: tuple[Related, ...] = ()
    """Others that it replaced with `supersedes`, by the same acceptance."""
    kept: tuple[KeptDecision, ...] = ()
    language: Literal["en", "de"] = "en"
    """Of the sentences that the program adds."""


Standing = Literal[
    "ready", "replaced", "proposed", "rejected", "accepted", "superseded", "abandoned"
]
"""Where a patch stands.

`ready`: it waits to be accepted. `replaced`: the session went on, and it counts no more.
`proposed`: a script or an agent accepted it; a person has not. `rejected`: such a proposal was
declined or abandoned. `superseded`: it was accepted, and
another decision took its place.
"""


class Origin(Value, frozen=True):
    """Where one value of a patch came from; numbers are versions of the session's events."""

    key: str
    """The question it answers."""
    field: str
    """`Category`, or the field's name in the patch."""
    value: str
    source: str
    """`detected`, `stated`, `chosen`, `custom`, `typed`, or `suggested` by a model."""
    by: Actor
    """The actor who gave it; an agent without a name for a model."""
    at: Whole
    """When it was said, in microseconds since 1970 UTC."""
    version: int
    """The version of the Decision that made it count."""
    input: int
    """The version of the Input that holds it: answer, intention or provider's response."""
    asked: int | None = None
    """The version of the question, if one was asked."""
    response: int | None = None
    """The version of the provider's response that gave the value or worded its question."""


class FormerStanding(Value, frozen=True):
    """What was so of a decision until it changed; the times go by the clock of who changed it."""

    until: Whole
    """The end, in microseconds since 1970 UTC: a later decision changed it."""
    number: RecordNumber | None
    supersedes: Related | None
    written: WrittenFile | None
    kept: tuple[KeptDecision, ...] = ()


class DecidedPatch(Value, frozen=True, kw_only=True):
    """One patch, and what became of it."""

    version: int
    """The version of the event that proposed it."""
    uid: str
    title: str
    """What is decided, in a few words; the intention in sessions of the first rules."""
    category: str
    fields: tuple[tuple[str, str], ...]
    """Pairs of field name and value, in the order of the table."""
    origins: tuple[Origin, ...]
    """The category's first."""
    standing: Standing
    kind: str
    """`adr` or `task`."""
    number: RecordNumber | None
    proposed_at: Whole
    """All times are in microseconds since 1970 UTC, by the clock of who recorded the Input."""
    response: int | None = None
    """Version of the provider's response that it follows from."""
    recorded: int | None = None
    """Version of the Decision by which its acknowledgement counts."""
    acknowledged_at: Whole | None = None
    acknowledged_by: Actor | None = None
    """A person only where it is, or was, accepted."""
    relayed_by: Actor | None = None
    """The actor who passed that person's word on; None if the person gave it directly."""
    key: str | UnsetType = UNSET
    """The public key that signed its acknowledgement; not written where none did."""
    rationale: Rationale = Rationale()
    """What speaks for it, and what was not chosen."""
    superseded_at: Whole | None = None
    supersedes: Related | None = None
    superseded_by: Related | None = None
    written: WrittenFile | None = None
    """Its document."""
    also_supersedes: tuple[Related, ...] = ()
    """Others that the same acceptance replaced."""
    kept: tuple[KeptDecision, ...] = ()
    """Decisions that stay in force beside it, although their values differ."""
    scope: str | UnsetType = UNSET
    """What it is for; not written where that is the whole project."""
    reach: Reach | UnsetType = UNSET
    """The files that it holds for, and how strongly; not written where it tells everywhere."""
    replaced: tuple[str, ...] | UnsetType = UNSET
    """What the intention replaces or rules out; not written where that is nothing."""
    asked_by: Actor | UnsetType = UNSET
    """The actor who began the session; it is added where projections read the session."""
    former: tuple[FormerStanding, ...] = ()
    """What its number, its document and the decision before it were since it was acknowledged."""

    @property
    def name(self) -> str:
        """What people call it."""
        return decision_name(self.number, self.uid)

    def stood(self, at: int) -> "DecidedPatch":
        """The record at the end of a microsecond in which it was in force."""
        then = next((former for former in self.former if at < former.until), self)
        return replace(
            self,
            standing="accepted",
            number=then.number,
            supersedes=then.supersedes,
            written=then.written,
            kept=then.kept,
            superseded_at=None,
            superseded_by=None,
            former=(),
        )


Evolution = Literal["update", "contradict", "exception", "same", "extend", "derive", "none"]
"""How a decision stands to an older one.

`update` and `contradict` give a field another value at the same place, and `exception` gives what
the whole project has another value at one place: a person has to choose. `same` says the same.
"""
OPEN_FIELD = "Description"
"""Of what is decided in own words: two say nothing of each other. People read *Decision*."""


def field_label(name: str) -> str:
    """What people read in place of a field's name."""
    return "Decision" if name == OPEN_FIELD else name


EXCEPTION = "exception"
"""The reason why the older decision stays in force, where the new one is an exception to it."""

Choice = Literal["supersedes", "keeps"]
"""The older decision is superseded, or both stay in force."""


class Choices(Value, frozen=True):
    """What a person says about older decisions, by whatever the person calls them."""

    supersedes: tuple[str, ...] = ()
    keeps: tuple[tuple[str, str], ...] = ()
    """Pairs of a decision and the reason why both stay in force."""
    exceptions: tuple[str, ...] = ()
    """Those to which the new one is an exception."""
    again: bool = False
    """Whether a decision is recorded once more that is in force already."""

    def __bool__(self) -> bool:
        return bool(self.supersedes or self.keeps or self.exceptions or self.again)


class OlderDecision(Value, frozen=True, kw_only=True):
    """An older decision, and how the new one stands to it."""

    related: Related
    category: str
    fields: tuple[tuple[str, str], ...]
    """Of the older decision: pairs of field name and value, in the order of the table."""
    accepted_at: Whole
    """In microseconds since 1970 UTC."""
    evolution: Evolution
    """`none` of a record of another tool that a person named."""
    source: SourceSession | None
    """The older decision's session, as it was read; None of a record of another tool."""

    @property
    def needs_choice(self) -> bool:
        """Whether the new decision is accepted only with a choice about the older one."""
        return self.evolution in ("update", "contradict", "exception")


class Resolution(Value, frozen=True, kw_only=True):
    """What a person chose about a finding."""

    finding: OlderDecision
    choice: Choice
    reason: str = ""
    """Why both stay in force; empty where the older decision is superseded."""


class DecisionConflict(Value, frozen=True):
    """A field with two values in force, which no person kept on purpose."""

    category: str
    """Without a topic what both titles are about."""
    scope: str
    field: str
    """Empty without a topic."""
    values: tuple[tuple[str, str], ...]
    """Pairs of value and the decision's name, or the path of a record; newest first."""


def describe_conflict(one: DecisionConflict) -> str:
    """`Database, Type for orders: MySQL (ADR-0003) and Oracle (ADR-0002)`, on one line."""
    what = ", ".join(filter(None, (one.category, one.field)))
    place = f" for {one.scope}" if one.scope else ""
    values = " and ".join(f"{value} ({name})" for value, name in one.values)
    return escaped_text(one_line(f"{what}{place}: {values}"))
