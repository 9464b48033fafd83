"""Coroutines run to their end, also where an event loop is running already."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def ran(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What a coroutine comes to, in a loop of its own; it may have no tie to another loop."""
    import asyncio

    if not _is_running():
        return asyncio.run(make())
    from concurrent.futures import ThreadPoolExecutor

    # A loop runs in this thread, and no other one can: it waits for one in a thread of its own.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(make())).result()


def _is_running() -> bool:
    if "asyncio" not in sys.modules:
        return False
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
