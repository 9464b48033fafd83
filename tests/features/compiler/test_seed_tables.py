"""Seed 2, sections 4.2 and 9: what each pass reads and writes, and what is to be tested of it."""

from __future__ import annotations

import json

from preflights_es.features.compiler.domain.events import PASSES, PassName
from preflights_es.kernel.completions import Rejected
from tests.each import each
from tests.features.compiler.chain import verdict
from tests.features.compiler.passes_read import PLANS, begun
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

NAMES = tuple(PASSES)
Row = tuple[tuple[str, ...], dict[str, str], tuple[str, ...], str]

TABLE: dict[PassName, Row] = FILED["TABLE"]
"""By pass: documents, artifacts and their standing, what is forbidden, what it writes."""


# 4.2 -----------------------------------------------------------------------------------------


@each("name", TABLE)
def test_4_2_a_pass_reads_and_writes_what_its_row_says(name: PassName) -> None:
    one = PASSES[name]
    plans = {needed.type: needed.standing for needed in one.plans}
    assert (one.documents, plans, one.forbidden, one.writes) == TABLE[name]


def test_4_2_a_target_and_the_layout_are_read_by_one_planner_each() -> None:
    assert [name for name, one in PASSES.items() if one.target] == ["implementation"]
    assert [name for name, one in PASSES.items() if one.layout] == ["refactor"]


# 9 -------------------------------------------------------------------------------------------


REJECTIONS = [
    ("I could not do it.", "invalid_json"),
    ('{"a": 1', "invalid_json"),
    ("{} {}", "multiple_artifacts"),
    ("Here it is: {}", "explanatory_text"),
    ("{}", "schema_violation"),
    ("[]", "schema_violation"),
    ('{"error": "missing_information", "details": "x"}', "missing_information"),
    ('{"error": "INVALID_REQUEST"}', "invalid_request"),
    ('{"error": "other"}', "schema_violation"),
]


@each("name", NAMES)
@each(("response", "kind"), REJECTIONS)
def test_9_1_each_rejection_is_one_of_every_pass(name: PassName, response: str, kind: str) -> None:
    found = verdict(begun(name), response)
    assert isinstance(found, Rejected)
    assert found.kind == kind


@each("name", NAMES)
def test_9_1_source_code_in_any_text_of_a_pass_is_rejected(name: PassName) -> None:
    payload = json.dumps(PLANS[PASSES[name].writes])
    text = next(t for t in _texts(PLANS[PASSES[name].writes]) if " " in t or t.isalpha())
    code = json.dumps("import os, sys\nprint('x')")[1:-1]
    found = verdict(begun(name), payload.replace(json.dumps(text), f'"{code}"'))
    assert isinstance(found, Rejected)
    assert found.kind == "code_in_output"


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inside for text in _texts(one)]
