"""Recorded sessions as tests of pytest: each session of a `*.jsonl` is replayed.

Nothing is collected where the settings of pytest do not say `preflights_sessions = FOLDER ...`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

if TYPE_CHECKING:
    from preflights_es.replay.replayer import Replay

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
    return cast("pytest.Collector", RecordedFile.from_parent(parent, path=file_path))


class RecordedFile(pytest.File):
    """One file of recorded sessions."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its sessions; one that cannot be read is a test that fails."""
        from preflights_es.core.errors import PreflightsError
        from preflights_es.services.archives import SessionFile, sessions_of

        try:
            for events in sessions_of(SessionFile(str(self.path))):
                first = events[0]
                yield RecordedSession.from_parent(self, name=first.session_id, events=events)
        except PreflightsError as error:
            yield RecordedSession.from_parent(
                self, name="unreadable", events=(), trouble=str(error)
            )


class RecordedSession(pytest.Item):
    """One recorded session, replayed: it passes where every decision is the recorded one."""

    def __init__(self, *, events: Any, trouble: str = "", **known: Any) -> None:
        """Args:
        trouble: why the file cannot be read; empty where it can.
        """
        super().__init__(**known)
        self._events = events
        self._trouble = trouble

    def runtest(self) -> None:
        """Raises:
        Failed: today's code decides otherwise, raises, or the session is damaged.
        """
        from preflights_es.core.errors import LogDamaged, LogFromFuture
        from preflights_es.replay.replayer import Replayer
        from preflights_es.runtime.registry import WORKFLOWS
        from preflights_es.services.replays import own_code

        if self._trouble:
            raise Failed(self._trouble)
        try:
            result = Replayer(WORKFLOWS, own_code()).replay(self._events)
        except (LogDamaged, LogFromFuture) as error:
            raise Failed(str(error)) from error
        if result.status not in ("identical", "erased"):
            raise Failed("\n".join(self._differences(result)))

    def _differences(self, result: Replay) -> Iterator[str]:
        from preflights_es.core.text import shown

        if result.fault is not None:
            fault = result.fault
            yield f"version {fault.version}: {fault.error}: {shown(fault.message)}"
        for one in result.divergences[:DIFFERENCES]:
            yield shown(
                f"version {one.version}, {one.type}, {one.pointer or 'the event'}: {one.cause}"
            )
            yield shown(f"  expected {one.recorded!r}")
            yield shown(f"  actual   {one.computed!r}")
        yield f"To repeat: preflights replay {self.path} --all"

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
