"""What today's code, or a change, does to a recorded session: replayed strictly, or run again.

Sync, and made once a run in each process. What a session is, damaged or not, becomes a `Case`:
only a bug of ours raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from preflights_es.features.regress.results import (
    UNREADABLE,
    Case,
    Cause,
    CauseKind,
    Difference,
    LeftOut,
    Outcome,
)
from preflights_es.history.child import Divergence, Fault, causes
from preflights_es.history.recording import Code
from preflights_es.history.replayer import Replay, Replayer
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import (
    DuplicateInput,
    LogDamaged,
    LogFromFuture,
    WorkflowMissing,
)
from preflights_es.kernel.events import Event
from preflights_es.kernel.json import decoded
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Workflow

if TYPE_CHECKING:
    from preflights_es.features.regress.change import Change
    from preflights_es.features.regress.children import Runs
    from preflights_es.history.recording import Models
    from preflights_es.projections.usage import Price


Made = Callable[..., Case]
"""A case of one session: all that stays to be said is what came of it."""
DIFFERENCES_MAX: Final = 10  # of one session that a report shows; the rest are counted
ERASED: Final = "erased"
UNDECIDED: Final = "its last Input is not decided"
REQUESTED: Final = CompletionRequested.tag
RESPONSES: Final = frozenset((CompletionReceived.tag, CompletionFailed.tag))

_KINDS: Final[dict[str, CauseKind]] = {
    "prompts": "prompt",
    "provider": "provider",
    "model": "model",
    "parameters": "parameter",
}
"""By the field of a request."""


class Regression:
    """Judges sessions, one after the other."""

    def __init__(
        self,
        workflows: Mapping[str, Workflow[Any]],
        code: Code,
        change: Change | None = None,
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
        self._replayer = Replayer(workflows, code)
        self._runs: Runs | None = None
        if change is not None:
            from preflights_es.features.regress.children import Runs

            self._runs = Runs(
                *(workflows, code, change, prices, models, calls_max),
                repeat=repeat,
                keeps_recording=keeps_recording,
            )

    def case(
        self,
        stored: Sequence[Stored],
        head: bytes | None = None,
        source: str = "log",
    ) -> Case | LeftOut:
        """One session.

        Args:
            head: the hash that the session's head bears, where there is one to compare with.
            source: where it lies, as a report names it.
        """
        made = begun(stored, source)
        try:
            found = self._judged(stored, head, made)
        except WorkflowMissing as error:
            found = f"the workflow {error.name} ({error.why}) is not here"
        except (LogDamaged, LogFromFuture, DuplicateInput) as error:
            found = made(outcome="damaged", causes=(UNREADABLE,), message=str(error))
        if isinstance(found, Case):
            return found
        return LeftOut(session_id=stored[0].session_id, source=source, why=found)

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
            from preflights_es.features.regress.comparing import judged

            return judged(self._runs, self._replayer, stored, head, made)
        replay = self._replayer.replay(stored, head)
        if replay.status == "erased":
            return ERASED
        return strict_case(replay, stored, made)


def begun(stored: Sequence[Stored], source: str) -> Made:
    """A case of a session, without what came of it."""
    if not stored:
        return partial(Case, session_id="", workflow="", source=source, head="")
    last = stored[-1]
    return partial(
        Case,
        session_id=last.session_id,
        workflow=last.workflow,
        source=source,
        head=last.hash.hex(),
    )


# 1. A strict replay ----------------------------------------------------------------------------


def strict_case(replay: Replay, stored: Sequence[Stored], made: Made) -> Case:
    """What a strict replay comes to."""
    if replay.status == "identical" and not replay.undecided:
        return made(outcome="same")
    causes = strict_causes(replay.divergences, stored)
    shown = tuple(
        Difference(
            version=one.version,
            type=one.type,
            pointer=one.pointer,
            expected=one.recorded,
            actual=one.computed,
        )
        for one in replay.divergences[:DIFFERENCES_MAX]
    )
    outcome: Outcome
    if replay.fault is not None:
        message = fault_words(replay.fault)
        if not replay.fault.recorded:
            kinds = {one.kind for one in causes}
            causes += () if "code or data" in kinds else (code_or_data(message),)
        outcome = "faulted"
    elif replay.divergences:
        outcome, message = "changed", ""
    else:
        outcome, message = "open", UNDECIDED
        causes = (code_or_data(UNDECIDED),)
    return made(
        outcome=outcome,
        causes=causes,
        differences=shown,
        difference_count=len(replay.divergences),
        message=message,
    )


def fault_words(fault: Fault) -> str:
    """One line: the exception and its place."""
    place = f"{fault.file.rpartition('/')[2]}:{fault.line}"
    said = " ".join(f"{fault.error}: {fault.message}".split())
    return f"event {fault.version}: {said} ({place})"


def code_or_data(detail: str) -> Cause:
    """What the rules decide otherwise; `revisions.attributed` tells which of the two it is."""
    return Cause(kind="code or data", detail=detail)


def strict_causes(divergences: Sequence[Divergence], stored: Sequence[Stored]) -> tuple[Cause, ...]:
    """Of a strict replay: what the requests say of themselves; all else is code or data.

    A response that code of ours would not give differs with its request, where that differs.
    """
    prompted = {one.version for one in divergences if one.pointer.startswith("/prompts/")}
    found: dict[CauseKind, Cause] = {}
    explained: set[str] = set()
    rest: list[Divergence] = []
    for one in divergences:
        kind = _kind(one.pointer, one.version in prompted) if one.type == REQUESTED else None
        if kind is not None:
            said = one.cause.split(", ")
            detail = detail_of(kind, said) or one.cause
            found.setdefault(kind, Cause(kind=kind, detail=detail))
            explained.add(_call(stored, one.version))
        elif one.type in RESPONSES and _call(stored, one.version) in explained:
            continue
        else:
            rest.append(one)
    if rest:
        found["code or data"] = code_or_data(rest[0].cause or _named(rest[0]))
    return tuple(found.values())


def _kind(pointer: str, prompted: bool) -> CauseKind | None:
    """The words of a prompt that differs are a message too: the first."""
    field = pointer.split("/", 2)[1] if pointer else ""
    return "prompt" if prompted and pointer == "/messages/0/content" else _KINDS.get(field)


def detail_of(kind: CauseKind, said: Sequence[str]) -> str:
    """Of what requests differ in, the part of a kind; empty where none is."""
    return next((part for part in said if part.startswith(f"{kind} ")), "")


def _named(one: Divergence) -> str:
    return f"event {one.version}, {one.type}{f', at {one.pointer}' if one.pointer else ''}"


def _call(stored: Sequence[Stored], version: int) -> str:
    data = stored[version - 1].data if version <= len(stored) else None
    return str(decoded(data).get("call", "")) if data is not None else ""


# 2. A child ----------------------------------------------------------------------------------


def request_causes(recorded: Sequence[Event], child: Sequence[Event]) -> tuple[str, ...]:
    """What the first request that differs differs in; empty where none does."""
    before, after = _requests(recorded), _requests(child)
    for call in {**before, **after}:
        if call not in before or call not in after:
            return ("a request is gone" if call in before else "a request is new",)
        if found := causes(before[call], after[call]):
            return found
    return ()


def _requests(events: Sequence[Event]) -> dict[str, CompletionRequested]:
    return {event.call: event for event in events if isinstance(event, CompletionRequested)}
