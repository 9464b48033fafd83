"""Source code where words are asked for: by language, in values, in keys, and split over a list."""

from __future__ import annotations

import json
from typing import Final

from tests.filed_cases import filed_cases
from tests.judging.judging_corpus.case import CODE, OK, Case, code


def key(name: str, text: str) -> Case:
    """Source code as a key that the contract does not know; the compiler's schema comes first."""
    return Case(name, json.dumps({"a": "x", text: 1}), "schema_violation", OK)


def split(name: str, text: str) -> Case:
    """Source code of which every line is an item of a list."""
    lines = text.split("\n")
    return Case(name, json.dumps({"a": "x", "l": lines}), CODE, {"a": "x", "l": lines})


FILED = filed_cases(__file__)
LANGUAGES: Final = ("PYTHON", "JAVASCRIPT", "COMPILED", "SQL", "SHELL", "MARKUP")
KEYS: Final = (
    key("a key: Python", "def f(x): return x"),
    key("a key: SQL", "SELECT * FROM orders"),
)
FIRST_FAULT: Final = (
    Case("code, but no answer", json.dumps({"b": "def f(x): return x"}), "schema_violation"),
    Case("code outside", 'def f():\n    return {"a":"x"}', "explanatory_text", OK),
    Case(
        "code in a fence behind the value",
        '{"a":"x"}\n```python\nprint(1)\n```',
        "explanatory_text",
        OK,
    ),
)

CASES: Final = (
    *(code(*row) for name in LANGUAGES for row in FILED[name]),
    *(split(*row) for row in FILED["SPLIT"]),
    *KEYS,
    *FIRST_FAULT,
)
