"""Every raw response of the corpus, judged by the compiler's contract and by an extraction's."""

from __future__ import annotations

from collections import Counter
from typing import Any

from preflights_es.judging.contract import Accepted, Contract, judge
from tests.each import each
from tests.judging.judging_corpus import around, code, prose, strict
from tests.judging.judging_corpus.case import Case

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "l": {"type": "array", "items": {"type": "string"}}},
    "required": ["a"],
    "additionalProperties": False,
}
COMPILER = Contract(name="plan", version=1, schema=SCHEMA, reasoning="refuse")
STRICT = Contract(name="question", version=1, schema=SCHEMA, code=False)
EXTRACTION = Contract(
    name="notes", version=1, schema=SCHEMA, prose="drop", unknown="drop", failure=False, code=False
)
CASES = (*around.CASES, *strict.CASES, *code.CASES, *prose.CASES)


def verdict(raw: str, contract: Contract) -> Any:
    """The payload, or the kind of the rejection."""
    found = judge(raw, contract)
    return found.payload if isinstance(found, Accepted) else found.kind


@each("case", CASES)
def test_a_response_comes_to_what_its_case_says(case: Case) -> None:
    assert (verdict(case.raw, COMPILER), verdict(case.raw, EXTRACTION)) == case.verdicts
    assert verdict(case.raw, STRICT) == case.strict


def test_no_two_cases_are_the_same() -> None:
    assert not [name for name, n in Counter(case.name for case in CASES).items() if n > 1]
    assert not [raw for raw, n in Counter(case.raw for case in CASES).items() if n > 1]
