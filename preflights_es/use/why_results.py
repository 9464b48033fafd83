"""What `why` returns: `why/1` (docs/api.md)."""

from __future__ import annotations

from typing import Any

from preflights_es.kernel.events import Evidence, SourceSession
from preflights_es.use.archives import ImportedBy
from preflights_es.use.results import Result, Who
from preflights_es.words.decisions import AttributedReason, KeptDecision, NotChosen, Related
from preflights_es.words.items import ReadFileDigest, ReadRecord
from preflights_es.words.questions import Observed
from preflights_es.words.signing import Signed


class WhyInput(Result, frozen=True):
    """Who recorded an Input, and when."""

    version: int
    by: Who | None
    at: str


class Intention(WhyInput, frozen=True):
    """What the session began with."""

    text: str


class WhyQuestion(Result, frozen=True):
    """The question that a value answers."""

    version: int | None
    text: str
    options: tuple[str, ...]


class WhyAnswer(WhyInput, frozen=True):
    """What a person said."""

    values: tuple[str, ...]
    relayed_by: Who | None = None


class WhyResponse(Result, frozen=True):
    """What a provider said."""

    version: int | None
    call: str
    provider: str
    model: str
    prompts: tuple[str, ...]
    text: str | None


class Acknowledged(Result, frozen=True):
    """Who accepted or proposed it, and who passed that on."""

    version: int
    by: Who | None
    relayed_by: Who | None
    evidence: Evidence
    """What was seen of who was at work."""
    at: str
    signature: Signed | None
    """What a signature proves; None without one."""


class AskedAgain(Result, frozen=True):
    """A later session that ended with the decision: it was asked again, and kept."""

    session_id: str
    intention: str
    by: Who | None
    """Who kept it."""
    relayed_by: Who | None
    at: str


class Why(Result, frozen=True):
    """One decided value, with the events behind it; times are ISO 8601, UTC."""

    session_id: str
    uid: str
    standing: str
    category: str
    field: str
    value: str
    source: str
    by: Who | None
    at: str
    version: int
    keyword: str | None
    """The word of the intention that named the value."""
    intention: Intention
    task: str | None
    """The task that was clarified, by what people type for it."""
    observed: Observed | None
    """Where an agent asked the question, if it was not asked here."""
    question: WhyQuestion | None
    answer: WhyAnswer | None
    response: WhyResponse | None
    acknowledged: Acknowledged | None
    imported: tuple[ImportedBy, ...]
    """Imports that brought events of its session: what they say is the file's word."""
    supersedes: tuple[Related, ...]
    superseded_by: Related | None
    kept: tuple[KeptDecision, ...]
    read: tuple[SourceSession, ...]
    """Sessions that this one read: what its model was told of, and what it replaces."""
    because: AttributedReason | None
    consequences: tuple[AttributedReason, ...]
    alternatives: tuple[NotChosen, ...]
    asked_again: tuple[AskedAgain, ...] = ()
    """Oldest first."""


class WhyStanding(Acknowledged, frozen=True):
    """A change of an artifact's standing, and who made it."""

    standing: str


class WhyArtifact(Result, frozen=True):
    """One artifact, with what it was made from and who decided on it; times as in `Why`."""

    session_id: str
    id: str
    type: str
    subject: str
    standing: str
    version: int
    """Of the event that made it."""
    created_at: str
    created_by: str
    begun: WhyInput
    files: tuple[ReadFileDigest, ...]
    records: tuple[ReadRecord, ...]
    answers: tuple[WhyAnswer, ...]
    """What a person said before it was made."""
    response: WhyResponse | None
    """The one that it follows from; None of a report on a call that failed."""
    standings: tuple[WhyStanding, ...]
    imported: tuple[ImportedBy, ...]
    """Oldest first."""
    reason: str
    """Of a rejection; of a report, its summary."""
    superseded_by: str
    path: str
    """Of its file, once that was written."""
    field: str = ""
    """What of its payload was asked about; empty of the whole."""
    value: Any = None
    """What stands there."""


class WhySession(Result, frozen=True):
    """One session that decides nothing, and what it read; times as in `Why`."""

    session_id: str
    workflow: str
    status: str
    begun: Intention
    read: tuple[SourceSession, ...]
    """Other sessions, as they were read."""


class WhyRecord(Result, frozen=True):
    """A record of another tool, which has no session; it was asked again, and kept."""

    path: str
    asked_again: tuple[AskedAgain, ...]


class Whys(Result, frozen=True, tag_field="format", tag="why/1"):
    """All that was asked for: values, of the newest decision first, artifacts, or sessions."""

    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    values: tuple[Why, ...]
    artifacts: tuple[WhyArtifact, ...] = ()
    sessions: tuple[WhySession, ...] = ()
    records: tuple[WhyRecord, ...] = ()
