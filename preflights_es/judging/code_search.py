"""Where a text holds source code: the rules of all languages, each tried only where it may match.

Most texts are prose, so most of the work is to leave them alone quickly: a rule is tried only
behind its gate, a rare character that the texts hold, or its first word, where a line begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from preflights_es.judging.code import braces, compiled, markup, python, shell, sql
from preflights_es.judging.code.notation import CALL, Language, Rule

LANGUAGES: Final[tuple[Language, ...]] = (
    markup.BLOCK,
    markup.DIFF,
    python.PYTHON,
    compiled.RUST,
    compiled.GO,
    compiled.JAVA,
    compiled.C,
    braces.JAVASCRIPT,
    markup.HTML,
    sql.SQL,
    shell.SHELL,
    braces.ANY,
)
LINES_MAX: Final = 100_000  # lines that begin as code may; a plan has not a tenth as many lines
LOOKS_MAX: Final = 64  # parentheses looked at before a text is taken to hold calls

Named = tuple[str, Rule]
"""A language and a rule."""
CodeMatch = tuple[str, int]
"""A language and a place in the text."""


def _behind(pairs: Iterable[tuple[str, str, Rule]]) -> dict[str, list[Named]]:
    """The rules behind each gate or first word."""
    rules: dict[str, list[Named]] = {}
    for gate, language, rule in pairs:
        rules.setdefault(gate, []).append((language, rule))
    return rules


_ANYWHERE: Final = _behind((gate, k.name, rule) for k in LANGUAGES for gate, rule in k.anywhere)
_IN_LINE: Final = _behind((gate, k.name, rule) for k in LANGUAGES for gate, rule in k.in_line)
_AT_LINE: Final = _behind((word, k.name, rule) for k in LANGUAGES for word, rule in k.at_line)
_AT_SIGN: Final = _behind((sign, k.name, rule) for k in LANGUAGES for sign, rule in k.at_sign)
# First words of lines that may be code, with blanks behind them; and how those begin that are
# glued to something (`if(`, `try:`).
_FIRST_WORDS: Final = frozenset(
    form
    for word, rules in _AT_LINE.items()
    for form in (word, word.upper(), *(word.capitalize() for _, rule in rules if rule.any_case))
)
_GLUED: Final = frozenset(
    form[:3] for word in _FIRST_WORDS for form in (word, *(f"{word}{mark}" for mark in "(:;{\"'"))
)
# Bullets, numbers and prompts may stand before a first word; the empty text is a blank's.
_SIGNS: Final = frozenset("-*>+$#.()|[{`0123456789\t") | set(_AT_SIGN) | {""}
_FIRST_WORD: Final = re.compile(r"[ \t\d.)$>+*#|(\[{`-]{0,16}+([A-Za-z_][\w-]*+)?")


def first_code(text: str) -> CodeMatch | None:
    """The first rule that matches, and where; those that match anywhere come first."""
    return _anywhere(text) or _in_lines(text)


def _anywhere(text: str) -> CodeMatch | None:
    """The first rule that matches of those for code that is code wherever it stands."""
    for gate, rules in _ANYWHERE.items():
        if _calls(text) if gate == CALL else gate in text:
            for language, rule in rules:
                if _has(text, rule) and (at := _place(text, rule)) >= 0:
                    return language, at
    return None


def _calls(text: str) -> bool:
    """Whether a parenthesis opens behind a character that is no blank."""
    at = text.find("(")
    for _ in range(LOOKS_MAX):
        if at < 0:
            return False
        if text[at - 1] not in " \n":
            return True
        at = text.find("(", at + 1)
    return True


def _has(text: str, rule: Rule) -> bool:
    for group in rule.needles:
        for needle in group:
            if needle in text:
                break
        else:
            return False
    return True


def _place(text: str, rule: Rule) -> int:
    """The first match of a rule outside a word; -1 without one."""
    pattern = _compiled(rule.pattern, rule.any_case)
    at = 0
    while found := pattern.search(text, at):
        at = found.start()
        if not (rule.word and at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")):
            return at
        at += 1
    return -1


def _in_lines(text: str) -> CodeMatch | None:
    """The first rule that matches of those for the beginning of a line or a clause."""
    lines = text.replace(": ", ":\n").split("\n")
    heads = [line.partition(" ")[0] for line in lines]
    firsts = set(heads)
    behind = _Behind(text)
    plain = {first for first in firsts & _FIRST_WORDS if f"{first} " in text and behind[first]}
    glued = {
        first
        for first in firsts
        if first[:1] in _SIGNS or (first[:3] in _GLUED and _is_glued(first))
    }
    gates = [
        (gate, needed)
        for gate, rules in _IN_LINE.items()
        if gate in text and (needed := [named for named in rules if _has(text, named[1])])
    ]
    if not (plain or glued or gates):
        return None
    at = looks = 0
    for head, line in zip(heads, lines, strict=True):
        found = None
        if head in plain:
            looks += 1
            found = _matched(text, at, behind[head])
        elif line and head in glued and not line.isspace():
            looks += 1
            found = _at_line(text, line, at, behind)
        for gate, rules in gates:
            if not found and gate in line:
                looks += 1
                found = _at_starts(text, line, at, rules)
        if found:
            return found
        if looks > LINES_MAX:
            return "a script", at
        at += len(line) + 1
    return None


def _is_glued(first: str) -> bool:
    """Whether the first characters of a line are a first word with something behind it."""
    found = _FIRST_WORD.match(first)
    return found is not None and found[1] in _FIRST_WORDS and found.end() < len(first)


def _matched(text: str, at: int, rules: list[tuple[str, re.Pattern[str]]]) -> CodeMatch | None:
    """The first of these rules that matches at a place."""
    for language, pattern in rules:
        if pattern.match(text, at):
            return language, at
    return None


class _Behind(dict[str, list[tuple[str, re.Pattern[str]]]]):
    """What may match behind a first word: of its rules those whose needles the text holds."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __missing__(self, word: str) -> list[tuple[str, re.Pattern[str]]]:
        rules = _AT_LINE.get(word) or _AT_LINE.get(word.lower(), [])
        self[word] = [
            (language, _compiled(rule.pattern, rule.any_case))
            for language, rule in rules
            if _has(self.text, rule)
        ]
        return self[word]


def _at_line(text: str, line: str, at: int, behind: _Behind) -> CodeMatch | None:
    """The rules for the first word of a line, or for the sign that it begins with."""
    first = _FIRST_WORD.match(line)
    if first and first[1] and (found := _matched(text, at + first.start(1), behind[first[1]])):
        return found
    rules = _AT_SIGN.get(line.lstrip()[:1])
    return _at_starts(text, line, at, rules) if rules else None


def _at_starts(text: str, line: str, at: int, rules: list[Named]) -> CodeMatch | None:
    """Rules that match where a line begins, with or without its bullets."""
    first = _FIRST_WORD.match(line)
    starts = {0, len(line) - len(line.lstrip()), first.start(1) if first and first[1] else 0}
    for language, rule in rules:
        pattern = _compiled(rule.pattern, rule.any_case)
        for start in sorted(starts):
            if pattern.match(text, at + start):
                return language, at + start
    return None


@cache
def _compiled(pattern: str, any_case: bool) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE | (re.IGNORECASE if any_case else 0))
