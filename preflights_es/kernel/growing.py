"""A sequence for states that grow with every event, at a cost that does not grow with them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final, Generic, TypeVar

from preflights_es.kernel.events import Value

T = TypeVar("T")

CHUNK: Final = 64  # items that are copied at most when one comes; the others are shared


class Growing(Value, Generic[T], frozen=True):
    """Grows at its end, and shares what it holds with those that it grew from.

    A tuple would be copied whole for each item. Two that grew by the same items are equal.
    """

    full: tuple[tuple[T, ...], ...] = ()
    """Each of `CHUNK` items."""
    last: tuple[T, ...] = ()
    """The newest, at most as many."""

    def plus(self, *items: T) -> Growing[T]:
        """With more items at the end."""
        grown = self
        for item in items:
            if len(grown.last) < CHUNK:
                grown = Growing(grown.full, (*grown.last, item))
            else:
                grown = Growing((*grown.full, grown.last), (item,))
        return grown

    def __iter__(self) -> Iterator[T]:
        return chain(chain.from_iterable(self.full), self.last)

    def __len__(self) -> int:
        return CHUNK * len(self.full) + len(self.last)
