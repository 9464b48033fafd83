"""Each form of the report: what it says, what it leaves out, and that no text of it acts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from preflights_cli.reports import COMMENT_MAX, SUMMARY_MAX, span
from preflights_es.features.regress.commands.reports import (
    MARKER,
    github_annotations,
    json_lines,
    junit,
    markdown,
    rendered,
)
from preflights_es.features.regress.results import Case, Report
from preflights_es.kernel.text import shown
from tests.each import each
from tests.features.regress import given_reports as given

COMMAND: Final = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*,?)+)::([^\r\n]*)")


def test_json_lines_hold_the_whole_report() -> None:
    report = given.usual()
    first, *rest = json_lines(report).splitlines()
    cases = tuple(msgspec.json.decode(line, type=Case) for line in rest)
    assert replace(msgspec.json.decode(first, type=Report), cases=cases) == report


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
        "version 4, clarification.question_asked.v1, /data/question",
        '  expected: "Which strategy do you want?"',
        '  actual:   "Which strategy for sign-in do you want, and why?"',
        "/turns",
        "  expected: 2",
        "  actual:   3",
        "and 3 more differences",
        "repeat with: preflights regress 000000000007 --prompt clarify=clarify.v2",
    ]


@pytest.mark.parametrize("text", given.HOSTILE)
@pytest.mark.parametrize("margin", [0.02, None])
def test_no_text_ends_an_annotation_or_begins_another(margin: float | None, text: str) -> None:
    lines = github_annotations(given.hostile(margin, [text])).split("\n")
    assert (len(lines), lines.pop()) == (8, "")
    for line in lines:
        found = COMMAND.fullmatch(line)
        assert found, line
        assert shown(line) == line
        keys = [one.partition("=")[0] for one in found[2].split(",")]
        assert keys in (["title"], ["file", "line", "title"])


def test_annotations_keep_the_limits_and_say_what_is_left_out() -> None:
    lines = github_annotations(given.usual()).splitlines()
    kinds = [line.split(" ")[0] for line in lines]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "::error": 10, "::warning": 10, "::notice": 1,
    }  # fmt: skip
    title = "::error title=preflights regress%3A BLOCK::"
    assert lines[0].startswith(f"{title}Keep what you have: the change is worse. Worse: agreement")
    assert lines[9].startswith("::error title=preflights regress::3 more sessions not shown here:")


def test_an_annotation_stands_at_the_line_of_the_event_in_its_file() -> None:
    one = given.case(7, "changed", source="sessions/a,b.jsonl", session_id="s")
    found = github_annotations(given.report([one], None)).splitlines()[1]
    place, _, said = found.removeprefix("::").partition("::")
    assert place == (
        "error file=sessions/a%2Cb.jsonl,line=4,title=changed%3A questions%2C result%3A s"
    )
    assert said.startswith("changed: questions, result%0Acause: prompt clarify.v1")


def test_an_annotation_of_one_session_of_several_stands_at_the_top_of_their_file() -> None:
    both = [given.case(n, "changed", source="all.jsonl", session_id=str(n)) for n in (7, 8)]
    found = github_annotations(given.report(both, None)).splitlines()[1:]
    assert [one.split(",")[1] for one in found] == ["line=1", "line=1"]


def outside(tokens: list[Token]) -> str:
    """All that is rendered as something else than code: the words of the report itself."""
    return "\n".join(
        one.content
        for token in tokens
        for one in (token.children or [token])
        if one.type != "code_inline"
    )


def test_markdown_of_hostile_text_is_code_and_nothing_else() -> None:
    said = markdown(given.hostile(), limit=10**6)
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(said)
    inner = [one for token in tokens for one in token.children or []]
    assert {one.type for one in inner} <= {
        "text", "code_inline", "softbreak", "strong_open", "strong_close",
    }  # fmt: skip
    blocks = {token.content.strip() for token in tokens if token.type == "html_block"}
    amount = len(given.HOSTILE)
    assert blocks == {MARKER, "</details>"} | {
        f"<details><summary>{amount} {outcome}</summary>"
        for outcome in ("failed", "faulted", "damaged", "open", "changed", "fixed")
    }
    for word in ("octocat", "evil", "alert", "::error", "heading", "stop-commands"):
        assert word not in outside(tokens)
        assert word in said


@each("text", given.HOSTILE)
def test_a_span_holds_all_of_its_text(text: str) -> None:
    (paragraph,) = MarkdownIt("gfm-like", {"linkify": False}).parse(f"x {span(text)} y")[1:2]
    code = [one.content for one in paragraph.children or [] if one.type == "code_inline"]
    assert [one.strip() for one in code] == [shown(" ".join(text.split())).strip()]


def test_markdown_says_the_verdict_first_and_lists_the_gravest_first() -> None:
    said = markdown(given.usual())
    assert said.startswith(
        f"{MARKER}\n## Preflights regress: BLOCK\n\nKeep what you have: the change is "
        "worse. Worse: agreement in 9 of 202 pairs"
    )
    order = [said.index(f"<summary>{some}") for some in ("9 failed", "1 faulted", "12 changed")]
    assert order == sorted(order)
    assert "- 207 sessions: 180 same, 12 changed, 9 failed" in said
    assert "Left out here" not in said
    assert said.count("**new**") == 1


@pytest.mark.parametrize(
    ("form", "limit"),
    [(markdown, COMMENT_MAX), (lambda one: rendered(one, "summary"), SUMMARY_MAX)],
)
def test_markdown_keeps_the_limit_and_says_what_was_left_out(
    form: Callable[[Report], str], limit: int
) -> None:
    many = [given.case(number, "failed") for number in range(4_000)]
    few = [
        given.case(9_000 + number, "changed", message="\U0001f6eb" * 150) for number in range(99)
    ]
    said = form(given.report([*many, *few], left_out=["x" * 500] * 90))
    assert limit * 0.9 < len(said.encode()) <= limit
    found = re.search(r"want of room: ([\d,]+) sessions of 4,099 that differ", said)
    assert found
    assert int(found[1].replace(",", "")) == 4_099 - said.count("Cause:")
    assert "- Not judged: 70 more" in said


def test_two_runs_give_the_same_bytes_but_for_the_seconds() -> None:
    one, other = given.usual(), replace(given.usual(), seconds=99.0)
    assert markdown(one) == markdown(other)
    assert github_annotations(one) == github_annotations(other)
    assert json_lines(one).replace("12.3456", "99.0") == json_lines(other)
    assert junit(one).replace("12.346", "99.000") == junit(other)


def test_a_text_of_a_session_stands_in_its_own_entry_only() -> None:
    canary = given.case(1, "failed", message="canary-4711")
    report = given.report([canary, *(given.case(n, "failed") for n in range(2, 12))])
    for said in (junit(report), github_annotations(report), json_lines(report)):
        assert [("canary-4711" in line) for line in said.splitlines()].count(True) == 1
    assert markdown(report).count("canary-4711") == 1
