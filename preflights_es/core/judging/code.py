"""Source code in texts that should be plans: found by what only code has, never by a word alone.

Most texts are prose, so most of the work is to leave them alone quickly: a rule is tried only
behind its gate, a rare character that the texts hold, or its first word, where a line begins.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from typing import Any, Final

from preflights_es.core.judging.languages import braces, compiled, markup, python, shell, sql
from preflights_es.core.judging.languages.notation import CALL, Language, Rule
from preflights_es.core.judging.leaves import Leaves, path_of_key, path_of_list, path_of_text
from preflights_es.core.judging.verdict import Path, Rejected, Violation, excerpt, pointer

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
TOKEN_MAX: Final = 16  # characters of an item, on average, up to which a list may be split tokens
LINES_MAX: Final = 100_000  # lines that begin as code may; a plan has not a tenth as many lines
LOOKS_MAX: Final = 64  # parentheses looked at before a text is taken to hold calls

Named = tuple[str, Rule]
"""A language and a rule."""
Found = tuple[str, int]
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
# Ends the texts of one place: no white space, so that nothing matches across it.
_APART: Final = "\x7f\n"
# Signs one of which is in every piece of code that is split into tokens.
_MARKS: Final = "(\"'=:.-;{<"
_WORD: Final = re.compile(r"\w")
_AROUND_MARK: Final = re.compile(r" ?([()\[\]{}.,:;\"']) ?")
_BREAKS: Final = "\r\x0b\x0c\x85\u2028\u2029"
_BREAK: Final = re.compile(f"\r\n|[{_BREAKS}]")


def found_code(value: Any, parts: Leaves) -> Rejected | None:
    """The first piece of source code in the texts and keys of a value, None without any.

    The texts of a list are searched as lines, and, where they are tokens, once more as one line.
    """
    keys = [key for key in parts.keys if not key.isidentifier()]
    lists = ["\n".join(words) for _, words in parts.lists]
    tokens = [line for _, words in parts.lists if (line := _one_line(words))]
    texts = [*parts.texts, *keys, *lists, *tokens]
    whole = _APART.join(texts)
    if any(sign in whole for sign in _BREAKS):
        texts = [_BREAK.sub("\n", text) for text in texts]
        whole = _APART.join(texts)
    found = _anywhere(whole) or _in_lines(whole)
    if found is None:
        return None
    language, at = found
    ends = list(accumulate(len(text) + len(_APART) for text in texts))
    number = min(bisect_right(ends, at), len(texts) - 1)
    path = _path(value, parts, keys, number, whole[ends[number - 1] if number else 0 : at])
    violation = Violation(pointer(path), f"looks like {language}, where words are asked for")
    return Rejected("code_in_output", (violation,), excerpt(whole.replace(_APART, "\n"), at))


def _path(value: Any, parts: Leaves, keys: list[str], number: int, before: str) -> Path:
    """Where the text with this number stands; `before` is what stands in it before the match."""
    if number < len(parts.texts):
        return path_of_text(value, parts.texts[number])
    number -= len(parts.texts)
    if number < len(keys):
        return path_of_key(value, keys[number])
    number -= len(keys)
    if number < len(parts.lists):
        items, words = parts.lists[number]
        ends = list(accumulate(text.count("\n") + 1 for text in words))
        word = words[min(bisect_right(ends, before.count("\n")), len(words) - 1)]
        return (*path_of_list(value, items), items.index(word)) if value != word else ()
    number -= len(parts.lists)
    split = [items for items, words in parts.lists if _one_line(words)]
    return path_of_list(value, split[number])


def _one_line(texts: list[str]) -> str:
    """The tokens of a list on one line; blanks around punctuation go, where an item is just that.

    Empty where the items are too long to be tokens, or too few.
    """
    if len(texts) < 2 or sum(map(len, texts)) > TOKEN_MAX * len(texts):
        return ""
    line = " ".join(texts)
    if not any(mark in line for mark in _MARKS):
        return ""
    if any(len(text) < 3 and text.strip() and not _WORD.search(text) for text in texts):
        line = _AROUND_MARK.sub(r"\1", line)
    return line


def _anywhere(text: str) -> Found | None:
    """The first rule that matches of those for code that is code wherever it stands."""
    for gate, rules in _ANYWHERE.items():
        if _calls(text) if gate is CALL else gate in text:
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
    """Where a rule matches first, not within a word; -1 when it does not."""
    pattern = _compiled(rule.pattern, rule.any_case)
    at = 0
    while found := pattern.search(text, at):
        at = found.start()
        if not (rule.word and at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")):
            return at
        at += 1
    return -1


def _in_lines(text: str) -> Found | None:
    """The first rule that matches of those for the beginning of a line or a clause."""
    lines = text.replace(": ", ":\n").split("\n")
    firsts = {line.partition(" ")[0] for line in lines}
    suspects = {first for first in firsts & _FIRST_WORDS if f"{first} " in text}
    suspects.update(
        first for first in firsts if first[:3] in _GLUED or first[:1] in _SIGNS if _glued(first)
    )
    gates = [
        (gate, needed)
        for gate, rules in _IN_LINE.items()
        if gate in text and (needed := [named for named in rules if _has(text, named[1])])
    ]
    if not suspects and not gates:
        return None
    at = looks = 0
    for line in lines:
        if line.partition(" ")[0] in suspects:
            looks += 1
            if found := _at_line(text, line, at):
                return found
        for gate, rules in gates:
            if gate in line:
                looks += 1
                if found := _at_starts(text, line, at, rules):
                    return found
        if looks > LINES_MAX:
            return "a script", at
        at += len(line) + 1
    return None


def _glued(first: str) -> bool:
    """Whether the first characters of a line, no plain word, may begin code."""
    if first[:1] in _SIGNS:
        return True
    found = _FIRST_WORD.match(first)
    return found is not None and found[1] in _FIRST_WORDS and found.end() < len(first)


def _at_line(text: str, line: str, at: int) -> Found | None:
    """The rules for the first word of a line, or for the sign that it begins with."""
    first = _FIRST_WORD.match(line)
    word = first[1] if first else None
    if first and word:
        key = word if word in _AT_LINE else word.lower()
        if key in _AT_LINE and (found := _together(key).match(text, at + first.start(1))):
            return _AT_LINE[key][int((found.lastgroup or "")[4:])][0], found.start()
    rules = _AT_SIGN.get(line.lstrip()[:1])
    return _at_starts(text, line, at, rules) if rules else None


def _at_starts(text: str, line: str, at: int, rules: list[Named]) -> Found | None:
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


@cache
def _together(word: str) -> re.Pattern[str]:
    """All rules for a first word in one expression, each a group of its own."""
    groups = (
        f"(?P<rule{number}>(?{'i' if rule.any_case else ''}:{rule.pattern}))"
        for number, (_, rule) in enumerate(_AT_LINE[word])
    )
    return re.compile("|".join(groups), re.MULTILINE)
