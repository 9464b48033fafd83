"""The forms of what `check` found: that no text of it acts."""

from __future__ import annotations

from typing import Final, get_args

from preflights_es.features.govern.check import Checked
from preflights_es.features.govern.commands import KIND_MAX, github_annotations
from preflights_es.features.govern.findings import Finding, Rule, finding

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
            finding(rule, level, f"What {name!r} is", [name], decision="ADR-0001", line=line)
            for rule in get_args(Rule)
            for level in ("error", "warning", "note")
            for line in (None, 7)
            for name in NASTY
        ),
        finding("contradiction", "error", "Two"),
        left_out=("the base 'x' is not here",),
        codes=(4, 1, 6),
    )


def test_annotations_are_one_line_each_and_as_many_as_a_host_shows() -> None:
    lines = github_annotations(every()).splitlines()
    assert len(lines) == 3 * KIND_MAX
    assert {line.split(" ")[0] for line in lines} == {"::error", "::warning", "::notice"}
    assert lines[KIND_MAX - 1].endswith("not shown here: the report has them.")
    for name in NASTY:
        (line,) = github_annotations(found(finding("denied", "error", name, [name]))).splitlines()
        head, _, said = line[2:].partition("::")
        assert head.startswith("error file=")
        keys = {part.partition("=")[0].split(" ")[-1] for part in head.split(",")}
        assert keys == {"file", "title"}
        assert "\n" not in said
