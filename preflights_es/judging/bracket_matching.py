"""Where a bracketed value ends, without parsing it: aware of texts, iterative, linear."""

from __future__ import annotations

import re
from typing import Final

from preflights_es.judging.json_errors import CUT, UNBALANCED
from preflights_es.judging.walk import DEPTH_MAX, TOO_DEEP

STEPS_MAX: Final = 1_000_000  # brackets followed; no model writes as many around or in one value

TOO_MANY: Final = "it has too many brackets"

_TEXT: Final = r'"(?:[^"\\]++|\\.)*+"'
_PLAIN: Final = r'[^"{}\[\]]++'
_LEAF: Final = rf"\{{(?:{_PLAIN}|{_TEXT})*+\}}|\[(?:{_PLAIN}|{_TEXT})*+\]"
# Skips all that cannot change the depth, innermost pairs included; ends before what can.
_SKIP: Final = re.compile(rf"(?:{_PLAIN}|{_TEXT}|{_LEAF})*+", re.DOTALL)
_PAIRS: Final = {"}": "{", "]": "["}


def end(text: str, start: int) -> tuple[int, str]:
    """The character behind the bracket that closes the one at `start`, and what is wrong.

    Without a closing bracket the first is -1 and the second says why; else the second is empty.
    """
    open_brackets: list[str] = []
    at = start
    for _ in range(STEPS_MAX):
        if open_brackets:
            found = _SKIP.match(text, at)
            at = found.end() if found else at
        if at >= len(text) or text[at] == '"':
            return -1, CUT
        bracket = text[at]
        at += 1
        if bracket in "{[":
            open_brackets.append(bracket)
            if len(open_brackets) > DEPTH_MAX:
                return -1, TOO_DEEP
        elif open_brackets.pop() != _PAIRS[bracket]:
            return -1, UNBALANCED
        if not open_brackets:
            return at, ""
    return -1, TOO_MANY
