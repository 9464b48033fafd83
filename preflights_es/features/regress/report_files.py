"""What a report says of a case, and reports as files: JUnit, and a page that opens by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from string import Template
from typing import Final

from msgspec.structs import replace

from preflights_cli.replaying import format_replay_value
from preflights_es.features.regress.batches import LOG
from preflights_es.features.regress.pages import policy, read_page_source
from preflights_es.features.regress.results import Case, Cause, Outcome, Report
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import count_in_words, escaped_text, one_line

GRAVEST_FIRST: Final[tuple[Outcome, ...]] = (
    "failed",
    "faulted",
    "damaged",
    "open",
    "flaky",
    "changed",
    "fixed",
    "same",
)


def by_gravity(report: Report) -> list[Case]:
    """All that differs: the gravest first, within an outcome what no person accepted first."""
    return sorted(
        (case for case in report.cases if case.outcome != "same"),
        key=lambda case: (GRAVEST_FIRST.index(case.outcome), bool(case.accepted_by)),
    )


def label_of_case(case: Case) -> str:
    """Which session, or pair of it, on one line."""
    name = f"{case.session_id} call {case.call}" if case.call else case.session_id
    if not case.session_id or case.source == LOG:
        return escaped_text(name or case.source)
    return escaped_text(f"{name} ({case.source})")


def headline(case: Case) -> str:
    """What became of it, on one line."""
    return f"{case.outcome}: {', '.join(case.measures)}" if case.measures else case.outcome


def cause(found: Cause) -> str:
    """On one line; its details mostly begin with its kind."""
    begins = found.detail.startswith(found.kind) or not found.detail
    said = (found.detail or found.kind) if begins else f"{found.kind}: {found.detail}"
    return escaped_text(one_line(said)) + " (only together)" * found.together


def explained(case: Case) -> list[str]:
    """All that is known of a difference, line by line; no line holds a line break."""
    lines = [headline(case)]
    if case.accepted_by:
        lines.append(escaped_text(f"accepted by {case.accepted_by}"))
    if case.message:
        lines.append(escaped_text(case.message))
    lines += [f"cause: {cause(one)}" for one in case.causes]
    for difference in case.differences:
        tag = escaped_text(difference.type)
        at = f"version {difference.version}, {tag}, " if difference.version else ""
        lines.append(f"{at}{escaped_text(difference.place)}")
        lines += [
            f"  expected: {format_replay_value(difference.expected)}",
            f"  actual:   {format_replay_value(difference.actual)}",
        ]
    if (more := case.difference_count - len(case.differences)) > 0:
        lines.append(f"and {count_in_words(more, 'more difference')}")
    if case.repeat:
        lines.append(f"repeat with: {escaped_text(case.repeat)}")
    return lines


# 1. JUnit ------------------------------------------------------------------------------------

_UNFIT: Final = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, or that it advises against."""


def junit(report: Report) -> str:
    """One suite; its properties say the verdict, which no test case stands for."""
    kinds = [_junit_element_name(case, report) for case in report.cases]
    counts = {
        "name": "preflights regress",
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
    }
    skipped = {"skipped": str(kinds.count("skipped"))}
    time = {} if report.seconds is None else {"time": f"{report.seconds:.3f}"}
    lines = (
        '<?xml version="1.0" encoding="UTF-8"?>',
        _tag("testsuites", **counts, **time),
        _tag("testsuite", **counts, **skipped, **time),
        *_properties(report),
        *(_case(case, kind) for case, kind in zip(report.cases, kinds, strict=True)),
        "</testsuite>",
        "</testsuites>",
    )
    return "\n".join(lines) + "\n"


def _junit_element_name(case: Case, report: Report) -> str:
    """The element that says it; empty for a test case that passes."""
    if case.outcome in ("faulted", "damaged"):
        return "error"
    is_strict = report.verdict.margin is None  # then any difference is a failure
    if case.accepted_by:
        return ""
    if case.outcome == "failed" or (is_strict and case.outcome != "same"):
        return "failure"
    return "skipped" if case.outcome == "open" else ""


def _properties(report: Report) -> Iterator[str]:
    yield "<properties>"
    for key, said in (
        ("preflights", report.preflights),
        ("verdict", report.verdict.word),
        ("why", f"{report.verdict.why} {report.verdict.figures}".rstrip()),
        ("selection", report.selection),
        *(("change", change) for change in report.changes),
        *(("left out", left_out) for left_out in report.left_out),
        *(("note", note) for note in report.notes),
    ):
        yield _tag("property", "/", name=key, value=said)
    yield "</properties>"


def _case(case: Case, kind: str) -> str:
    begin = _tag("testcase", classname=case.workflow or "unreadable", name=label_of_case(case))
    if case.outcome == "same":
        return f"{begin}</testcase>"
    from xml.sax.saxutils import escape  # which loads what opens addresses

    said = escape(_fit("\n".join(explained(case))))
    if not kind:
        return f"{begin}<system-out>{said}</system-out></testcase>"
    attributes = {"message": headline(case)} | ({} if kind == "skipped" else {"type": case.outcome})
    return f"{begin}{_tag(kind, **attributes)}{said}</{kind}></testcase>"


def _tag(element: str, end: str = "", /, **attributes: str) -> str:
    """An element's begin, or all of it where `end` is a slash."""
    from xml.sax.saxutils import quoteattr

    said = "".join(f" {key}={quoteattr(_fit(value))}" for key, value in attributes.items())
    return f"<{element}{said}{end}>"


def _fit(text: str) -> str:
    return _UNFIT.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


# 2. A page -----------------------------------------------------------------------------------

DATA_MAX: Final = 20_000_000  # bytes of sessions: a browser opens this in a second or two

_INERT: Final = str.maketrans({one: f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"})
"""Within JSON these stand in texts alone: so none ends the element that holds it."""


def html(report: Report) -> str:
    """The page; its policy allows its own script and style, and nothing else."""
    return Template(read_page_source("page.html")).substitute(
        policy=policy(),
        style=read_page_source("page.css"),
        script=read_page_source("page.js"),
        data=_embedded_report_json(report),
    )


def _embedded_report_json(report: Report) -> str:
    """The report, and as many of its sessions as fit: the gravest first."""
    ordered = by_gravity(report) + [case for case in report.cases if case.outcome == "same"]
    cases: list[bytes] = []
    room = DATA_MAX
    for case in ordered:
        line = canonical_json(case)
        room -= len(line)
        if room < 0:
            break
        cases.append(line)
    head = canonical_json(replace(report, cases=()))
    left_out = len(ordered) - len(cases)
    data = b'{"report":%b,"cases":[%b],"left_out":%d}' % (head, b",".join(cases), left_out)
    return data.decode().translate(_INERT)


_RENDER: Final[dict[str, Callable[[Report], str]]] = {
    "json": lambda report: canonical_json(report).decode() + "\n",
    "junit": junit,
    "html": html,
}


def render_regression_report(report: Report, form: str) -> str:
    """The report in a form that `--report` names."""
    return _RENDER[form](report)
