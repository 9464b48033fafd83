"""A question that an agent asked in a transcript, what came of it, and all that was found."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

import msgspec

from preflights_es.kernel.ids import EPOCH
from preflights_es.kernel.questions import ANSWERED, AskOutcome

Agent = Literal["claude", "codex"]
NAMES: Final[dict[Agent, str]] = {"claude": "claude-code", "codex": "codex"}
"""What a session calls the agent."""

QUESTIONS_MAX: Final = 10_000  # that are held; the others are counted
TEXT_MAX: Final = 4_000  # characters that are kept of a text
CALL_MAX: Final = 20  # questions of a call; the agents take four at most
LABELS_MAX: Final = 50  # options and answers of a question that are kept
ORIGINS_MAX: Final = 20  # conversations of a question
FILES_MAX: Final = 50  # that were edited after an answer


class Asked(msgspec.Struct, kw_only=True):
    """One question. It grows while its transcript is read: the files come after the answer."""

    call: str
    """The agent's id of the question."""
    conversation: str
    origins: list[str] = []
    """Conversations in which it stands as well: they were resumed or forked."""
    version: str
    """Of the agent."""
    question: str
    header: str
    options: tuple[str, ...]
    is_secret: bool = False
    """Whether the agent hid the answer as it was typed."""
    outcome: AskOutcome
    answers: tuple[str, ...] = ()
    asked_at: int | None = None
    answered_at: int | None = None
    files: list[str] = []
    """Those that were edited next, relative to the project's root."""

    @property
    def is_answered(self) -> bool:
        """Whether a person said something."""
        return self.outcome in ANSWERED

    def stands_in(self, *conversations: str) -> None:
        """Note conversations in which it stands as well."""
        for one in conversations:
            known = (self.conversation, *self.origins)
            if one and one not in known and len(known) <= ORIGINS_MAX:
                self.origins.append(one)

    def edits(self, path: str) -> None:
        """Note a file that was edited after the answer."""
        if path not in self.files and len(self.files) < FILES_MAX:
            self.files.append(path)


class Tally(msgspec.Struct, kw_only=True):
    """What was read, and what of it is left out."""

    files: int = 0
    lines: int = 0
    unknown: int = 0
    """Lines of a type that this program does not know."""
    damaged: int = 0
    """Lines that are no JSON object, are too long, or have another shape."""
    subagents: int = 0
    """Lines of agents that another agent started: no person answers there."""
    elsewhere: int = 0
    """Questions of other projects."""
    repeated: int = 0
    """Questions that stand in more than one place: a conversation that was resumed or forked."""
    more: int = 0
    """Questions beyond those that are held."""


class Findings:
    """The questions of all transcripts, each once."""

    def __init__(self) -> None:
        self.tally = Tally()
        self._asked: dict[str, Asked] = {}

    def add(self, one: Asked) -> Asked:
        """Take a question; the one that stays, where it is known: one that a person answered."""
        before = self._asked.get(one.call)
        if before is None and len(self._asked) >= QUESTIONS_MAX:
            self.tally.more += 1
            return one
        if before is None:
            self._asked[one.call] = one
            return one
        self.tally.repeated += 1
        is_better = one.is_answered and not before.is_answered
        kept, other = (one, before) if is_better else (before, one)
        kept.stands_in(other.conversation, *other.origins)
        self._asked[one.call] = kept
        return kept

    def asked(self) -> list[Asked]:
        """In the order of time."""
        return sorted(self._asked.values(), key=lambda one: one.answered_at or one.asked_at or 0)


def cut(text: str) -> str:
    """As much of a text as is kept."""
    return text[:TEXT_MAX]


def moment(text: str) -> int | None:
    """A time in microseconds since 1970 UTC; None where a transcript says none that is one."""
    try:
        found = datetime.fromisoformat(text)
        return (found - EPOCH) // (datetime.resolution) if found.tzinfo else None
    except (ValueError, OverflowError):
        return None
