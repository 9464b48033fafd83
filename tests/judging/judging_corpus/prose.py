"""Prose that looks like code: the material of plans, rules and notes."""

from __future__ import annotations

import json
from typing import Final

from tests.filed_cases import filed_cases
from tests.judging.judging_corpus.case import Case, said


def items(name: str, *texts: str) -> Case:
    """Texts as the items of a list."""
    return Case(name, json.dumps({"a": "x", "l": texts}), {"a": "x", "l": list(texts)})


FILED = filed_cases(__file__)

CASES: Final = (
    *(said(f"prose: {text[:50]}", text) for text in FILED["ENGLISH"]),
    *(said(f"Prosa: {text[:50]}", text) for text in FILED["GERMAN"]),
    *(items(*row) for row in FILED["LISTS"]),
)
