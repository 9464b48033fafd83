"""Bounds on one case of a fuzzer: what it may take of the processor and of memory.

They are no measure of speed: each is thousands of times what a case takes. A case that meets one
does not end, or takes more with every byte of a file. The time is the process's own on the
processor, so that a busy machine makes no case longer.
"""

from __future__ import annotations

import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

CPU_S: Final = 20.0  # a case takes a thousandth of a second, a command some hundredths
MEMORY: Final = 128 * 1024**2  # bytes beyond what is mapped; the largest file here has one million


class TookTooLong(AssertionError):
    """A case went on beyond its bound; no OSError, which a command would put into words."""


@contextmanager
def bounded(cpu_s: float = CPU_S, memory: int = MEMORY) -> Iterator[None]:
    """Ends what takes more; only Linux bounds the memory of a process that runs.

    Raises:
        TookTooLong: at the line where the time was over.
        MemoryError: where there was no more of it.
    """
    former = signal.signal(signal.SIGPROF, _over)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (_mapped() + memory, hard))
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, former)


def _over(_number: int, _frame: FrameType | None) -> None:
    raise TookTooLong("it took more of the processor than any case does")


def _mapped() -> int:
    """Bytes of address space that the process has."""
    pages = Path("/proc/self/statm").read_text("ascii").split()[0]
    return int(pages) * resource.getpagesize()
