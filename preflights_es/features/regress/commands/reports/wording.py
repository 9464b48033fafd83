"""A session of a report in plain words: what all forms of the report say of it."""

from __future__ import annotations

from typing import Final, Literal

from preflights_cli.progress import counted
from preflights_cli.replay import value
from preflights_es.features.regress.engine.results import Case, Cause, Outcome, Report
from preflights_es.kernel.text import one_line, shown

LOG: Final = "log"
"""The source of a session that lies in no file."""

GRAVEST_FIRST: Final[tuple[Outcome, ...]] = (
    *("failed", "faulted", "damaged", "open", "changed", "fixed", "same"),
)

Level = Literal["error", "warning", "notice"]


def level(case: Case, report: Report) -> Level | None:
    """How grave it is; None where nothing differs. In a strict run, any difference is an error."""
    if case.outcome == "same":
        return None
    strict = report.verdict.margin is None
    if strict or case.outcome in ("failed", "faulted", "damaged"):
        return "error"
    return "notice" if case.outcome == "fixed" else "warning"


def by_gravity(report: Report) -> list[Case]:
    """All that differs: the gravest first, within an outcome the new ones first."""
    new = frozenset(report.new)
    return sorted(
        (case for case in report.cases if case.outcome != "same"),
        key=lambda case: (GRAVEST_FIRST.index(case.outcome), case.session_id not in new),
    )


def name(case: Case) -> str:
    """Which session, on one line."""
    if not case.session_id or case.source == LOG:
        return shown(case.session_id or case.source)
    return shown(f"{case.session_id} ({case.source})")


def headline(case: Case) -> str:
    """What became of it, on one line."""
    return f"{case.outcome}: {', '.join(case.measures)}" if case.measures else case.outcome


def cause(found: Cause) -> str:
    """On one line; its details mostly begin with its kind."""
    begins = found.detail.startswith(found.kind) or not found.detail
    said = (found.detail or found.kind) if begins else f"{found.kind}: {found.detail}"
    return shown(one_line(said)) + " (only together)" * found.together


def explained(case: Case) -> list[str]:
    """All that is known of a difference, line by line; no line holds a line break."""
    lines = [headline(case)]
    if case.message:
        lines.append(shown(case.message))
    lines += [f"cause: {cause(one)}" for one in case.causes]
    for one in case.differences:
        at = f"version {one.version}, {shown(one.type)}, " if one.version else ""
        lines.append(f"{at}{shown(one.pointer) or 'the whole event'}")
        lines += [f"  expected: {value(one.expected)}", f"  actual:   {value(one.actual)}"]
    if more := more_differences(case):
        lines.append(more)
    if case.repeat:
        lines.append(f"repeat with: {shown(case.repeat)}")
    return lines


def more_differences(case: Case) -> str:
    """How many are not listed; empty where all are."""
    more = case.difference_count - len(case.differences)
    return f"and {counted(more, 'more difference')}" if more > 0 else ""
