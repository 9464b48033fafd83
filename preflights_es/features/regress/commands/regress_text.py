"""What a regression run came to, on a terminal."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import Final

from preflights_cli.common import Voice
from preflights_cli.progress import counted
from preflights_cli.replay import value
from preflights_es.features.regress.commands.reports.wording import cause
from preflights_es.features.regress.engine.results import Case, Difference, Report
from preflights_es.kernel.ids import short
from preflights_es.kernel.json import encoded
from preflights_es.kernel.text import shortened, shown

SESSIONS_MAX: Final = 20  # that are shown one by one
DIFFERENCES_MAX: Final = 3  # of one session
VALUE_MAX: Final = 120  # characters of a value that differs


def say(voice: Voice, report: Report) -> None:
    """The sessions that differ, then the sums and the verdict."""
    differing = [case for case in report.cases if case.outcome != "same"]
    groups: dict[object, list[Case]] = defaultdict(list)
    for case in differing:
        groups[_alike(case)].append(case)
    for cases in islice(groups.values(), SESSIONS_MAX):
        _say_case(voice, cases[0], len(cases) - 1)
    if (more := sum(map(len, islice(groups.values(), SESSIONS_MAX, None)))) > 0:
        voice.hint(f"{more:,} more: --report html=FILE shows all.")
    outcomes = ", ".join(f"{n:,} {name}" for name, n in report.counts.items() if n)
    voice.say(f"{counted(report.sessions, 'session')}: {outcomes or 'none'}.")
    if report.cause_counts:
        causes = ", ".join(f"{kind} {n:,}" for kind, n in report.cause_counts.items())
        voice.say(f"Causes: {causes}.")
    if report.left_out:
        voice.say(shown(f"Not judged: {'; '.join(report.left_out)}."))
    if report.new:
        voice.say(f"New since the baseline: {', '.join(map(short, report.new[:SESSIONS_MAX]))}")
    for change in report.changes:
        voice.say(shown(f"Change: {change}."))
    voice.say(f"{voice.bold(report.verdict.word)}: {shown(report.verdict.why)}")


def _alike(case: Case) -> object:
    """What sessions have in common whose differences are equal; damaged ones stand alone."""
    if case.outcome == "damaged":
        return id(case)
    shown = encoded([case.outcome, case.measures, case.message, case.causes, case.differences])
    return shown, case.difference_count


def _say_case(voice: Voice, case: Case, alike: int) -> None:
    """One session, and how many others differ in the same."""
    name = short(case.session_id) if case.session_id else case.source
    measures = f" ({', '.join(case.measures)})" if case.measures else ""
    causes = ", ".join(map(cause, case.causes))
    tail = "; ".join(filter(None, (case.message, causes)))
    more = f" and {counted(alike, 'more session')}" if alike else ""
    voice.say(shown(f"{name}{more} {case.outcome}{measures}: {tail}".rstrip(": ")))
    for one in case.differences[:DIFFERENCES_MAX]:
        voice.say(shown(f"  {_place(one)}: {_value(one.expected)} -> {_value(one.actual)}"))
    if (rest := case.difference_count - DIFFERENCES_MAX) > 0:
        voice.say(f"  {rest:,} more differences")
    voice.hint(shown(f"  {case.repeat}"))


def _place(one: Difference) -> str:
    event = f"event {one.version} {one.type} " if one.version else ""
    return f"{event}{one.pointer}".rstrip()


def _value(found: object) -> str:
    return shortened(value(found), VALUE_MAX)
