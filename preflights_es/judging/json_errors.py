"""Why a text is not strict JSON, in words that stay the same whatever parser is installed."""

from __future__ import annotations

import re
from typing import Final

import msgspec

CUT: Final = "it ends before its JSON value does"
UNBALANCED: Final = "its brackets do not match"
NOTHING: Final = "there is no JSON value in it"

_WORDS: Final = {
    "string": "a text is not closed, or holds a control character or an unknown escape",
    "quote": "a text stands in single quotes",
    "comma": "there is a comma before a closing bracket",
    "comment": "there is a comment",
    "number": "a word stands where a number should",
    "python": "true, false and null are written otherwise",
    "key": "a key stands without quotes",
    "zeros": "a number is not written as JSON wants it",
    "long": "a number has too many digits",
    "space": "there is white space that JSON does not know",
    "word": "there is a word that is no value",
}
# Skips all that is right, in one go; what stands behind it is a flaw, or nothing.
_RIGHT: Final = re.compile(
    r'(?:"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
    r"|(?<![\w.+-])-?(?:0|[1-9][0-9]{0,4299})(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.+])"
    r"|(?<!\w)(?:true|false|null)(?!\w)"
    r"|[ \t\r\n{}\[\]:]++"
    r"|,(?!\s*+[}\]]))*+"
)
_FLAW: Final = re.compile(
    r'(?P<string>")'
    r"|(?P<quote>')"
    r"|(?P<comma>,)"
    r"|(?P<comment>//|/\*|#)"
    r"|(?P<number>(?:NaN|-?Infinity)(?!\w))"
    r"|(?P<python>(?:True|False|None|TRUE|FALSE|NULL)(?!\w))"
    r"|(?P<key>[A-Za-z_$][\w$-]*+\s*+:)"
    r"|(?P<long>-?[0-9]{4300,}+)"
    r"|(?P<zeros>[-+.]?[0-9][\w.+-]*+|[-+.])"
    r"|(?P<space>[^\S \t\r\n]|[\u200b-\u200f\u2060-\u2064\ufeff])"
    r"|(?P<word>[^\s{}\[\]:,])"
)
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_PAIR: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def flaw(text: str) -> tuple[str, int]:
    """What is wrong with a balanced text that no strict parser takes, and at which character."""
    right = _RIGHT.match(text)
    found = _FLAW.match(text, right.end() if right else 0)
    if found and found.lastgroup:
        return _WORDS[found.lastgroup], found.start()
    if lone := _SURROGATE.search(_PAIR.sub("", text)):
        return "an escape is half of a character (a lone surrogate)", text.find(lone.group())
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return "a comma, a colon or a value is missing", 0
    return "an object has the same key twice", 0
