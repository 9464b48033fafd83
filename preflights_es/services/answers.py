"""Answers as people give them: to the question that is open, and by the number of an option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from preflights_es.core.errors import Refused
from preflights_es.core.views import Question

Pairs = Sequence[tuple[str, Sequence[str]]]
Given = Mapping[str, str | Sequence[str]] | Pairs
"""Values by the key of their question; the key "" is that of the open one, where a number stands
for its option."""


def pairs(given: Given) -> Pairs:
    """Pairs of key and values."""
    if not isinstance(given, Mapping):
        return given
    return [(key, (v,) if isinstance(v, str) else tuple(v)) for key, v in given.items()]


def addressed(given: Pairs, question: Question | None) -> Pairs:
    """The same with every key in place.

    Raises:
        Refused: no question is open, or it has no such option.
    """
    return [one if one[0] else (_key(one[1], question)) for one in given]


def _key(values: Sequence[str], question: Question | None) -> tuple[str, Sequence[str]]:
    if question is None:
        found = values[0] if values else ""
        message = f"no question is open that {found!r} could answer: give KEY=VALUE"
        raise Refused(message, code="nothing_asked")
    return question.id, tuple(chosen(question, text) for text in values)


def chosen(question: Question, text: str) -> str:
    """The option that a number stands for; any other text itself.

    Raises:
        Refused: the number stands for no option.
    """
    number = text.strip().rstrip(".)")
    if not question.options or not (number.isascii() and number.isdigit()):
        return text
    if number in question.options:
        return number
    if len(number) > 3 or not 1 <= int(number) <= len(question.options):
        raise Refused(
            f"there is no option {number}: give 1 to {len(question.options)}, or "
            f"{question.id}={number} if that is the answer itself",
            code="no_such_option",
            key=question.id,
        )
    return question.options[int(number) - 1]
