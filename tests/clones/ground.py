"""Where a clone is looked at: a person's home, another repository of theirs, secrets, a server.

`Ground.holes` runs one command in the clone and says all that it did and must not do.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.cli.conftest import GIT_CONFIG
from tests.cli.program import RAW, Project
from tests.clones.tracing import TooLong, Traced, own, traced

PROGRAM: Final = Path(sys.executable).parent / "preflights"
SECRETS: Final = {
    "PGPASSWORD": "secret-of-the-database",
    "ANTHROPIC_API_KEY": "sk-ant-api03-SecretOfTheEnvironment0123456789",
    "OPENAI_API_KEY": "sk-SecretOfTheEnvironment0123456789abcdefgh",
    "OPENROUTER_API_KEY": "sk-or-v1-SecretOfTheEnvironment0123456789",
}
PRIVATE: Final = {
    ".bashrc": "alias secret-of-the-shell=true\n",
    ".pgpass": "*:*:*:*:secret-of-pgpass\n",
    ".ssh/id_ed25519": "secret-of-the-key\n",
    "notes/secret-of-a-name.md": "---\nuid: secret-of-a-note\n---\n",
}
"""Files of the home folder; each word `secret-of-...` must appear in no output."""
TOLD: Final = re.compile(r"secret-of-[a-z-]+|Secret[Oo]fTheEnvironment")
CODES: Final = frozenset({0, 1, 2, 3, 4, 5, 6})
"""Exit codes that docs/cli.md promises; 70 is a bug."""
NAMES: Final = re.compile(r"/run/(nscd/socket|systemd/userdb/)")
"""Where the C library asks for the name of a user."""
DEVICES: Final = frozenset({"/dev/null", "/dev/tty"})
CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f]")
"""What no output may hold, not even JSON that is data and goes to a file."""
TAGS: Final = re.compile("[\U000e0000-\U000e007f]")


class Server:
    """Listens where a clone would lead the program; hangs up, and remembers what it heard."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.heard: list[bytes] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):  # closed at the end of the test
            while True:
                line, _ = self._socket.accept()
                with line, suppress(OSError):
                    line.settimeout(1)
                    self.heard.append(line.recv(4096))

    def close(self) -> None:
        """Stop listening."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._socket.close()


class Ground:
    """A folder of its own: `home`, `other` (a repository with a log), `clone`."""

    def __init__(self, base: Path, cache: Path | None = None) -> None:
        """Args:
        cache: where Python keeps what it compiles; of an earlier ground, to save time.
        """
        self.base = base
        self.cache = cache or base / "pycache"
        base.chmod(0o755)
        self.home, self.other, self.clone = base / "home", base / "other", base / "clone"
        for name in ("home", "other", "tmp"):
            (base / name).mkdir()
        self.cache.mkdir(exist_ok=True)
        for name, text in {**PRIVATE, ".gitconfig": GIT_CONFIG}.items():
            path = self.home / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        other = Project(self.other, self.home)
        other.git("init", "--quiet", "--template=")
        other.decided("Add a login, secret-of-another-repository")
        self.server = Server()
        self.before = self._victims()

    def env(self) -> dict[str, str]:
        """What the commands are told, with everything that is worth stealing."""
        system = os.environ.get("PATH", os.defpath)
        return {
            "PATH": f"{PROGRAM.parent}{os.pathsep}{system}",
            "HOME": str(self.home),
            "TMPDIR": str(self.base / "tmp"),
            "PYTHONPYCACHEPREFIX": str(self.cache),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            **SECRETS,
        }

    def own(self) -> None:
        """Give all of it to the user of the commands: only the program's own care protects it."""
        own(self.home, self.other, self.clone, self.base / "tmp", self.cache)

    def holes(
        self, *words: str, writes: tuple[str, ...] = (), runs: tuple[str, ...] = ()
    ) -> list[str]:
        """What one command did and must not do, one line each.

        Args:
            writes: paths below the clone that the command may write besides.
            runs: programs that it may run besides.
        """
        return self.watched(*words, writes=writes, runs=runs)[1]

    def watched(
        self, *words: str, writes: tuple[str, ...] = (), runs: tuple[str, ...] = ()
    ) -> tuple[Traced | None, list[str]]:
        """What came of one command, and its holes; None where it did not end."""
        try:
            done = traced(PROGRAM, words, cwd=self.clone, env=self.env())
        except TooLong as late:
            return None, [str(late)]
        holes = self._holes(done, writes, runs)
        return done, [f"{' '.join(words)}: {hole}" for hole in holes]

    def _holes(self, done: Traced, writes: tuple[str, ...], runs: tuple[str, ...]) -> list[str]:
        touched, text = done.touched, done.out + done.err
        found = [f"{call} {path!r}" for call, path in sorted(touched.changed)
                 if not self._may_write(path, writes)]  # fmt: skip
        found += [f"reads {path!r}" for path in sorted(touched.read) if self._is_private(path)]
        found += [f"runs {path!r}" for path in sorted(touched.executed) if not _is_ours(path, runs)]
        found += [f"reaches {family} {address}" for family, address in sorted(touched.reached)
                  if not NAMES.search(address)]  # fmt: skip
        if done.code not in CODES or "Traceback" in text:
            found.append(f"ends with {done.code}: {done.err[-300:]!r}")
        harmful = set(CONTROLS.findall(text.replace("\r\n", "\n")))
        if not done.out.startswith("{"):  # JSON Lines are data: they go to a file as they are
            harmful |= set(TAGS.findall(text)) | (RAW & set(text))
        if harmful:
            found.append(f"prints {sorted(harmful)!a}")
        found += [f"tells {word}" for word in sorted(set(TOLD.findall(text)))]
        found += [f"sent {heard!r}" for heard in self.server.heard]
        self.server.heard.clear()
        return found + self._changes()

    def _may_write(self, path: str, writes: tuple[str, ...]) -> bool:
        folders = [self.base / "tmp", self.cache, Path("/dev/shm")]
        folders += [self.home / ".local" / "state" / "preflights"]
        folders += [self.home / ".cache" / "preflights" / "facts"]
        inside = (".git/preflights", "docs/decisions", "docs/tasks", *writes)
        folders += [self.clone / name for name in inside]
        is_way = any(str(folder).startswith(f"{path}/") for folder in folders[4:])
        return (
            path in DEVICES
            or (is_way and path != str(self.clone / ".git"))
            or any(f"{path}/".startswith(f"{folder}/") for folder in folders)
        )

    def _is_private(self, path: str) -> bool:
        # Texts, not `Path.parents`: a clone holds paths of a thousand folders.
        known = [self.home / ".gitconfig", self.home / ".config", self.home / ".local"]
        known += [self.home / ".cache"]
        # git itself reads these where a `.git` leads there, before the program refuses it.
        known += [self.other / ".git" / "HEAD", self.other / ".git" / "config"]
        if any(f"{path}/".startswith(f"{one}/") for one in known):
            return False
        return any(path.startswith(f"{top}/") for top in (self.home, self.other))

    def _changes(self) -> list[str]:
        now = self._victims()
        changed = sorted(path for path in {*now, *self.before}
                         if now.get(path) != self.before.get(path))  # fmt: skip
        self.before = now
        return [f"changed {path!r}" for path in changed]

    def _victims(self) -> Mapping[str, bytes]:
        kept = {self.home / ".local" / "state", self.home / ".cache" / "preflights"}
        return {
            str(path): path.read_bytes()
            for top in (self.home, self.other)
            for path in top.rglob("*")
            if path.is_file() and kept.isdisjoint(path.parents)
        }

    def close(self) -> None:
        """Leave nothing behind."""
        self.server.close()
        subprocess.run(["rm", "-rf", self.base], check=True)  # shutil gives up in deep folders


def _is_ours(path: str, runs: tuple[str, ...]) -> bool:
    """The program, its interpreter for helpers, git, and what this command runs besides."""
    others = (shutil.which(name) for name in ("git", *runs))
    known = {os.path.realpath(one) for one in (PROGRAM, sys.executable, *others) if one}
    return os.path.realpath(path) in known
