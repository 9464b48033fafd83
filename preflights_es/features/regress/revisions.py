"""Another revision of this program, asked what it decides: by its own `replay FILE --json --all`.

So every released version can be asked. It runs in a process of its own, in an empty home: no
setting, no log and no key of ours is there. Of the code that recorded a
session it tells whether a difference comes from code or from data.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.batches import ReadSession
from preflights_es.features.regress.results import Case, Cause, CauseKind, Report
from preflights_es.kernel.errors import Refused, StoreUnavailable
from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from preflights_es.system import git
from preflights_es.system.files import Unreadable, regular

MARK: Final = "cli/preflights_cli/__init__.py"
"""What a checkout of this program has."""
EXIT_DAMAGED: Final = 4
REPLAY_S: Final = 600  # of one batch
GIT_S: Final = 60
REPORT_MAX: Final = 1024 * 1024 * 1024  # bytes of an earlier report
TOGETHER: Final = 500  # sessions that another revision is asked at once
UNKNOWN: Final = "code or data"
INSTALL_S: Final = 600
ENVIRONMENT: Final = (
    *("PATH", "LANG", "LC_ALL", "SYSTEMROOT"),
    *("TMPDIR", "TEMP", "TMP", "PYTHONSAFEPATH"),
)
"""What another revision is told of ours."""


class Revision(msgspec.Struct, frozen=True):
    """Its code, and the interpreter that runs it."""

    name: str
    """As it was typed."""
    folder: str
    python: str
    env: tuple[tuple[str, str], ...]
    """What it is told of our environment."""

    def replays(self, sessions: Sequence[Sequence[Stored]]) -> list[dict[str, Any] | None]:
        """What it says of each session; None of one that it cannot read.

        Raises:
            StoreUnavailable: it does not run.
        """
        said = self._asked(sessions)
        if said is not None:
            return said
        if len(sessions) == 1:
            return [None]
        half = len(sessions) // 2  # it refuses all where it cannot read one
        return [*self.replays(sessions[:half]), *self.replays(sessions[half:])]

    def _asked(self, sessions: Sequence[Sequence[Stored]]) -> list[dict[str, Any] | None] | None:
        """None where it refuses one of them."""
        import subprocess
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="preflights-") as home:
            rounds = _rounds(sessions)
            names = [f"{number}.jsonl" for number in range(len(rounds))]
            for name, places in zip(names, rounds, strict=True):
                events = (event for place in places for event in sessions[place])
                Path(home, name).write_bytes(jsonl.lines(events))
            words = ("-m", "preflights_cli", "replay", *names, "--json", "--all")
            path = os.pathsep.join((self.folder, os.path.join(self.folder, "cli")))
            try:
                done = subprocess.run(  # noqa: S603  the interpreter, and words of ours
                    [self.python, *words],
                    cwd=home,
                    env={**dict(self.env), "HOME": home, "PYTHONPATH": path},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=REPLAY_S,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise StoreUnavailable(f"the code of {self.name} does not run: {error}") from error
        try:
            replays = msgspec.json.decode(done.stdout)["sessions"]
            return _in_place(replays, sessions, [place for places in rounds for place in places])
        except (msgspec.DecodeError, ValueError, LookupError, TypeError) as error:
            if done.returncode == EXIT_DAMAGED:
                return None
            said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            why = f"exit {done.returncode}: {said or 'it says nothing'}"
            raise StoreUnavailable(f"the code of {self.name} does not run: {why}") from error


def _rounds(sessions: Sequence[Sequence[Stored]]) -> list[list[int]]:
    """Places of sessions, by the file that each goes to: none has two of one id."""
    found: list[list[int]] = []
    seen: Counter[str] = Counter()
    for place, session in enumerate(sessions):
        number = seen[session[0].session_id]
        seen[session[0].session_id] += 1
        if number == len(found):
            found.append([])
        found[number].append(place)
    return found


def _in_place(
    replays: Sequence[dict[str, Any]], sessions: Sequence[Sequence[Stored]], order: Sequence[int]
) -> list[dict[str, Any] | None]:
    """Replays where their sessions are; it leaves those out whose workflow it does not have."""
    found: list[dict[str, Any] | None] = [None] * len(sessions)
    said = deque(replays)
    for place in order:
        if said and said[0]["session_id"] == sessions[place][0].session_id:
            found[place] = said.popleft()
    return found


# Which one it is -----------------------------------------------------------------------------


def revision(typed: str, here: Path, cache: Path, env: Mapping[str, str]) -> Revision:
    """A folder with the code, or a revision of the checkout in a folder, or of our own.

    Args:
        here: where the command runs.
        cache: where work trees and environments are made.

    Raises:
        Refused: it is neither.
        StoreUnavailable: it cannot be taken out, or its dependencies cannot be installed.
    """
    folder = Path(typed)
    told = tuple((name, env[name]) for name in ENVIRONMENT if name in env)
    if folder.is_dir():
        if not (folder / MARK).is_file():
            raise Refused(f"{typed} is no checkout of preflights: it has no {MARK}")
        return Revision(typed, str(folder.resolve()), _python(folder, cache), told)
    if typed.startswith("-"):
        raise Refused(f"{typed!r} is no revision")
    for checkout in (here, Path(__file__).parents[3]):
        commit = git.said(
            ("rev-parse", "--verify", "--quiet", f"{typed}^{{commit}}"), checkout, env
        )
        if commit and git.said(("cat-file", "-t", f"{commit}:{MARK}"), checkout, env) == "blob":
            made = _taken_out(commit, checkout, cache / "code", env)
            return Revision(typed, str(made), _python(made, cache), told)
    raise Refused(
        f"{typed!r} is neither a folder nor a revision of preflights: run this in a checkout of "
        "preflights, or name the folder of one"
    )


def _taken_out(commit: str, checkout: Path, folder: Path, env: Mapping[str, str]) -> Path:
    """The files of a commit, in a folder that is complete or not there."""
    import tarfile
    from tempfile import TemporaryDirectory

    place = folder / commit
    if place.is_dir():
        return place
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as made:
        packed = Path(made, "code.tar")
        words = ("archive", "--format=tar", f"--output={packed}", commit)
        if git.said(words, checkout, env, GIT_S) is None:
            raise StoreUnavailable(f"git cannot take {commit} out of {checkout}")
        whole = Path(made, "code")
        with tarfile.open(packed) as file:
            file.extractall(whole, filter="data")
        try:
            whole.rename(place)
        except OSError:
            if not place.is_dir():  # another run was first
                raise
    return place


# What runs it --------------------------------------------------------------------------------


def _python(folder: Path, cache: Path) -> str:
    """Today's interpreter, or one with the dependencies that the code names.

    Raises:
        StoreUnavailable: they cannot be installed.
    """
    theirs, ours = dependencies(folder), _ours()
    if not ours or theirs == ours:
        return sys.executable
    place = cache / "environments" / sha256("\n".join(theirs).encode()).hexdigest()[:16]
    python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = place / "installed"
    if not done.is_file():
        constraints = folder / "constraints.txt"
        held = ("-c", str(constraints)) if constraints.is_file() else ()
        _run(sys.executable, "-m", "venv", "--clear", str(place))
        _run(str(python), "-m", "pip", "install", "--quiet", *held, *theirs)
        done.touch()
    return str(python)


def _run(*words: str) -> None:
    import subprocess

    try:
        subprocess.run(words, check=True, capture_output=True, timeout=INSTALL_S)  # noqa: S603  ours
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or b""
        why = said.decode("utf-8", "replace").strip().rpartition("\n")[2] or error
        raise StoreUnavailable(f"an environment for that code cannot be made: {why}") from error


def dependencies(folder: Path) -> tuple[str, ...]:
    """What a checkout says that it needs, in order; empty where it says nothing."""
    import tomllib

    try:
        told = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        return tuple(sorted(map(str, told["project"]["dependencies"])))
    except (OSError, ValueError, LookupError, TypeError):
        return ()


def _ours() -> tuple[str, ...]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        found = requires("preflights-es") or []
    except PackageNotFoundError:
        return ()
    return tuple(sorted(one for one in found if "extra ==" not in one))


# What a run is held against --------------------------------------------------------------------


def differing(file: str) -> frozenset[str]:
    """Ids of the sessions that differ in a report.

    Raises:
        Refused: it cannot be read, or is no report in JSON.
    """
    try:
        report = msgspec.json.decode(regular(Path(file), REPORT_MAX), type=Report)
    except (Unreadable, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise Refused(f"{file} cannot be read: {why}") from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # or no UTF-8
        what = "no report that `--report json=FILE` wrote"
        raise Refused(f"{file} is {what}: {error}") from error
    return frozenset(differing_in(report.cases))


def differing_in(cases: Iterable[Case]) -> Iterable[str]:
    """Ids of the sessions that are not the same."""
    return (case.session_id for case in cases if case.outcome != "same")


def attributed(again: Iterable[tuple[Case, ReadSession]], recorder: Revision) -> Iterable[Case]:
    """Differences that are the code's or the data's: the code that recorded them tells which.

    Raises:
        StoreUnavailable: it does not run.
    """
    sessions = iter(again)
    while some := list(islice(sessions, TOGETHER)):
        replays = recorder.replays([one.events for _, one in some])
        for (case, _), said in zip(some, replays, strict=True):
            if said is not None:
                yield told_apart(case, recorded_by=decides(said))


def is_unattributed(case: Case) -> bool:
    """Whether it is not known which of the two it is."""
    return any(one.kind == UNKNOWN for one in case.causes)


def decides(said: Mapping[str, object]) -> bool:
    """Whether code decides what a log says, its bugs among it, by what its `replay --json` says.

    A log whose last Decision is gone replays as far as it goes: no code leaves an Input undecided.
    """
    status, fault = said.get("status"), said.get("fault")
    raises_again = isinstance(fault, dict) and bool(fault.get("recorded"))
    is_whole = status == "identical" and not said.get("undecided")
    return is_whole or (status == "faulted" and raises_again)


def told_apart(case: Case, *, recorded_by: bool) -> Case:
    """A case whose causes are code or data, as the code that recorded it shows."""
    kind: CauseKind = "code" if recorded_by else "data"
    causes: dict[CauseKind, Cause] = {}
    for one in case.causes:
        told = replace(one, kind=kind) if one.kind == UNKNOWN else one
        causes.setdefault(told.kind, told)
    return replace(case, causes=tuple(causes.values()))
