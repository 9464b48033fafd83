"""What a strict replay comes to in a regression run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from preflights_es.features.regress.engine.attribution import code_or_data, strict_causes
from preflights_es.features.regress.engine.results import Case, Cause, Difference, Outcome
from preflights_es.history.child import Divergence, Fault
from preflights_es.history.replayer import Replay
from preflights_es.kernel.ports import Stored

Made = Callable[..., Case]
"""A case of one session: all that stays to be said is what came of it."""

DIFFERENCES_MAX: Final = 10  # of one session that a report shows; the rest are counted

ERASED: Final = "erased"
UNDECIDED: Final = "its last Input is not decided"


def strict_case(
    replay: Replay, stored: Sequence[Stored], made: Made, recorded_by: bool | None
) -> Case:
    """What a strict replay comes to."""
    if replay.status == "identical" and not replay.undecided:
        return made(outcome="same")
    causes = strict_causes(replay.divergences, stored, recorded_by)
    shown = tuple(difference(one) for one in replay.divergences[:DIFFERENCES_MAX])
    outcome: Outcome
    if replay.fault is not None:
        message = fault_words(replay.fault)
        if not replay.fault.recorded:
            causes = with_code(causes, code_or_data(recorded_by, message))
        outcome = "faulted"
    elif replay.divergences:
        outcome, message = "changed", ""
    else:
        outcome, message = "open", UNDECIDED
        causes = (code_or_data(recorded_by, UNDECIDED),)
    return made(
        outcome=outcome,
        causes=causes,
        differences=shown,
        difference_count=len(replay.divergences),
        message=message,
    )


def with_code(causes: tuple[Cause, ...], cause: Cause) -> tuple[Cause, ...]:
    """The causes, and one more where none of its kind is there."""
    return causes if any(one.kind == cause.kind for one in causes) else (*causes, cause)


def difference(one: Divergence) -> Difference:
    """A divergence as a report shows it."""
    return Difference(
        version=one.version,
        type=one.type,
        pointer=one.pointer,
        expected=one.recorded,
        actual=one.computed,
    )


def fault_words(fault: Fault) -> str:
    """One line: the exception and its place."""
    place = f"{fault.file.rpartition('/')[2]}:{fault.line}"
    said = " ".join(f"{fault.error}: {fault.message}".split())
    return f"event {fault.version}: {said} ({place})"
