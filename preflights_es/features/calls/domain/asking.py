"""A recorded call that is asked again, and whether an answer to it is right.

Source: docs/specs/verdict.md, section 2.1.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from preflights_es.features.calls.domain.dialects import (
    Dialect,
    ReadAnswer,
    answers_agree,
    canonical_answer,
    ordered_json,
    parse_json_text,
    read_json_or_text,
    value_at_pointer,
    words_of_answer,
)
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import ABSENT

ASSERTIONS: Final = "regress/assertions.toml"
"""Below the project's root."""


class AskedCall(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A recorded call."""

    session_id: str
    call: int
    """Its number in the session, from 1."""
    conversation: int = 0
    """The number of the first call of its conversation; 0 where the session is one."""
    goes_on: bool = False
    """Whether that call is of an earlier session of the run."""
    dialect: Dialect
    route: str
    """By which provider it went, as its source calls it."""
    model: str
    request: dict[str, Any]
    """Whole, redacted, as recorded."""
    status: int
    content_type: str
    answer: str
    """As recorded."""
    expected: str | None
    """The answer that is known to be right: JSON or text; None where none is."""
    judged: tuple[tuple[str, bool], ...] = ()
    """What persons said of answers: pairs of `digest_answer` and whether it is right."""
    disputed: int = 0
    """How often another person contradicted that, or the right value; the newer word counts."""

    @cached_property
    def request_text(self) -> str:
        """Its request as JSON, to look for words in."""
        return ordered_json(self.request)


def digest_answer(answer: ReadAnswer) -> str:
    """SHA-256 of what counts in an answer: equal for two that agree."""
    return sha256(ordered_json(canonical_answer(answer)).encode()).hexdigest()


def value_of_answer(answer: ReadAnswer) -> Any:
    """What a person reads of an answer, and what assertions point into.

    Its JSON or else its text; of one that calls tools, their names and arguments as well.
    """
    words = words_of_answer(answer)
    said = read_json_or_text(words)
    if not answer.tools:
        return said
    tools = [{"name": name, "arguments": read_json_or_text(given)} for name, given in answer.tools]
    return {"tools": tools, **({"text": said} if words else {})}


# 1. Assertions ---------------------------------------------------------------------------------


class AnswerAssertion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an answer has to be: all that one assertion says."""

    where: str = ""
    """A text of the requests that it is for; empty for all."""
    pointer: str = ""
    """JSON Pointer into the answer's value; empty for all of it."""
    equals: Any = UNSET
    one_of: list[Any] | UnsetType = UNSET
    less: float | UnsetType = UNSET
    more: float | UnsetType = UNSET
    contains: str | UnsetType = UNSET
    """A text that stands in the answer, or in the text at the pointer."""
    tokens_at_most: int | UnsetType = UNSET

    def is_for(self, call: AskedCall) -> bool:
        return not self.where or ordered_json(self.where)[1:-1] in call.request_text

    def holds(self, answer: ReadAnswer) -> bool:
        """Whether it is so; what is compared and not there is not."""
        found = value_at_pointer(value_of_answer(answer), self.pointer)
        number = found if isinstance(found, (int, float)) and not isinstance(found, bool) else None
        text = found if isinstance(found, str) else "" if found is ABSENT else ordered_json(found)
        if self.contains is not UNSET and not self.pointer:
            text = words_of_answer(answer)
        checks = (
            self.equals is UNSET or _is_same(found, self.equals),
            self.one_of is UNSET or any(_is_same(found, one) for one in self.one_of),
            self.less is UNSET or (number is not None and number < self.less),
            self.more is UNSET or (number is not None and number > self.more),
            self.contains is UNSET or self.contains in text,
            self.tokens_at_most is UNSET or 0 < answer.tokens_out <= self.tokens_at_most,
        )
        return all(checks)


class _AssertionsFile(msgspec.Struct, forbid_unknown_fields=True):
    assertions: list[AnswerAssertion] = []


def parse_assertions(content: bytes) -> tuple[AnswerAssertion, ...]:
    """The assertions of a file.

    Raises:
        Refused: it is no such file.
    """
    expected = f"expected where, pointer, and one or more of {', '.join(_COMPARISONS)}"
    try:
        read = msgspec.convert(tomllib.loads(content.decode()), _AssertionsFile)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{ASSERTIONS}: {error}; {expected}") from error
    for number, one in enumerate(read.assertions, 1):
        if one.pointer and not one.pointer.startswith("/"):
            found = f"the pointer {one.pointer!r}, expected a JSON Pointer such as /category"
            raise Refused(f"{ASSERTIONS}, assertion {number}: found {found}")
        if all(getattr(one, name) is UNSET for name in _COMPARISONS):
            raise Refused(f"{ASSERTIONS}, assertion {number}: {expected}")
    return tuple(read.assertions)


_COMPARISONS: Final = ("equals", "one_of", "less", "more", "contains", "tokens_at_most")


def _is_same(found: Any, wanted: Any) -> bool:
    sides = (ReadAnswer(text=ordered_json(one)) for one in (found, wanted) if one is not ABSENT)
    return found is not ABSENT and answers_agree(*sides)


# 2. Right, wrong, unknown ----------------------------------------------------------------------


class CallPair(NamedTuple):
    """Both answers to one call; None where a side brought nothing."""

    call: AskedCall
    unchanged: ReadAnswer | None
    changed: ReadAnswer | None

    @property
    def agree(self) -> bool:
        """Whether there are two answers, and they are equal."""
        both = self.unchanged, self.changed
        return both[0] is not None and both[1] is not None and answers_agree(both[0], both[1])


class SidesAgreement(NamedTuple):
    """Whether each side of a session is right; None where nothing says it."""

    unchanged: bool | None
    changed: bool | None

    @property
    def is_undecided(self) -> bool:
        """Whether the pair may be a loss, for all that is known."""
        return None in self and self.unchanged is not False


def is_right(
    call: AskedCall, answer: ReadAnswer | None, assertions: Sequence[AnswerAssertion]
) -> bool | None:
    """Whether an answer is right, whatever the other side answers; None where nothing says it."""
    if answer is None:
        return None
    if call.expected is not None:
        return is_expected(answer, call.expected)
    fitting = [one for one in assertions if one.is_for(call)]
    if not all(one.holds(answer) for one in fitting):
        return False
    judged = dict(call.judged).get(digest_answer(answer)) if call.judged else None
    return True if judged is None and fitting else judged


def tell_why_wrong(
    call: AskedCall, answer: ReadAnswer, assertions: Sequence[AnswerAssertion]
) -> str:
    """What makes an answer wrong, without its words."""
    if call.expected is not None:
        return "it is not the right value, which is compared with the whole answer"
    for number, one in enumerate(assertions, 1):
        if one.is_for(call) and not one.holds(answer):
            return f"assertion {number} does not hold"
    return "a person judged it so"


def is_by_assertions_alone(pair: CallPair, assertions: Sequence[AnswerAssertion]) -> bool:
    """Whether of two answers that differ both are right, and no person said so of each."""
    both, judged = (pair.unchanged, pair.changed), dict(pair.call.judged)
    return (
        pair.call.expected is None
        and not pair.agree
        and all(is_right(pair.call, one, assertions) for one in both)
        and any(one is not None and digest_answer(one) not in judged for one in both)
    )


def is_expected(answer: ReadAnswer, expected: str) -> bool:
    """As words, or as the arguments of the only tool that is called."""
    words, value = words_of_answer(answer), parse_json_text(expected)
    said = [words] if words else []
    said += [given for _, given in answer.tools] if len(answer.tools) == 1 else []
    said.append(ordered_json(value_of_answer(answer)))
    wanted = [expected, value] if isinstance(value, str) else [expected]
    return any(
        answers_agree(ReadAnswer(text=one), ReadAnswer(text=other))
        for one in said
        for other in wanted
    )


def agreement_of_sides(
    pairs: Iterable[CallPair], assertions: Sequence[AnswerAssertion]
) -> SidesAgreement:
    """What the pairs of calls of one session come to."""
    sides: tuple[list[bool | None], list[bool | None]] = ([], [])
    for pair in pairs:
        found = [is_right(pair.call, one, assertions) for one in (pair.unchanged, pair.changed)]
        if pair.agree:
            found = [False not in found] * 2
        for side, right in zip(sides, found, strict=True):
            side.append(right)
    return SidesAgreement(_agreement(sides[0]), _agreement(sides[1]))


def _agreement(calls: Sequence[bool | None]) -> bool | None:
    if False in calls:
        return False
    return None if None in calls else True
