"""Workflow commands of GitHub Actions: the verdict, and what differs beside the session's file."""

from __future__ import annotations

from collections import Counter
from typing import Final

from preflights_cli.progress import counted
from preflights_es.features.regress.commands.reports.wording import (
    LOG,
    Level,
    by_gravity,
    explained,
    headline,
    level,
)
from preflights_es.features.regress.engine.results import Case, Report, VerdictWord
from preflights_es.kernel.text import shown

KIND_MAX: Final = 10  # annotations of a kind that GitHub shows of one step; of a job, 50
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "notice")
_OF_VERDICT: Final[dict[VerdictWord, Level]] = {
    "different": "error",
    "BLOCK": "error",
    "INCONCLUSIVE": "warning",
}
_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render(report: Report) -> str:
    """At most ten lines of each kind; where there is more, the last one says how much."""
    lines: dict[Level, list[str]] = {kind: [] for kind in LEVELS}
    word = report.verdict.word
    kind = _OF_VERDICT.get(word, "notice")
    lines[kind].append(_command(kind, report.verdict.why, title=f"preflights regress: {word}"))
    held = Counter(case.source for case in report.cases)
    for case in by_gravity(report):
        if graveness := level(case, report):
            is_alone = held[case.source] == 1
            lines[graveness].append(_of_case(graveness, case, is_alone=is_alone))
    return "".join(f"{line}\n" for kind in LEVELS for line in _limited(kind, lines[kind]))


def _limited(kind: Level, lines: list[str]) -> list[str]:
    if len(lines) <= KIND_MAX:
        return lines
    more = len(lines) - KIND_MAX + 1
    said = f"{counted(more, 'more session')} not shown here: the report has them."
    return [*lines[: KIND_MAX - 1], _command(kind, said, title="preflights regress")]


def _of_case(kind: Level, case: Case, *, is_alone: bool) -> str:
    """Args:
    is_alone: in its file, where an event's version is its line.
    """
    place = {}
    if case.source != LOG:
        line = next((one.version for one in case.differences if one.version and is_alone), 1)
        place = {"file": case.source, "line": str(line)}
    title = f"{headline(case)}: {case.session_id or case.source}"
    return _command(kind, "\n".join(explained(case)), **place, title=title)


def _command(kind: Level, message: str, **properties: str) -> str:
    """One line: what text holds ends no line and no property.

    Source: escapeData and escapeProperty of the toolkit of GitHub Actions.
    """
    said = ",".join(f"{key}={shown(text).translate(_PROPERTY)}" for key, text in properties.items())
    text = "\n".join(map(shown, message.split("\n")))
    return f"::{kind} {said}::{text.translate(_DATA)}"
