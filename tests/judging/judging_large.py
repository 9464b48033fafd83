"""Responses larger than any model sends, each the worst of its kind for one part of the room."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Final

GARBAGE: Final = '{}[]",:1 a\\\n`<(=;é\u2003\U0001f600'


def _text(part: str) -> Callable[[int], str]:
    return lambda length: json.dumps({"a": part * (length // len(part))})


LARGE: Final[dict[str, Callable[[int], str]]] = {
    "one long text": _text("x"),
    "a text of prose": _text("If the order is late, select one (the newest): "),
    "a text of calls and braces": _text("with x( as {"),
    "a text of bullets": _text("- import the users: from the list\n"),
    "a text of line breaks": _text("\n"),
    "a text of a pattern's beginnings": _text("SELECT a FROM the "),
    "a text of half tags": _text("<a b"),
    "numbers": lambda n: json.dumps({"a": [1] * (n // 3)}),
    "tiny texts": lambda n: json.dumps({"a": ["("] * (n // 5)}),
    "tiny lists": lambda n: json.dumps({"a": [["x"]] * (n // 7)}),
    "tiny objects": lambda n: json.dumps({"a": [{"b": "c d"}] * (n // 14)}),
    "keys": lambda n: json.dumps({f"k {i}": i for i in range(n // 18)}),
    "a key twice": lambda n: '{"b":1,"a":[' + '{"x":1},' * (n // 8) + '0],"b":2}',
    "nesting, 10,000 deep": lambda n: "[" * 10_000 + " " * n + "]" * 10_000,
    "opening braces": lambda n: '{"a":' * (n // 5),
    "closing brackets": lambda n: "]" * n,
    "pairs of braces": lambda n: "{} " * (n // 3),
    "values": lambda n: '{"a":"x"} ' * (n // 10),
    "quotes": lambda n: '"' * n,
    "backticks": lambda n: "`" * n,
    "fences": lambda n: "```json\n{\n```\n" * (n // 14),
    "thoughts": lambda n: "<think>" * (n // 7),
    "ends of thoughts": lambda n: "</think>[" * (n // 9),
    "tags": lambda n: "<a:think b" * (n // 10),
    "prose with braces": lambda n: "The plan { is here. " * (n // 20),
    "prose before a value": lambda n: "The plan is here. " * (n // 18) + '{"a":"x"}',
    "one number": lambda n: '{"a":' + "9" * n + "}",
    "white space": lambda n: "\ufeff\u2003" * (n // 2),
    "garbage": lambda n: "".join(Random(7).choices(GARBAGE, k=n)),
}
"""Names, and what makes a response of about as many characters."""
