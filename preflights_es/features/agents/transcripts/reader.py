"""What reading a transcript has in common: open questions, their answers, the files edited next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from preflights_es.features.agents.transcripts.asked import Asked, Findings, cut
from preflights_es.features.agents.transcripts.choices import Choice
from preflights_es.features.agents.transcripts.places import Project
from preflights_es.kernel.questions import AskOutcome, call_of

OPEN_MAX: Final = 1_000  # calls of a conversation that wait for their results at once


Program = Literal["", "hook", "sdk"]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question as the agent put it."""

    id: str
    """By which the answer names it."""
    question: str
    header: str = ""
    options: tuple[str, ...] = ()
    several: bool = False
    is_secret: bool = False


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
    questions: tuple[Question, ...]
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
        self._answered: list[Asked] = []
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
            asked = Asked(
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
