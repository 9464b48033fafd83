"""Files that a run reads and leaves for the next: differences that a person accepted, one line for
each run, and answers of models that were paid for. The report itself is made of `results`.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.results import Case, Report, RunMeasures
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import canonical_json
from preflights_es.system.files import Unreadable, open_folder_below, read_file_beginning, regular

FOLDER: Final = "regress"
FILE: Final = "accepted.jsonl"
ACCEPTED: Final = f"{FOLDER}/{FILE}"
"""Below the project's root."""
ACCEPTED_SIZE_MAX: Final = 256 * 1024 * 1024  # bytes of the file
NAME_DIGITS: Final = 6  # of a digest, in a group's name
OURS: Final = b'{"format":"regress-'
"""How the files begin that are no sessions."""
REST: Final = "*"
"""Stands for the pointers of all differences beyond those that a case has."""
_NUMBER: Final = re.compile(r"\d+")


class AcceptedDifference(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="format", tag="regress-accepted/1"
):
    """One difference of a session, as a line of the file."""

    session: str
    version: int
    """Of the event; 0 for what the whole session comes to."""
    pointer: str
    recorded: str
    """SHA-256 of the value's canonical JSON, as the other one."""
    actual: str
    by: str
    """The person."""
    at: int
    """Microseconds since 1970 UTC."""
    why: str

    @property
    def key(self) -> tuple[object, ...]:
        """What is accepted, without the person."""
        return self.session, self.version, self.pointer, self.recorded, self.actual


def group_name(case: Case) -> str:
    """Its cause, and a digest of its shape; empty where nothing differs, or nothing is readable.

    Source: docs/specs/regress.md, section 8.
    """
    if case.outcome in ("same", "damaged"):
        return ""
    pointers = sorted({_NUMBER.sub(REST, one.pointer) for one in case.differences})
    causes = sorted({(one.kind, one.detail, one.together) for one in case.causes})
    message = _NUMBER.sub(REST, case.message)
    shape = canonical_json([case.outcome, case.measures, causes, message, pointers])
    kind = case.causes[0].kind if case.causes else case.outcome
    return f"{kind.replace(' ', '-')}-{sha256(shape).hexdigest()[:NAME_DIGITS]}"


def case_groups(cases: Iterable[Case]) -> list[list[Case]]:
    """Cases that differ and that no person accepted, by group; one without a group stands alone."""
    found: dict[object, list[Case]] = defaultdict(list)
    for case in cases:
        if case.outcome != "same" and not case.accepted_by:
            found[case.group or id(case)].append(case)
    return list(found.values())


def is_of_regress(path: str) -> bool:
    """Whether a file holds what this feature writes: what was accepted, or its history of runs."""
    try:
        return read_file_beginning(Path(path), len(OURS)) == OURS
    except (Unreadable, OSError, ValueError):
        return False


def accepted_differences(root: Path) -> dict[tuple[object, ...], str]:
    """Who accepted what, by `AcceptedDifference.key`.

    Raises:
        Refused: the file cannot be read, or a line of it is invalid.
    """
    found = {}
    for number, line in enumerate(_read_acceptances_file(root).splitlines(), 1):
        try:
            one = msgspec.json.decode(line, type=AcceptedDifference)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise Refused(f"{ACCEPTED}, line {number}, cannot be read: {error}") from error
        found[one.key] = one.by
    return found


def with_acceptance(case: Case, accepted: dict[tuple[object, ...], str]) -> Case:
    """A case, with its group, and the person who accepted all of its differences."""
    case = replace(case, group=group_name(case))
    persons = {accepted.get(one.key, "") for one in _differences(case)} if accepted else {""}
    return case if "" in persons or not persons else replace(case, accepted_by=min(persons))


def accept_group(root: Path, group: str, cases: Sequence[Case], **said: Any) -> tuple[Case, ...]:
    """Write the differences of a group to the file, behind those that are there.

    Args:
        said: who accepts, when, and why.

    Raises:
        Refused: there is no such group, it holds nothing to compare, or the file cannot be written.
    """
    meant = [case for case in cases if case.group == group and not case.accepted_by]
    if not meant:
        named = (some[0].group for some in case_groups(cases))
        known = ", ".join(filter(None, named)) or "none"
        raise Refused(f"no group {group!r} differs in this run: found {known}")
    lines = [one for case in meant for one in _differences(case, **said)]
    if not lines:
        raise Refused(f"the group {group} has no differences of values: nothing can be accepted")
    content = _read_acceptances_file(root)
    try:
        with (
            open_folder_below(root, [FOLDER], makes=True) as folder,
            folder.new(FILE, replacing=True) as file,
        ):
            file.write(content + b"".join(canonical_json(one) + b"\n" for one in lines))
    except OSError as error:
        raise Refused(f"{ACCEPTED} cannot be written: {error.strerror}") from error
    return tuple(replace(one, accepted_by=said["by"]) if one in meant else one for one in cases)


def _read_acceptances_file(root: Path) -> bytes:
    try:
        with open_folder_below(root, [FOLDER]) as folder:
            return folder.content(FILE, ACCEPTED_SIZE_MAX)
    except FileNotFoundError:
        return b""
    except (Unreadable, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise Refused(f"{ACCEPTED} cannot be read: {why}") from error


def _differences(
    case: Case, *, by: str = "", at: int = 0, why: str = ""
) -> Iterator[AcceptedDifference]:
    rest = case.rest_digest
    for version, pointer, recorded, actual in (
        *(
            (one.version, one.pointer, _hash_json_value(one.expected), _hash_json_value(one.actual))
            for one in case.differences
        ),
        *(((0, REST, rest, rest),) if rest else ()),
    ):
        yield AcceptedDifference(
            session=case.session_id,
            version=version,
            pointer=pointer,
            recorded=recorded,
            actual=actual,
            by=by,
            at=at,
            why=why,
        )


def _hash_json_value(value: object) -> str:
    return sha256(canonical_json(value)).hexdigest()


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
    """For the answers that were compared, also those that `--resume` took up."""
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
