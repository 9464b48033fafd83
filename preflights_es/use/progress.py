"""How a service tells how far it is, where a surface shows that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

T = TypeVar("T")

Update = Callable[[int], object]
"""Is told how many steps more are done."""
Drawn = Callable[[int], AbstractContextManager[Update]]
"""Makes the bar of a length."""


def undrawn(_length: int) -> AbstractContextManager[Update]:
    """No bar."""
    return nullcontext(lambda _steps: None)


def ticking(items: Iterable[T], update: Update) -> Iterator[T]:
    """The same items, each a step."""
    for item in items:
        yield item
        update(1)
