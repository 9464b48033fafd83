"""JUnit XML, as Jenkins' schema `junit-10.xsd` has it: a test case a session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from preflights_es.features.regress.commands.reports.wording import explained, headline, level, name
from preflights_es.features.regress.engine.results import Case, Report

_UNFIT: Final = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, or that it advises against."""


def render(report: Report) -> str:
    """One suite; its properties say the verdict, which no test case stands for."""
    kinds = [_kind(case, report) for case in report.cases]
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


def _kind(case: Case, report: Report) -> str:
    """The element that says it; empty for a test case that passes."""
    if case.outcome in ("faulted", "damaged"):
        return "error"
    if level(case, report) == "error":
        return "failure"
    return "skipped" if case.outcome == "open" else ""


def _properties(report: Report) -> Iterator[str]:
    yield "<properties>"
    for key, said in (
        ("preflights", report.preflights),
        ("verdict", report.verdict.word),
        ("why", report.verdict.why),
        ("selection", report.selection),
        *(("change", change) for change in report.changes),
        *(("left out", left_out) for left_out in report.left_out),
    ):
        yield _tag("property", "/", name=key, value=said)
    yield "</properties>"


def _case(case: Case, kind: str) -> str:
    begin = _tag("testcase", classname=case.workflow or "unreadable", name=name(case))
    if case.outcome == "same":
        return f"{begin}</testcase>"
    said = escape(_fit("\n".join(explained(case))))
    if not kind:
        return f"{begin}<system-out>{said}</system-out></testcase>"
    attributes = {"message": headline(case)} | ({} if kind == "skipped" else {"type": case.outcome})
    return f"{begin}{_tag(kind, **attributes)}{said}</{kind}></testcase>"


def _tag(element: str, end: str = "", /, **attributes: str) -> str:
    """An element's begin, or all of it where `end` is a slash."""
    said = "".join(f" {key}={quoteattr(_fit(value))}" for key, value in attributes.items())
    return f"<{element}{said}{end}>"


def _fit(text: str) -> str:
    return _UNFIT.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
