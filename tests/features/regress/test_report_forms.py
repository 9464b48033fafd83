"""Each form of the report: what it says, what it leaves out, and that no text of it acts."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from preflights_es.features.regress.commands import FORMATS
from preflights_es.features.regress.report_files import junit, render_regression_report
from preflights_es.features.regress.results import Report
from tests.each import each
from tests.features.regress import given_reports as given


@pytest.mark.slow("whole runs")
@each("make", [given.usual, given.strict, given.hostile])
def test_junit_meets_the_schema_that_jenkins_publishes(make: Callable[[], Report]) -> None:
    import xmlschema  # takes half a second, which only this test needs

    schema = xmlschema.XMLSchema10(Path(__file__).with_name("junit-10.xsd"))
    schema.validate(junit(make()))


def test_junit_counts_what_it_holds() -> None:
    report = given.usual()
    suite = ET.fromstring(junit(report))[0]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "207", "failures": "9", "errors": "2", "skipped": "3", "time": "12.346",
    }  # fmt: skip
    assert len(suite.findall("testcase")) == len(report.cases)
    for element, count in (("failure", 9), ("error", 2), ("skipped", 3), ("system-out", 13)):
        assert len(suite.findall(f"testcase/{element}")) == count
    strict = ET.fromstring(junit(given.strict()))
    assert strict.get("failures") == "25"


def test_junit_says_where_what_and_how_to_repeat_it() -> None:
    found = ET.fromstring(junit(given.report([given.case(7, "failed")])))
    failure = found.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "failed: questions, result"
    assert (failure.text or "").splitlines() == [
        "failed: questions, result",
        "cause: prompt clarify.v1 became clarify.v2",
        "version 4, clarification.question_asked.v1, data, question",
        '  expected: "Which strategy do you want?"',
        '  actual:   "Which strategy for sign-in do you want, and why?"',
        "turns",
        "  expected: 2",
        "  actual:   3",
        "and 3 more differences",
        "repeat with: preflights regress 000000000007 --prompt clarify=clarify.v2",
    ]


def test_two_runs_give_the_same_bytes_but_for_the_seconds() -> None:
    one, other = given.usual(), replace(given.usual(), seconds=99.0)
    assert render_regression_report(one, "json").replace(
        "12.3456", "99.0"
    ) == render_regression_report(other, "json")
    assert junit(one).replace("12.346", "99.000") == junit(other)


def test_a_text_of_a_session_stands_in_its_own_entry_only() -> None:
    canary = given.case(1, "failed", message="canary-4711")
    report = given.report([canary, *(given.case(n, "failed") for n in range(2, 12))])
    for form in FORMATS:
        assert render_regression_report(report, form).count("canary-4711") == 1
