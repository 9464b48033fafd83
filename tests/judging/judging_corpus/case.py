"""One raw response and its verdicts."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

OK: Final = {"a": "x"}
"""The payload of most responses that are accepted."""
INVALID: Final = "invalid_json"
SCHEMA: Final = "schema_violation"
CODE: Final = "code_in_output"


class Case(NamedTuple):
    """A raw response; a verdict is a payload, or the kind of the rejection."""

    name: str
    raw: str
    compiler: Any
    """By a contract that has all stages."""
    extraction: Any = None
    """By one that drops prose and unknown properties and knows no failure object and no code; None
    where it says the same."""
    dropped: bool = False
    """Whether a contract that refuses prose, but not reasoning, says what the second one does."""

    @property
    def strict(self) -> Any:
        """By a contract that drops reasoning alone, and does not look for code."""
        return self.verdicts[self.dropped or self.compiler == CODE]

    @property
    def verdicts(self) -> tuple[Any, Any]:
        """By both contracts."""
        return self.compiler, self.compiler if self.extraction is None else self.extraction


def said(name: str, text: str) -> Case:
    """A text as a value, which is accepted by both."""
    return Case(name, json.dumps({"a": text}), {"a": text})


def code(name: str, text: str) -> Case:
    """Source code as a value, for which only a contract with that stage looks."""
    return Case(name, json.dumps({"a": text}), CODE, {"a": text})
