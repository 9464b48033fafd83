"""Pairs of answers that differ, shown without saying which is which, and what a person says.

The answers are those that the last run of `regress --workflow calls --live` paid for; a run keeps
them until it has a verdict.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from hashlib import sha256
from itertools import chain
from typing import Final, Literal, NamedTuple

import msgspec

from preflights_es.features.calls.asked_bodies import answer_of_kept, recorded_answer
from preflights_es.features.calls.domain.asking import (
    AnswerAssertion,
    AskedCall,
    CallPair,
    agreement_of_sides,
    digest_answer,
    is_right,
)
from preflights_es.features.calls.domain.dialects import (
    ReadAnswer,
    turns_of_request,
    words_of_answer,
    words_of_turns,
)
from preflights_es.features.calls.judging import (
    NewJudgement,
    read_expected_value,
    record_judgements,
    redact_expected_value,
)
from preflights_es.features.calls.kept_answers import KeptAnswer, read_last_run
from preflights_es.features.calls.pairs import read_assertions
from preflights_es.features.calls.recorded_calls import read_asked_calls
from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.text import shown_lines
from preflights_es.runtime.features import FEATURES
from preflights_es.use.request import Request
from preflights_es.words.pairs import PairCounts, count_pairs

Choice = Literal["left", "right", "both_fine", "both_wrong"]
RIGHT: Final[dict[Choice, tuple[bool, bool]]] = {
    "left": (True, False),
    "right": (False, True),
    "both_fine": (True, True),
    "both_wrong": (False, False),
}
"""Whether the left and the right answer is right."""
WORDS_MAX: Final = 4_000  # of an answer that are compared word by word
ANSWER_KEPT_MAX: Final = 100_000  # characters of an answer that a judgement holds


class BlindPair(NamedTuple):
    """A call, and two answers to it of which nothing says which came from which side."""

    call: AskedCall
    left: ReadAnswer
    right: ReadAnswer

    def question(self) -> list[tuple[str, str]]:
        """What was asked, as people read it: pairs of role and words."""
        return words_of_turns(turns_of_request(self.call.request))


def words_shown(answer: ReadAnswer) -> str:
    """An answer as people read it: its words, and what it calls."""
    tools = (f"[calls {name} {given}]" for name, given in answer.tools)
    return "\n".join(filter(None, (words_of_answer(answer), *tools)))


def _compare_with_value(shown: BlindPair, expected: str) -> str:
    """What a right value says of both answers."""
    call = msgspec.structs.replace(shown.call, expected=expected)
    both = [is_right(call, answer, ()) for answer in (shown.left, shown.right)]
    left, right = ("agrees" if agrees else "differs" for agrees in both)
    return f"Compared with this value, the left answer {left} and the right one {right}."


MarkedWords = list[tuple[str, bool]]
"""Pairs of a word, or a line break, and whether it differs from the other side."""


def mark_differing_words(left: str, right: str) -> tuple[MarkedWords, MarkedWords]:
    """The words of two texts, each with whether the other text has it at its place."""
    sides = [_split_into_words(text) for text in (left, right)]
    marked: tuple[MarkedWords, MarkedWords] = ([], [])
    matcher = SequenceMatcher(None, sides[0], sides[1], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        marked[0].extend((word, tag != "equal" and word != "\n") for word in sides[0][a:b])
        marked[1].extend((word, tag != "equal" and word != "\n") for word in sides[1][c:d])
    return marked


def _split_into_words(text: str) -> list[str]:
    lines = [line.split() for line in shown_lines(text).split("\n")]
    words = [word for line in lines for word in (*line, "\n")]
    return words[:WORDS_MAX]


class BlindRun:
    """The pairs of the last run, those judged meanwhile among them."""

    def __init__(self, request: Request, seed: int = 0, session: str = "") -> None:
        """Args:
        seed: of the order, and of what stands on the left; 0 draws another for each sitting.
        session: whose pairs are shown; empty for all.
        """
        self._request = request
        self._assertions = read_assertions(request.process.settings.root)
        self.seed = seed or int(request.process.runner.new_id()[-7:], 16)
        self._session = session
        kept = read_last_run(request.process)
        self._margin = kept[-1].margin if kept else 0.0
        self.resuming = kept[-1].resuming if kept else ""
        """The command that gives the run its verdict."""
        self._pairs = _read_pairs(request, kept)
        """The calls of each pair, by its session and the first call of its conversation."""

    @property
    def is_empty(self) -> bool:
        """Whether no run left answers."""
        return not self._pairs

    def undecided(self) -> list[BlindPair]:
        """The pairs that nothing decides yet, in an order that says nothing."""
        found = [
            pair
            for (session_id, _), pairs in sorted(self._pairs.items())
            for pair in pairs
            if (not self._session or session_id == self._session)
            and _is_open(pair, self._assertions)
        ]
        found.sort(key=lambda one: self._draw(one.call))
        return [*filter(None, map(self._blind, found))]

    def find_pair(self, session_id: str, call: int) -> BlindPair | None:
        """A pair of the run, decided or not; None where it is not there."""
        every = chain.from_iterable(self._pairs.values())
        found = (one for one in every if (one.call.session_id, one.call.call) == (session_id, call))
        return next(map(self._blind, found), None)

    def _blind(self, pair: CallPair) -> BlindPair | None:
        """None where an answer is missing."""
        if pair.unchanged is None or pair.changed is None:
            return None
        sides = (pair.unchanged, pair.changed)
        return BlindPair(pair.call, *(sides[::-1] if self._draw(pair.call)[-1] % 2 else sides))

    def compare_known_value(self, shown: BlindPair | None) -> str:
        """What the right value that a person said makes of a pair; empty without one."""
        if shown is None or shown.call.expected is None:
            return ""
        return _compare_with_value(shown, shown.call.expected)

    def compare_typed_value(self, shown: BlindPair, said: str) -> str:
        """The same, of a value that is not recorded yet."""
        expected = redact_expected_value(self._request, read_expected_value(said))
        return _compare_with_value(shown, expected)

    def mark_words(self, shown: BlindPair) -> tuple[MarkedWords, MarkedWords]:
        """The words of both answers, each with whether the other side has it."""
        return mark_differing_words(words_shown(shown.left), words_shown(shown.right))

    def _draw(self, call: AskedCall) -> bytes:
        """Chance that follows from the seed: of the place, and of the side."""
        return sha256(f"{self.seed} {call.session_id} {call.call}".encode()).digest()

    def judge(self, shown: BlindPair, choice: Choice, by: str = "") -> None:
        """Record what a person said of both answers."""
        both = zip((shown.left, shown.right), RIGHT[choice], strict=True)
        self._record(shown, [self._judgement(shown, answer, right, by) for answer, right in both])

    def expect(self, shown: BlindPair, said: str, by: str = "") -> None:
        """Record the right value of the call.

        Args:
            said: JSON, or a text.

        Raises:
            Refused: it is empty.
        """
        if not said.strip():
            raise Refused("the right value is empty: type it", code="empty_text")
        call, expected = shown.call, read_expected_value(said.strip())
        new = NewJudgement(session=call.session_id, call=call.call, expected=expected, by=by)
        self._record(shown, [new])

    def _judgement(
        self, shown: BlindPair, answer: ReadAnswer, right: bool, by: str
    ) -> NewJudgement:
        call = shown.call
        return NewJudgement(
            session=call.session_id,
            call=call.call,
            answer=words_shown(answer)[:ANSWER_KEPT_MAX],
            digest=digest_answer(answer),
            is_right=right,
            by=by,
        )

    def _record(self, shown: BlindPair, new: Sequence[NewJudgement]) -> None:
        record_judgements(self._request, new)
        name = shown.call.session_id, shown.call.conversation
        calls = {one.call: one for one in read_asked_calls(self._request, name[0])}
        self._pairs[name] = [
            pair._replace(call=calls[pair.call.call]) for pair in self._pairs[name]
        ]

    # What it comes to ------------------------------------------------------------------------

    def describe_outlook(self) -> str:
        """What the verdict says now, and how many more judgements would make it say more."""
        counts = self._count_pairs()
        word, left = self._judge(counts), counts.waiting
        if not left:
            return f"{word}, {counts.total:,} pairs compared"
        told = [f"{word} now, {left:,} pair{' is' if left == 1 else 's are'} undecided"]
        if word != "INCONCLUSIVE":
            return told[0]
        passes = first_number(left, lambda k: self._judge(counts.with_more(k, worse=0)) == "PASS")
        blocks = first_number(left, lambda k: self._judge(counts.with_more(k, worse=k)) == "BLOCK")
        if passes is not None:
            told.append(f"with {passes:,} more that are equally good: PASS")
        if blocks is not None:
            told.append(f"with {blocks:,} more that got worse: BLOCK")
        if passes is None and blocks is None:
            told.append("this run has too few pairs to say more")
        return "; ".join(told)

    def _count_pairs(self) -> PairCounts:
        sides = ((agreement_of_sides(one, self._assertions), one) for one in self._pairs.values())
        return count_pairs(
            (*known, known.is_undecided, any(_is_open(pair, self._assertions) for pair in pairs))
            for known, pairs in sides
        )

    def _judge(self, counts: PairCounts) -> str:
        """The word of the verdict."""
        word: str = FEATURES.port("judge_counts")(counts, self._margin)
        return word


def first_number(most: int, holds: Callable[[int], bool]) -> int | None:
    """The first number from 1 to `most` for which it holds; it holds for all that follow."""
    at = bisect_left(range(1, most + 1), True, key=holds)
    return at + 1 if at < most else None


def _is_open(pair: CallPair, assertions: Sequence[AnswerAssertion]) -> bool:
    """Whether there are two answers that differ, and something is not known of them."""
    if None in (pair.unchanged, pair.changed) or pair.agree:
        return False
    sides = (pair.unchanged, pair.changed)
    return any(is_right(pair.call, answer, assertions) is None for answer in sides)


def _read_pairs(
    request: Request, kept: Iterable[KeptAnswer]
) -> dict[tuple[str, int], list[CallPair]]:
    """The pairs of a run; a session that is gone or erased has none."""
    answers: dict[str, dict[tuple[int, bool], KeptAnswer]] = {}
    for one in kept:
        answers.setdefault(one.session, {})[one.call, one.is_changed] = one
    found: dict[tuple[str, int], list[CallPair]] = {}
    for session_id, of_session in answers.items():
        try:
            calls = read_asked_calls(request, session_id)
        except PreflightsError:
            continue
        for pair in _pairs_of(calls, of_session):
            found.setdefault((session_id, pair.call.conversation), []).append(pair)
    return found


def _pairs_of(
    calls: Iterable[AskedCall], kept: dict[tuple[int, bool], KeptAnswer]
) -> Iterator[CallPair]:
    for call in calls:
        sides = [kept.get((call.call, is_changed)) for is_changed in (False, True)]
        if sides == [None, None]:
            continue
        read = [None if one is None else answer_of_kept(call, one).answer for one in sides]
        if sides[0] is None:  # `--recorded`
            read[0] = recorded_answer(call).answer
        yield CallPair(call, read[0], read[1])
