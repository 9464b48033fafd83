"""Processes that work until they are killed.

Importing the program takes a second, the work between start and kill a tenth of one: so a script
imports it once, and its children do the work and die.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LONGEST_S: Final = 0.1  # seconds that a child may work after its first acknowledgement


def acknowledge(*words: object) -> None:
    """Print a line, whole or not at all: a pipe takes so few bytes at once."""
    os.write(sys.stdout.fileno(), f"{' '.join(map(str, words))}\n".encode())


def serve(work: Callable[[list[str]], None]) -> None:
    """For each line of stdin, let a child do the work with its words, until it is killed.

    The child prints its process id first and then what it acknowledges; the script prints `dead`.
    """
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            acknowledge(os.getpid())
            work(line.split())
            os._exit(1)
        os.waitpid(child, 0)
        acknowledge("dead")


class Mortals:
    """The children of one script, one at a time."""

    def __init__(self, module: str) -> None:
        self._moments = random.Random(module)
        self._child: int | None = None
        self._script = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def __enter__(self) -> Mortals:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._child is not None:  # a test failed while one was at work
            os.kill(self._child, signal.SIGKILL)
        self._script.communicate()

    def acknowledged(self, *words: str) -> list[list[str]]:
        """The words of each line that a child printed before it was killed."""
        assert self._script.stdin is not None
        self._script.stdin.write(" ".join(words) + "\n")
        self._script.stdin.flush()
        self._child = int(self._line())
        lines = [self._line()]
        time.sleep(self._moments.uniform(0, LONGEST_S))
        child, self._child = self._child, None
        assert lines != ["dead"], "a child failed; its traceback stands on stderr"
        os.kill(child, signal.SIGKILL)
        while lines[-1] != "dead":
            lines.append(self._line())
        return [line.split() for line in lines[:-1]]

    def _line(self) -> str:
        assert self._script.stdout is not None
        line = self._script.stdout.readline()
        assert line, "the script ended"
        return line.rstrip("\n")
