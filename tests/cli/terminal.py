"""The program on a real pseudo-terminal of a fixed size, with a person's fingers."""

from __future__ import annotations

import re
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final

import pexpect  # type: ignore[import-untyped]  # it has no stubs

from tests.cli.forked import can_be_forked, forked
from tests.cli.program import RAW, Project, environment

SIZE: Final = (40, 100)  # rows and columns
STYLES: Final = re.compile(r"\x1b\[[0-9;]*m")
"""The only sequences of our own: bold, dim, plain."""

WAIT_S: Final = 20  # seconds for the next words, on a machine that is busy

ANSWER: Final = r"\n> "
OWN_WORDS: Final = "In your own words: "
KEY: Final = r"\[l\]eave\? "
DECISION: Final = "\nDecision: "
BECAUSE: Final = "Because: "
INSTEAD: Final = "Instead of[^:\n]*: "
AGAIN: Final = r"\n> \(\d+\) "


class Terminal:
    """One command at the keyboard; what it said so far is kept as a person would see it."""

    def __init__(self, child: pexpect.spawn) -> None:
        self._child = child
        self.raw = ""

    def expect(self, pattern: str) -> str:
        """Wait for a pattern; what was said since the last one, without styles.

        Fails with what was said instead.
        """
        try:
            self._child.expect(pattern.encode())
        except (pexpect.EOF, pexpect.TIMEOUT) as error:
            raise AssertionError(f"no {pattern!r} in {self._child.before!r}") from error
        return self._seen(self._child.before + self._child.after)

    def proposal(self) -> str:
        """What is proposed, after the person passed the lines before it that are asked."""
        seen = self.expect(f"{BECAUSE}|{INSTEAD}|{KEY}")
        while not seen.endswith("? "):
            time.sleep(0.05)  # what is typed before the line is seen is dropped
            self.type("")
            seen += self.expect(f"{BECAUSE}|{INSTEAD}|{KEY}")
        return seen

    def is_silent_for(self, seconds: float) -> bool:
        """Whether it says nothing and goes on waiting."""
        return bool(
            self._child.expect([pexpect.TIMEOUT, pexpect.EOF, rb"\S"], timeout=seconds) == 0
        )

    def type(self, text: str | bytes) -> None:
        """A line, ended by Enter."""
        self._child.send(text if isinstance(text, bytes) else text.encode())
        self._child.send(b"\r")

    def say(self, text: str = "") -> None:
        """A line at a prompt that drops what was typed before it was seen."""
        time.sleep(0.05)
        self.type(text)

    def paste(self, text: str) -> None:
        """Many keys at once, whatever the program is doing."""
        self._child.send(text.encode())

    def press(self, keys: str) -> None:
        """Keys without Enter, once the program reads single keys: it forgets those before."""
        deadline = time.monotonic() + WAIT_S
        while termios.tcgetattr(self._child.child_fd)[3] & termios.ICANON:
            assert time.monotonic() < deadline, "it never asked for a key"
            time.sleep(0.005)
        self._child.send(keys.encode())

    def interrupt(self) -> None:
        """Ctrl-C, once the program waits: between a prompt and its wait, readline hears none."""
        time.sleep(0.05)
        self._child.sendintr()

    def end(self) -> None:
        """Ctrl-D."""
        self._child.sendeof()

    def rest(self) -> str:
        """All that it still says; it ends by itself."""
        try:
            self._child.expect(pexpect.EOF)
        except pexpect.TIMEOUT as error:
            raise AssertionError(f"it goes on after {self._child.before!r}") from error
        self._child.wait()
        return self._seen(self._child.before)

    def code(self) -> int:
        """Its exit code, once it has ended."""
        self.rest()
        return int(self._child.exitstatus)

    def _seen(self, said: bytes) -> str:
        text = said.decode("utf-8", "backslashreplace")
        self.raw += text
        return STYLES.sub("", text).replace("\r\n", "\n")

    def is_safe(self) -> bool:
        """Whether nothing but our own styles moved the terminal, and no traceback was shown."""
        return not RAW & set(STYLES.sub("", self.raw)) and "Traceback" not in self.raw


@contextmanager
def terminal(
    project: Project,
    *args: str,
    env: Mapping[str, str] | None = None,
    size: tuple[int, int] = SIZE,
    starts: bool = False,
) -> Iterator[Terminal]:
    """A command at the keyboard; it must have shown nothing unsafe when it is left.

    Args:
        starts: whether it is the installed program, which starts as an interpreter of its own.
    """
    full = {**environment(project.home), "TERM": "xterm-256color", **(env or {})}
    is_forked = not starts and can_be_forked(full)
    child = pexpect.spawn(
        "preflights",
        list(args),
        cwd=str(project.folder),
        env=full,
        dimensions=size,
        timeout=WAIT_S,
        preexec_fn=partial(forked, args, full) if is_forked else None,
    )
    child.delaybeforesend = None
    made = Terminal(child)
    try:
        yield made
        assert made.is_safe(), made.raw
    finally:
        if not child.isalive():
            child.ptyproc.delayafterclose = 0  # seconds that a program has to end
        child.close(force=True)
