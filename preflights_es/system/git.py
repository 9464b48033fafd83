"""Asks git, so that a repository cannot make it run, fetch or read anything else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import Final

TIMEOUT_S: Final = 5

_ALWAYS: Final = (
    "--no-pager",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "safe.bareRepository=explicit",  # a folder of a work tree can look like one
)
_SET: Final = {
    "GIT_ALLOW_PROTOCOL": "",  # wins over every protocol.*.allow of a repository's configuration
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_ELSEWHERE: Final = frozenset(
    """
    GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_NAMESPACE GIT_OBJECT_DIRECTORY
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_GRAFT_FILE GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE
    """.split()  # noqa: SIM905  a table
)
"""Variables that a hook of git sets, and that lead to another repository than the folder's."""
_DEADLINE: Final = ContextVar("deadline", default=float("inf"))


@contextmanager
def git_limited(seconds: float) -> Iterator[None]:
    """All calls of git within take that long together; behind it, each fails at once."""
    before = _DEADLINE.set(monotonic() + seconds)
    try:
        yield
    finally:
        _DEADLINE.reset(before)


def read_git_text(
    words: Sequence[str], folder: Path, env: Mapping[str, str], timeout_s: float = TIMEOUT_S
) -> str | None:
    """What git prints, without the white space around it; None where it fails or is not there."""
    found = output(words, folder, env, timeout_s)
    return None if found is None else found.decode("utf-8", "replace").strip()


def output(
    words: Sequence[str],
    folder: Path,
    env: Mapping[str, str],
    timeout_s: float = TIMEOUT_S,
    given: bytes = b"",
) -> bytes | None:
    """The bytes that git prints; None where it fails or is not there.

    Args:
        given: what it reads from its standard input.
    """
    program = program_path("git", env)
    timeout_s = min(timeout_s, _DEADLINE.get() - monotonic())
    if program is None or timeout_s <= 0:
        return None
    import subprocess

    try:
        found = subprocess.run(  # noqa: S603  an absolute path, and words of ours
            [program, *_ALWAYS, *words],
            cwd=folder,
            env={**{k: v for k, v in env.items() if k not in _ELSEWHERE}, **_SET},
            input=given,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout if found.returncode == 0 else None


def program_path(name: str, env: Mapping[str, str]) -> str | None:
    """A program by its path: a relative entry of PATH, and Windows, would look into the clone."""
    name = f"{name}.exe" if sys.platform == "win32" else name
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None
