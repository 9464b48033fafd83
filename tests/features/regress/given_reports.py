"""Reports of runs that never were: one of each kind, hostile ones, and large ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.features.regress.results import (
    OUTCOMES,
    Case,
    Cause,
    Outcome,
    Report,
    RunMeasures,
    ValueDifference,
)
from preflights_es.features.regress.verdict import MARGIN, compute_verdict

HOSTILE: Final = (
    "::error file=a::b",
    "\n::set-output name=a::b\r\n::stop-commands::x",
    "##[error]b",
    "%0A::error::b",
    "@octocat, see #1 and https://evil.example/ or www.evil.example",
    "[link](https://evil.example/) ![image](//evil.example/x.png)",
    "<script>alert(1)</script><!-- <script> -->",
    "</script><img src=x onerror=alert(1)>",
    "`` ` ``` `code`\n\n# heading\n| a | b |\n</details>",
    "`",
    "]]>&amp;<![CDATA[",
    "\x00\x01\x1b[31m\x7f\x85\u2028\u202e\ufffe\uffff\U000e0041",
    "a: b, c; d %25 = \"e\" 'f' \\",
    "  ",
    "",
)


def side(*, right: bool = True, **fields: Any) -> RunMeasures:
    given: dict[str, Any] = {
        "valid": True, "agrees": right, "result": "ab" * 32, "questions": 1, "turns": 2,
        "fallbacks": 0, "calls": 3, "tokens": 1_200, "cost": 0.0123,
    }  # fmt: skip
    return RunMeasures(**(given | fields))


def case(number: int, outcome: Outcome = "same", **fields: Any) -> Case:
    given: dict[str, Any] = {
        "session_id": f"01a0c450-6c00-7000-8000-{number:012x}",
        "workflow": "clarification",
        "source": "log",
        "head": "cd" * 32,
        "outcome": outcome,
        "recorded": side(right=outcome != "fixed"),
        "candidate": side(right=outcome != "failed"),
    }
    if outcome in ("failed", "fixed", "changed"):
        given |= {
            "measures": ("questions", "result"),
            "causes": (Cause(kind="prompt", detail="prompt clarify.v1 became clarify.v2"),),
            "differences": (
                ValueDifference(
                    version=4,
                    type="clarification.question_asked.v1",
                    pointer="/data/question",
                    place="data, question",
                    expected="Which strategy do you want?",
                    actual="Which strategy for sign-in do you want, and why?",
                ),
                ValueDifference(
                    version=0, type="", pointer="/turns", place="turns", expected=2, actual=3
                ),
            ),
            "difference_count": 5,
            "intention": "Add login",
            "repeat": f"preflights regress {number:012x} --prompt clarify=clarify.v2",
        }
    if outcome in ("open", "faulted", "damaged"):
        given |= {"message": f"{outcome}: a reason", "candidate": None}
    if outcome == "damaged":
        given["recorded"] = None
    if outcome == "faulted":
        given["causes"] = (Cause(kind="code or data"),)
    return Case(**(given | fields))


def report(cases: Sequence[Case], margin: float | None = MARGIN, **fields: Any) -> Report:
    counts = Counter(one.outcome for one in cases)
    given: dict[str, Any] = {
        "preflights": "0.9.0",
        "changes": () if margin is None else ("prompt clarify.v2",),
        "selection": "all sessions of the log",
        "sessions": len(cases),
        "counts": {outcome: counts[outcome] for outcome in OUTCOMES},
        "cause_counts": dict(Counter(c.kind for one in cases for c in one.causes)),
        "cases": tuple(cases),
        "verdict": compute_verdict(cases, margin),
    }
    return Report(**(given | fields))


def usual() -> Report:
    """Some of each outcome."""
    amounts: dict[Outcome, int] = {
        "same": 180, "changed": 12, "failed": 9, "fixed": 1, "open": 3, "faulted": 1, "damaged": 1,
    }  # fmt: skip
    cases = [
        case(number, outcome)
        for number, outcome in enumerate(
            outcome for outcome, amount in amounts.items() for _ in range(amount)
        )
    ]
    cases[-1] = replace(cases[-1], session_id="", source="sessions/b, 1.jsonl", workflow="")
    cases[190] = replace(cases[190], source="sessions/a.jsonl")
    together = Cause(kind="model", detail="gpt-6 became gpt-6-mini", together=True)
    cases[191] = replace(cases[191], causes=(*cases[191].causes, together))
    return report(cases, accepted={"Ada": 1}, drifted=2, seconds=12.3456, left_out=("2 of toys",))


def strict() -> Report:
    """The same without a change."""
    found = usual()
    return replace(found, verdict=compute_verdict(found.cases, None), changes=())


def hostile(texts: Sequence[str] = HOSTILE) -> Report:
    """Each text of it comes from outside."""
    return report(
        [
            case(
                number, outcome,
                session_id=text, workflow=text, source=text, message=text, repeat=text,
                intention=text, group=text,
                causes=(Cause(kind="unexplained", detail=text),), assumed=(text,),
                differences=(
                    ValueDifference(
                        version=3, type=text, pointer=text, place=text, expected=text, actual=[text]
                    ),
                ),
            )
            for number, (text, outcome) in enumerate(
                (text, outcome) for text in texts for outcome in OUTCOMES
            )
        ],
        changes=tuple(texts), selection="".join(texts), left_out=tuple(texts),
    )  # fmt: skip
