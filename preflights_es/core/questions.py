"""Questions to a person and what comes back: the same in every workflow that asks.

Each workflow has its own events, with its own tags, made from these.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Final, Literal

from preflights_es.core.events import Decision, Input, Typed, Value
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.text import ANSWER_MAX

RefusalReason = Literal[
    "unknown_question",
    "already_answered",
    "blank",
    "placeholder",
    "undecided",
    "several_values",
    "other_needs_text",
    "too_long",
    "closed",
]


class Given(Value, frozen=True):
    """One answer as it was given."""

    key: str
    values: tuple[str, ...]


class Answers(Input, frozen=True):
    """Root of the Inputs that answer questions."""

    typed: ClassVar = {"answers": Typed(ANSWER_MAX)}
    answers: tuple[Given, ...]
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""


class WrittenQuestion(Value, frozen=True):
    """A question that an actor wrote, for a session to begin with."""

    question: str
    options: tuple[str, ...] = ()
    topic: str = ""
    """What it is about."""
    recommended: tuple[str, str] | None = None
    """An option and the reason for it."""


class Refusal(Decision, frozen=True):
    """Root of the Decisions by which something that was asked for is not done."""


class AnswerRefusal(Refusal, frozen=True):
    """Root of the Decisions by which an answer does not count; the question stays as it was."""

    key: str
    reason: RefusalReason
    expected: tuple[str, ...] = ()
    """Keys that would be taken, where the key was the trouble."""


class TextAccepted(Decision, frozen=True):
    """Root of the Decisions by which an answer in free text counts."""

    key: str
    answer: str
    """Stripped."""


# What counts as an answer --------------------------------------------------------------------

PLACEHOLDER: Final = late_pattern(
    r"tbd|tba|tbc|to-?do|n/a|to be (?:determined|decided|defined|confirmed)|placeholder|xxx+"
    r"|[?\u2013\u2014-]+|redacted:[a-z]+"
)
_PLACEHOLDERS_BEGIN: Final = frozenset("tnpxr?-\u2013\u2014")
"""First characters of those: other words need no pattern, which takes time to compile."""
WRAPPING: Final = " \t\n.,:;!'\"`()[]{}<>"


def is_placeholder(text: str) -> bool:
    """A word in place of a decision (TBD); brackets and full stops do not hide it."""
    bare = " ".join(text.split()).strip(WRAPPING).casefold()
    if not bare or bare[0] not in _PLACEHOLDERS_BEGIN:
        return not bare
    return PLACEHOLDER.fullmatch(bare) is not None


UNDECIDED: Final = late_pattern(
    r"-\d+|idk|dunno|unsure|undecided|no (?:idea|clue)|(?:i am |i['\u2019]m )?not sure(?: yet)?"
    r"|(?:i )?(?:do not|don['\u2019]?t) know(?: yet)?"
    r"|(?:ich )?weiss (?:ich |es )?(?:noch )?nicht|(?:ich habe )?keine ahnung|unentschieden"
)

_UNDECIDED_BEGIN: Final = frozenset("-idunwk")


def is_undecided(text: str) -> bool:
    """Words that say that the person has no answer; around them may stand what hides no word."""
    bare = " ".join(text.split()).strip(WRAPPING).casefold()
    return bare[:1] in _UNDECIDED_BEGIN and UNDECIDED.fullmatch(bare) is not None


INVISIBLE: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


def stripped(text: str) -> str:
    """Without white space around it, also that which has no width."""
    while (bare := text.strip().strip(INVISIBLE)) != text:
        text = bare
    return text


# One question in free text -------------------------------------------------------------------


def text_answers(
    new: Answers,
    question: str | None,
    answered: Collection[str],
    accepted: type[TextAccepted],
    refused: type[AnswerRefusal],
) -> tuple[TextAccepted | AnswerRefusal, ...]:
    """One verdict a key, where at most one question is open; never empty.

    Args:
        question: the open question's key.
        answered: keys of questions that have their answer.
    """
    verdicts: list[TextAccepted | AnswerRefusal] = []
    for given in new.answers:
        verdict = _text_answer(given, question, answered, accepted, refused)
        if isinstance(verdict, TextAccepted):
            question, answered = None, (*answered, verdict.key)
        verdicts.append(verdict)
    return tuple(verdicts) or (refused(key="", reason="blank"),)


def _text_answer(
    given: Given,
    question: str | None,
    answered: Collection[str],
    accepted: type[TextAccepted],
    refused: type[AnswerRefusal],
) -> TextAccepted | AnswerRefusal:
    key = given.key
    if key in answered:
        return refused(key=key, reason="already_answered")
    if key != question:
        expected = () if question is None else (question,)
        return refused(key=key, reason="unknown_question", expected=expected)
    if len(given.values) > 1:
        return refused(key=key, reason="several_values")
    answer = stripped("".join(given.values))
    if not answer or is_placeholder(answer):
        return refused(key=key, reason="placeholder" if answer else "blank")
    return accepted(key=key, answer=answer)
