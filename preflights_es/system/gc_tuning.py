"""How often a process looks for garbage that only a collector finds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

UNCOLLECTED: Final = 100_000  # objects that are made before cycles are looked for among them


def collect_seldom() -> None:
    """For a process as a whole: imports leave no garbage, and folding makes no cycles.

    Of a command's time a twelfth went into looking for some, of a rebuild's a twentieth.
    """
    gc.set_threshold(UNCOLLECTED)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """The same for a part of a process that is not ours, such as a task of a worker."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)


def collect_no_more() -> None:
    """For the end of a process: its memory goes with it, and looking through it takes a tenth."""
    gc.disable()
    gc.freeze()
