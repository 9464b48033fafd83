"""Disks of a few megabytes, in memory, which fill up like any other.

A test that needs one runs in a child, in a namespace of its own: no other process sees the
disk, it goes with the child however that ends, and a user without root may mount it where the
system lets them.
"""

from __future__ import annotations

import ctypes
import os
import traceback
import warnings
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from tempfile import mkdtemp
from typing import Concatenate, Final, ParamSpec

P = ParamSpec("P")

_NEW_MOUNTS: Final = 0x00020000
_NEW_USER: Final = 0x10000000
_PRIVATE: Final = 1 << 14 | 1 << 18  # for all below, nothing that is mounted is told to others
_BLOCK: Final = 4096  # bytes: what a file in memory grows by


class SmallDisk:
    """Its folder, and the ballast that fills it up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    @property
    def room(self) -> int:
        """Bytes that are left."""
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def fill(self, but: int = 0) -> None:
        """Take all room, but for so many bytes."""
        with self._ballast.open("ab", buffering=0) as ballast:
            while self.room > but:
                ballast.write(bytes(_BLOCK))

    def make_room(self) -> None:
        """Take the ballast away."""
        self._ballast.unlink()


def on_a_disk(
    size: str,
) -> Callable[[Callable[Concatenate[SmallDisk, P], None]], Callable[P, None]]:
    """Hands a disk of so many bytes, such as `2m`, to a test as its first argument."""

    def decorated(test: Callable[Concatenate[SmallDisk, P], None]) -> Callable[P, None]:
        @wraps(test)
        def made(*args: P.args, **named: P.kwargs) -> None:
            _run(size, lambda disk: test(disk, *args, **named))

        # What pytest is to find fixtures for.
        whole = signature(test)
        rest = whole.replace(parameters=[*whole.parameters.values()][1:])
        made.__signature__ = rest  # type: ignore[attr-defined]  # any function may have one
        return made

    return decorated


def _run(size: str, work: Callable[[SmallDisk], None]) -> None:
    """What fails in the child fails here."""
    # The path of a socket has at most 107 bytes.
    folder = Path(mkdtemp(prefix="pf-disk-", dir="/tmp"))
    into, out = os.pipe()
    try:
        with warnings.catch_warnings():
            # A child of a process with threads is warned of; these ones hold nothing it needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            _child(size, folder, work, out)
        os.close(out)
        with os.fdopen(into) as said:
            failure = said.read()
        status = os.waitpid(child, 0)[1]
        assert not failure, failure
        assert status == 0, f"the child ended with status {status}"
    finally:
        folder.rmdir()


def _child(size: str, folder: Path, work: Callable[[SmallDisk], None], out: int) -> None:
    """Does the work, writes what failed, and never returns."""
    try:
        _mount(size, folder)
        work(SmallDisk(folder))
    except BaseException:  # whatever it was, the parent says it
        os.write(out, traceback.format_exc()[-60_000:].encode())  # a pipe takes so many at once
    finally:
        os._exit(0)


def _mount(size: str, folder: Path) -> None:
    """Where a user may not, in a namespace of users in which they may."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_MOUNTS) != 0:
        _done(libc.unshare(_NEW_USER | _NEW_MOUNTS))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _done(libc.mount(None, b"/", None, _PRIVATE, None))
    options = f"size={size},mode=777".encode()
    _done(libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options))


def _done(result: int) -> None:
    why = os.strerror(ctypes.get_errno())
    assert result == 0, f"this system lets this user mount no tmpfs, which the test needs: {why}"
