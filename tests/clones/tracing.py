"""Runs a command under strace, as a user without privileges, and says what it touched.

Linux only. As root, the command runs as another user. That user may read every file (the
interpreter often lies in root's own home) and may write only what is theirs.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, NamedTuple

USER: Final = 65534  # uid and gid: "nobody" on every Linux, and a user that no test needs
CPU_S_MAX: Final = 30  # seconds of a processor that one command may take under strace
TIMEOUT_S: Final = 60  # a machine of a build is slow; a command that hangs is found all the same
BYTES_MAX: Final = 500_000_000  # of address space that one command may take

CHANGING: Final = (
    *("creat", "mkdir", "mkdirat", "mknod", "mknodat", "unlink", "unlinkat", "rmdir"),
    *("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mount"),
    *("chmod", "fchmod", "fchmodat", "chown", "lchown", "fchown", "fchownat"),
    *("truncate", "ftruncate", "fallocate", "utime", "utimes", "utimensat", "futimesat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
)
OPENING: Final = ("open", "openat", "openat2")
REACHING: Final = ("connect", "bind", "sendto", "sendmsg", "sendmmsg")
FORKING: Final = ("clone", "clone3", "fork", "vfork")
TRACED: Final = (*CHANGING, *OPENING, *REACHING, *FORKING, "execve", "execveat", "chdir", "fchdir")
DENIED: Final = ("EACCES", "EPERM", "EROFS")
"""Errors of an attempt that only the rights of this user stopped."""

_CALL: Final = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+|\?)(.*)", re.DOTALL)
_TEXT: Final = r'"((?:[^"\\]|\\.)*)"'
_PATH: Final = re.compile(rf"(?:(?:AT_FDCWD|\d+)<((?:[^>\\]|\\.)*)>, )?{_TEXT}")
_HANDLE: Final = re.compile(r"^ ?<((?:[^>\\]|\\.)*)>")
_FIRST_HANDLE: Final = re.compile(r"^\d+<((?:[^>\\]|\\.)*)>")
_ADDRESS: Final = re.compile(r"\{sa_family=(AF_\w+)(?:, ([^}]*))?\}")


class TooLong(Exception):
    """A command that does not end."""


class Touched(NamedTuple):
    """What one command and its children did, and what they tried and were denied."""

    read: frozenset[str]
    """Files and folders opened for reading alone, links resolved."""
    changed: frozenset[tuple[str, str]]
    """Pairs of system call and path: opened for writing, created, renamed, deleted and so on."""
    executed: frozenset[str]
    """Programs, by the path under which they were started."""
    reached: frozenset[tuple[str, str]]
    """Pairs of address family and address: connected, bound or sent to, also in vain."""


class Traced(NamedTuple):
    """What came of one command under strace."""

    code: int
    out: str
    err: str
    touched: Touched


def own(*trees: Path) -> None:
    """Give files to the user that the commands run as."""
    if os.geteuid() != 0:
        return
    # Not os.walk: it gives up below a thousand folders in one another, which some clones have.
    subprocess.run(["chown", "-hR", f"{USER}:{USER}", *trees], check=True)


def traced(program: Path, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Traced:
    """Run a program to its end.

    Raises:
        TooLong: the program does not end.
        AssertionError: strace cannot trace here.
    """
    strace = shutil.which("strace")
    assert strace, "the test is marked with what it needs"
    calls = ",".join(f"?{name}" for name in TRACED)
    with NamedTemporaryFile("r", errors="surrogateescape", prefix="strace-") as file:
        watch = [strace, "-f", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-e", "signal=none"]
        watch += ["-e", f"trace={calls}", "-o", file.name, "--"]
        command = [*watch, *_unprivileged(), str(program), *arguments]
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_limit,  # noqa: PLW1509  the tests start no threads that hold locks
        )
        try:
            out, err = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise TooLong(f"{' '.join(arguments)} takes more than {TIMEOUT_S} s") from error
        touched = touched_by(str(program), str(cwd), file)
    assert touched.executed, f"strace saw nothing: {_text(err)}"
    return Traced(process.returncode, _text(out), _text(err), touched)


def _text(content: bytes) -> str:
    return content.decode(errors="backslashreplace")


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S_MAX, CPU_S_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _unprivileged() -> list[str]:
    """The words before a command that take root's rights from it; none where it has none."""
    if os.geteuid() != 0:
        return []
    words = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    if _may_read_all():
        kept = "=-all,+dac_read_search"
        words += [f"--{kind}{kept}" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
    return words


def _may_read_all() -> bool:
    """Whether root has the right to read every file, which some containers take from it."""
    found = re.search(r"^CapBnd:\s*(\w+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    return bool(found and int(found[1], 16) & 1 << 2)


# 1. Reading what strace wrote ----------------------------------------------------------------


def touched_by(program: str, cwd: str, lines: Iterator[str]) -> Touched:
    """What the lines of strace tell of a program that was started in a folder."""
    return _Watch(program, cwd).touched(lines)


class _Call(NamedTuple):
    """One line: what a process asked for, and what came of it."""

    pid: str
    name: str
    words: str
    result: str
    rest: str

    @property
    def done(self) -> bool:
        return not self.result.startswith("-")

    @property
    def handles(self) -> list[str]:
        """Where the first argument leads, if it is an open file."""
        return [_plain(found) for found in _FIRST_HANDLE.findall(self.words)]


class _Watch:
    """Sums up all that happens since the program itself was started."""

    def __init__(self, program: str, cwd: str) -> None:
        self._program, self._cwd = program, cwd
        self._began = False
        self._folders: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._read: set[str] = set()
        self._changed: set[tuple[str, str]] = set()
        self._executed: set[str] = set()
        self._reached: set[tuple[str, str]] = set()

    def touched(self, lines: Iterator[str]) -> Touched:
        calls = list(_calls(lines))
        # A child of vfork may be seen before its parent hears of it.
        forked = [call for call in calls if call.name in FORKING and call.done]
        self._parents = {call.result: call.pid for call in reversed(forked)}
        for call in calls:
            here = self._folder(call.pid)
            paths = [_joined(here, at, path) for at, path in _PATH.findall(call.words)]
            if call.name == "execve" and call.done and paths[0] == self._program:
                self._began = True
            if self._began:
                self._take(call, here, paths)
        return Touched(
            frozenset(self._read),
            frozenset(self._changed),
            frozenset(self._executed),
            frozenset(self._reached),
        )

    def _folder(self, pid: str) -> str:
        """Where a process stands: where its parent stood when it was first seen."""
        if pid not in self._folders:
            parent = self._parents.get(pid)
            self._folders[pid] = self._folder(parent) if parent else self._cwd
        return self._folders[pid]

    def _take(self, call: _Call, here: str, paths: list[str]) -> None:
        denied = any(word in call.rest for word in DENIED)
        if call.name in FORKING:
            self._folder(call.result)
        elif call.name in REACHING:
            self._reached.update(_ADDRESS.findall(call.words))
        elif call.name in OPENING and (call.done or denied):
            self._open(call, paths[0])
        elif call.name in CHANGING and (call.done or denied):
            if call.name.startswith("symlink"):
                paths = paths[1:]  # the first is only the text of the link
            self._changed.update((call.name, _real(path)) for path in paths or call.handles)
        elif call.name in ("chdir", "fchdir") and call.done:
            self._folders[call.pid] = (paths or call.handles)[0]
        elif call.name in ("execve", "execveat") and call.done:
            self._executed.add(paths[0])

    def _open(self, call: _Call, path: str) -> None:
        found = _HANDLE.search(call.rest)
        opened = _plain(found[1]) if found else _real(path)
        if re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", call.words):
            self._changed.add((call.name, opened))
        elif call.done:
            self._read.add(opened)


def _calls(lines: Iterator[str]) -> Iterator[_Call]:
    """The calls in their order; those that strace cut in two are joined."""
    begun: dict[str, str] = {}
    for line in lines:
        pid, _, text = line.rstrip("\n").partition(" ")
        text = text.lstrip()
        if text.endswith("<unfinished ...>"):
            begun[pid] = text.removesuffix("<unfinished ...>")
            continue
        if text.startswith("<... "):
            text = begun.pop(pid, "") + text.partition(" resumed>")[2]
        if found := _CALL.match(text):
            yield _Call(pid, *found.groups())


def _joined(here: str, at: str, path: str) -> str:
    return os.path.join(_plain(at) or here, _plain(path))


def _real(path: str) -> str:
    """The path with the links of its folders followed; what its last name is stays open."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def _plain(text: str) -> str:
    """A string of C as it was."""
    unescape: Callable[[re.Match[str]], str] = lambda found: _letter(found[1])  # noqa: E731
    plain = re.sub(r"\\([0-7]{1,3}|.)", unescape, text)
    return plain.encode("latin-1", "replace").decode(errors="surrogateescape")


def _letter(code: str) -> str:
    if code[0] in "01234567":
        return chr(int(code, 8))
    return {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f"}.get(code, code)
