"""Recorded sessions as tests of pytest: each session of a `*.jsonl` is replayed.

Nothing is collected where the settings of pytest do not say `preflights_sessions = FOLDER ...`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

if TYPE_CHECKING:
    from preflights_es.features.regress.batches import SessionLines
    from preflights_es.features.regress.results import Case

OPTION: Final = "preflights_sessions"
ENDING: Final = ".jsonl"
DIFFERENCES: Final = 5  # of a session; the command that repeats it shows them all


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one setting of this plugin."""
    text = "Folders of recorded Preflights sessions (*.jsonl), replayed as tests."
    parser.addini(OPTION, text, type="paths", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file of sessions that lies in one of the folders."""
    folders = cast("list[Path]", parent.config.getini(OPTION))
    if file_path.suffix != ENDING or not any(f in file_path.parents for f in folders):
        return None
    from preflights_es.features.regress.accepting import is_of_regress

    if is_of_regress(str(file_path)):
        return None
    return cast("pytest.Collector", RecordedFile.from_parent(parent, path=file_path))


class RecordedFile(pytest.File):
    """One file of recorded sessions."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its sessions; one that cannot be read is a test that fails."""
        from preflights_es.features.regress.batches import Piece, runs

        for run in runs(Piece(str(self.path), is_mixed=True)):
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
        from preflights_es.features.regress.regression import Regression
        from preflights_es.features.regress.results import LeftOut
        from preflights_es.features.regress.strict import ERASED
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
        if isinstance(found, LeftOut):
            if found.why != ERASED:  # nothing was checked, and `regress` fails for it, too
                raise Failed(f"not judged: {found.why}")
            pytest.skip(found.why)
        if found.outcome != "same":
            raise Failed("\n".join(self._differences(found)))

    def _differences(self, case: Case) -> Iterator[str]:
        from preflights_es.kernel.text import shown

        yield shown(f"{case.outcome}: {case.message}".removesuffix(": "))
        for cause in case.causes:
            yield shown(f"cause: {cause.kind}: {cause.detail}")
        for one in case.differences[:DIFFERENCES]:
            yield shown(f"version {one.version}, {one.type}, {one.pointer or 'the event'}")
            yield shown(f"  expected {one.expected!r}")
            yield shown(f"  actual   {one.actual!r}")
        words = ("preflights", "regress", str(self.path), "--only", case.session_id)
        yield shown(f"To repeat: {shlex.join(words)}")

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
