"""What a check found, in the forms of machines: SARIF, annotations of GitHub, Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, Final

from preflights_cli.progress import counted
from preflights_cli.reports import KINDS, SUMMARY_MAX, Kind, annotation, limited, span
from preflights_es.features.govern.check import RULES, Checked, Finding, Level, Rule
from preflights_es.kernel import __version__
from preflights_es.kernel.json import encoded

TITLE: Final = "preflights check"
SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
RESULTS_MAX: Final = 5_000  # of a run, that GitHub shows
LOCATIONS_MAX: Final = 100  # of a result
MESSAGE_MAX: Final = 1_000  # characters of a message in Markdown
_MEANS: Final[dict[Rule, tuple[Level, str]]] = {
    "holds": ("note", "A decision holds for a changed file"),
    "turned-down": ("error", "A change brings in what a decision turned down"),
    "denied": ("error", "A change touches what a decision closes"),
    "record-differs": ("error", "A record says something else than its session"),
    "unverified-session": ("error", "A session file does not verify"),
    "contradiction": ("error", "Two decisions in force contradict each other"),
    "unused-pattern": ("note", "A pattern of a decision matches no file"),
    "unsigned-acceptance": ("error", "An acceptance has no signature of an allowed signer"),
    "signed-decision-lost": ("error", "A signed decision counts no more, without a signature"),
    "policy-changed": ("error", "A change touches policy, signers or their exceptions"),
}


def summed(found: Checked) -> str:
    """`3 changed files: 1 error, 2 notes.`"""
    words = ("error", "warning", "note")
    counts = [(sum(one.level == word for one in found.findings), word) for word in words]
    said = ", ".join(counted(count, word) for count, word in counts if count)
    return f"{counted(found.changed, 'changed file')}: {said or 'nothing to say'}."


def sarif(found: Checked) -> str:
    """A log of SARIF 2.1.0; the gravest findings, where there are more than a host takes."""
    shown = found.findings[:RESULTS_MAX]
    more = len(found.findings) - len(shown)
    left_out = [*found.left_out, *([f"{counted(more, 'more finding')} not listed"] if more else ())]
    rules = [
        {
            "id": rule,
            "shortDescription": {"text": _MEANS[rule][1]},
            "defaultConfiguration": {"level": _MEANS[rule][0]},
        }
        for rule in RULES
    ]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "Preflights", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not found.left_out,
                "exitCode": found.code,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": text}} for text in left_out
                ],
            }
        ],
        "results": [_result(one) for one in shown],
    }
    return encoded({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}).decode() + "\n"


def _result(one: Finding) -> dict[str, Any]:
    key = encoded((one.rule, one.decision, one.session_id, one.file if one.decision == "" else ""))
    region = {"region": {"startLine": one.line}} if one.line else {}
    places = [
        {"physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}, **region}}
        for uri in one.uris[:LOCATIONS_MAX]
    ]
    return {
        "ruleId": one.rule,
        "ruleIndex": RULES.index(one.rule),
        "level": one.level,
        "message": {"text": one.message},
        "locations": places,
        "partialFingerprints": {"preflights/v1": sha256(key).hexdigest()},
    }


def github_annotations(found: Checked) -> str:
    """At most ten lines of each kind; where there is more, the last one says how much."""
    lines: dict[Kind, list[str]] = {kind: [] for kind in KINDS}
    for text in found.left_out:
        lines["warning"].append(annotation("warning", text, title=TITLE))
    for one in found.findings:
        kind: Kind = "notice" if one.level == "note" else one.level
        place = {"file": one.file} if one.file else {}
        place |= {"line": str(one.line)} if one.line else {}
        lines[kind].append(annotation(kind, one.message, **place, title=f"{TITLE}: {one.rule}"))
    return "".join(
        f"{line}\n" for kind in KINDS for line in limited(kind, lines[kind], "finding", TITLE)
    )


def summary(found: Checked) -> str:
    """Markdown for the summary of a job: the gravest first, as many as fit."""
    head = f"## Preflights check\n\n{summed(found)}\n\n"
    head += "".join(f"- Not checked: {span(text, MESSAGE_MAX)}\n" for text in found.left_out)
    return head + "".join(_fitting(found, SUMMARY_MAX - len(head.encode()) - 100))


def _fitting(found: Checked, room: int) -> Iterator[str]:
    for at, one in enumerate(found.findings):
        place = f" {span(f'{one.file}:{one.line}' if one.line else one.file)}" if one.file else ""
        line = f"- **{one.level}** {one.rule}{place}: {span(one.message, MESSAGE_MAX)}\n"
        room -= len(line.encode())
        if room < 0:
            yield f"\n{counted(len(found.findings) - at, 'more finding')}.\n"
            return
        yield line


RENDER: Final[dict[str, Callable[[Checked], str]]] = {
    "json": lambda found: encoded(found).decode() + "\n",
    "sarif": sarif,
    "annotations": github_annotations,
    "summary": summary,
}
"""The forms that `--report` names."""
