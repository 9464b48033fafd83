"""Walking over the chunks of a question: what stands where, and what a rule has used."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from preflights_es.features.metrics.domain import question_words as known
from preflights_es.features.metrics.domain.question import Chunk, Token, is_courtesy

COUNT_DIGITS: Final = 6  # of a number of places


class Walk:
    """The chunks of one text; courtesy and the metric's name count as used."""

    def __init__(self, words: Sequence[Token], chunks: Sequence[Chunk]) -> None:
        self._words, self._chunks = words, chunks
        self._used: set[int] = {n for n, one in enumerate(chunks) if one.kind in ("", "metric")}

    def _words_of(self, n: int) -> Sequence[Token]:
        return self._words[self._chunks[n].first : self._chunks[n].last + 1]

    def _is(self, n: int, kind: str, *what: str) -> bool:
        if not 0 <= n < len(self._chunks) or self._chunks[n].kind != kind:
            return False
        return not what or not set(what).isdisjoint(self._chunks[n].what)

    def _next(self, n: int) -> int:
        """The chunk behind, without courtesy."""
        n += 1
        while self._is(n, ""):
            n += 1
        return n

    def _before(self, n: int) -> int:
        n -= 1
        while self._is(n, ""):
            n -= 1
        return n

    def _operations(self, *names: str) -> list[int]:
        return [
            n
            for n, _ in enumerate(self._chunks)
            if n not in self._used and self._is(n, "operation", *names)
        ]

    def _all_at(self, names: tuple[str, ...]) -> bool:
        found = self._operations(*names)
        self._used.update(found)
        return bool(found)

    def _joins(self, n: int, words: Collection[str]) -> bool:
        """Whether a chunk is one of some words that join values."""
        if not 0 <= n < len(self._chunks):
            return False
        if not (self._is(n, "") or self._is(n, "operation", "or", "compare")):
            return False
        return len(self._words_of(n)) == 1 and self._words_of(n)[0].text in words

    def _is_count(self, n: int) -> bool:
        """Whether a chunk is a number of places."""
        text = str(self._chunks[n].what) if self._is(n, "number") else ""
        return text.isdigit() and len(text) <= COUNT_DIGITS

    def _count_beside(self, n: int) -> int | None:
        """The number of places in front of a word or behind it."""
        return next((one for one in (n - 1, n + 1) if self._is_count(one)), None)

    def _places(self, count: int | None) -> int:
        """How many places a number says; one without a number."""
        return 1 if count is None else max(int(str(self._chunks[count].what)), 1)

    def _is_counted(self, n: int) -> bool:
        """Whether the question is how many groups there are: `how many markets`."""
        before = [word.text for word in self._words[: self._chunks[n].first]]
        while before and before[-1] not in known.HOW_MANY and is_courtesy(before[-1]):
            before.pop()
        return bool(before) and before[-1] in known.HOW_MANY

    def _is_beside_value(self, n: int) -> bool:
        """Whether a dimension only says of what a value is: `market DK`."""
        if self._chunks[n].kind != "dimension":
            return False
        beside = (n - 1, self._next(n))
        return any(
            self._is(one, "value")
            and any(column in self._chunks[n].what for column, _ in self._chunks[one].what)
            for one in beside
        )

    def _columns(self, n: int) -> tuple[str, ...]:
        """The columns that a chunk names, empty for the metric itself."""
        is_one = self._is(n, "column") or self._is(n, "unit")
        return tuple(self._chunks[n].what) if is_one else ()
