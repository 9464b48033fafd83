"""Private keys in PEM blocks, whole or cut, over one line or many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from preflights_es.redaction.patterns import Span, compiled

_PEM_BEGIN: Final = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END: Final = _PEM_BEGIN.replace("BEGIN", "END")
_PEM_BODY: Final = r"(?:[^-\ufdd0]|-(?!----))*+"
_PEM_GAP: Final = r"(?:\s|\\+[nr]|[A-Z][A-Za-z-]{2,20}: [^\n]{0,80}\n)"
_PEM_CUT: Final = (
    rf"(?:{_PEM_GAP}*+(?:[A-Za-z0-9+/]{{20,}}+|(?:MI|b3Blb)[A-Za-z0-9+/]++)={{0,2}})++"
    r"(?:(?:\n|\\n)[A-Za-z0-9+/]{1,19}={0,2}(?=\s|[.…]|$))?"
)
_PEM_TAIL: Final = (
    r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{20,}+(?:\s|\\n)++(?:[A-Za-z0-9+/=]++(?:\s|\\n)++)*$"
)
_PEM_MATERIAL: Final = (
    r"MI[A-Za-z]|b3Blb|(?=[A-Za-z+/]{0,20}\d)[A-Za-z0-9+/]{6}|(?=[a-z+/]{0,20}[A-Z])[A-Za-z+/]{16}"
)
_PEM_MAX: Final = 4096  # characters of base64; a key of 4096 bits has 3,300


def private_keys(text: str) -> Iterator[Span]:
    """PEM blocks, also without their end or their beginning; a header named in prose stays."""
    if "PRIVATE KEY" not in text:
        return
    done = 0
    for found in compiled(f"(?P<begin>{_PEM_BEGIN})|{_PEM_END}").finditer(text):
        if found.start() < done:
            continue
        span = _block(text, found) if found["begin"] else _block_tail(text, found, done)
        if span:
            yield (*span, "key")
            done = span[1]


def _block(text: str, begin: re.Match[str]) -> tuple[int, int] | None:
    body = compiled(_PEM_BODY).match(text, begin.end())
    body_end = body.end() if body else begin.end()
    if end := compiled(_PEM_END).match(text, body_end):
        material = compiled(_PEM_MATERIAL).search(text, begin.end(), body_end)
        return (begin.start(), end.end()) if material else None
    cut = compiled(_PEM_CUT).match(text, begin.end())
    return (begin.start(), cut.end()) if cut else None


def _block_tail(text: str, end: re.Match[str], done: int) -> tuple[int, int] | None:
    near = max(done, end.start() - 16)
    if not compiled(r"[A-Za-z0-9+/]{3}={0,2}(?:\s|\\n){1,9}$").search(text, near, end.start()):
        return None
    window = max(done, end.start() - _PEM_MAX)
    tail = compiled(_PEM_TAIL).search(text, window, end.start())
    return (tail.start(), end.end()) if tail else None
