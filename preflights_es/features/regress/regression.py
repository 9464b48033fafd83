"""What today's code, or a change, does to a recorded session: replayed strictly, or run again.

Sync, and made once a run in each process. What a session is, damaged or not, becomes a `Case`:
only a bug of ours raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from preflights_es.features.regress.results import (
    UNREADABLE,
    Case,
    SessionLeftOut,
)
from preflights_es.features.regress.strict import (
    CANNOT_READ,
    ERASED,
    Made,
    begin_session_case,
    strict_case,
)
from preflights_es.history.recording import Code, recording
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.errors import (
    DuplicateInput,
    LogDamaged,
    LogFromFuture,
    SessionFaulted,
    UnreadableEvent,
    WorkflowMissing,
)
from preflights_es.kernel.ports import Stored
from preflights_es.words.workflow import Workflow

if TYPE_CHECKING:
    from preflights_es.features.regress.change import RunChange
    from preflights_es.features.regress.children import Runs
    from preflights_es.history.recording import Models
    from preflights_es.projections.usage import Price


class Regression:
    """Judges sessions, one after the other."""

    def __init__(
        self,
        workflows: Mapping[str, Workflow[Any]],
        code: Code,
        change: RunChange | None = None,
        prices: Sequence[Price] = (),
        models: Models | None = None,
        calls_max: int | None = None,
        *,
        repeat: int = 1,
        keeps_recording: bool = False,
    ) -> None:
        """Args:
        change: None for a strict run: today's code.
        models: who asks a model; None where none may be asked.
        calls_max: of models, in all; None without a limit.
        repeat: how often a model is asked for each side.
        keeps_recording: whether the recording is the other side; else a model is asked for it, too.

        Raises:
            Misused: the simulator does not take what the change says.
        """
        self._workflows = workflows
        self._replayer = Replayer(workflows, code)
        self._runs: Runs | None = None
        if change is not None:
            from preflights_es.features.regress.children import Runs

            self._runs = Runs(
                workflows,
                code,
                change,
                prices,
                models=models,
                most=calls_max,
                repeat=repeat,
                keeps_recording=keeps_recording,
            )

    def case(
        self,
        stored: Sequence[Stored],
        head: bytes | None = None,
        source: str = "log",
    ) -> Case | SessionLeftOut:
        """One session.

        Args:
            head: the hash that the session's head bears, where there is one to compare with.
            source: where it lies, as a report names it.
        """
        made = begin_session_case(stored, source)
        try:
            found = self._judged(stored, head, made)
        except WorkflowMissing as error:
            found = f"the workflow {error.name} ({error.why}) is not here"
        except UnreadableEvent as error:
            found = f"{CANNOT_READ}{error.tag} ({error.why})"
        except (LogDamaged, LogFromFuture, DuplicateInput) as error:
            found = made(outcome="damaged", causes=(UNREADABLE,), message=str(error))
        if isinstance(found, Case):
            differs = found.outcome not in ("same", "damaged")
            return replace(found, intention=self._intention(stored)) if differs else found
        return SessionLeftOut(session_id=stored[0].session_id, source=source, why=found)

    def _intention(self, stored: Sequence[Stored]) -> str:
        """What a session is about; empty where today's code cannot say it."""
        try:
            read = recording(self._workflows, stored, None)
        except (LogDamaged, LogFromFuture, SessionFaulted):
            return ""
        return read.workflow.shown.view(read.session.state).intention

    def calls(self, stored: Sequence[Stored], head: bytes | None = None) -> int:
        """Calls of a model that judging a session takes at most, both sides counted."""
        assert self._runs is not None, "a strict run asks no model"
        from preflights_es.features.regress.comparing import calls_of

        return calls_of(self._runs, self._runs.recording(stored, head))

    def __enter__(self) -> Regression:
        return self

    def __exit__(self, *_: object) -> None:
        """Give back what models hold."""
        if self._runs is not None:
            self._runs.close()

    def _judged(self, stored: Sequence[Stored], head: bytes | None, made: Made) -> Case | str:
        if self._runs is not None:
            from preflights_es.features.regress.comparing import judge_changed_session

            return judge_changed_session(self._runs, self._replayer, stored, head, made=made)
        replay = self._replayer.replay(stored, head)
        if replay.status == "erased":
            return ERASED
        return strict_case(replay, stored, made)
