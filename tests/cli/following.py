"""A follower of projections as a process of its own, and what it says."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from tests.cli.program import Project

WAIT_S: Final = 60  # seconds for what comes in a moment, on a machine that is busy


class Following:
    """One that was started; its words are those of `--json`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._rest = b""

    def next(self) -> dict[str, Any]:
        """The next thing that it says."""
        assert self._process.stdout is not None
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._process.stdout], [], [], WAIT_S)
            assert ready, "it says nothing"
            piece = os.read(self._process.stdout.fileno(), 65_536)
            assert piece, self._process.communicate()
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        said: dict[str, Any] = json.loads(line)
        return said

    def signalled(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def ended(self, number: int = 0) -> tuple[int, str]:
        """Exit code and stderr, once it has ended; by a signal, if one is given."""
        if number:
            self.signalled(number)
        out, err = self._process.communicate(timeout=WAIT_S)
        self._rest += out
        return self._process.returncode, err.decode()

    def kill(self) -> None:
        """Whatever it is doing."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
        self._process.communicate()


@contextmanager
def follower(house: Project, *words: str) -> Iterator[Following]:
    """One that has caught up with the log; it is gone when it is left."""
    made = Following(house.started("admin", "projections", "follow", "--json", *words))
    try:
        said = made.next()
        assert said["format"] == "projections-follow/1"
        yield made
    finally:
        made.kill()


def until(condition: Callable[[], bool]) -> None:
    """Wait for what becomes true in a moment."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "it never became so"
        time.sleep(0.01)
