"""How a service tells how far it is, where a surface shows that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeVar

T = TypeVar("T")


class Bar(Protocol):
    """Something that moves along."""

    def update(self, n_steps: int, /) -> object:
        """So many steps more are done."""


class _Hidden:
    def update(self, n_steps: int, /) -> None:
        """Nothing is shown."""


Drawn = Callable[[int], AbstractContextManager[Bar]]
"""Makes the bar of a length."""


def undrawn(_length: int) -> AbstractContextManager[Bar]:
    """No bar."""
    return nullcontext(_Hidden())


def ticking(items: Iterable[T], bar: Bar) -> Iterator[T]:
    """The same items, each a step."""
    for item in items:
        yield item
        bar.update(1)
