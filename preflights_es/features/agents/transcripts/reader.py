"""What reading a transcript has in common: questions, what came of them, the files edited next.

A path in a transcript is a text, and no file is looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from preflights_es.kernel.ids import EPOCH
from preflights_es.kernel.questions import ANSWERED, AskOutcome, call_of
from preflights_es.kernel.text import visible

Agent = Literal["claude", "codex"]
NAMES: Final[dict[Agent, str]] = {"claude": "claude-code", "codex": "codex"}
"""What a session calls the agent."""

QUESTIONS_MAX: Final = 10_000  # that are held; the others are counted
TEXT_MAX: Final = 4_000  # characters that are kept of a text
CALL_MAX: Final = 20  # questions of a call; the agents take four at most
LABELS_MAX: Final = 50  # options and answers of a question that are kept
ORIGINS_MAX: Final = 20  # conversations of a question
FILES_MAX: Final = 50  # that were edited after an answer
PATH_MAX: Final = 4_096  # bytes, as Linux has it


OPEN_MAX: Final = 1_000  # calls of a conversation that wait for their results at once
Program = Literal["", "hook", "sdk"]
Choice = tuple[AskOutcome, tuple[str, ...]]
"""What came of a question, and the answers."""
BETWEEN: Final = ", "
"""What stands between several labels that were chosen."""
NOTE: Final = "user_note: "
"""How an answer begins in Codex that the person wrote beside an option."""
NONE: Final = "None of the above"
"""The option that Codex adds; it decides nothing."""


class AskedQuestion(msgspec.Struct, kw_only=True):
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
        self._asked: dict[str, AskedQuestion] = {}

    def add(self, one: AskedQuestion) -> AskedQuestion:
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

    def asked(self) -> list[AskedQuestion]:
        """In the order of time."""
        return sorted(self._asked.values(), key=lambda one: one.answered_at or one.asked_at or 0)


def cut(text: str) -> str:
    """As much of a text as is kept."""
    return text[:TEXT_MAX]


def text_of(output: Any) -> str:
    """The text of a tool's result, in each of its shapes."""
    if isinstance(output, dict):
        output = output.get("content", output.get("output"))
    if isinstance(output, list):
        output = "\n".join(str(one.get("text", "")) for one in output if isinstance(one, dict))
    return output if isinstance(output, str) else ""


def moment(text: str) -> int | None:
    """A time in microseconds since 1970 UTC; None where a transcript says none that is one."""
    try:
        found = datetime.fromisoformat(text)
        return (found - EPOCH) // (datetime.resolution) if found.tzinfo else None
    except (ValueError, OverflowError):
        return None


def apart(said: Sequence[str]) -> tuple[list[str], list[str]]:
    """The labels, and the notes, among the answers of Codex."""
    notes = [one.removeprefix(NOTE) for one in said if one.startswith(NOTE)]
    return [one for one in said if not one.startswith(NOTE) and one != NONE], notes


def chosen(said: Sequence[str], labels: Sequence[str], note: str = "") -> Choice:
    """The outcome of what was said: an option, several, or the person's own words.

    Args:
        note: what the person wrote beside the choice; it may take the choice back.
    """
    bare = tuple(dict.fromkeys(cut(one.strip()) for one in said if visible(one)))[:LABELS_MAX]
    if visible(note):
        beside = f"{BETWEEN.join(bare)} ({note.strip()})" if bare else note.strip()
        return "typed", (cut(beside),)
    if len(bare) > 1:
        return "several", bare
    if not bare:
        return "empty", ()
    return ("answered" if bare[0] in {cut(one.strip()) for one in labels} else "typed"), bare


def parts(said: str, labels: Sequence[str]) -> Iterator[str]:
    """Labels that stand one after the other, and words between them; a label may hold a comma."""
    said = cut(said)
    longest = sorted((one for one in labels if one), key=len, reverse=True)
    while said:
        found = next((one for one in longest if _begins(said, one)), None)
        part = found if found is not None else said.partition(BETWEEN)[0]
        said = said[len(part) :].removeprefix(BETWEEN)
        yield part


def _begins(said: str, label: str) -> bool:
    return said == label or said.startswith(label + BETWEEN)


class Project:
    """A project's folders, by each name that an agent may know them by."""

    def __init__(self, *roots: Path) -> None:
        """Args:
        roots: its folder in each work tree of the repository.
        """
        both = (name(root) for root in roots for name in (os.path.abspath, os.path.realpath))
        self.names = tuple(dict.fromkeys(both))

    def holds(self, folder: str) -> bool:
        """Whether a folder lies in the project."""
        return self._within(folder) is not None

    def relative(self, paths: Iterable[str], folder: str) -> list[str]:
        """Those paths that lie in the project, from its root, with forward slashes.

        Args:
            folder: where a relative path starts from.
        """
        found = (self._within(os.path.join(folder, path)) for path in paths if path)
        return [path.replace(os.sep, "/") for path in found if path not in (None, os.curdir)]

    def _within(self, path: str) -> str | None:
        if not os.path.isabs(path) or "\0" in path or len(path) > PATH_MAX:
            return None
        plain = os.path.normpath(path)
        for name in self.names:
            if plain == name:
                return os.curdir
            if plain.startswith(name.rstrip(os.sep) + os.sep):
                return plain[len(name.rstrip(os.sep)) + 1 :]
        return None


class AgentQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question as the agent put it."""

    id: str
    """By which the answer names it."""
    question: str
    header: str = ""
    options: tuple[str, ...] = ()
    several: bool = False
    is_secret: bool = False


class _Option(msgspec.Struct):
    label: str = ""


class QuestionLine(msgspec.Struct):
    """A question as both formats have it."""

    question: str
    header: str | None = None
    options: list[_Option | str] | None = None
    multiSelect: Any = None  # noqa: N815  as Claude Code has it

    def told(self, name: str = "", *, is_secret: bool = False) -> AgentQuestion:
        """Args:
        name: by which the answer names it; its text where there is none.
        """
        options = (self.options or ())[:LABELS_MAX]
        return AgentQuestion(
            id=name or self.question,
            question=self.question,
            header=self.header or "",
            options=tuple(cut(one if isinstance(one, str) else one.label) for one in options),
            several=bool(self.multiSelect),
            is_secret=is_secret,
        )


class Call(msgspec.Struct, kw_only=True):
    """A call of the agent's tool that asks its person, until the result comes."""

    call: str
    conversation: str
    origins: tuple[str, ...] = ()
    """Conversations that this one is a fork of."""
    version: str
    asked_at: int | None
    is_here: bool
    """Whether it was asked in this project."""
    questions: tuple[AgentQuestion, ...]
    program: Program = ""
    """What answers in the person's place: a hook (or the model itself), or the program that started
    the agent; empty where a person does."""


class Reader:
    """Reads one transcript, line by line; a subclass knows the format."""

    def __init__(self, project: Project, found: Findings) -> None:
        self.project = project
        self.found = found
        self.tally = found.tally
        self.calls: dict[str, Call] = {}
        self._edits: dict[str, list[str]] = {}
        self._answered: list[AskedQuestion] = []
        """The questions of the last call: what is edited next follows from them."""

    def take(self, line: bytes | None) -> None:
        """Read the next line; None for one that is too long."""
        self.tally.lines += 1
        if line is None:
            self.tally.damaged += 1
        elif bare := line.strip():
            try:
                self.read(bare)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                self.tally.damaged += 1

    def read(self, line: bytes) -> None:
        """Read a line that is not blank.

        Raises:
            DecodeError, UnicodeError, RecursionError: it is no line of this format.
        """
        raise NotImplementedError

    def end(self) -> None:
        """The transcript is over: no person answered what is still open."""
        for call in list(self.calls):
            self.settle(call, "unattended")

    # 1. Questions ----------------------------------------------------------------------------

    def ask(self, call: Call) -> None:
        """Note that questions are put."""
        self._answered = []
        self._edits.clear()
        if not call.questions:
            return
        while len(self.calls) >= OPEN_MAX:
            self.settle(next(iter(self.calls)), "unattended")
        self.calls[call.call] = call

    def settle(
        self, name: str, came: AskOutcome | Sequence[Choice], answered_at: int | None = None
    ) -> None:
        """Note what came of the questions of a call: the same of all, or a choice of each."""
        call = self.calls.pop(name)
        if not call.is_here:
            self.tally.elsewhere += len(call.questions)
            return
        came = [(came, ())] * len(call.questions) if isinstance(came, str) else came
        for place, (question, (outcome, answers)) in enumerate(
            zip(call.questions, came, strict=True)
        ):
            asked = AskedQuestion(
                call=call_of(call.call, place),
                conversation=call.conversation,
                version=call.version,
                question=cut(question.question),
                header=cut(question.header),
                options=question.options,
                is_secret=question.is_secret,
                outcome=outcome,
                answers=answers,
                asked_at=call.asked_at,
                answered_at=answered_at,
            )
            asked.stands_in(*call.origins)
            self._answered.append(self.found.add(asked))

    # 2. Edits --------------------------------------------------------------------------------

    def edit(self, call: str, paths: Iterable[str], folder: str) -> None:
        """Note that files are about to be edited."""
        if self._answered and len(self._edits) < OPEN_MAX:
            self._edits[call] = self.project.relative(paths, folder)

    def edited(self, call: str, *, done: bool) -> None:
        """Note whether the files of a call were edited."""
        paths = self._edits.pop(call, ())
        for asked in self._answered if done else ():
            for path in paths:
                asked.edits(path)
