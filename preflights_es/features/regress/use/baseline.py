"""What a run is held against: an earlier report, and the code that recorded the sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.engine.results import Case, Cause, CauseKind, Report
from preflights_es.features.regress.use.reading import Read
from preflights_es.features.regress.use.revisions import Revision
from preflights_es.kernel.errors import Refused
from preflights_es.system.files import Unreadable, regular

REPORT_MAX: Final = 1024 * 1024 * 1024  # bytes of an earlier report
TOGETHER: Final = 500  # sessions that another revision is asked at once
UNKNOWN: Final = "code or data"


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
    except msgspec.MsgspecError as error:
        what = "no report that `--report json=FILE` wrote"
        raise Refused(f"{file} is {what}: {error}") from error
    return frozenset(differing_in(report.cases))


def differing_in(cases: Iterable[Case]) -> Iterable[str]:
    """Ids of the sessions that are not the same."""
    return (case.session_id for case in cases if case.outcome != "same")


def attributed(again: Iterable[tuple[Case, Read]], recorder: Revision) -> Iterable[Case]:
    """Differences that are the code's or the data's: the code that recorded them tells which.

    Raises:
        StoreUnavailable: it does not run.
    """
    sessions = iter(again)
    while some := list(islice(sessions, TOGETHER)):
        replays = recorder.replays([one.events for _, one in some])
        for (case, _), said in zip(some, replays, strict=True):
            if said is not None:
                yield _told(case, recorded_by=decides(said))


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


def _told(case: Case, *, recorded_by: bool) -> Case:
    kind: CauseKind = "code" if recorded_by else "data"
    causes: dict[CauseKind, Cause] = {}
    for one in case.causes:
        told = replace(one, kind=kind) if one.kind == UNKNOWN else one
        causes.setdefault(told.kind, told)
    return replace(case, causes=tuple(causes.values()))
