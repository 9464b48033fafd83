"""Recorded sessions as tests of pytest: each session that `regress FOLDER` finds is replayed.

Nothing is collected where the settings of pytest do not say `preflights_sessions = FOLDER ...`.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

if TYPE_CHECKING:
    from preflights_es.features.regress.batches import SessionLines
    from preflights_es.features.regress.results import Case

OPTION: Final = "preflights_sessions"
DIFFERENCES: Final = 5  # of a session; the command that repeats it shows them all


FILES: Final[pytest.StashKey[frozenset[Path]]] = pytest.StashKey()
"""Files of sessions in the folders."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one setting of this plugin."""
    text = "Folders of recorded Preflights sessions, replayed as tests."
    parser.addini(OPTION, text, type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Look for the sessions; a run that names no path of its own collects all of them.

    The folders are named to pytest: `testpaths` may leave them out, and it enters no hidden folder.

    Raises:
        UsageError: a folder has no session, so that none would be tested.
    """
    config.stash[FILES] = frozenset()
    folders = [os.path.abspath(one) for one in cast("list[Path]", config.getini(OPTION))]
    if not folders:
        return
    from preflights_es.features.regress.selection import session_files
    from preflights_es.kernel.errors import Refused

    try:
        found = [Path(path) for folder in folders for path in session_files(folder)]
    except Refused as error:
        raise pytest.UsageError(f"{OPTION}: {error}") from error
    config.stash[FILES] = frozenset(found)
    names_paths = config.args_source is config.ArgsSource.ARGS
    is_part = config.invocation_params.dir != config.rootpath
    if not (names_paths or is_part or _ignores(config)):
        config.args = [*config.args, *folders]


def _ignores(config: pytest.Config) -> bool:
    return bool(config.getoption("ignore") or config.getoption("ignore_glob"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Enter hidden folders that hold sessions, unless options say what to ignore."""
    if not collection_path.name.startswith(".") or _ignores(config):
        return None
    holds = any(collection_path in file.parents for file in config.stash[FILES])
    return False if holds else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file of sessions that lies in one of the folders."""
    if file_path not in parent.config.stash[FILES]:
        return None
    return cast("pytest.Collector", RecordedFile.from_parent(parent, path=file_path))


class RecordedFile(pytest.File):
    """One file of recorded sessions."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its sessions; one that cannot be read is a test that fails."""
        from preflights_es.features.regress.batches import Piece, runs

        for run in runs(Piece(str(self.path))):
            yield RecordedSession.from_parent(self, name=run.session_id or "unreadable", run=run)


class RecordedSession(pytest.Item):
    """One recorded session, replayed: it passes where every decision is the recorded one."""

    def __init__(self, *, run: SessionLines, **known: Any) -> None:
        """Args:
        run: the lines of the session, or why there are none.
        """
        super().__init__(**known)
        self._run = run

    def runtest(self) -> None:
        """Raises:
        Failed: today's code decides otherwise, raises or cannot read it, or it is damaged.
        """
        from preflights_es.features.regress.batches import stored_of
        from preflights_es.features.regress.cases import ERASED
        from preflights_es.features.regress.regression import Regression
        from preflights_es.features.regress.results import SessionLeftOut
        from preflights_es.kernel.errors import AnotherVersion, LogDamaged
        from preflights_es.runtime.features import WORKFLOWS
        from preflights_es.use.replays import own_code

        if self._run.trouble:
            raise Failed(self._run.trouble)
        try:
            events = stored_of(self._run)
        except (AnotherVersion, LogDamaged) as error:
            raise Failed(str(error)) from error
        found = Regression(WORKFLOWS, own_code()).case(events, None, self._run.source)
        if isinstance(found, SessionLeftOut):
            if found.why != ERASED:  # nothing was checked, and `regress` fails for it, too
                raise Failed(f"not judged: {found.why}")
            pytest.skip(found.why)
        if found.outcome != "same":
            raise Failed("\n".join(self._differences(found)))

    def _differences(self, case: Case) -> Iterator[str]:
        from preflights_es.kernel.text import escaped_text

        yield escaped_text(f"{case.outcome}: {case.message}".removesuffix(": "))
        for cause in case.causes:
            yield escaped_text(f"cause: {cause.kind}: {cause.detail}")
        for one in case.differences[:DIFFERENCES]:
            yield escaped_text(f"version {one.version}, {one.type}, {one.place}")
            yield escaped_text(f"  expected {one.expected!r}")
            yield escaped_text(f"  actual   {one.actual!r}")
        words = ("preflights", "regress", str(self.path), "--only", case.session_id)
        yield escaped_text(f"To repeat: {shlex.join(words)}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The differences without a traceback; a bug of ours with it."""
        if isinstance(excinfo.value, Failed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it lies, and its name."""
        return self.path, None, f"session {self.name}"


class Failed(Exception):
    """A session does not replay; the message is what pytest shows."""
