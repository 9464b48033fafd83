"""Choosing one of several candidates (seed 4)."""

from __future__ import annotations

from collections.abc import Sequence

DIGITS_MAX = 3  # of a number that may choose; a longer one is text


def chosen(answer: str, candidates: Sequence[str]) -> str:
    """The candidate that a number stands for; any other text itself.

    1 to n in ASCII digits, with an optional full stop or bracket behind it.
    """
    number = answer[:-1] if answer[-1:] in (".", ")") else answer
    if not (number.isascii() and number.isdigit() and len(number) <= DIGITS_MAX):
        return answer
    at = int(number)
    return candidates[at - 1] if 1 <= at <= len(candidates) else answer
