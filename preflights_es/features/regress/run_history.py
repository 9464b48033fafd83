"""One line for each run, in a file of the caller's: how verdicts, rates and costs went."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.features.regress.results import Case, Report, RunMeasures
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import canonical_json
from preflights_es.system.files import Unreadable, regular

HISTORY_SIZE_MAX: Final = 64 * 1024 * 1024  # bytes of the file


class RunLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag="regress-run/1"):
    """One run."""

    at: int
    """Microseconds since 1970 UTC."""
    preflights: str
    changes: tuple[str, ...]
    selection: str
    sessions: int
    verdict: str
    agrees: tuple[float | None, float | None]
    """Of the sessions where it is known, the share that gives what people accepted: unchanged, and
    with the change; None where it is known of none."""
    valid: tuple[float | None, float | None]
    live_calls: int
    cost: float | None
    """Of the responses that were compared, in the currency of the settings; None without prices."""


def run_line(report: Report, at: int) -> RunLine:
    """The line of a run."""
    sides = [one for case in report.cases for one in (case.recorded, case.candidate) if one]
    costs = [side.cost for side in sides if side.asked and side.cost is not None]
    return RunLine(
        at=at,
        preflights=report.preflights,
        changes=report.changes,
        selection=report.selection,
        sessions=report.sessions,
        verdict=report.verdict.word,
        agrees=_shares(report.cases, lambda side: side.agrees),
        valid=_shares(report.cases, lambda side: side.valid),
        live_calls=report.live_calls,
        cost=sum(costs) if costs else None,
    )


def _shares(
    cases: Iterable[Case], of: Callable[[RunMeasures], bool | None]
) -> tuple[float | None, float | None]:
    known = [
        [said for side in sides if side is not None and (said := of(side)) is not None]
        for sides in zip(*((case.recorded, case.candidate) for case in cases), strict=True)
    ] or [[], []]
    before, after = (sum(said) / len(said) if said else None for said in known)
    return before, after


def with_run(file: str, line: RunLine) -> Sequence[RunLine]:
    """Write a run behind the others, and give all of them, the oldest first.

    Raises:
        Refused: the file cannot be read or written, or a line of it is no run.
    """
    found = [*earlier_runs(file), line]
    try:
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        with open(handle, "ab") as out:
            out.write(canonical_json(line) + b"\n")
    except OSError as error:
        raise Refused(f"{file} cannot be written: {error.strerror}") from error
    return found


def earlier_runs(file: str) -> list[RunLine]:
    """The runs that are there; none where there is no file.

    Raises:
        Refused: as `with_run` says; also where no file can be made there, since a run may cost.
    """
    try:
        lines = regular(Path(file), HISTORY_SIZE_MAX).splitlines()
    except FileNotFoundError:
        if file == "-" or not Path(file).parent.is_dir():
            raise Refused(
                f"{file} cannot be written: expected a file in a folder that exists"
            ) from None
        return []
    except (Unreadable, OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Refused(f"{file} cannot be read: {why}") from error
    found = []
    for number, one in enumerate(lines, 1):
        try:
            found.append(msgspec.json.decode(one, type=RunLine))
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise Refused(f"{file}, line {number}, is no run of regress: {error}") from error
    return found
