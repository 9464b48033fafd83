"""The program in a folder of its own: as a process, or called within this one."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

import preflights_es
from preflights_cli.main import run_command_line
from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.use.answers import finish_due_documents
from tests.cli.forked import can_be_forked, forked

T = TypeVar("T")

BIN: Final = Path(sys.executable).parent
TIMEOUT_S: Final = 60  # a machine of a build is slow; nothing here waits that long
RAW: Final = frozenset("\x1b\x07\x08\x7f\x9b\u2028\u202e\u202d\u2066\u2069").union(
    map(chr, range(0xE0000, 0xE0080))
)
"""What no terminal may be sent: escape sequences, turns of direction, invisible tags."""


class Result(NamedTuple):
    """What came of one command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one line of JSON."""
        return json.loads(self.out)

    def is_safe(self) -> bool:
        """Whether a terminal would show it and do nothing else."""
        return not RAW & set(self.out + self.err) and "Traceback" not in self.err

    def refused(self, code: int, *said: str) -> None:
        """It ended with this code, printed nothing, and told each of these."""
        assert (self.code, self.out) == (code, ""), self
        for words in said:
            assert words in self.err, self


def environment(home: Path) -> dict[str, str]:
    """All that the program is told of its surroundings."""
    return {
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


class Project:
    """A folder, a person's home, and the program between them."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.home = home

    @property
    def log(self) -> Path:
        """Where the log of a repository lies."""
        return self.folder / ".git" / "preflights" / "log.db"

    def started(
        self, *args: str, env: Mapping[str, str] | None = None, leads: bool = False
    ) -> subprocess.Popen[bytes]:
        """A process of the program, its streams ours.

        Args:
            leads: whether it leads a group of processes, as what is typed at a terminal does.
        """
        return subprocess.Popen(
            ["preflights", *args],
            cwd=self.folder,
            env={**environment(self.home), **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=leads,
        )

    def run(
        self,
        *args: str | bytes,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        program: tuple[str, ...] = ("preflights",),
        limits: str = "",
        starts: bool = False,
    ) -> Result:
        """A process of its own, without a terminal.

        Args:
            program: instead of the installed command.
            limits: words for `ulimit` in the shell that starts it.
            starts: whether it starts as an interpreter of its own, instead of being forked.
        """
        command: list[str | bytes] = [*program, *args]
        if limits:
            command = ["sh", "-c", f'ulimit {limits}; exec "$@"', "sh", *command]
        full = {**environment(self.home), **(env or {})}
        words = [os.fsdecode(word) for word in args]
        is_forked = command == ["preflights", *args] and not starts and can_be_forked(full)
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=full,
            input=stdin,
            capture_output=True,
            timeout=TIMEOUT_S,
            preexec_fn=partial(forked, words, full) if is_forked else None,
        )
        out, err = (text.decode(errors="backslashreplace") for text in (done.stdout, done.stderr))
        return Result(done.returncode, out, err)

    def call(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
        """The same command within this process, without a terminal."""
        out, err = _stream(), _stream()
        with self._surroundings(env or {}), redirect_stdout(out), redirect_stderr(err):
            before, sys.stdin = sys.stdin, _stream(stdin)
            try:
                code = run_command_line(list(args))
            finally:
                sys.stdin = before
        return Result(code, _read(out), _read(err))

    @contextmanager
    def _surroundings(self, env: Mapping[str, str]) -> Iterator[None]:
        """The folder and the environment of `run`, given back at the end."""
        kept, folder = dict(os.environ), Path.cwd()
        os.environ.clear()
        os.environ.update({**environment(self.home), **env})
        os.chdir(self.folder)
        try:
            yield
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(kept)

    def git(self, *args: str) -> str:
        """What git says; a merge that conflicts is an error."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.folder,
            env=environment(self.home),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def newest(self) -> str:
        """The id of the newest session of any workflow."""
        listed = self.call("sessions", "--all-workflows", "--json").json["sessions"]
        return str(listed[0]["session_id"]) if listed else "last"

    def show(self, session: str = "") -> Any:
        """A session as JSON; the newest of any workflow where none is named."""
        return self.call("show", session or self.newest(), "--json").json

    def started_session(self, intention: str = "Add OAuth login") -> str:
        """The id of a new session with one question open."""
        return str(self.call("start", intention, "--json").json["session_id"])

    def decided(self, intention: str = "Add OAuth login", *args: str, key: str = "") -> Any:
        """An accepted session as JSON."""
        answer = key or "auth_strategy=OAuth"
        words = ("--answer", answer, "--accept", "--again", "--by", "Ada Lovelace", "--json")
        done = self.call("start", intention, *words, *args)
        assert done.code == 0, done.err
        return done.json

    def decided_apart(self, intention: str, *answers: str) -> None:
        """Accept one as on another branch: it is compared with nothing here."""
        words = (word for answer in answers for word in ("--answer", answer))
        id_ = self.call("start", intention, *words, "--json").json["session_id"]
        with self._surroundings({}), preflights_es.open(self.folder) as log:
            request = log.request(actor="Ada", kind="user")
            finish_due_documents(request, clarifications_of(request).accept(id_))

    def named(self) -> Project:
        """It says in its file which project it is, as a shared log asks."""
        (self.folder / "preflights.toml").write_text(f'project = "{self.folder.name}"\n')
        return self

    def owing(self, *words: str, env: Mapping[str, str] | None = None) -> None:
        """Accept one as a process does that dies before it writes the document."""
        self.call("start", "Add login", "--answer", "auth_strategy=OAuth", *words, env=env)
        with self._surroundings(env or {}), preflights_es.open(self.folder) as log:
            request = log.request(actor="Ada", kind="user")
            clarifications_of(request).accept(request.sessions.resolved("last"))

    def events(self, session: str = "") -> list[Any]:
        """The session's events, as `log --json` gives them; as of `show`."""
        log = self.call("log", session or self.newest(), "--json").out
        return [json.loads(line) for line in log.splitlines()]

    def recorded(self) -> bytes:
        """Every byte of the log, and of what the engine keeps beside it."""
        return b"".join(p.read_bytes() for p in sorted(self.log.parent.glob("log.db*")))


MADE: Final[dict[Hashable, tuple[Path, Any]]] = {}
"""Where the repository lies that was made once, and what was said of it, by what made it."""


class House(Project):
    """A copy of the template. What makes it something else is done once, and copied then."""

    def __init__(self, folder: Path, home: Path, template: Path) -> None:
        super().__init__(folder, home)
        self._template = template
        self._new = self._content()

    def made(self, make: Callable[[Self], T]) -> T:
        """What `make` does to a new repository: it is done once, and copied from then on."""
        assert self._is_new(), "something is in it"
        return self._copied(make, partial(make, self))

    def call(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
        def call() -> Result:
            return super(House, self).call(*args, stdin=stdin, env=env)

        is_first = args[:1] == ("start",) and not (stdin or env) and self._is_new()
        return self._copied(args, call) if is_first else call()

    def _copied(self, key: Hashable, make: Callable[[], T]) -> T:
        key = (self.home, key)
        if key not in MADE:
            said = make()
            kept = self._template.parent / f"made-{len(MADE)}"  # some of it may be made likewise
            MADE[key] = (kept, said)
            shutil.copytree(self.folder, kept, symlinks=True)
        else:
            shutil.copytree(MADE[key][0], self.folder, symlinks=True, dirs_exist_ok=True)
            said = MADE[key][1]
        return deepcopy(said)

    def _is_new(self) -> bool:
        return self._content() == self._new

    def _content(self) -> dict[Path, bytes]:
        """Of each file and folder: a name in git's settings, or a branch, makes it another one."""
        # Size and times do not tell: a note of the same second changes neither.
        return {p: p.read_bytes() if p.is_file() else b"" for p in self.folder.rglob("*")}


def _stream(content: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BytesIO(content), "utf-8", errors="backslashreplace", write_through=True
    )


def _read(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO), "made by _stream"
    return buffer.getvalue().decode()
