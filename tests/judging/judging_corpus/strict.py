"""The value itself: strict JSON, whole, an object, and what is a failure object."""

from __future__ import annotations

import json
from typing import Final

from tests.filed_cases import filed_cases
from tests.judging.judging_corpus.case import INVALID, SCHEMA, Case

FILED = filed_cases(__file__)
TABLES: Final = ("SYNTAX", "CUT", "TOP_LEVEL", "FAILURE")

MADE: Final = (
    Case("a minus of 5,000 digits", '{"a":-' + "9" * 5_000 + "}", INVALID),
    Case("a long text of digits", json.dumps({"a": "9" * 5_000}), {"a": "9" * 5_000}),
    Case("a raw surrogate in a text", '{"a":"\ud800"}', INVALID),
    Case("a raw surrogate behind the value", '{"a":"x"}\udfff', INVALID),
    Case("nesting of 10,000 lists", "[" * 10_000 + "]" * 10_000, INVALID),
    Case("nesting of 10,000 objects", '{"a":' * 10_000 + "1" + "}" * 10_000, INVALID),
    Case("nesting of 10,000 in a fence", "```\n" + '{"a":[' * 10_000 + "]}" * 10_000, INVALID),
    Case("nesting of 201", '{"a":' + "[" * 200 + "]" * 200 + "}", INVALID),
    Case("nesting of 200", '{"a":' + "[" * 199 + "]" * 199 + "}", SCHEMA),
    Case("brackets in a text are no nesting", json.dumps({"a": "[" * 999}), {"a": "[" * 999}),
)
"""Cases that are too long for a file, or that no file may hold."""

CASES: Final = (*(Case(*row) for name in TABLES for row in FILED[name]), *MADE)
