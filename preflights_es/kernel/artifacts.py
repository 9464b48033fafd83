"""A file that a session owes is a Request, and its writing an Outcome, like any other call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import msgspec

from preflights_es.kernel.events import ActorKind, Event, Outcome, RecordNumber, Request, Value
from preflights_es.kernel.questions import Option, Place, Recommended
from preflights_es.kernel.rationale import Rationale, Speaker


class ArtifactDue(Request, frozen=True):
    """A file must be written, rendered from the log as it stands at this event."""

    tag: ClassVar[str] = "artifact.due.v1"
    template: str
    """`name.vN`, a frozen file of `preflights_es/records/templates`."""
    path: str
    """Relative to the project's root, with forward slashes."""


class ArtifactWritten(Outcome, frozen=True):
    """The file lies where it should, or beside it."""

    tag: ClassVar[str] = "artifact.written.v1"
    answers: ClassVar[type[Request]] = ArtifactDue
    path: str
    sha256: str
    """The SHA-256 of the written bytes, in hexadecimal."""
    beside: bool = False
    """True when a person's edits were found and `path` is a `.new` file next to them."""


ARTIFACT_EVENTS: tuple[type[Event], ...] = (ArtifactDue, ArtifactWritten)


class Written(Value, frozen=True):
    """What a session knows of its file on disk."""

    path: str
    sha256: str


class RecordField(Value, frozen=True):
    """One decided value, with how it came about."""

    name: str
    value: str
    source: str
    """`detected`, `stated`, `chosen`, `custom`, `typed`, or `suggested` by a model."""
    by: ActorKind
    """The kind of actor who gave the value; of no meaning for a model's suggestion."""
    options: tuple[str, ...] = ()
    """What was offered, without the option to specify another."""
    unasked: tuple[str, ...] = ()
    """What its question offers where it was not asked; no document shows it."""


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
    evidence: tuple[Place, ...] = ()


class Filing(msgspec.Struct, frozen=True, kw_only=True):
    """Files that sessions of a workflow owe, and that are no records: where, and what they hold."""

    folder: str
    """Relative to the project's root, with forward slashes."""
    name: str
    """A pattern that the whole name of each file matches; no other file is written."""
    template: str
    """As in `ArtifactDue`."""
    text: Callable[[Any], str]
    """The whole file, from a state as it was behind the `ArtifactDue`."""


class Related(Value, frozen=True):
    """Another decision that this one points at."""

    uid: str
    title: str
    number: RecordNumber | None = None
    session_id: str = ""


class Beside(Value, frozen=True):
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
    """`open`, `proposed`, `accepted` or `superseded`."""
    date: str = ""
    """The date of the acknowledgement, ISO 8601, UTC; empty while open."""
    decided_by: str = ""
    """The person's name; empty when a script or an agent proposed it."""
    proposed_by: ActorKind | None = None
    category: str = ""
    fields: tuple[RecordField, ...] = ()
    rationale: Rationale = Rationale()
    considered: tuple[str, ...] = ()
    """The value that was chosen, and what else was shown or named."""
    scope: str = ""
    """What it is for; empty for the whole project."""
    shown: tuple[ShownQuestion, ...] = ()
    offered_by: tuple[tuple[Speaker, str], ...] = ()
    """Names of the writer of the question and of the model, whose reasons are marked as theirs."""
    missing: tuple[str, ...] = ()
    """Questions without an answer, in the words they were asked."""
    supersedes: Related | None = None
    supersedes_file: str = ""
    """Name of a record's file, in the folder of records, where `supersedes` has no session."""
    superseded_by: Related | None = None
    also_supersedes: tuple[Related, ...] = ()
    """Others that it replaced with `supersedes`, by the same acceptance."""
    kept: tuple[Beside, ...] = ()
    language: Literal["en", "de"] = "en"
    """Of the sentences that the program adds."""
