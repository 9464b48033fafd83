"""The interpreter of this process: where it imports from, how it frees memory, its event loops."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Coroutine, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

T = TypeVar("T")

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


def keep_to_absolute_folders(environment: MutableMapping[str, str]) -> None:
    """Take the current folder out of the search path, here and in every Python started later.

    An empty or relative entry of PYTHONPATH means a folder of whatever repository is looked at.
    An absolute entry stays, even where it names the current folder: the user says so.

    Args:
        environment: of the process, which its children inherit.
    """
    told = environment.get("PYTHONPATH", "")
    kept = [one for one in told.split(os.pathsep) if os.path.isabs(one)]
    # `site` has made the entries absolute by now.
    dropped = {_absolute(one) for one in told.split(os.pathsep) if told} - set(kept)
    sys.path[:] = [one for one in sys.path if os.path.isabs(one) and one not in dropped]
    if told:
        environment["PYTHONPATH"] = os.pathsep.join(kept)
    environment["PYTHONSAFEPATH"] = "1"


def children_are_safe() -> bool:
    """Whether another Python started from here leaves the current folder out as well.

    One that ignores the environment (`python -E`) starts others that ignore it.
    """
    return bool(sys.flags.safe_path) or not sys.flags.ignore_environment


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path)
    except FileNotFoundError:  # the current folder is gone
        return path


def import_msgspec() -> None:
    """Import msgspec as if `typing_extensions` were not installed: only an older Python needs it.

    It takes longer to import than all of msgspec; a module that needs it still gets it afterwards.
    """
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # as the import system wants
    try:
        import msgspec  # noqa: F401  for what comes after
    finally:
        del sys.modules["typing_extensions"]


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
